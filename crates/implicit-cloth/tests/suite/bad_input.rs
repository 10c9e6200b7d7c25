//! Bad input is refused by name, or does no harm: no panic, nothing that is not finite, no partial change (X1 to X8; what no mesh can
//! be is refused by `partita_mesh`, bad cuts, pins, hands and points in `cut.rs` and `holds.rs`).

use partita_implicit_cloth::{Fabric, ImplicitCloth, Integrator, Membrane, Parameters};
use partita_mesh::Mesh;
use partita_simulator::{Guide, HandleState, Inputs, Motion, Simulator, SimulatorError, Wrench};

fn mesh() -> Mesh {
    Mesh::grid([3, 2], [0.3, 0.2]).unwrap()
}

fn with(parameters: Parameters) -> Result<ImplicitCloth, SimulatorError> {
    ImplicitCloth::with_parameters("cloth", mesh(), parameters)
}

type Set = fn(&mut Parameters, f64);

/// Every number of the parameters, and how messages call it.
const FIELDS: [(&str, Set); 22] = [
    ("fabric, density [kg/m²]", |p, x| p.fabric.density = x),
    ("fabric, membrane, poisson", |p, x| p.fabric.membrane = Membrane::StVenantKirchhoff { poisson: x }),
    ("fabric, stretch along warp [N/m]", |p, x| p.fabric.stretch[0] = x),
    ("fabric, stretch along weft [N/m]", |p, x| p.fabric.stretch[1] = x),
    ("fabric, shear [N/m]", |p, x| p.fabric.shear = x),
    ("fabric, bend along warp [N m]", |p, x| p.fabric.bend[0] = x),
    ("fabric, bend along weft [N m]", |p, x| p.fabric.bend[1] = x),
    ("fabric, damping [s]", |p, x| p.fabric.damping = x),
    ("fabric, bend_damping [s]", |p, x| p.fabric.bend_damping = x),
    ("fabric, thickness [m]", |p, x| p.fabric.thickness = x),
    ("fabric, friction [-]", |p, x| p.fabric.friction = x),
    ("integrator, damping [-]", |p, x| p.integrator = Integrator::SemiImplicit { damping: x }),
    ("gravity [m/s²]", |p, x| p.gravity[0] = x),
    ("gravity [m/s²]", |p, x| p.gravity[2] = x),
    ("wind [m/s]", |p, x| p.wind[1] = x),
    ("wind [m/s]", |p, x| p.wind[2] = x),
    ("drag [kg/m³]", |p, x| p.drag = x),
    ("lift [kg/m³]", |p, x| p.lift = x),
    ("skin_drag [kg/m³]", |p, x| p.skin_drag = x),
    ("tolerance [-]", |p, x| p.tolerance = x),
    ("max_stretch [-]", |p, x| p.max_stretch = x),
    ("max_iterations [-]", |p, x| p.max_iterations = x as u32),
];

fn name_of(error: &SimulatorError) -> &str {
    match error {
        SimulatorError::Refused { thing, .. } | SimulatorError::Failed { thing, .. } => thing,
    }
}

/// Steps that succeed end with finite numbers; one that does not changes nothing.
fn stays_sane(cloth: &mut ImplicitCloth, dt: f64, inputs: &Inputs, what: &str) {
    for _ in 0..3 {
        let before = cloth.snapshot(None).to_bytes();
        match cloth.step(dt, inputs) {
            Ok(_) => {
                let all = cloth.positions().iter().chain(cloth.velocities());
                assert!(all.flat_map(|x| x.iter()).all(|x| x.is_finite()), "{what}");
            }
            Err(error) => {
                assert_eq!(cloth.snapshot(None).to_bytes(), before, "{what}");
                assert!(!name_of(&error).is_empty(), "{what}");
            }
        }
    }
}

