//! Cloth that is led where its links do not let it go.

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Net, Optimisations, Solver};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Guide, HandleState, Inputs, Motion, Outcome, Simulator};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const SOLVERS: [Solver; 5] = [
    Solver::Auto,
    Solver::Newton,
    Solver::Paths,
    Solver::GaussSeidel(Optimisations::NONE),
    Solver::GaussSeidel(Optimisations::ALL),
];

/// Leads the first guide's particle from where it starts at a speed `[m/s]`, for a step. What it took `[N s]`, and how the step went.
fn lead(cloth: &mut IbdsCloth, start: V3, velocity: V3) -> (V3, Outcome) {
    let at = |t: f64| HandleState::point(start + t * velocity, velocity);
    let (begin, end) = (cloth.time(), cloth.time() + H);
    let motion = Motion { begin: vec![at(begin)].into(), end: vec![at(end)].into() };
    let report = cloth.step(H, &Inputs { motions: vec![Some(motion)], ..Inputs::default() }).unwrap();
    (report.reactions.iter().map(|reaction| V3::from(reaction.impulse.linear)).sum(), report.outcome)
}

/// A link between two that are held cannot be put right: the report says so, but the others are swept about as often as without it.
#[test]
fn what_cannot_be_put_right_costs_no_sweeps() {
    for solver in SOLVERS {
        let after = |is_linked: bool| {
            let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
            let top = mesh.edge(Side::Top).unwrap();
            let (led, start) = (top[0], mesh.vertices()[top[0] as usize]);
            let edges = mesh.edges().iter().map(|edge| edge.vertices).filter(|ends| is_linked || !ends.contains(&led));
            let net = Net::new(&mesh.positions(), &[0.005; 42]).unwrap().bars(edges).unwrap();
            let mut cloth = IbdsCloth::new("sheet", net).unwrap().solver(solver).max_iterations(1000);
            // All that is linked to the one that is led.
            let beside: Vec<u32> = (0..42).filter(|k| (mesh.vertices()[*k as usize] - start).norm() < 0.15).collect();
            cloth.pin(&beside.iter().copied().filter(|k| *k != led).collect::<Vec<_>>()).unwrap();
            cloth.follow(vec![Guide::Attachment { own: cloth.particle(led) }]).unwrap();
            let mut sweeps = 0;
            for _ in 0..20 {
                let (_, outcome) = lead(&mut cloth, start, V3::new(-0.5, 0.0, 0.0));
                assert_eq!(outcome != Outcome::Converged, is_linked, "{solver:?}: {outcome:?}");
                sweeps += cloth.counts().iterations;
            }
            sweeps
        };
        // Paths are others where there are other links.
        let [with, without] = [true, false].map(after);
        assert!(with < without + without / 4, "{solver:?}: {with} sweeps, {without} without what cannot be put right");
    }
}

/// What is attached is held only while its guide moves it: without a motion a step is that of a net that was never attached, to the bit.
#[test]
fn what_is_let_go_is_as_if_never_held() {
    for solver in SOLVERS {
        let after = |is_attached: bool| {
            // Links in many directions at one particle, in paths of their own.
            let around = (0..12).map(|k| f64::from(k) * 0.5);
            let places: Vec<[f64; 3]> = [[0.0; 3]].into_iter().chain(around.map(|a| [a.cos(), a.sin(), 0.0])).collect();
            let net = Net::new(&places, &[0.01; 13]).unwrap().bars((1..13).map(|k| [0, k])).unwrap();
            let mut cloth = IbdsCloth::new("hub", net).unwrap().solver(solver).max_iterations(1000);
            cloth.pin(&[1, 3]).unwrap();
            if is_attached {
                cloth.follow(vec![Guide::Attachment { own: cloth.particle(0) }]).unwrap();
            }
            (0..20).for_each(|_| drop(cloth.step(H, Inputs::NONE).unwrap()));
            (cloth.positions().to_vec(), cloth.velocities().to_vec())
        };
        assert_eq!(after(true), after(false), "{solver:?}");
    }
}

