//! Cloth with bodies and particles: statics, bounces, momentum, as leader and as follower.

use std::f64::consts::FRAC_PI_2;

use crate::common::{self, sample::Sample};
use nalgebra::Vector3;
use partita::{prelude::*, simulator::Outcome};
use partita_mesh::{Mesh, Side};

type V3 = Vector3<f64>;

const G: f64 = 9.81;

/// A level sheet about the y axis.
fn level([across, along]: [u32; 2], [width, depth]: [f64; 2]) -> Mesh {
    let mesh = Mesh::grid([across, along], [width, depth]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    mesh.at([-0.5 * width, 0.0, -0.5 * depth]).unwrap()
}

/// A ball of such a mass and 0.2 m over the middle of 0.5 kg of cloth that is pinned at its border.
fn ball_over_trampoline(scheme: Scheme, rate: Rate, fabric: Fabric, mass: f64, height: f64) -> (Run, HandleId) {
    let mesh = level([16, 16], [1.0, 1.0]);
    let border: Vec<u32> = mesh.boundary_edges().flat_map(|edge| edge.vertices).collect();
    let mut cloth = ImplicitCloth::new("sheet", mesh, fabric.density(0.5)).unwrap();
    cloth.pin(&border).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    let ball = Body::dynamic(Shape::ball(0.1)).mass(mass).at([0.0, 0.1 + height, 0.0]);
    let ball = rigid.add("ball", ball).unwrap();
    let mut scene = Scene::new(rate);
    scene.scheme(scheme);
    scene.contact("sheet", "rigid");
    scene.add(rigid).add(cloth);
    (scene.build().unwrap(), ball)
}

/// A ball at rest on cloth is carried by it, and both by the pins (C4).
#[test]
fn cloth_carries_a_ball_and_pins_carry_both() {
    let (mut run, _) =
        ball_over_trampoline(Scheme::Interleaved, Rate::hz(240.0), Fabric::cotton().damping(0.02), 1.0, 0.0);
    run.for_seconds(4.0).unwrap();
    common::assert_pins_carry(&mut run);
}

/// Cloth follows the ball as if nothing could move it, so one lighter than what it meets would be thrown: plain interleaving wants
/// heavy leaders. With `Relaxed` balls of a quarter of a vertex to 500 of them never have more energy than at the start, but for
/// what symplectic Euler is off by, g dt v / 2.
#[test]
fn what_is_lighter_than_a_vertex_is_not_thrown() {
    let mut sample = Sample::one_in(2);
    for mass in [5e-4, 1e-2, 1.0] {
        if sample.leaves_out() {
            continue;
        }
        let fabric = Fabric::cotton().damping(0.02);
        let (mut run, ball) = ball_over_trampoline(Relaxed::default().into(), Rate::hz(120.0), fabric, mass, 0.1);
        while run.time() < 2.0 {
            run.advance().unwrap();
            let state = run.state(ball).unwrap();
            let speed = V3::from(state.velocity).norm();
            let gained = 0.5 * speed * speed + G * (state.position[1] - 0.2);
            assert!(gained < 0.5 * G / 120.0 * speed, "{mass} kg gained {gained} J/kg at {} s", run.time());
        }
    }
}

/// A ball that falls on a trampoline bounces ever lower, and there is never more energy than at the start (C13).
#[test]
fn a_ball_on_a_trampoline_bounces_ever_lower() {
    let (mut run, ball) = ball_over_trampoline(Scheme::Interleaved, Rate::hz(960.0), Fabric::cotton(), 1.0, 0.5);
    let energy = |run: &mut Run| -> f64 {
        let of = |run: &mut Run, name: &str| run.simulator_ledger(name).unwrap().unwrap();
        ["rigid", "sheet"].iter().map(|name| of(run, name)).map(|ledger| ledger.kinetic + ledger.potential).sum()
    };
    let start = energy(&mut run);
    let mut tops = vec![0.6];
    let mut rising = false;
    while run.time() < 3.0 {
        run.advance().unwrap();
        let now = energy(&mut run);
        assert!(now <= start, "{now} J at {} s, {start} J at the start", run.time());
        let state = run.state(ball).unwrap();
        if rising && state.velocity[1] <= 0.0 {
            tops.push(state.position[1]);
        }
        rising = state.velocity[1] > 0.0;
    }
    assert!(tops.len() >= 4 && tops.windows(2).all(|two| two[1] < 1.01 * two[0]), "{tops:?}");
}

/// A chain of 1.2 m and 1 kg/m whose ends are 1 m apart, with 1 kg at its middle: `leads` if that body is attached to a point of the
/// chain, else the chain is attached to the body. Its left end is attached to a post.
fn loaded_chain(leads: bool) -> (Run, HandleId) {
    let (cells, length, width) = (40, 1.2, 0.03);
    let mesh = level([cells, 1], [length, width]);
    // At first a V of that length.
    let sag = f64::sqrt(0.6 * 0.6 - 0.5 * 0.5);
    let start: Vec<[f64; 3]> =
        mesh.vertices().iter().map(|x| [x.x / length, -sag * (1.0 - x.x.abs() / 0.6), x.z]).collect();
    let (left, right) = (mesh.edge(Side::Left).unwrap(), mesh.edge(Side::Right).unwrap());
    let middle = [cells / 2, cells / 2 + cells + 1];
    let between = mesh.triangles().iter().position(|t| middle.iter().all(|v| t.contains(v))).unwrap();
    let halves = mesh.triangles()[between].map(|v| if middle.contains(&v) { 0.5 } else { 0.0 });

    let fabric = Fabric::cotton().density(1.0 / width).bend(0.0).stretch(1e6).shear(1e4);
    let mut chain = ImplicitCloth::new("chain", mesh, fabric).unwrap().with_positions(&start).unwrap().tolerance(1e-8);
    chain.pin(&right).unwrap();
    let mut posts = RigidBodies::new("posts");
    let post = posts.add("post", Body::fixed(Shape::ball(0.05)).at([-0.5, 0.0, 0.0])).unwrap();
    let mut load = RigidBodies::new("load");
    let body = load.add("body", Body::dynamic(Shape::ball(0.02)).mass(1.0).at([0.0, -sag, 0.0])).unwrap();

    let mut scene = Scene::new(Rate::hz(240));
    scene.scheme(Relaxed::default());
    scene.attach(chain.vertices(&left), post);
    if leads {
        let hook = load.point(body, [0.0; 3]).unwrap();
        scene.attach(hook, chain.point(between as u32, halves).unwrap());
    } else {
        scene.attach(chain.vertices(&middle), body);
    }
    scene.add(posts).add(load).add(chain);
    (scene.build().unwrap(), body)
}

/// Half of a loaded chain is a catenary of parameter a = H/w g that begins at the load with slope P/2H: with its arc of 0.6 m over
/// 0.5 m, H = 11.860 N, it hangs down by 0.32622 m and pulls at its end with 16.035 N (C5). Whichever leads.
#[test]
fn a_chain_with_a_load_hangs_as_two_catenaries() {
    for leads in [false, true] {
        let (mut run, body) = loaded_chain(leads);
        run.for_seconds(3.0).unwrap();
        let pull = |run: &Run| {
            let ledgers = run.ledgers();
            V3::from(ledgers.iter().find(|ledger| ledger.leader == "posts").unwrap().got.linear)
        };
        let before = pull(&run);
        let (mut sag, mut windows) = (0.0, 0.0);
        while run.time() < 4.0 - 1e-9 {
            let report = run.advance().unwrap();
            assert_eq!(report.outcome, Outcome::Converged);
            sag -= run.state(body).unwrap().position[1];
            windows += 1.0;
        }
        let pull = (pull(&run) - before) / (windows / 240.0);
        for (what, found, expected, bound) in
            [("sag", sag / windows, 0.32622, 0.01), ("H", pull.x, 11.860, 0.02), ("end", pull.norm(), 16.035, 0.02)]
        {
            assert!((found / expected - 1.0).abs() < bound, "leads {leads}, {what}: {found} for {expected}");
        }
    }
}

/// From bodies to cloth to particles, without gravity: each gains what the others lose in every window, pair by pair, and nothing
/// is lost (C17, C1).
#[test]
fn bodies_cloth_and_particles_share_one_momentum() {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let ball = Body::dynamic(Shape::ball(0.1)).mass(0.3).at([0.02, -0.15, 0.03]).velocity([0.1, 1.0, 0.0]);
    rigid.add("ball", ball).unwrap();
    let sheet = ImplicitCloth::new("sheet", level([12, 12], [0.6, 0.6]), Fabric::cotton()).unwrap().gravity([0.0; 3]);
    let mut hail = Particles::new("hail").mass(0.002).radius(0.002).gravity([0.0; 3]);
    for k in 0..60 {
        let (along, across) = (f64::from(k % 8) - 3.5, f64::from(k / 8) - 3.5);
        hail.add([0.06 * along, 0.05 + 0.02 * f64::from(k % 7), 0.06 * across], [0.2, -1.5, 0.1]).unwrap();
    }
    let mut scene = Scene::new(Rate::hz(480));
    scene.contact("sheet", "rigid").friction(0.3);
    scene.contact("hail", "sheet").friction(0.2).restitution(0.5);
    scene.add(rigid).add(sheet).add(hail);
    let mut run = scene.build().unwrap();

    let momenta = |run: &mut Run| {
        ["rigid", "sheet", "hail"].map(|name| V3::from(run.simulator_ledger(name).unwrap().unwrap().momentum))
    };
    let booked = |run: &Run, follower: &str| {
        let ledgers = run.ledgers();
        let of = ledgers.iter().find(|ledger| ledger.follower == follower).unwrap();
        [of.used, of.got, of.pending].map(|wrench| V3::from(wrench.linear))
    };
    let start: V3 = momenta(&mut run).iter().sum();
    let mut last = (momenta(&mut run), booked(&run, "sheet"), booked(&run, "hail"));
    for window in 0..240 {
        run.advance().unwrap();
        let now = (momenta(&mut run), booked(&run, "sheet"), booked(&run, "hail"));
        let change = |k: usize| now.0[k] - last.0[k];
        let [used, got] = [0, 1].map(|k| now.1[k] - last.1[k]);
        let [hail_used, hail_got] = [0, 1].map(|k| now.2[k] - last.2[k]);
        // Rounding of momenta of the order of 0.3 N s.
        for (what, open) in [
            ("ball", change(0) - used),
            ("sheet", change(1) - hail_used + got),
            ("hail", change(2) + hail_got),
            ("all", now.0.iter().sum::<V3>() + now.1[2] + now.2[2] - start),
        ] {
            assert!(open.norm() < 1e-12, "window {window}, {what}: {open:?}");
        }
        assert!(run.ledgers().iter().all(|ledger| ledger.closure() < 1e-12));
        last = now;
    }
    // Both met: the hail was turned back by the sheet, the ball was slowed down by it.
    assert!(last.2[1].y < -0.05 && last.1[1].y < -0.05, "{:?}, {:?}", last.2[1], last.1[1]);
}
