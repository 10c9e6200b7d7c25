//! What cloth on a device has to do with the world, and with the same cloth on the CPU.

mod device;

use std::sync::Arc;

use device::{gpu, is_there};
use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Integrator, Link, LinkKind, Net, Optimisations, Solver};
use partita_ibds_cloth_gpu::{IbdsClothGpu, Solver as OnDevice, groups};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Guide, HandleState, Inputs, Motion, Outcome, Simulator, SimulatorError, Wrench};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const G: f64 = 9.81;

/// A sheet of n x n cells that lies level, a metre wide, its links in the order of their groups; and its far edge.
fn sheet(n: u32) -> (Net, Vec<u32>) {
    let mesh = Mesh::grid([n, n], [1.0, 1.0]).unwrap().turned([1.0, 0.0, 0.0], -1.5).unwrap();
    let edges: Vec<[u32; 2]> = mesh.edges().iter().map(|edge| edge.vertices).collect();
    let in_groups: Vec<[u32; 2]> = groups(&edges).into_iter().flatten().map(|k| edges[k as usize]).collect();
    let masses = vec![0.2 / f64::from((n + 1) * (n + 1)); mesh.vertices().len()];
    let net = Net::new(&mesh.positions(), &masses).unwrap().bars(in_groups).unwrap();
    (net, mesh.edge(Side::Top).unwrap())
}

fn on_device(net: Net) -> IbdsClothGpu {
    IbdsClothGpu::new("cloth", net, &gpu()).unwrap()
}

fn step(cloth: &mut impl Simulator) -> Outcome {
    cloth.step(H, Inputs::NONE).unwrap().outcome
}

/// The largest error of a link, of its length.
fn worst(links: &[Link], x: &[V3]) -> f64 {
    let of = |link: &Link| {
        let [i, j] = link.particles.map(|k| x[k as usize]);
        ((j - i).norm() / link.rest_length - 1.0).abs()
    };
    links.iter().map(of).fold(0.0, f64::max)
}

