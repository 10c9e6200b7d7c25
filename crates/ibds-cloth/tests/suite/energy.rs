//! Links give no energy where no obstacle touches, and all of what they give is in the momentum balance.

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Net, Optimisations, Solver};
use partita_mesh::Mesh;
use partita_simulator::{HandleState, Inputs, Ledger, Outcome, Simulator};

type V3 = Vector3<f64>;

const SOLVERS: [Solver; 4] = [Solver::Auto, Solver::Newton, Solver::Paths, Solver::GaussSeidel(Optimisations::ALL)];

/// Numbers from -1 to 1, from a seed: splitmix64 (S. Vigna).
struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> V3 {
        V3::from_fn(|_, _| self.signed())
    }
}

/// A sheet, moving at random, and one to four random particles of it.
fn sheet(seed: u64, solver: Solver, frame: V3) -> (IbdsCloth, Vec<u32>, f64) {
    let mut random = Random(seed.wrapping_mul(7919));
    let cells = 4 + (seed % 5) as u32;
    let mesh = Mesh::grid([cells; 2], [0.4; 2]).unwrap();
    let count = mesh.vertices().len();
    let mut cloth = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.15).unwrap()).unwrap();
    cloth = cloth.solver(solver).self_contact(false).extensibility([0.01, 1e-3][(seed / 5 % 2) as usize]);
    let velocities: Vec<[f64; 3]> = (0..count).map(|_| (frame + random.vector()).into()).collect();
    cloth = cloth.with_velocities(&velocities).unwrap();
    let mut pins: Vec<u32> = (0..=seed % 4).map(|_| ((0.5 + 0.4999 * random.signed()) * count as f64) as u32).collect();
    pins.sort_unstable();
    pins.dedup();
    (cloth, pins, [60.0, 120.0, 240.0][(seed % 3) as usize])
}

fn energy(ledger: &Ledger) -> f64 {
    ledger.kinetic + ledger.potential
}

/// A sheet that hangs from fixed particles never has more energy than at the start. A step gains no
/// more than it takes to lift the sheet by the error of length that links may have: at rest there is
/// no kinetic energy that could pay for that. Its momentum changes by the impulses from outside,
/// which is exact up to rounding.
#[test]
fn a_hanging_sheet_gains_no_energy() {
    for seed in 100..160 {
        let (mut cloth, pins, rate) = sheet(seed, SOLVERS[(seed % 4) as usize], V3::zeros());
        cloth.pin(&pins).unwrap();
        let start = cloth.ledger().unwrap();
        let rounding = 1e-9 * start.kinetic;
        // The sheet's diagonal.
        let lift = 9.81 * start.mass * cloth.parameters().extensibility * 0.57;
        let mut before = start;
        for step in 0..60 {
            cloth.step(1.0 / rate, Inputs::NONE).unwrap();
            let now = cloth.ledger().unwrap();
            let [gain, whole] = [&before, &start].map(|ledger| energy(&now) - energy(ledger));
            assert!(whole <= rounding, "seed {seed}, step {step}: {whole:e} J since the start");
            assert!(gain <= rounding + lift, "seed {seed}, step {step}: {gain:e} J, {lift:e} J for errors");
            let [had, has] =
                [&before, &now].map(|ledger| V3::from(ledger.momentum) - V3::from(ledger.external.unwrap().linear));
            assert!((has - had).norm() < 1e-14, "seed {seed}, step {step}: {has} was {had}");
            before = now;
        }
    }
}

/// A sheet whose layers touch each other gains no more than that either, in steps that start and end
/// with links as they are asked to be; besides, contacts may lift it by the error that they may have,
/// a tenth of the thickness.
#[test]
fn a_sheet_that_touches_itself_gains_no_energy() {
    let mut converged = 0;
    for seed in 300..600 {
        let (cloth, pins, rate) = sheet(seed, SOLVERS[(seed % 4) as usize], V3::zeros());
        let mut cloth = cloth.self_contact(true).thickness(4e-3);
        cloth.pin(&pins).unwrap();
        let mut before = cloth.ledger().unwrap();
        let lift = 9.81 * before.mass * (cloth.parameters().extensibility * 0.57 + 0.1 * 4e-3);
        let mut was_right = true;
        for step in 0..120 {
            let is_right = cloth.step(1.0 / rate, Inputs::NONE).unwrap().outcome == Outcome::Converged;
            let now = cloth.ledger().unwrap();
            if was_right && is_right {
                converged += 1;
                let gain = energy(&now) - energy(&before);
                assert!(gain <= lift, "seed {seed}, step {step}: {gain:e} J, {lift:e} J for errors");
            }
            let [had, has] =
                [&before, &now].map(|ledger| V3::from(ledger.momentum) - V3::from(ledger.external.unwrap().linear));
            assert!((has - had).norm() < 1e-14, "seed {seed}, step {step}: {has} was {had}");
            (before, was_right) = (now, is_right);
        }
    }
    assert!(converged > 15_000, "{converged} of 36,000 steps");
}

/// A sheet that a hand carries at a steady velocity moves as one whose pins rest, seen from there.
/// So without a gain in one frame there is none in the other. The error is rounding, amplified where
/// the two pass tolerances apart.
#[test]
fn a_steady_frame_changes_nothing() {
    let frame = V3::new(3.0, -2.0, 1.0);
    for seed in 200..220 {
        let solver = SOLVERS[(seed % 4) as usize];
        let [still, moving] = [V3::zeros(), frame].map(|frame| {
            let (cloth, pins, rate) = sheet(seed, solver, frame);
            let mut cloth = cloth.self_contact(seed % 2 == 0).thickness(4e-3);
            cloth.pin_along("hand", &pins, move |t| HandleState::point(t * frame, frame)).unwrap();
            (0..20).for_each(|_| drop(cloth.step(1.0 / rate, Inputs::NONE).unwrap()));
            cloth.velocities().iter().map(|v| v - frame).collect::<Vec<V3>>()
        });
        for (still, moving) in still.iter().zip(&moving) {
            assert!((still - moving).norm() < 1e-6, "seed {seed}: {still} m/s, {moving} in a frame that moves");
        }
    }
}
