//! Bad input: a typed error that names the culprit, and nothing changed.

use crate::common::*;
use partita_particles::{Attractor, Emitter, Parameters, Particles, Vortex};
use partita_simulator::{Guide, HandleId, HandleState, Inputs, Simulator, SimulatorError, Wrench};

fn scene() -> Particles {
    let mut p = Particles::new("p").emit(Emitter::point([0.0; 3]));
    p.add([0.0, 1.0, 0.0], [0.0; 3]).unwrap();
    p.add([1.0, 1.0, 0.0], [0.0; 3]).unwrap();
    p
}

type Setter = fn(Particles, f64) -> Particles;

const VORTEX: Vortex = Vortex { centre: [0.0; 3], axis: [0.0, 1.0, 0.0], circulation: 1.0, core: 0.1 };
const ATTRACTOR: Attractor = Attractor { centre: [0.0; 3], strength: 1.0, softening: 0.1 };

/// Every number that can be set, and a word of the message about it.
const SETTERS: [(&str, Setter); 24] = [
    ("mass", |p, x| p.mass(x)),
    ("radius", |p, x| p.radius(x)),
    ("gravity", |p, x| p.gravity([0.0, x, 0.0])),
    ("drag", |p, x| p.drag(x)),
    ("quadratic_drag", |p, x| p.quadratic_drag(x)),
    ("wind", |p, x| p.wind([x, 0.0, 0.0])),
    ("centre", |p, x| p.vortex(Vortex { centre: [0.0, x, 0.0], ..VORTEX })),
    ("axis", |p, x| p.vortex(Vortex { axis: [0.0, x, 0.0], ..VORTEX })),
    ("circulation", |p, x| p.vortex(Vortex { circulation: x, ..VORTEX })),
    ("core", |p, x| p.vortex(Vortex { core: x, ..VORTEX })),
    ("centre", |p, x| p.attractor(Attractor { centre: [0.0, x, 0.0], ..ATTRACTOR })),
    ("strength", |p, x| p.attractor(Attractor { strength: x, ..ATTRACTOR })),
    ("softening", |p, x| p.attractor(Attractor { softening: x, ..ATTRACTOR })),
    ("centre", |p, x| p.emit(Emitter::point([x, 0.0, 0.0]))),
    ("size", |p, x| p.emit(Emitter::disc([0.0; 3], x))),
    ("size", |p, x| p.emit(Emitter::cuboid([0.0; 3], [1.0, x, 1.0]))),
    ("direction", |p, x| p.emit(Emitter::point([0.0; 3]).direction([x, 0.0, 0.0]))),
    ("rate", |p, x| p.emit(Emitter::point([0.0; 3]).rate(x))),
    ("speed", |p, x| p.emit(Emitter::point([0.0; 3]).speed(x))),
    ("spread", |p, x| p.emit(Emitter::point([0.0; 3]).spread(x))),
    ("lifetime", |p, x| p.emit(Emitter::point([0.0; 3]).lifetime(x))),
    ("start", |p, x| p.emit(Emitter::point([0.0; 3]).start(x))),
    ("stop", |p, x| p.emit(Emitter::point([0.0; 3]).stop(x))),
    ("emitter 1, start", |p, x| p.emit(Emitter::point([0.0; 3]).start(x))),
];

/// NaN and infinity are refused by name everywhere; 1e300, −1e300 and subnormal numbers are refused, make a
/// step fail, or give finite numbers: never a panic or anything else.
#[test]
fn no_setter_lets_bad_numbers_into_a_state() {
    for (word, set) in SETTERS {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut p = set(scene(), bad);
            let before = p.snapshot(None).to_bytes();
            let error = p.step(0.01, Inputs::NONE).unwrap_err();
            assert!(matches!(&error, SimulatorError::Refused { thing, .. } if thing.contains(word)), "{error}");
            assert_eq!(p.add([0.0; 3], [0.0; 3]).unwrap_err(), error);
            assert_eq!(p.follow(vec![]).unwrap_err(), error);
            assert_eq!(p.snapshot(None).to_bytes(), before);
            assert_eq!(p.checked().err(), Some(error));
        }
        for odd in [1e300, -1e300, 5e-324, -5e-324, 0.0, -1.0] {
            let mut p = set(scene(), odd);
            for _ in 0..3 {
                let before = p.snapshot(None).to_bytes();
                if p.step(0.01, Inputs::NONE).is_err() {
                    assert_eq!(p.snapshot(None).to_bytes(), before);
                }
            }
            let numbers = p.positions().iter().chain(p.velocities()).flat_map(|v| v.iter());
            assert!(numbers.into_iter().all(|x| x.is_finite()), "{word} = {odd}");
        }
    }
}

