//! What meets something, or is taken by the hand, at once: nobody gives it energy.

use std::{f64::consts::FRAC_PI_2, sync::Arc};

use nalgebra::{UnitQuaternion, Vector3};
use partita_implicit_cloth::{ImplicitCloth, Integrator, Parameters};
use partita_mesh::Mesh;
use partita_simulator::{Guide, HandleState, Inputs, Motion, Simulator};

use crate::common::obstacle;

type V3 = Vector3<f64>;

const DT: f64 = 1.0 / 60.0;

/// From such a place going upwards so fast in a window.
fn rising(from: V3, step: u32, speed: f64) -> Motion {
    let at = |k: u32| Arc::new([HandleState::point(from + V3::y() * speed * DT * f64::from(k), [0.0, speed, 0.0])]);
    Motion { begin: at(step), end: at(step + 1) }
}

fn kinetic_and_all(cloth: &ImplicitCloth) -> [f64; 2] {
    let ledger = cloth.ledger().unwrap();
    [ledger.kinetic, ledger.kinetic + ledger.potential]
}

/// Cotton, 4 x 6 cells of 2 cm, that falls, turned and slanted, at 5 m/s onto what is at the origin.
fn falling(integrator: Integrator, slant: f64) -> ImplicitCloth {
    let mesh = Mesh::grid([4, 6], [0.08, 0.12]).unwrap();
    let turn = UnitQuaternion::from_scaled_axis(V3::z() * slant)
        * UnitQuaternion::from_scaled_axis(V3::x() * (slant - FRAC_PI_2))
        * UnitQuaternion::from_scaled_axis(V3::z() * 1.3);
    let middle = mesh.vertices().iter().sum::<V3>() / mesh.vertices().len() as f64;
    let placed: Vec<[f64; 3]> =
        mesh.vertices().iter().map(|x| (turn * (x - middle) + V3::new(0.01, 0.1, 0.02)).into()).collect();
    let parameters = Parameters { integrator, ..Parameters::default() };
    let velocities = vec![[0.5, -5.0, 0.3]; placed.len()];
    let cloth = ImplicitCloth::with_parameters("cloth", mesh, parameters).unwrap();
    cloth.with_positions(&placed).unwrap().with_velocities(&velocities).unwrap()
}

/// At 60 Hz no step adds more than a tenth of the energy that it came with, whatever it falls on. A floor pushes, and never pulls by more than the solver's tolerance of a thousandth.
#[test]
fn an_impact_gives_no_energy() {
    let rod = Mesh::capsule(1.0, 0.02, 16).and_then(|rod| rod.turned([0.0, 0.0, 1.0], FRAC_PI_2));
    let solids = [Mesh::cuboid([2.0, 0.04, 2.0]), Mesh::cuboid([0.03, 0.04, 0.03]), rod];
    for (solid, mesh) in solids.map(Result::unwrap).iter().enumerate() {
        for integrator in [Integrator::Linearised, Integrator::BackwardEuler, Integrator::Bdf2] {
            for slant in [0.0, 0.15, 0.3, 0.45] {
                let mut cloth = falling(integrator, slant);
                cloth.follow(vec![obstacle(mesh, 0.5)]).unwrap();
                let momentum = cloth.masses().iter().sum::<f64>() * 5.0;
                let [came_with, mut before] = kinetic_and_all(&cloth);
                for step in 0..30 {
                    let inputs = Inputs { motions: vec![Some(rising(V3::zeros(), step, 0.0))], ..Inputs::default() };
                    let report = cloth.step(DT, &inputs).unwrap();
                    let up: f64 = report.reactions.iter().map(|reaction| -reaction.impulse.linear[1]).sum();
                    assert!(
                        solid > 0 || up >= -1e-3 * momentum,
                        "{integrator:?}, slant {slant}, step {step}: {up} N s"
                    );
                    let [_, now] = kinetic_and_all(&cloth);
                    let gained = (now - before) / came_with;
                    assert!(gained < 0.1, "solid {solid}, {integrator:?}, slant {slant}, step {step}: gains {gained}");
                    before = now;
                }
            }
        }
    }
}

/// Work is theirs who do it: to cloth at rest that a floor hits from below at 5 m/s, or of which a hand or who it is attached to takes a
/// corner along, it is as if it came against them so fast. Seen from there nobody does any work, and no step gives it more than a tenth
/// of the energy of that and of its motion.
#[test]
fn who_moves_the_cloth_does_its_work() {
    let moves = V3::new(0.0, 5.0, 0.0);
    let seen_from_there = |cloth: &ImplicitCloth| {
        let of = |(m, v): (&f64, &V3)| 0.5 * m * (v - moves).norm_squared();
        cloth.masses().iter().zip(cloth.velocities()).map(of).sum::<f64>() + cloth.elastic_energy()
    };
    let semi_implicit = Integrator::SemiImplicit { damping: 0.1 };
    for integrator in [Integrator::Linearised, Integrator::BackwardEuler, Integrator::Bdf2, semi_implicit] {
        let at_rest = || {
            let cloth = falling(integrator, 0.3).with_velocities(&[[0.0; 3]; 35]).unwrap();
            cloth.gravity([0.0; 3])
        };
        let mut on_a_floor = at_rest();
        on_a_floor.follow(vec![obstacle(&Mesh::cuboid([2.0, 0.04, 2.0]).unwrap(), 0.5)]).unwrap();
        let mut by_hand = at_rest();
        let begin = by_hand.positions()[0];
        by_hand.pin_along("hand", &[0], move |t: f64| HandleState::point(begin + t * moves, moves)).unwrap();
        let mut attached = at_rest();
        attached.follow(vec![Guide::Attachment { own: attached.vertex(0) }]).unwrap();
        for (who, mut cloth, from) in
            [("floor", on_a_floor, V3::zeros()), ("hand", by_hand, begin), ("other", attached, begin)]
        {
            let came_with = seen_from_there(&cloth);
            let (mut before, mut parts) = (came_with, vec![]);
            for step in 0..40 {
                let motions = if who == "hand" { vec![] } else { vec![Some(rising(from, step, moves.y))] };
                parts.push(cloth.step(DT, &Inputs { motions, ..Inputs::default() }).unwrap().substeps);
                let now = seen_from_there(&cloth);
                let may = 0.1 * (came_with + kinetic_and_all(&cloth)[0]);
                assert!(now - before < may, "{integrator:?}, {who}, step {step}: {before} J, then {now} J");
                before = now;
            }
            // And needs no shorter steps once it goes along, unless the scheme itself keeps what it swings with.
            let keeps = integrator == semi_implicit;
            assert!(keeps || parts.ends_with(&[1; 10]), "{integrator:?}, {who}: {parts:?}");
        }
    }
}