/// X1, X6: what is no number or has the wrong sign is refused by the name of its field, when cloth is made and before a step.
#[test]
fn wrong_parameters_are_named() {
    for (name, set) in FIELDS {
        let signed = name.starts_with("gravity") || name.starts_with("wind");
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -2.0] {
            if signed && bad.is_finite() || name.starts_with("max_iterations") && bad > 0.0 {
                continue;
            }
            let mut parameters = Parameters::default();
            set(&mut parameters, bad);
            let error = with(parameters).err().unwrap_or_else(|| panic!("{name} {bad} was accepted"));
            assert!(matches!(&error, SimulatorError::Refused { thing, .. } if thing == name), "{name} {bad}: {error}");
        }
    }
    let mut cloth = with(Parameters::default()).unwrap().drag(-1.0);
    let before = cloth.snapshot(None).to_bytes();
    let refusals = [cloth.step(0.01, Inputs::NONE).map(drop), cloth.follow(vec![])];
    assert!(refusals.iter().all(|result| name_of(result.as_ref().unwrap_err()) == "drag [kg/m³]"));
    assert_eq!(cloth.snapshot(None).to_bytes(), before);
    assert_eq!(name_of(&cloth.checked().err().unwrap()), "drag [kg/m³]");
}

/// X1: numbers at the ends of their range are refused, or fail by name, or do no harm.
#[test]
fn extreme_parameters_do_no_harm() {
    for (name, set) in FIELDS {
        for extreme in [1e300, 1e30, 1e-30, 5e-324, 0.0] {
            let what = format!("{name} {extreme:e}");
            let mut parameters = Parameters { drag: 1.0, ..Parameters::default() };
            set(&mut parameters, extreme);
            if let Ok(mut cloth) = with(parameters) {
                cloth.pin(&[0]).unwrap();
                stays_sane(&mut cloth, 1.0 / 60.0, Inputs::NONE, &what);
            }
        }
    }
}

/// X1: positions, velocities, loads and motions that are no numbers are refused by vertex or handle; great ones fail by name.
#[test]
fn wrong_places_and_loads_are_named() {
    let cloth = || with(Parameters::default()).unwrap();
    let n = mesh().vertices().len();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut values = vec![[0.1, 0.2, 0.3]; n];
        values[5][1] = bad;
        let errors =
            [cloth().with_positions(&values).err(), cloth().with_velocities(&values).err()].map(Option::unwrap);
        assert_eq!(name_of(&errors[0]), "positions [m] of vertex 5");
        assert_eq!(name_of(&errors[1]), "velocities [m/s] of vertex 5");
        let mut loaded = cloth();
        let handle = loaded.vertex(3);
        let inputs = Inputs { loads: vec![(handle, Wrench::force([0.0, bad, 0.0]))], ..Inputs::default() };
        let error = loaded.step(0.01, &inputs).unwrap_err();
        assert_eq!(name_of(&error), "load on vertices[3]");
    }
    for short in [&[][..], &[[0.0; 3]][..]] {
        assert_eq!(name_of(&cloth().with_positions(short).err().unwrap()), "positions [m]");
        assert_eq!(name_of(&cloth().with_velocities(short).err().unwrap()), "velocities [m/s]");
    }
    for extreme in [1e300, 1e30, 1e9, 5e-324] {
        let what = format!("{extreme:e}");
        let mut places = mesh().positions();
        places[5][1] = extreme;
        stays_sane(&mut cloth().with_positions(&places).unwrap(), 0.01, Inputs::NONE, &format!("position {what}"));
        let mut velocities = vec![[0.0; 3]; n];
        velocities[5][1] = extreme;
        stays_sane(&mut cloth().with_velocities(&velocities).unwrap(), 0.01, Inputs::NONE, &format!("velocity {what}"));
        let mut loaded = cloth();
        let loads = vec![(loaded.vertex(3), Wrench::force([0.0, extreme, 0.0]))];
        stays_sane(&mut loaded, 0.01, &Inputs { loads, ..Inputs::default() }, &format!("load {what}"));
        let mut pulled = cloth();
        pulled.follow(vec![Guide::Attachment { own: pulled.vertex(3) }]).unwrap();
        let [begin, end] = [0.0, extreme].map(|y| [HandleState::point([0.3, y, 0.0], [0.0, 0.0, y])].into());
        let inputs = Inputs { motions: vec![Some(Motion { begin, end })], ..Inputs::default() };
        stays_sane(&mut pulled, 0.01, &inputs, &format!("motion {what}"));
    }
}