#[test]
fn negative_masses_and_the_like_are_refused_by_name() {
    for (thing, p) in [
        ("mass", scene().mass(0.0)),
        ("mass", scene().mass(-1.0)),
        ("radius", scene().radius(-0.1)),
        ("drag", scene().drag(-1.0)),
        ("spread", scene().emit(Emitter::point([0.0; 3]).spread(4.0))),
        ("direction", scene().emit(Emitter::point([0.0; 3]).direction([0.0; 3]))),
    ] {
        let error = p.checked().err().unwrap().to_string();
        assert!(error.contains(thing), "{error}");
    }
}

#[test]
fn unknown_parameters_are_refused() {
    let parameters = Parameters { drag: 0.25, emitters: vec![Emitter::point([1.0; 3])], ..Parameters::default() };
    let bytes = serde_json::to_string(&parameters).unwrap();
    assert_eq!(serde_json::from_str::<Parameters>(&bytes).unwrap(), parameters);
    assert!(serde_json::from_str::<Parameters>(r#"{"mass": 1.0}"#).is_ok());
    for wrong in [r#"{"mas": 1.0}"#, r#"{"emitters": [{"rat": 1.0}]}"#, r#"{"mass": null}"#] {
        assert!(serde_json::from_str::<Parameters>(wrong).is_err(), "{wrong}");
    }
}

/// dt 0, negative, NaN, infinite: refused. 1e-12 and 1e3: taken, on a floor too.
#[test]
fn steps_of_any_length() {
    for dt in [0.0, -0.01, f64::NAN, f64::INFINITY] {
        let mut p = scene();
        assert!(matches!(p.step(dt, Inputs::NONE), Err(SimulatorError::Refused { .. })));
        assert_eq!((p.time(), p.len()), (0.0, 2));
    }
    for dt in [1e-12, 1e3, 5e-324] {
        let mut p = scene();
        p.follow(vec![obstacle(sheet(10.0, 2), 0.5, 0.5)]).unwrap();
        for _ in 0..3 {
            step_still(&mut p, 1, dt);
        }
        assert!(p.positions()[..2].iter().all(|x| x.y > 0.0), "{:?}", p.positions());
    }
}

/// Foreign and unknown handles, loads that overflow, particles placed too late.
#[test]
fn handles_and_loads_are_checked() {
    let mut p = scene();
    let foreign = HandleId { owner: 7, index: 0 };
    let unknown = p.particle(2);
    for handle in [foreign, unknown] {
        let mut out = [HandleState::default()];
        assert!(p.read(&[handle], &mut out).is_err());
        let inputs = Inputs { loads: vec![(handle, Wrench::ZERO)], ..Inputs::default() };
        assert!(p.step(0.01, &inputs).is_err());
        assert!(p.follow(vec![Guide::Attachment { own: handle }]).is_err());
    }
    assert!(p.read(&[p.particle(0)], &mut []).is_err());
    assert!(p.follow(vec![Guide::Attachment { own: p.particle(0) }; 2]).is_err());

    let before = p.snapshot(None).to_bytes();
    let inputs = Inputs { loads: vec![(p.particle(1), Wrench::force([1e300, 0.0, 0.0]))], ..Inputs::default() };
    let error = p.step(0.01, &inputs).unwrap_err();
    assert!(matches!(&error, SimulatorError::Failed { thing, .. } if thing == "particle 1"), "{error}");
    assert_eq!(p.snapshot(None).to_bytes(), before);

    p.step(0.01, Inputs::NONE).unwrap();
    assert!(p.add([0.0; 3], [0.0; 3]).unwrap_err().to_string().contains("before the first step"));
}

/// A field of one's own that goes wrong is found, and the particle named.
#[test]
fn a_field_that_goes_wrong_is_found() {
    let mut p = Particles::new("p").field("bad", |x, _, _| if x[1] < 0.9 { [f64::NAN; 3] } else { [0.0; 3] });
    for i in 0..5 {
        p.add([f64::from(i), 1.0 + 0.1 * f64::from(i), 0.0], [0.0, -1.0, 0.0]).unwrap();
    }
    let error = (0..100).find_map(|_| p.step(0.01, Inputs::NONE).err()).unwrap();
    assert!(error.to_string().contains("particle 0"), "{error}");
    assert!(p.time() > 0.05);
}

/// A snapshot of other parameters, guides or fields is of another layout; broken bytes are refused.
#[test]
fn snapshots_of_another_layout_are_refused() {
    let snapshot = scene().snapshot(None);
    for mut other in [scene().mass(2.0), scene().emit(Emitter::point([0.0; 3])), scene().field("f", |_, _, _| [0.0; 3])]
    {
        assert!(other.retract(&snapshot).is_err());
    }
    let mut guided = scene();
    guided.follow(vec![obstacle(sheet(1.0, 1), 0.0, 0.0)]).unwrap();
    assert!(guided.retract(&snapshot).is_err());
    scene().retract(&snapshot).unwrap();

    let bytes = snapshot.to_bytes();
    for cut in 0..bytes.len() {
        assert!(scene().snapshot_from_bytes(&bytes[..cut]).is_err());
    }
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x80;
        assert!(scene().snapshot_from_bytes(&flipped).is_err());
    }
}
