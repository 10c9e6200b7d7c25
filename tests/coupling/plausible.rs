//! Laws of implausible masses and sizes: mistaken units are warned of by name when a scene is built, ordinary scenes are not.

use partita::prelude::*;
use partita::{Error, Mistake, Thresholds, WarningKind};
use partita_mesh::Mesh;

/// Crates of 1 to 2 m, a ball, a pebble, and a floor of any size, which does not move.
fn ordinary() -> RigidBodies {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([1e4, 1.0, 1e4])).at([0.0, -0.5, 0.0])).unwrap();
    for k in 0..4 {
        let size = 1.0 + 0.3 * f64::from(k);
        let place = [3.0 * f64::from(k), 2.0, 0.0];
        rigid.add(&format!("crate {k}"), Body::dynamic(Shape::cuboid([size; 3])).at(place)).unwrap();
    }
    rigid.add("ball", Body::dynamic(Shape::ball(0.1)).mass(0.5).at([0.0, 6.0, 3.0])).unwrap();
    rigid.add("pebble", Body::dynamic(Shape::ball(0.01)).mass(0.01).at([3.0, 6.0, 3.0])).unwrap();
    rigid
}

fn warned(rigid: RigidBodies, cloth: Option<ImplicitCloth>, thresholds: Thresholds) -> Vec<(WarningKind, String)> {
    let mut scene = Scene::new(Rate::hz(60));
    scene.thresholds(thresholds).add(rigid);
    if let Some(cloth) = cloth {
        scene.add(cloth);
    }
    let run = scene.build().unwrap();
    run.warnings().iter().map(|warning| (warning.kind, warning.to_string())).collect()
}

fn sheet(size: f64, fabric: Fabric) -> ImplicitCloth {
    ImplicitCloth::new("shirt", Mesh::grid([8, 8], [size; 2]).unwrap(), fabric).unwrap()
}

#[test]
fn ordinary_scenes_have_no_warning() {
    assert_eq!(warned(ordinary(), None, Thresholds::default()), []);
    for fabric in [Fabric::silk(), Fabric::cotton(), Fabric::denim()] {
        assert_eq!(warned(ordinary(), Some(sheet(1.2, fabric)), Thresholds::default()), []);
    }
}

#[test]
fn a_body_of_a_million_tonnes_is_named() {
    let mut rigid = ordinary();
    rigid.add("anvil", Body::dynamic(Shape::cuboid([1.0; 3])).mass(1e9).at([9.0, 9.0, 9.0])).unwrap();
    let found = warned(rigid, None, Thresholds::default());
    let words = "rigid/anvil: density 1.0e9 kg/m³ (mass over bounding box), expected at most 1e5 kg/m³; check its mass, its size and their units";
    assert_eq!(found, [(WarningKind::Density, words.to_string())]);

    let mut rigid = ordinary();
    rigid.add("dust", Body::dynamic(Shape::ball(1e-3)).mass(4e-9).at([9.0, 9.0, 9.0])).unwrap();
    let found = warned(rigid, None, Thresholds::default());
    assert!(found.len() == 1 && found[0].0 == WarningKind::Mass, "{found:?}");
    assert!(found[0].1.starts_with("rigid/dust: mass 4.0e-9 kg, median of the others "), "{found:?}");
}

/// Millimetres that were taken for metres: of a body of given mass, and of a shirt.
#[test]
fn millimetres_for_metres_are_named() {
    let mut rigid = ordinary();
    let body = Body::dynamic(Shape::cuboid([1200.0, 800.0, 500.0])).mass(8.0).at([0.0, 5000.0, 0.0]);
    rigid.add("box", body).unwrap();
    let found = warned(rigid, None, Thresholds::default());
    let kinds: Vec<WarningKind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [WarningKind::Density, WarningKind::Size], "{found:?}");
    assert!(
        found[0].1.starts_with("rigid/box: density 1.7e-8 kg/m³") && found[1].1.contains("size 1.2e3 m"),
        "{found:?}"
    );

    let found = warned(ordinary(), Some(sheet(1200.0, Fabric::cotton())), Thresholds::default());
    assert!(found.len() == 1 && found[0].1.starts_with("shirt: size 1.2e3 m, median of the others "), "{found:?}");
    let heavy = Fabric::cotton().density(2e5);
    let found = warned(ordinary(), Some(sheet(1.2, heavy)), Thresholds::default());
    assert!(
        found
            .iter()
            .any(|(kind, words)| *kind == WarningKind::ArealDensity
                && words.starts_with("shirt: areal density 2.0e5 kg/m²")),
        "{found:?}"
    );
}

/// One line for many, warnings that can be turned off, and a strict scene that is refused.
#[test]
fn many_are_told_as_one_none_if_asked_and_strict_scenes_are_refused() {
    let heavy = |rigid: &mut RigidBodies, k: i32| {
        let body = Body::dynamic(Shape::ball(0.1)).mass(1e7 * f64::from(1 + k)).at([f64::from(k), 20.0, 0.0]);
        rigid.add(&format!("shot {k}"), body).unwrap();
    };
    let all = || {
        let mut rigid = ordinary();
        (0..3).for_each(|k| heavy(&mut rigid, k));
        rigid
    };
    let found = warned(all(), None, Thresholds::default());
    assert!(found[0].1.starts_with("rigid/shot 2 and 2 others: "), "{found:?}");
    assert_eq!(warned(all(), None, Thresholds::none()), []);
    let mut scene = Scene::new(Rate::hz(60));
    scene.thresholds(Thresholds::default().density(0.5).size(f64::NAN)).add(ordinary());
    let refused = scene.build().map(|run| run.time()).unwrap_err().to_string();
    assert!(refused.contains("thresholds, density") && refused.contains("thresholds, size"), "{refused}");
    assert_eq!(warned(all(), None, Thresholds::default().density(1e6).mass(1e12)), []);
    let mut scene = Scene::new(Rate::hz(60));
    scene.strict(true).add(all());
    match scene.build() {
        Err(Error::Scene(mistakes)) => {
            assert!(
                matches!(&mistakes.0[..], [Mistake::Implausible(warning), ..] if warning.kind == WarningKind::Density)
            );
        }
        other => panic!("{:?}", other.map(|run| run.time())),
    }
}

/// Bodies with joints have no mobility of their own: they are judged by their share of the world's mass. Nets have no area.
#[test]
fn jointed_bodies_and_nets_are_judged() {
    let mut rigid = ordinary();
    let a = rigid.add("pendulum", Body::dynamic(Shape::ball(0.1)).mass(9e8).at([9.0, 9.0, 9.0])).unwrap();
    let b = rigid.body("crate 0").unwrap();
    rigid.join("chain", Joint::ball(a, b).anchor([9.0, 9.5, 9.0])).unwrap();
    let found = warned(rigid, None, Thresholds::default());
    assert!(
        found.iter().any(|(kind, words)| *kind == WarningKind::Density && words.contains("rigid/pendulum")),
        "{found:?}"
    );

    let line: Vec<[f64; 3]> = (0..5).map(|k| [1000.0 * f64::from(k), 0.0, 0.0]).collect();
    let net = Net::new(&line, &[0.1; 5]).unwrap().bars((0..4).map(|k| [k, k + 1])).unwrap();
    let mut scene = Scene::new(Rate::hz(60));
    scene.add(ordinary()).add(IbdsCloth::new("rope", net).unwrap());
    let found = scene.build().unwrap().warnings().to_vec();
    assert!(found.len() == 1 && found[0].kind == WarningKind::Size && found[0].source == "rope", "{found:?}");
}
