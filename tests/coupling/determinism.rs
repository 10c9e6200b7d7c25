//! The same bits: in any number of threads, on any of them, in fresh processes, after trials, and
//! for simulators that never touch (rows R10, R11, R14, R17, R18, L4, X13).

use std::{f64::consts::FRAC_PI_2, process::Command};

use crate::common::{following_mass, free_mass, hanging_chain, hash, tied_masses};
use partita::{Rewind, prelude::*, simulator::Inputs};

/// Crates, a chain and a jet: three kinds at once, with contacts that come and go.
fn busy(scheme: Scheme, threads: bool) -> Run {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([20.0, 1.0, 20.0])).at([0.0, -0.5, 0.0])).unwrap();
    for i in 0..6 {
        let (x, y) = (0.05 * f64::from(i % 2), 0.25 + 0.5 * f64::from(i));
        rigid.add(&format!("crate {i}"), Body::dynamic(Shape::cuboid([0.5; 3])).mass(2.0).at([x, y, 0.0])).unwrap();
    }
    let top = rigid.body("crate 5").unwrap();
    let links: Vec<_> = (0..5).map(|i| [0.05 + 0.1 * f64::from(i), 3.0, 0.0]).collect();
    let chain = partita::simulator::reference::ChainParameters { mass: 0.01, ..Default::default() };
    let chain = partita::simulator::reference::Chain::new("chain", &links, chain).unwrap();
    let emitter = Emitter::disc([-2.0, 1.8, 0.0], 0.2).direction([1.0, 0.0, 0.0]).speed(12.0).rate(12_000.0).seed(5);
    // More than rayon's share of one piece, so that the pool is used.
    let jet = Particles::new("jet").mass(6e-4).emit(emitter);
    let mut scene = Scene::new(Rate::hz(240));
    scene.attach(chain.point(0), top);
    scene.contact("jet", "rigid").friction(0.3).restitution(0.4);
    scene.add(rigid).add(chain).add(jet).scheme(scheme).threads(threads);
    scene.build().unwrap()
}

const NAMES: [&str; 3] = ["rigid", "chain", "jet"];

const CHILD: &str = "PARTITA_TEST_CHILD";

/// One hash from twenty fresh processes with 1 to 32 threads in rayon's pool, simulators in line
/// and on threads of their own.
#[test]
fn fresh_processes_and_any_number_of_threads_give_one_hash() {
    let hash_here = |threads: bool| {
        let mut run = busy(Scheme::Interleaved, threads);
        run.for_seconds(0.5).unwrap();
        hash(&mut run, &NAMES)
    };
    if let Ok(threads) = std::env::var(CHILD) {
        println!("\nhash {:016x}", hash_here(threads == "true"));
        return;
    }
    let expected = format!("hash {:016x}", hash_here(false));
    for k in 0..20 {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["determinism::fresh_processes_and_any_number_of_threads_give_one_hash", "--exact", "--nocapture"]);
        child
            .env(CHILD, (k / 6 % 2 == 1).to_string())
            .env("RAYON_NUM_THREADS", [1, 2, 3, 7, 16, 32][k % 6].to_string());
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&expected), "process {k}: not {expected} but\n{text}");
    }
}

/// X13, by the compiler: a run and a simulator go to another thread, and since stepping either
/// takes `&mut`, no two threads can step one of them at once.
const _: () = {
    const fn goes_to_another_thread<T: Send + ?Sized>() {}
    goes_to_another_thread::<Run>();
    goes_to_another_thread::<Scene>();
    goes_to_another_thread::<dyn Simulator>();
};

/// The hash of each of `count` more windows.
fn hashes(run: &mut Run, count: usize) -> Vec<u64> {
    let mut next = || run.advance().map(|_| hash(run, &NAMES)).unwrap();
    (0..count).map(|_| next()).collect()
}

/// X13: which thread steps a run, and whether that changes on the way, does not matter.
#[test]
fn a_run_that_moves_to_another_thread_gives_the_same_bits() {
    for threads in [false, true] {
        let stayed = hashes(&mut busy(Scheme::Interleaved, threads), 90);
        let mut run = busy(Scheme::Interleaved, threads);
        let mut moved = hashes(&mut run, 30);
        let (mut run, there) = std::thread::spawn(move || {
            let there = hashes(&mut run, 30);
            (run, there)
        })
        .join()
        .unwrap();
        moved.extend(there);
        moved.extend(hashes(&mut run, 30));
        assert_eq!(moved, stayed, "threads: {threads}");
    }
}