/// As far as one is from the other, particle by particle.
fn apart(a: &[V3], b: &[V3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Bars and ropes, some of which give way, and springs across, in the order of their groups; all a twentieth of a link from where they
/// should be, and moving. Few sweeps, so that the order of all corrections counts: places are as far apart as 32 bits round, and velocities
/// and what it took to hold some of it accordingly. Exact, so that no path is let be on one side and not on the other.
#[test]
fn it_sweeps_as_the_cpu_does() {
    if !is_there() {
        return;
    }
    let (net, edge) = sheet(6);
    let (links, places) = (net.links().to_vec(), net.positions().to_vec());
    let wild = |k: usize, of: f64| V3::new((7.0 * k as f64).sin(), (3.0 * k as f64).cos(), (5.0 * k as f64).sin()) * of;
    let begin: Vec<[f64; 3]> = places.iter().enumerate().map(|(k, x)| (x + wild(k, 0.05 / 6.0)).into()).collect();
    let speeds: Vec<[f64; 3]> = (0..places.len()).map(|k| wild(k + 1, 0.5).into()).collect();
    let mut mixed = Net::new(&places.iter().map(|&x| x.into()).collect::<Vec<_>>(), net.masses()).unwrap();
    for (k, link) in links.iter().enumerate() {
        let pair = [link.particles];
        mixed = if k % 3 == 0 { mixed.ropes(pair) } else { mixed.bars(pair) }.unwrap();
        // All up to here.
        mixed = if k == links.len() / 2 { mixed.compliance(1e-4).unwrap() } else { mixed };
    }
    let across = (0..places.len() as u32 - 9).map(|k| [k, k + 9]);
    let mixed = mixed.springs(across, 2.0, 1e-3).unwrap();
    let solvers = [(Solver::GaussSeidel(Optimisations::NONE), OnDevice::Links), (Solver::Paths, OnDevice::Paths)];
    for (integrator, (on_cpu, on_gpu)) in
        [Integrator::SymplecticEuler, Integrator::Parabola].into_iter().flat_map(|i| solvers.map(|solver| (i, solver)))
    {
        for tolerance in [None, Some(0.05)] {
            let mut here = IbdsCloth::new("cloth", mixed.clone()).unwrap();
            let mut there = on_device(mixed.clone());
            here.pin(&edge).unwrap();
            there.pin(&edge).unwrap();
            let here = here.solver(on_cpu).extensibility(1e-5).velocity_tolerance(tolerance).substeps(2);
            let there = there.solver(on_gpu).extensibility(1e-5).velocity_tolerance(tolerance).substeps(2);
            let mut here = here.with_positions(&begin).unwrap().with_velocities(&speeds).unwrap();
            let mut there = there.with_positions(&begin).unwrap().with_velocities(&speeds).unwrap();
            let hand = |t: f64| HandleState::point([0.3 * t, 0.0, 0.0], [0.3, 0.0, 0.0]);
            here.pin_along("hand", &[44, 45], hand).unwrap();
            there.pin_along("hand", &[44, 45], hand).unwrap();
            let (mut here, mut there) =
                (here.integrator(integrator).max_iterations(3), there.integrator(integrator).max_iterations(3));
            // Loads, a hand that sets out, and a particle that is attached to what waits.
            let attached = |own| vec![Guide::Attachment { own }];
            here.follow(attached(here.particle(20))).unwrap();
            there.follow(attached(there.particle(20))).unwrap();
            let waits: Arc<[HandleState]> = [HandleState::point(begin[20], [0.0; 3])].into();
            let motions = vec![Some(Motion { begin: waits.clone(), end: waits })];
            let push = |particle| vec![(particle, Wrench::force([0.2, 0.1, -0.3]))];
            let [a, b] = [
                here.step(H, &Inputs { loads: push(here.particle(9)), motions: motions.clone(), ..Inputs::default() })
                    .unwrap(),
                there.step(H, &Inputs { loads: push(there.particle(9)), motions, ..Inputs::default() }).unwrap(),
            ];
            assert_eq!(a.iterations, b.iterations);
            let [a, b] = [&a, &b].map(|report| V3::from(report.reactions[0].impulse.linear));
            // Rows between what is held are singular but for a ten thousandth of the diagonal, by which roundings of 1e-7 become as much larger.
            let more = if on_gpu == OnDevice::Links { 1.0 } else { 150.0 };
            assert!((a - b).norm() < 1e-4 * more * a.norm() && a.norm() > 0.0, "{on_gpu:?}: {a:?} {b:?}");
            let off = [apart(here.positions(), there.positions()), apart(here.velocities(), there.velocities())];
            // Of a metre, and of that in a part of a step.
            assert!(
                off[0] < 1e-6 * more && off[1] < 1e-6 * more / (0.5 * H),
                "{integrator:?}, {on_gpu:?}, {tolerance:?}: {off:?}"
            );
            let external = |cloth: &dyn Simulator| cloth.ledger().unwrap().external.unwrap();
            let [a, b] = [external(&here), external(&there)];
            let off = [V3::from(a.linear) - V3::from(b.linear), V3::from(a.angular) - V3::from(b.angular)];
            let [scale, turn] = [V3::from(a.linear).norm(), V3::from(a.angular).norm()];
            assert!(
                off[0].norm() < 1e-5 * more * scale && off[1].norm() < 1e-5 * more * (scale + turn),
                "{off:?} of {scale}, {turn}"
            );
        }
    }
}

/// The same cloth on the CPU: after a step as far apart as 32 bits round, after a hundred both as long as they may be.
#[test]
fn it_swings_as_on_the_cpu() {
    if !is_there() {
        return;
    }
    let (net, edge) = sheet(8);
    let links = net.links().to_vec();
    let mut here = IbdsCloth::new("cloth", net.clone()).unwrap();
    let mut there = on_device(net);
    here.pin(&edge).unwrap();
    there.pin(&edge).unwrap();
    let mut here = here.solver(Solver::GaussSeidel(Optimisations::NONE)).max_iterations(500);
    let mut there = there.solver(OnDevice::Links).max_iterations(500);
    for k in 0..100 {
        let [a, b] = [step(&mut here), step(&mut there)];
        assert!(a == Outcome::Converged && b == Outcome::Converged, "{k}: {a:?} {b:?}");
        let off = apart(here.positions(), there.positions());
        assert!(k > 0 || off < 1e-5, "{off} m");
    }
    assert!(worst(&links, here.positions()) <= 0.01 && worst(&links, there.positions()) <= 0.01 + 1e-5);
    let [a, b] = [here.ledger().unwrap(), there.ledger().unwrap()];
    let [a, b] = [a.kinetic + a.potential, b.kinetic + b.potential];
    // Of what it fell: what is left alone in one and not in the other makes them go apart in time.
    assert!((a - b).abs() < 0.05 * 0.2 * G * 0.5, "{a} J, {b} J");
}

/// Cloths that share a device, each stepped by a thread of its own, do what they do alone.
#[test]
fn cloths_share_a_device() {
    if !is_there() {
        return;
    }
    let run = || {
        let (net, edge) = sheet(5);
        let mut cloth = on_device(net);
        cloth.pin(&edge).unwrap();
        (0..40).for_each(|_| drop(step(&mut cloth)));
        cloth.snapshot(None).to_bytes()
    };
    let alone = run();
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(run)).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == alone));
}

