//! Scenes that are scaled exactly.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
use nalgebra::Vector3;
use partita::prelude::*;
use partita_contact::ContactRates;

type V3 = Vector3<f64>;

/// Factors of lengths and times; those of masses and of gravity are 1. Roots of powers of 4 are exact.
const LENGTHS: f64 = 16.0;
const TIMES: f64 = 4.0;

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

/// Positions of the vertices at the end of each window, relative to the factor of lengths [m].
type Course = Vec<Vec<V3>>;

/// Half a second in which a cloth falls on a ball and a block; where it is coupled by some scheme, another ball falls on it there.
fn course<C: Simulator + 'static>(
    cloth: C,
    of: impl Fn(&C) -> Vec<V3> + Send + Sync + Copy + 'static,
    [length, time]: [f64; 2],
    coupled: Option<&Scheme>,
) -> Course {
    let mut rigid = RigidBodies::new("rigid");
    let ball = Body::fixed(Shape::ball(0.1 * length)).at([0.0, 0.0, 0.0]).friction(0.3).restitution(0.5);
    rigid.add("ball", ball).unwrap();
    let block = Body::fixed(Shape::cuboid([0.1 * length; 3])).at([-0.03, 0.05, 0.1].map(|x| x * length));
    rigid.add("block", block.friction(0.3)).unwrap();
    let mut scene = Scene::new(Rate::hz(100.0 / time));
    let mut falling = RigidBodies::new("falling");
    let body = Body::dynamic(Shape::ball(0.03 * length)).mass(0.05).friction(0.3).restitution(0.3);
    let speed = length / time;
    let body = body.at([-0.05, 0.3, 0.1].map(|x| x * length)).velocity([0.1 * speed, -speed, 0.0]);
    let body = falling.add("body", body).unwrap();
    scene.contact("cloth", "rigid");
    if let Some(scheme) = coupled {
        scene.scheme(scheme.clone()).contact("cloth", "falling");
    }
    scene.add(rigid).add(falling).add(cloth);
    let mut run = scene.build().unwrap();
    let window = |_| {
        run.advance().unwrap();
        let mut positions = run.look("cloth", move |cloth: &C| of(cloth)).unwrap();
        if coupled.is_some() {
            positions.push(run.state(body).unwrap().position.into());
        }
        positions.iter().map(|x| x / length).collect()
    };
    (0..50).map(window).collect()
}

/// The course of a cloth of some method, and that of the scaled scene.
fn both(method: &str, pins: &[u32], coupled: Option<&dyn Fn([f64; 2]) -> Scheme>) -> [Course; 2] {
    [[1.0, 1.0], [LENGTHS, TIMES]].map(|scale| {
        let [length, time] = scale;
        let (mesh, rates) = (sheet(length), rates(scale));
        let scheme = coupled.map(|scheme| scheme(scale));
        match method {
            "implicit" => {
                let mut cloth = ImplicitCloth::new("cloth", mesh, fabric(scale)).unwrap().contact_rates(rates);
                cloth.pin(pins).unwrap();
                course(cloth, |cloth| cloth.positions().to_vec(), scale, scheme.as_ref())
            }
            "ibds" => {
                let net = Net::sheet(&mesh, 0.02 / (length * length)).unwrap();
                let cloth = IbdsCloth::new("cloth", net).unwrap().thickness(4e-3 * length).self_contact(true);
                let mut cloth = cloth.contact_rates(rates);
                cloth.pin(pins).unwrap();
                course(cloth, |cloth| cloth.positions().to_vec(), scale, scheme.as_ref())
            }
            _ => {
                let cloth = AviCloth::new("cloth", mesh, fabric(scale)).unwrap();
                let mut cloth = cloth.contact_rates(rates).contact_interval(0.01 * time);
                cloth.pin(pins).unwrap();
                course(cloth, AviCloth::positions, scale, scheme.as_ref())
            }
        }
    })
}

fn assert_same([plain, scaled]: &[Course; 2], what: &str) {
    let bits = |positions: &[V3]| positions.iter().map(|x| x.map(f64::to_bits)).collect::<Vec<_>>();
    let differ = plain.iter().zip(scaled).position(|(plain, scaled)| bits(plain) != bits(scaled));
    assert_eq!(differ, None, "{what}: first window that differs, of {}", plain.len());
}

/// Lengths times 16 and times times 4, with rates of contact scaled as well, are the same scene to the bit: contact has no length, time
/// or rate of its own that is not a parameter. A sheet folds over a ball and the corner of a block.
#[test]
fn exactly_scaled_scenes_are_the_same_to_the_bit() {
    for method in ["implicit", "ibds", "avi"] {
        let both = both(method, &[], None);
        assert!(both[0].last().unwrap().iter().any(|x| x.y < 0.05), "{method}: met nothing");
        assert_same(&both, method);
    }
}

/// So are coupled ones: a ball with friction and restitution falls on a sheet that is pinned at its corners, and presses it on the block.
#[test]
fn exactly_scaled_coupled_scenes_are_the_same_to_the_bit() {
    let mut sample = Sample::one_in(3);
    let interleaved = |_: [f64; 2]| Scheme::Interleaved;
    let relaxed = |[length, time]: [f64; 2]| {
        Relaxed::default().tolerance(1e-3).floor(1e-9 * length / (time * time)).gap(1e-3 * length).into()
    };
    for (name, scheme) in [("interleaved", &interleaved as &dyn Fn([f64; 2]) -> Scheme), ("relaxed", &relaxed)] {
        for method in ["implicit", "ibds", "avi"] {
            if sample.leaves_out() {
                continue;
            }
            let both = both(method, &[0, 9, 90, 99], Some(scheme));
            let what = format!("{method}, {name}");
            // It would fall by 1.7 m without the sheet; on the block it is at 0.13 m.
            let height = both[0].last().unwrap().last().unwrap().y;
            assert!((0.1..0.2).contains(&height), "{what}: ends at {height} m, and not on the block");
            assert_same(&both, &what);
        }
    }
}