/// X13: two runs that step at the same time, window by window, share nothing that shows.
#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    for threads in [false, true] {
        let make = || [busy(Scheme::Interleaved, threads), busy(Relaxed::default().passes(3).into(), threads)];
        let one_after_the_other = make().map(|mut run| hashes(&mut run, 60));
        let barrier = std::sync::Barrier::new(2);
        let at_once = std::thread::scope(|scope| {
            let start = |mut run: Run| {
                let step = || {
                    barrier.wait();
                    hashes(&mut run, 1)[0]
                };
                std::iter::repeat_with(step).take(60).collect::<Vec<_>>()
            };
            make().map(|run| scope.spawn(move || start(run))).map(|thread| thread.join().unwrap())
        });
        assert_eq!(at_once, one_after_the_other, "threads: {threads}");
    }
}

/// Going back in the middle of contact, under both schemes, gives the bits of a run that never left.
#[test]
fn a_busy_scene_rewinds_to_the_bit() {
    for scheme in [Scheme::Interleaved, Relaxed::default().passes(4).into()] {
        let mut run = busy(scheme, false);
        let mut hashes = vec![hash(&mut run, &NAMES)];
        for _ in 0..100 {
            run.advance().unwrap();
            hashes.push(hash(&mut run, &NAMES));
        }
        for back in [97, 60, 3] {
            run.rewind_to(back).unwrap();
            for window in back..100 {
                assert_eq!(
                    hash(&mut run, &NAMES),
                    hashes[window as usize],
                    "window {window} after going back to {back}"
                );
                run.advance().unwrap();
            }
        }
    }
}

/// R14: what an iteration commits is one step under the final load; trials leave no trace.
#[test]
fn a_relaxed_window_is_one_step_under_its_final_load() {
    let dt = 1.0 / 128.0;
    let (mut run, _) = tied_masses(1.0, 3.0, dt, Relaxed::default());
    let report = run.advance().unwrap();
    assert!(report.passes > 2, "{report:?}");
    let load = run.ledgers()[0].used.scaled(1.0 / dt);
    let spring = partita::simulator::reference::SpringParameters { gravity: [1.0, 0.0, 0.0], ..Default::default() };
    let mut alone = partita::simulator::reference::MassOnSpring::new("leader", spring).unwrap();
    let handle = alone.mass();
    alone.step(dt, &Inputs { loads: vec![(handle, load)], ..Inputs::default() }).unwrap();
    assert_eq!(run.state_bytes("leader").unwrap(), alone.snapshot(None).to_bytes());
}

/// R18: simulators that never touch do what they do alone, also where others iterate.
#[test]
fn simulators_that_never_touch_do_what_they_do_alone() {
    for scheme in [Scheme::Interleaved, Relaxed::default().into()] {
        for threads in [false, true] {
            untouched(scheme.clone(), threads);
        }
    }
}

fn untouched(scheme: Scheme, threads: bool) {
    let make = || {
        let mut rigid = RigidBodies::new("rigid");
        rigid.add("box", Body::dynamic(Shape::cuboid([0.3, 0.4, 0.5])).spin([1.0, 2.0, 3.0])).unwrap();
        let rain = Particles::new("rain")
            .drag(0.001)
            .emit(Emitter::disc([0.0, 3.0, 0.0], 1.0).rate(500.0).spread(0.2).speed(1.0));
        let mass = free_mass("mass", 1.0).started_at([0.0; 3], [1.0, 0.0, 0.0]).unwrap();
        (rigid, rain, mass)
    };
    let (rigid, rain, mass) = make();
    let mut scene = Scene::new(Rate::hz(128));
    let (leader, follower) = (free_mass("leader", 1.0), following_mass("follower", 2.0));
    let tied = leader.mass();
    scene.attach(follower.point(0), tied);
    scene.add(rigid).add(rain).add(mass).add(leader).add(follower).threads(threads).scheme(scheme.clone());
    let mut run = scene.build().unwrap();
    let (mut rigid, mut rain, mut mass) = make();
    for window in 0..64 {
        // Changing pushes keep the tied pair iterating.
        run.push(tied, Wrench::force([0.0, f64::from(window % 3), 0.0])).unwrap();
        let report = run.advance().unwrap();
        assert!(scheme == Scheme::Interleaved || window < 2 || report.passes > 1, "{report:?}");
        for simulator in [&mut rigid as &mut dyn Simulator, &mut rain, &mut mass] {
            simulator.step(1.0 / 128.0, Inputs::NONE).unwrap();
            assert_eq!(run.state_bytes(simulator.name()).unwrap(), simulator.snapshot(None).to_bytes());
        }
    }
}