/// A load that no step can follow fails in the step that has it, by name; a smaller one moves the vertex that it is on. Neither takes
/// long: as many solves as there are parts of a step, and Newton's steps in each.
#[test]
fn absurd_loads_are_named_and_others_move_what_they_are_on() {
    for pins in [vec![0, 5], (0..36).filter(|k| k % 6 == 0 || k % 6 == 5).collect::<Vec<u32>>()] {
        let mut refused = 0;
        for exponent in 0..=15 {
            let mesh = Mesh::grid([5, 5], [0.4, 0.4]).unwrap();
            let mut cloth = ImplicitCloth::new("sheet", mesh, Fabric::cotton()).unwrap();
            cloth.pin(&pins).unwrap();
            let start = cloth.positions()[14];
            let load = Wrench::force([0.0, 0.0, 10_f64.powi(exponent)]);
            let inputs = Inputs { loads: vec![(cloth.vertex(14), load)], ..Inputs::default() };
            match cloth.step(0.01, &inputs) {
                Ok(report) => {
                    assert_eq!(refused, 0, "1e{exponent} N, after a smaller load was too much");
                    // Velocities do not tell: 1e6 N can be balanced, and the vertex at rest, before the step ends.
                    let displacement = (cloth.positions()[14] - start).norm();
                    assert!(displacement > 1e-3, "1e{exponent} N: {displacement} m");
                    assert!(report.iterations < 10_000, "1e{exponent} N: {} iterations", report.iterations);
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(name_of(&error), "load on vertex 14", "1e{exponent} N");
                    assert_eq!(cloth.velocities()[14].norm(), 0.0);
                }
            }
        }
        assert!((4..12).contains(&refused), "{refused} loads were refused");
    }
}

/// Cloth that is in balance without gravity costs no more than cloth in balance with it: rounding is not solved for.
#[test]
fn still_cloth_without_gravity_takes_no_iterations() {
    for pinned in [false, true] {
        let mut cloth = ImplicitCloth::new(
            "sheet",
            Mesh::grid([10, 10], [0.4, 0.4]).unwrap().at([3.0, 1.0, 2.0]).unwrap(),
            Fabric::cotton(),
        )
        .unwrap()
        .gravity([0.0; 3]);
        if pinned {
            cloth.pin(&[0, 10]).unwrap();
        }
        for _ in 0..10 {
            let report = cloth.step(1.0 / 60.0, Inputs::NONE).unwrap();
            assert_eq!((report.iterations, report.outcome), (0, partita_simulator::Outcome::Converged));
        }
    }
}

/// X7: a step has to have a length; a very short or long one is a step.
#[test]
fn steps_of_no_length_are_refused() {
    for pinned in [false, true] {
        let mut cloth = with(Parameters::default()).unwrap();
        if pinned {
            cloth.pin(&[0, 1]).unwrap();
        }
        let before = cloth.snapshot(None).to_bytes();
        for dt in [0.0, -0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(name_of(&cloth.step(dt, Inputs::NONE).unwrap_err()), "dt [s]");
        }
        assert_eq!(cloth.snapshot(None).to_bytes(), before);
        for dt in [1e-12, 5e-324, 10.0, 1e3, 1e300] {
            stays_sane(&mut cloth, dt, Inputs::NONE, &format!("dt {dt:e}"));
        }
    }
}

/// X4, X5: islands that lie apart by a hair are cloth as any other; those that touch at the begin, as a slit that is not sewn, are
/// refused by the vertices that do.
#[test]
fn vertices_at_one_place_are_named() {
    let sheet = mesh();
    let n = sheet.vertices().len() as u32;
    for gap in [1e-6, 0.0] {
        // A second sheet beside the first.
        let mut vertices = sheet.positions();
        vertices.extend(sheet.positions().iter().map(|x| [x[0] + 0.3 + gap, x[1], x[2]]));
        let mut triangles = sheet.triangles().to_vec();
        triangles.extend(sheet.triangles().iter().map(|t| t.map(|v| v + n)));
        let mut cloth =
            ImplicitCloth::new("slit", Mesh::new(&vertices, &triangles).unwrap(), Fabric::cotton()).unwrap();
        cloth.pin(&[0, n + 3]).unwrap();
        stays_sane(&mut cloth, 1.0 / 60.0, Inputs::NONE, "slit");
        if gap > 0.0 {
            assert!(cloth.time() > 0.0);
            continue;
        }
        let error = cloth.step(1.0 / 60.0, Inputs::NONE).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("of vertices [7, 12, 16, 17] touch at the begin"), "{text}");
    }
}
