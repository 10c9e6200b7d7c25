//! Scenes that are scaled exactly.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita::prelude::*;
use partita_contact::ContactRates;

type V3 = Vector3<f64>;

/// Factors of lengths and times; those of masses and of gravity are 1.
const LENGTHS: f64 = 4.0;
const TIMES: f64 = 2.0;

/// Rates of contact that are not the default ones, in a scene of such lengths and times.
fn rates([length, time]: [f64; 2]) -> ContactRates {
    ContactRates {
        depenetration: 5.0 / time,
        restitution_threshold: 0.2 * length / time,
        slip_tolerance: 3e-4 * length / time,
    }
}

/// A sheet with a corner pinned, of cells that fold, over a fixed ball and a fixed box.
fn sheet(length: f64) -> Mesh {
    let mesh = Mesh::grid([9, 9], [0.4 * length, 0.4 * length]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    mesh.at([-0.2 * length, 0.16 * length, -0.23 * length]).unwrap()
}

fn fabric([length, time]: [f64; 2]) -> Fabric {
    let cotton = Fabric::cotton();
    let per_length = time * time;
    Fabric {
        density: cotton.density / (length * length),
        stretch: cotton.stretch.map(|stiffness| 0.1 * stiffness / per_length),
        shear: 0.1 * cotton.shear / per_length,
        bend: cotton.bend.map(|stiffness| stiffness * length * length / per_length),
        damping: cotton.damping * time,
        bend_damping: cotton.bend_damping * time,
        thickness: 4.0 * cotton.thickness * length,
        ..cotton
    }
}

/// Positions relative to the factor of lengths, after half a second of a scene in which a cloth falls on what stands
/// there `[m]`.
fn fallen<C: Simulator + 'static>(
    cloth: C,
    of: impl FnOnce(&C) -> Vec<V3> + Send + 'static,
    [length, time]: [f64; 2],
) -> Vec<[u64; 3]> {
    let mut rigid = RigidBodies::new("rigid");
    let ball = Body::fixed(Shape::ball(0.1 * length)).at([0.0, 0.0, 0.0]).friction(0.3).restitution(0.5);
    rigid.add("ball", ball).unwrap();
    let block = Body::fixed(Shape::cuboid([0.1 * length; 3])).at([0.15 * length, 0.05 * length, -0.1 * length]);
    rigid.add("block", block.friction(0.3)).unwrap();
    let mut scene = Scene::new(Rate::hz(100.0 / time));
    scene.contact("cloth", "rigid");
    scene.add(rigid).add(cloth);
    let mut run = scene.build().unwrap();
    for _ in 0..50 {
        run.advance().unwrap();
    }
    let positions = run.look("cloth", |cloth: &C| of(cloth)).unwrap();
    assert!(positions.iter().any(|x| x.y < 0.05 * length), "met nothing");
    positions.iter().map(|x| (x / length).map(f64::to_bits).into()).collect()
}

/// Lengths times 4 and times times 2, with rates of contact scaled as well, are the same scene to the bit: contact has
/// no length, time or rate of its own that is not a parameter. A sheet folds over a ball and the corner of a block.
#[test]
fn exactly_scaled_scenes_are_the_same_to_the_bit() {
    let implicit = |[length, time]: [f64; 2]| {
        let cloth = ImplicitCloth::new("cloth", sheet(length), fabric([length, time])).unwrap();
        let cloth = cloth.contact_rates(rates([length, time]));
        fallen(cloth, |cloth| cloth.positions().to_vec(), [length, time])
    };
    let impulses = |[length, time]: [f64; 2]| {
        let net = Net::sheet(&sheet(length), 0.02).unwrap();
        let cloth = IbdsCloth::new("cloth", net).unwrap().thickness(4e-3 * length).self_contact(true);
        let cloth = cloth.contact_rates(rates([length, time]));
        fallen(cloth, |cloth| cloth.positions().to_vec(), [length, time])
    };
    let asynchronous = |[length, time]: [f64; 2]| {
        let cloth = AviCloth::new("cloth", sheet(length), fabric([length, time])).unwrap();
        let cloth = cloth.contact_rates(rates([length, time])).contact_interval(0.01 * time);
        fallen(cloth, AviCloth::positions, [length, time])
    };
    for (name, run) in [
        ("implicit", &implicit as &dyn Fn([f64; 2]) -> Vec<[u64; 3]>),
        ("impulses", &impulses),
        ("asynchronous", &asynchronous),
    ] {
        let (plain, scaled) = (run([1.0, 1.0]), run([LENGTHS, TIMES]));
        let differ = plain.iter().zip(&scaled).filter(|(plain, scaled)| plain != scaled).count();
        assert_eq!(differ, 0, "{name}: of {} positions", plain.len());
    }
}