/// A simulator without couplings takes each window once, also where contacts are iterated and where a second one joins
/// the iteration of the first: two light balls at different speeds on one sheet. At which speeds they come to it
/// in one window depends on how its waves run, so there are three.
#[test]
fn what_is_not_coupled_steps_once_where_contacts_are_iterated() {
    let mut most = 0;
    for fast in [5.0, 7.0, 9.0] {
        let mut rigid = RigidBodies::new("rigid");
        for (name, mass, x, speed) in [("slow", 1e-3, -0.12, 1.0), ("fast", 2e-3, 0.1, fast)] {
            let ball = Body::dynamic(Shape::ball(0.02)).mass(mass).at([x, 0.021, 0.0]).velocity([0.0, -speed, 0.0]);
            rigid.add(name, ball).unwrap();
        }
        let mesh = Mesh::grid([12; 2], [0.4; 2]).unwrap().at([-0.2, 0.0, 0.0]).unwrap();
        let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap().at([0.0, 0.0, -0.2]).unwrap();
        let net = Net::sheet(&mesh, 0.024).unwrap();
        let mass = || free_mass("mass", 1.0).started_at([0.0; 3], [1.0, 0.0, 0.0]).unwrap();
        let mut scene = Scene::new(Rate::hz(120));
        scene.contact("sheet", "rigid");
        scene.add(rigid).add(IbdsCloth::new("sheet", net).unwrap()).add(mass());
        let mut run = scene.build().unwrap();
        let mut mass = mass();
        for _ in 0..40 {
            most = most.max(run.advance().unwrap().passes);
            mass.step(1.0 / 120.0, Inputs::NONE).unwrap();
            assert_eq!(run.state_bytes("mass").unwrap(), mass.snapshot(None).to_bytes());
        }
    }
    // One set of iterated contacts has at most eight passes.
    assert!(most > 8, "at most {most} passes: no contact joined another");
}

/// R17 for the orchestrator: going back and on, ten thousand times, grows nothing but noise.
#[test]
fn going_back_again_and_again_does_not_grow_memory() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let (mut scene, _) = hanging_chain(200, 256.0);
    scene.rewind(Rewind { share: 1.0, marks: 8 });
    let mut run = scene.build().unwrap();
    run.for_seconds(0.1).unwrap();
    let cycle = |run: &mut Run| {
        run.advance().unwrap();
        run.advance().unwrap();
        run.rewind_to(run.windows() - 2).unwrap();
    };
    (0..1000).for_each(|_| cycle(&mut run));
    let Some(before) = resident() else { return println!("SKIPPED: no /proc/self/status") };
    (0..9000).for_each(|_| cycle(&mut run));
    let after = resident().unwrap();
    assert!(after < before + 1024, "{before} kB before, {after} kB after");
}

/// L4: a hundred simulators in one scene, a thousand handles loaded in every window.
#[test]
fn a_hundred_simulators_and_a_thousand_loads() {
    let mut scene = Scene::new(Rate::hz(240));
    let mut handles = Vec::new();
    for i in 0..50 {
        let (leader, follower) =
            (free_mass(&format!("leader {i}"), 2.0), following_mass(&format!("follower {i}"), 0.5));
        scene.attach(follower.point(0), leader.mass());
        handles.push(leader.mass());
        scene.add(leader).add(follower);
    }
    let mut dust = Particles::new("dust").gravity([0.0; 3]);
    for i in 0..1000 {
        handles.push(dust.add([f64::from(i), 10.0, 0.0], [0.0; 3]).unwrap());
    }
    scene.add(dust);
    let mut run = scene.build().unwrap();
    for _ in 0..20 {
        handles.iter().for_each(|&handle| run.push(handle, Wrench::force([0.0, 1e-3, 0.0])).unwrap());
        run.advance().unwrap();
    }
    let t = 20.0 / 240.0;
    let v = run.state(handles[50]).unwrap().velocity[1];
    assert!((v - t).abs() < 1e-12, "a gram under a millinewton moves at {v} m/s after {t} s");
    assert_eq!(run.ledgers().len(), 50);
}

/// R9 for a run: pictures, states, reports and looks between windows change nothing.
#[test]
fn looking_at_a_run_changes_nothing() {
    let mut runs = [busy(Scheme::Interleaved, false), busy(Scheme::Interleaved, true)];
    for _ in 0..60 {
        for run in &mut runs {
            run.advance().unwrap();
        }
        let [quiet, looked_at] = &mut runs;
        let crate_ = looked_at.look("rigid", |rigid: &RigidBodies| rigid.body("crate 3").unwrap()).unwrap();
        looked_at.state(crate_).unwrap();
        looked_at.picture().unwrap();
        looked_at.report().to_string();
        for name in NAMES {
            looked_at.simulator_ledger(name).unwrap();
        }
        assert_eq!(hash(quiet, &NAMES), hash(looked_at, &NAMES));
    }
}
