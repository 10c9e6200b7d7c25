//! Cloth between two bodies bears what lies on it.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

const G: f64 = 9.81;
const DOWN: [f64; 3] = [0.0, -G, 0.0];
const NONE: [f64; 3] = [0.0; 3];

/// Distance that cloth keeps from a body's surface `[m]`: half of its thickness of 1 mm.
const ROOM: f64 = 0.5e-3;

fn mesh() -> Mesh {
    let mesh = Mesh::grid([12; 2], [0.3; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    mesh.at([-0.15, ROOM, -0.15]).unwrap()
}

fn cloths(gravity: [f64; 3]) -> [(&'static str, Box<dyn Simulator>); 3] {
    [
        ("implicit", Box::new(ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap().gravity(gravity))),
        ("ibds", Box::new(IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap().gravity(gravity))),
        ("avi", Box::new(AviCloth::new("cloth", mesh(), Fabric::jersey()).unwrap().gravity(gravity))),
    ]
}

/// Boxes of such masses `[kg]` on top of each other on cloth on a floor of their world or another
/// one, or on a table of such a mass that stands on it `[kg]`.
#[derive(Clone, Copy, Debug)]
struct Pile {
    masses: &'static [f64],
    table: Option<f64>,
    worlds: usize,
    hz: f64,
}

/// Weight, relative to its own, that a pile gets from the cloth, the weight on the floor or table
/// likewise, and the smallest, largest and last height of its lowest box above where it belongs
/// there `[m]`. Weights are means over the second half of `seconds`.
fn resting(cloth: Box<dyn Simulator>, pile: Pile, scheme: Scheme, seconds: f64) -> [f64; 5] {
    let Pile { masses, table, worlds, hz } = pile;
    let mut rigid = RigidBodies::new("rigid");
    let half = 0.05;
    let at = [0.01, 2.0 * ROOM + half, 0.02];
    let boxes: Vec<HandleId> = (0..)
        .zip(masses)
        .map(|(k, &mass)| {
            let at = [at[0], at[1] + 2.0 * half * f64::from(k), at[2]];
            rigid.add(&format!("box {k}"), Body::dynamic(Shape::cuboid([2.0 * half; 3])).mass(mass).at(at)).unwrap()
        })
        .collect();
    let mut other = RigidBodies::new("other");
    let world = if worlds == 1 { &mut rigid } else { &mut other };
    let top = if table.is_some() { -0.05 } else { 0.0 };
    let floor = Body::fixed(Shape::cuboid([1.0, 0.2, 1.0])).at([0.0, top - 0.1, 0.0]);
    let mut floor = world.add("floor", floor).unwrap();
    if let Some(mass) = table {
        let table = Body::dynamic(Shape::cuboid([0.6, 0.05, 0.6])).mass(mass).at([0.0, -0.025, 0.0]);
        floor = world.add("table", table).unwrap();
    }
    let mut scene = Scene::new(Rate::hz(hz));
    scene.scheme(scheme).contact("cloth", "rigid").friction(0.5);
    if worlds == 2 {
        scene.contact("cloth", "other").friction(0.5);
        scene.add(other);
    }
    scene.add(rigid).add_boxed(cloth);
    let mut run = scene.build().unwrap();
    let (windows, weight) = ((seconds * hz) as u32, G * masses.iter().sum::<f64>());
    let above = |run: &mut Run| {
        let [lowest, floor] = [boxes[0], floor].map(|body| run.state(body).unwrap().position[1]);
        lowest - floor - at[1] - if table.is_some() { 0.025 } else { 0.1 }
    };
    let (mut low, mut high, mut borne) = (0.0_f64, 0.0_f64, [0.0; 2]);
    for window in 0..windows {
        run.advance().unwrap();
        let now = above(&mut run);
        (low, high) = (low.min(now), high.max(now));
        if window >= windows / 2 {
            for load in run.loads() {
                let k = usize::from(load.handle == floor);
                borne[k] += load.load.linear[1] / (weight * f64::from(windows - windows / 2));
            }
        }
    }
    [borne[0], borne[1], low, high, above(&mut run)]
}

fn schemes() -> [Scheme; 2] {
    [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()]
}

/// A box rests on cloth on the floor where it belongs, two rooms above it, in the floor's world or
/// another one: the cloth bears its weight, and the floor that of both, to 1 %. Its height stays
/// within the thickness, and ends where it belongs, to a fiftieth of that: cloth is at rest to less
/// than that after half a second.
#[test]
fn cloth_on_the_floor_bears_what_lies_on_it() {
    let mut sample = Sample::one_in(8);
    for masses in [&[0.1], &[1.0], &[20.0]] {
        for (worlds, hz) in [(1, 60.0), (1, 120.0), (1, 240.0), (2, 60.0), (2, 120.0), (2, 240.0)] {
            for scheme in schemes() {
                // Asynchronous cloth takes seconds each.
                let number = if worlds == 1 && hz == 120.0 && scheme == Scheme::Interleaved { 3 } else { 2 };
                bears(&mut sample, Pile { masses, table: None, worlds, hz }, scheme, number, [0.01, 0.04], 0.5);
            }
        }
    }
}

/// So does a pile of boxes, of which the cloth touches the lowest alone. Of unequal masses it still rocks
/// a little at the end.
#[test]
fn cloth_on_the_floor_bears_a_pile() {
    let mut sample = Sample::one_in(8);
    let even = [&[1.0, 1.0][..], &[0.1, 0.1], &[20.0; 3], &[1.0, 0.1]].map(|masses| (masses, [0.01, 0.1]));
    let uneven = [&[1.0, 3.0][..], &[1.0, 10.0], &[3.0, 0.3, 1.0]].map(|masses| (masses, [0.03, 1.5]));
    for (number, (masses, bounds)) in even.into_iter().chain(uneven).enumerate() {
        for (k, (worlds, hz)) in [(1, 60.0), (1, 120.0), (1, 240.0), (2, 60.0)].into_iter().enumerate() {
            bears(
                &mut sample,
                Pile { masses, table: None, worlds, hz },
                schemes()[(number + k) % 2].clone(),
                2,
                bounds,
                0.8,
            );
        }
    }
}

/// And so does cloth on a table that stands on the floor, of a quarter of what lies on it or more:
/// the floor bears the table, so it does not yield.
#[test]
fn cloth_on_a_table_bears_what_lies_on_it() {
    let mut sample = Sample::one_in(8);
    let even = [&[1.0][..], &[0.1], &[1.0, 1.0]].map(|masses| (masses, [0.01, 0.1]));
    let heavy = [&[1.0, 3.0][..], &[20.0]].map(|masses| (masses, [0.03, 1.5]));
    for (number, (masses, bounds)) in even.into_iter().chain(heavy).enumerate() {
        let tables = [1.0, 10.0, 100.0].into_iter().filter(|table| 4.0 * table >= masses.iter().sum::<f64>());
        for (k, table) in tables.enumerate() {
            for (worlds, hz) in [(1, 60.0), (2, 60.0), (2, 120.0)] {
                let pile = Pile { masses, table: Some(table), worlds, hz };
                bears(&mut sample, pile, schemes()[(number + k) % 2].clone(), 2, bounds, 0.8);
            }
        }
    }
}

/// Implicit cloth bears a box of twenty times the table's mass: an impulse on both as free bodies
/// would be one twentieth of its weight.
#[test]
fn cloth_on_a_light_table_bears_a_heavy_box() {
    let mut sample = Sample::one_in(3);
    for (hz, table) in [(60.0, 1.0), (120.0, 1.0), (240.0, 0.5)] {
        let pile = Pile { masses: &[20.0], table: Some(table), worlds: 1, hz };
        bears(&mut sample, pile, Scheme::Interleaved, 1, [0.03, 1.5], 0.8);
    }
}

/// Checks that the first so many cloths bear a pile: to the first bound relative to its weight, and ending
/// where it belongs to the second one in rooms.
fn bears(sample: &mut Sample, pile: Pile, scheme: Scheme, number: usize, bounds: [f64; 2], seconds: f64) {
    for (kind, cloth) in cloths(DOWN).into_iter().take(number) {
        if sample.leaves_out() {
            continue;
        }
        let own = cloth.ledger().unwrap().mass / pile.masses.iter().sum::<f64>();
        let [above, below, low, high, end] = resting(cloth, pile, scheme.clone(), seconds);
        let what = format!("{kind}, {pile:?}, {scheme:?}");
        assert!((above - 1.0).abs() < bounds[0], "{what}: bears {above}");
        assert!((below + 1.0 + own).abs() < bounds[0], "{what}: {below} on the floor or table");
        assert!(end.abs() < bounds[1] * ROOM, "{what}: ends at {end} m");
        assert!(low > -2.0 * ROOM && high < 2.0 * ROOM, "{what}: {low} to {high} m");
    }
}

/// Friction of cloth on a floor slows a ball down that spins on it, also by several turns a window, and never drives it.
#[test]
fn friction_slows_down_what_spins_by_several_turns_a_window() {
    for spin in [80.0, 110.0, 198.0, 400.0] {
        for (kind, cloth) in cloths(DOWN).into_iter().take(2) {
            let mut rigid = RigidBodies::new("rigid");
            rigid.add("floor", Body::fixed(Shape::cuboid([1.0, 0.2, 1.0])).at([0.0, -0.1, 0.0])).unwrap();
            let ball = Body::dynamic(Shape::ball(0.04)).mass(0.5).at([0.0, 0.0412, 0.0]).spin([0.0, 0.0, spin]);
            let ball = rigid.add("ball", ball).unwrap();
            let mut scene = Scene::new(Rate::hz(30.0));
            scene.contact("cloth", "rigid").friction(1.0);
            scene.add(rigid).add_boxed(cloth);
            let mut run = scene.build().unwrap();
            let mut last = spin;
            for _ in 0..6 {
                run.advance().unwrap();
                last = run.state(ball).unwrap().spin[2];
                // It may roll back and forth where it lies, but it is never driven faster, nor the other way round.
                assert!(last < 1.01 * spin && last > -0.1 * spin, "{kind}: {spin} to {last} rad/s");
            }
            assert!(last < 0.999 * spin, "{kind}: {spin} to {last} rad/s");
        }
    }
}

/// Cloth whose right edge a hand pulls with such an acceleration `[m/s²]`.
fn pulled(kind: &str, acceleration: f64) -> Box<dyn Simulator> {
    let fabrics = [Fabric::denim().thickness(2.0 * ROOM), Fabric::jersey().stretch(1000.0)];
    by_hand(kind, &mesh(), fabrics, 0.15, acceleration)
}

/// Cloth of a mesh whose right edge a hand pulls with such an acceleration `[m/s²]`. The fabrics are
/// those of implicit and asynchronous cloth, `density` is that of IBDS cloth `[kg/m²]`.
fn by_hand(kind: &str, mesh: &Mesh, fabrics: [Fabric; 2], density: f64, acceleration: f64) -> Box<dyn Simulator> {
    let edge = mesh.edge(Side::Right).unwrap();
    let script = move |t: f64| HandleState {
        position: [0.5 * acceleration * t * t, 0.0, 0.0],
        velocity: [acceleration * t, 0.0, 0.0],
        ..HandleState::default()
    };
    let [of_implicit, of_avi] = fabrics;
    match kind {
        "implicit" => {
            let mut cloth = ImplicitCloth::new("cloth", mesh.clone(), of_implicit).unwrap();
            cloth.pin_along("hand", &edge, script).unwrap();
            Box::new(cloth)
        }
        "ibds" => {
            let mut cloth = IbdsCloth::new("cloth", Net::sheet(mesh, density).unwrap()).unwrap();
            cloth.pin_along("hand", &edge, script).unwrap();
            Box::new(cloth)
        }
        _ => {
            let mut cloth = AviCloth::new("cloth", mesh.clone(), of_avi).unwrap();
            cloth.pin_along("hand", &edge, script).unwrap();
            Box::new(cloth)
        }
    }
}

/// A weight on cloth on a floor in another world, shifted along the pull `[m]`, as the cloth is
/// pulled away: its velocity along the pull at the last of two times `[m/s]`, its mean acceleration
/// between them `[m/s²]`, and its height at the end above where it belongs `[m]`.
fn on_pulled(
    cloth: Box<dyn Simulator>,
    weight: Body,
    shift: f64,
    height: f64,
    friction: f64,
    hz: f64,
    times: [f64; 2],
) -> [f64; 3] {
    let mut rigid = RigidBodies::new("rigid");
    let at = [0.01 + shift, 2.0 * ROOM + 0.5 * height, 0.02];
    let weight = rigid.add("weight", weight.at(at)).unwrap();
    let mut other = RigidBodies::new("other");
    other.add("floor", Body::fixed(Shape::cuboid([4.0, 0.2, 4.0])).at([0.0, -0.1, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(hz));
    scene.contact("cloth", "rigid").friction(friction);
    scene.contact("cloth", "other").friction(friction);
    scene.add(rigid).add(other).add_boxed(cloth);
    let mut run = scene.build().unwrap();
    let [first, last] = times.map(|time| {
        let rest = time - run.time();
        run.for_seconds(rest).unwrap();
        // Windows are whole.
        (run.time(), run.state(weight).unwrap().velocity[0])
    });
    let mean = (last.1 - first.1) / (last.0 - first.0);
    [last.1, mean, run.state(weight).unwrap().position[1] - at[1]]
}

fn crate_of(mass: f64) -> (Body, f64) {
    (Body::dynamic(Shape::cuboid([0.1; 3])).mass(mass), 0.1)
}

fn puck(mass: f64) -> (Body, f64) {
    (Body::dynamic(Shape::cylinder_y(0.04, 0.05)).mass(mass), 0.04)
}

/// Cloth that is pulled with less than μ g takes along what lies on it. Bodies answer to a window
/// in the next one, so they are behind by the acceleration times one to two windows; stick-slip of
/// the cloth itself, whose stretch under the friction of the floor is 1 to 3 %, is as much again: 6
/// % of the speed that the cloth has come to, in the mean of starts a millimetre apart. Stick-slip
/// is chaotic: starts 1e-9 m apart differ by up to 4 %.
#[test]
fn cloth_that_is_pulled_slowly_takes_along_what_lies_on_it() {
    let mut sample = Sample::one_in(5);
    for (kind, (body, height), friction, acceleration, hz) in [
        ("implicit", crate_of(0.3), 0.5, 1.0, 240.0),
        ("implicit", puck(0.2), 0.3, 0.7, 160.0),
        ("ibds", crate_of(1.0), 0.5, 1.0, 240.0),
        ("ibds", puck(0.3), 0.4, 1.5, 200.0),
        ("avi", puck(0.1), 0.5, 1.0, 120.0),
    ] {
        if sample.leaves_out() {
            continue;
        }
        let times = [0.25, 0.5];
        let along = [0.0, 1e-3, -1e-3].map(|shift| {
            let body = body.clone();
            let [v, _, up] = on_pulled(pulled(kind, acceleration), body, shift, height, friction, hz, times);
            assert!(up.abs() < ROOM, "{kind}, {friction}, {acceleration} m/s², {hz} Hz: {up} m above");
            v / (acceleration * times[1])
        });
        let mean = along.iter().sum::<f64>() / 3.0;
        let what = format!("{kind}, {friction}, {acceleration} m/s², {hz} Hz: at {along:?} of the speed");
        assert!((mean - 1.0).abs() < 0.06 && along.iter().all(|along| (along - 1.0).abs() < 0.1), "{what}");
    }
}

/// Cloth that is pulled away faster than that slides away underneath, and gives what lies on it μ
/// g, by 5 % in the mean of starts a millimetre apart. In any one of them it gives no more, and may
/// give a fifth less: a body that hops bears on the cloth the later.
#[test]
fn cloth_that_is_pulled_fast_slides_away_underneath() {
    let mut sample = Sample::one_in(5);
    for (kind, (body, height), friction, acceleration, hz) in [
        ("implicit", crate_of(1.0), 0.5, 20.0, 240.0),
        ("implicit", puck(0.3), 0.3, 15.0, 400.0),
        ("ibds", crate_of(1.0), 0.5, 10.0, 240.0),
        ("ibds", puck(0.3), 0.3, 12.0, 240.0),
        ("avi", puck(0.2), 0.3, 15.0, 240.0),
    ] {
        if sample.leaves_out() {
            continue;
        }
        let given = [0.0, 1e-3, -1e-3, 2e-3, -2e-3].map(|shift| {
            let (cloth, times) = (pulled(kind, acceleration), [0.04, 0.1]);
            let [_, mean, up] = on_pulled(cloth, body.clone(), shift, height, friction, hz, times);
            assert!(up.abs() < ROOM, "{kind}, {friction}, {acceleration} m/s², {hz} Hz: {up} m above");
            mean / (friction * G)
        });
        let mean = given.iter().sum::<f64>() / 5.0;
        let what = format!("{kind}, {friction}, {acceleration} m/s², {hz} Hz: {given:?} of μ g");
        assert!((mean - 1.0).abs() < 0.05 && given.iter().all(|given| (0.8..1.05).contains(given)), "{what}");
    }
}

/// A plate that starts so high `[m]` above where it belongs on cloth on a table of its own world,
/// which a hand pulls with such an acceleration `[m/s²]`: how far it comes in half a second, how
/// far the cloth under its middle does, its height above where it belongs `[m]`, and its upward
/// velocity after the first window `[m/s]`.
fn plate_on(kind: &str, fabrics: [Fabric; 2], acceleration: f64, plate: [f64; 3], lift: f64, hz: f64) -> [f64; 4] {
    let mesh = Mesh::grid([24, 16], [0.6, 0.4]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.3, ROOM, -0.2]).unwrap();
    let cloth = by_hand(kind, &mesh, fabrics, 0.3, acceleration);
    let mut rigid = RigidBodies::new("rigid");
    let ([mass, radius, height], z) = (plate, 0.01);
    let level = 2.0 * ROOM + 0.5 * height;
    let plate = Body::dynamic(Shape::cylinder_y(height, radius)).mass(mass).at([0.0, level + lift, z]);
    let plate = rigid.add("plate", plate).unwrap();
    rigid.add("table", Body::fixed(Shape::cuboid([3.0, 0.1, 2.0])).at([0.0, -0.05, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(hz));
    scene.contact("cloth", "rigid").friction(0.3);
    scene.add(rigid).add_boxed(cloth);
    let mut run = scene.build().unwrap();
    run.advance().unwrap();
    let rises = run.state(plate).unwrap().velocity[1];
    run.for_seconds(0.5 - run.time()).unwrap();
    let at = run.state(plate).unwrap().position;
    let picture = run.picture().unwrap();
    let now = picture.surfaces.iter().find(|surface| surface.simulator == "cloth").unwrap().vertices();
    let middle = mesh.vertices().iter().zip(&now).filter(|(x, _)| x[0].hypot(x[2] - z) < 0.6 * radius);
    let ways: Vec<f64> = middle.map(|(x, now)| now[0] - x[0]).collect();
    [at[0], ways.iter().sum::<f64>() / ways.len() as f64, at[1] - level, rises]
}

/// A plate comes along with cloth as soft as jersey, at any rate, from a fall of half a millimetre or
/// from where it belongs to the last bit: all vertices under it bear it, and slide on the table. It
/// slips by up to 8 % of the way, at first, while the cloth is stretched up to it, and lies two rooms
/// above the table, to a twentieth of one.
#[test]
fn a_plate_comes_along_with_soft_cloth() {
    let mut sample = Sample::one_in(5);
    for kind in ["implicit", "ibds", "avi"] {
        for (mass, lift, hz) in [(0.5, ROOM, 240.0), (0.5, ROOM, 480.0), (0.1, 0.0, 480.0)] {
            if sample.leaves_out() {
                continue;
            }
            let fabrics = [Fabric::jersey(), Fabric::jersey().undamped()];
            let [way, below, above, _] = plate_on(kind, fabrics, 0.5, [mass, 0.1, 0.02], lift, hz);
            let what = format!("{kind}, {mass} kg, {hz} Hz");
            assert!(way > 0.92 * below && way < 1.01 * below, "{what}: {way} m, and its cloth {below} m");
            assert!(above.abs() < 0.05 * ROOM, "{what}: {above} m too high");
        }
    }
}

/// A light plate that starts where it belongs on stiff implicit cloth comes along with a third of μ
/// g, at rates whose windows are about as long as the time that contacts are made stiff for. The
/// first window gives it no more velocity than gravity would. It slips by 3 % of the way at most,
/// and lies as high as on soft cloth.
#[test]
fn a_light_plate_comes_along_with_stiff_cloth() {
    let mut sample = Sample::one_in(3);
    for (mass, lift, hz) in [(0.1, 0.0, 480.0), (0.1, 0.0, 960.0), (0.03, -1e-6, 960.0)] {
        if sample.leaves_out() {
            continue;
        }
        let fabrics = [Fabric::cotton(), Fabric::jersey()];
        let [way, below, above, rises] = plate_on("implicit", fabrics, 1.0, [mass, 0.07, 0.03], lift, hz);
        let what = format!("{mass} kg, {lift} m above, {hz} Hz");
        assert!(rises < G / hz, "{what}: rises with {rises} m/s after a window");
        assert!(way > 0.97 * below && way < 1.01 * below, "{what}: {way} m, and its cloth {below} m");
        assert!(above.abs() < 0.05 * ROOM, "{what}: {above} m too high");
    }
}

/// A ball that presses cloth onto a free body gives what it loses to both, friction included.
#[test]
fn what_is_pressed_keeps_momentum() {
    for number in 0..3 {
        for (friction, hz) in [(0.3, 60.0), (0.3, 240.0), (0.0, 60.0)] {
            let mut rigid = RigidBodies::new("rigid").gravity(NONE);
            rigid.add("block", Body::dynamic(Shape::cuboid([0.4; 3])).mass(2.0).at([0.0, -0.2, 0.0])).unwrap();
            let ball = Body::dynamic(Shape::ball(0.04)).mass(0.1).at([0.01, 0.15, -0.03]);
            rigid.add("ball", ball.velocity([0.4, -2.0, 0.0])).unwrap();
            let mut scene = Scene::new(Rate::hz(hz));
            scene.contact("cloth", "rigid").friction(friction);
            let (kind, cloth) = cloths(NONE).into_iter().nth(number).unwrap();
            scene.add(rigid).add_boxed(cloth);
            let mut run = scene.build().unwrap();
            let momentum = |run: &mut Run| {
                let [cloth, rigid] = ["cloth", "rigid"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
                let pending = run.ledgers()[0].pending.linear;
                [0, 1, 2].map(|k| cloth.momentum[k] + rigid.momentum[k] + pending[k])
            };
            let start = momentum(&mut run);
            for window in 0..(0.3 * hz) as u32 {
                run.advance().unwrap();
                let now = momentum(&mut run);
                let open = (0..3).map(|k| (now[k] - start[k]).abs()).fold(0.0, f64::max);
                assert!(open < 1e-10, "{kind}, {friction}, {hz} Hz, window {window}: {open} N s of 0.2");
            }
        }
    }
}