/// Two runs give the same bits, also where one is interrupted by going back, and for any number of sweeps between looks at the flags: the
/// first run knows nothing of how many it will take.
#[test]
fn two_runs_give_the_same_bits() {
    if !is_there() {
        return;
    }
    let run = |goes_back: bool| {
        let (net, edge) = sheet(6);
        let mut cloth = on_device(net);
        cloth.pin(&edge[..1]).unwrap();
        let mut cloth = cloth.max_iterations(50);
        for k in 0..300 {
            if goes_back && k % 7 == 3 {
                let mark = cloth.snapshot(None);
                step(&mut cloth);
                cloth.retract(&mark).unwrap();
            }
            step(&mut cloth);
        }
        cloth.snapshot(None).to_bytes()
    };
    assert_eq!(run(false), run(true));
}

/// In real time sweeps that are too many do nothing: the same bits as with looks in between, whether there are too many or too few.
#[test]
fn real_time_gives_the_same_bits() {
    if !is_there() {
        return;
    }
    let run = |real_time: bool, solver: OnDevice, max_iterations: u32| {
        let (net, edge) = sheet(6);
        let mut cloth = on_device(net);
        cloth.pin(&edge).unwrap();
        let mut cloth = cloth.solver(solver).max_iterations(max_iterations).velocity_tolerance(Some(0.05));
        cloth = cloth.real_time(real_time);
        let outcomes: Vec<Outcome> = (0..30).map(|_| step(&mut cloth)).collect();
        (outcomes, cloth.positions().to_vec(), cloth.velocities().to_vec())
    };
    for (solver, max_iterations) in
        [(OnDevice::Links, 5), (OnDevice::Links, 150), (OnDevice::Paths, 2), (OnDevice::Paths, 70)]
    {
        assert!(
            run(true, solver, max_iterations) == run(false, solver, max_iterations),
            "{solver:?}, {max_iterations}"
        );
    }
}

/// What falls freely does so exactly, to what 32 bits round in a hundred steps; a weight on a rope that gives way hangs by m g c; a spring
/// between two particles swings about its length.
#[test]
fn exact_solutions() {
    if !is_there() {
        return;
    }
    let net = Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0, 3.0]).unwrap();
    let mut falling =
        on_device(net).integrator(Integrator::Parabola).with_velocities(&[[0.0; 3], [0.0, 2.0, 0.0]]).unwrap();
    (0..100).for_each(|_| drop(step(&mut falling)));
    for (k, up) in [0.0, 2.0].into_iter().enumerate() {
        assert!((falling.positions()[k].y - (up - 0.5 * G)).abs() < 1e-5, "{:?}", falling.positions());
    }

    let compliance = 1e-3;
    let net = Net::new(&[[0.0; 3], [0.0, -1.0, 0.0]], &[1.0, 2.0]).unwrap().ropes([[0, 1]]).unwrap();
    let mut hanging = on_device(net.compliance(compliance).unwrap());
    hanging.pin(&[0]).unwrap();
    let mut hanging = hanging.extensibility(1e-6);
    (0..1000).for_each(|_| drop(step(&mut hanging)));
    // Damped by steps as long as this, it rests after a hundred of its periods.
    let off = -hanging.positions()[1].y - 1.0 - 2.0 * G * compliance;
    assert!(off.abs() < 1e-4, "{off} m");
    // And what holds it bears its weight.
    let external = |cloth: &IbdsClothGpu| V3::from(cloth.ledger().unwrap().external.unwrap().linear);
    let before = external(&hanging);
    step(&mut hanging);
    let gained = external(&hanging) - before;
    assert!(gained.norm() < 1e-3 * 3.0 * G * H, "{gained:?}");

    let net = Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0, 1.0]).unwrap().springs([[0, 1]], 100.0, 1.0).unwrap();
    let mut swinging = on_device(net).gravity([0.0; 3]).with_positions(&[[0.0; 3], [1.1, 0.0, 0.0]]).unwrap();
    (0..1000).for_each(|_| drop(step(&mut swinging)));
    let x = swinging.positions();
    // Half the damping by mass and spring, e^(-1 t): nothing is left after ten seconds.
    assert!(((x[1] - x[0]).norm() - 1.0).abs() < 1e-4 && (x[0].x + x[1].x - 1.1).abs() < 1e-5, "{x:?}");
}