/// A row of links that give way, led apart: each has the same tension, which all solvers find: stretch over compliance.
#[test]
fn what_is_led_apart_is_held_back_by_its_compliance() {
    let (links, compliance, speed) = (5, 1e-4, 0.1);
    for solver in SOLVERS {
        let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], links, 0.1).unwrap().compliance(compliance).unwrap();
        let cloth = IbdsCloth::new("row", net).unwrap().gravity([0.0; 3]).solver(solver);
        let mut cloth = cloth.extensibility(1e-6).max_iterations(10_000);
        cloth.pin(&[0]).unwrap();
        cloth.follow(vec![Guide::Attachment { own: cloth.particle(links) }]).unwrap();
        // Waves along the row, of which the longest takes 30 ms there and back, are damped within ten steps.
        let impulse = (0..100).map(|_| lead(&mut cloth, V3::x(), V3::new(speed, 0.0, 0.0)).0.x).last().unwrap();
        let expected = -H * speed * (100.0 * H) / (f64::from(links) * compliance);
        assert!((impulse / expected - 1.0).abs() < 1e-2, "{solver:?}: {impulse} N s, {expected}");
    }
}

/// A row that is led apart between what is held has no answer. The report says so; Newton's method pulls and throws no harder than half as
/// hard again as sweeps do; and a sheet of the same net hangs as it would alone.
#[test]
fn what_has_no_answer_stays_by_itself() {
    let links = 6;
    let start = V3::new(0.1 * f64::from(links), 0.0, 2.0);
    // Where the sheet ends up, what the row took at most `[N s]`, how fast it was `[m/s]`, and steps of Newton's method.
    let after = |solver: Solver, has_row: bool| {
        let mesh = Mesh::grid([6, 6], [0.6, 0.6]).unwrap();
        let n = mesh.vertices().len() as u32;
        let row = (0..=links).map(|k| [0.1 * f64::from(k), 0.0, 2.0]);
        let places: Vec<[f64; 3]> = mesh.positions().into_iter().chain(row.filter(|_| has_row)).collect();
        let of_row = (n + 1..places.len() as u32).map(|k| [k - 1, k]);
        let bars = mesh.edges().iter().map(|edge| edge.vertices).chain(of_row);
        let net = Net::new(&places, &vec![0.01; places.len()]).unwrap().bars(bars).unwrap();
        let mut cloth = IbdsCloth::new("both", net).unwrap().solver(solver).max_iterations(300);
        let top = mesh.edge(Side::Top).unwrap();
        cloth.pin(&[top[0], top[top.len() - 1]]).unwrap();
        if has_row {
            cloth.pin(&[n]).unwrap();
            cloth.follow(vec![Guide::Attachment { own: cloth.particle(n + links) }]).unwrap();
        }
        let (mut hardest, mut fastest, mut steps): (f64, f64, u32) = (0.0, 0.0, 0);
        for k in 0..100 {
            if has_row {
                let (reaction, outcome) = lead(&mut cloth, start, V3::new(0.5, 0.0, 0.0));
                // From the second step on it is more than a hundredth too long.
                assert!(k == 0 || matches!(outcome, Outcome::StoppedAt { .. }), "{solver:?}: {outcome:?}");
                hardest = hardest.max(reaction.norm());
                steps += cloth.counts().newton_steps;
                fastest = cloth.velocities()[n as usize..].iter().map(|v| v.norm()).fold(fastest, f64::max);
            } else {
                assert_eq!(cloth.step(H, Inputs::NONE).unwrap().outcome, Outcome::Converged);
            }
        }
        (cloth.positions()[..n as usize].to_vec(), hardest, fastest, steps)
    };
    let (_, hard, fast, _) = after(Solver::Paths, true);
    for solver in SOLVERS {
        let (with, hardest, fastest, steps) = after(solver, true);
        let (without, ..) = after(solver, false);
        let apart = with.iter().zip(&without).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        // A hundredth of the sheet's height: links that are right enough are left where they are.
        assert!(apart < 0.006, "{solver:?}: {apart} m from where it hangs alone");
        if matches!(solver, Solver::Newton | Solver::Auto) {
            assert!(
                steps > 100 && hardest < 1.5 * hard && fastest < 1.5 * fast,
                "{hardest} N s of {hard}, {fastest} m/s of {fast}"
            );
        }
    }
}