/// A chain that swings keeps its length, and a rope is slack until it is as long as it may be.
#[test]
fn ropes_do_not_push() {
    if !is_there() {
        return;
    }
    let run = |kind: LinkKind| {
        let net = Net::new(&[[0.0; 3], [0.5, 0.0, 0.0]], &[1.0, 1.0]).unwrap();
        let net = if kind == LinkKind::Rope { net.ropes([[0, 1]]) } else { net.bars([[0, 1]]) }.unwrap();
        let mut cloth = on_device(net);
        cloth.pin(&[0]).unwrap();
        let mut cloth = cloth.with_positions(&[[0.0; 3], [0.2, 0.0, 0.0]]).unwrap();
        step(&mut cloth);
        (cloth.positions()[1] - cloth.positions()[0]).norm()
    };
    assert!((run(LinkKind::Bar) - 0.5).abs() < 0.005 && run(LinkKind::Rope) < 0.21);
}

/// Paths are all corrected in the first sweep, also those within what they may be off; and in none does a particle go farther than a link is
/// long, however far off it is.
#[test]
fn paths_are_put_right_but_not_thrown_about() {
    if !is_there() {
        return;
    }
    let chain = |stretched: &dyn Fn(u32) -> [f64; 3]| {
        let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], 10, 1.0).unwrap();
        let begin: Vec<[f64; 3]> = (0..11).map(stretched).collect();
        let cloth = on_device(net).gravity([0.0; 3]).max_iterations(1).with_positions(&begin).unwrap();
        (cloth, begin)
    };
    let (mut cloth, _) = chain(&|k| [0.1005 * f64::from(k), 0.0, 0.0]);
    step(&mut cloth);
    assert!(worst(cloth.net().links(), cloth.positions()) < 1e-3, "{:?}", cloth.positions());
    // Every second particle far to the side.
    let (mut cloth, begin) = chain(&|k| [0.01 * f64::from(k), f64::from(k % 2), 0.3 * f64::from(k / 3 % 2)]);
    step(&mut cloth);
    for (x, begin) in cloth.positions().iter().zip(begin) {
        assert!((x - V3::from(begin)).norm() < 0.1 * (1.0 + 1e-5), "{x:?} from {begin:?}");
    }
}

/// What is wrong is refused with its name, and changes nothing.
#[test]
fn what_is_wrong_is_refused() {
    if !is_there() {
        return;
    }
    let refused = |result: Result<IbdsClothGpu, SimulatorError>| match result {
        Ok(_) => panic!("not refused"),
        Err(error) => error.to_string(),
    };
    let (net, _) = sheet(4);
    let far = Net::new(&[[0.0; 3], [1e4, 0.0, 0.0], [1e4 + 0.1, 0.0, 0.0]], &[1.0; 3]).unwrap().bars([[1, 2]]).unwrap();
    let message = refused(on_device(far).checked());
    assert!(message.contains("extensibility") && message.contains("32 bits"), "{message}");
    assert!(refused(on_device(net.clone()).extensibility(1e-8).checked()).contains("extensibility"));
    let light = Net::new(&[[0.0; 3]], &[1e-60]).unwrap();
    assert!(refused(IbdsClothGpu::new("cloth", light, &gpu())).contains("32 bits"));
    let stiff = net.clone().springs([[0, 1]], 1e39, 0.0).unwrap();
    assert!(refused(IbdsClothGpu::new("cloth", stiff, &gpu())).contains("32 bits"));
    assert!(refused(on_device(net.clone()).velocity_tolerance(Some(1e-50)).checked()).contains("32 bits"));
    assert!(refused(on_device(net.clone()).substeps(1 << 20).checked()).contains("substeps"));
    assert!(refused(on_device(net.clone()).with_positions(&[[1e300; 3]; 25])).contains("32 bits"));

    let mut cloth = on_device(net);
    let before = cloth.snapshot(None).to_bytes();
    let load =
        |force: f64| Inputs { loads: vec![(cloth.particle(3), Wrench::force([force, 0.0, 0.0]))], ..Inputs::default() };
    let (huge, light, fine) = (load(1e200), load(-1e37), load(1.0));
    for load in [huge, light] {
        assert!(cloth.step(H, &load).unwrap_err().to_string().contains("particle 3"));
    }
    assert!(cloth.step(1e-30, &fine).unwrap_err().to_string().contains("dt"));
    assert_eq!(cloth.snapshot(None).to_bytes(), before);
}
