//! Hands that do what no cloth can follow.

use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

/// A sheet of 0.3 m by 0.4 m, 0.5 m across.
fn mesh() -> Mesh {
    Mesh::grid([6, 8], [0.3, 0.4]).unwrap()
}

fn cloths(script: impl Fn(f64) -> HandleState + Clone + Send + Sync + 'static) -> [Box<dyn Simulator>; 3] {
    let edge = mesh().edge(Side::Right).unwrap();
    let mut implicit = ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap();
    let mut ibds = IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap();
    let mut avi = AviCloth::new("cloth", mesh(), Fabric::jersey()).unwrap();
    implicit.pin_along("hand", &edge, script.clone()).unwrap();
    ibds.pin_along("hand", &edge, script.clone()).unwrap();
    avi.pin_along("hand", &edge, script).unwrap();
    [Box::new(implicit), Box::new(ibds), Box::new(avi)]
}

/// One window of 10 ms.
fn window(cloth: Box<dyn Simulator>) -> Result<(), String> {
    let mut scene = Scene::new(Rate::hz(100.0));
    scene.add_boxed(cloth);
    scene.build().unwrap().advance().map(|_| ()).map_err(|error| error.to_string())
}

/// A hand that accelerates ends a window a dt²/2 off where its velocity would carry it. As far as the
/// cloth is large that is refused by name, at once; below that it is taken.
#[test]
fn a_hand_that_leaps_farther_than_the_cloth_is_large_is_refused() {
    for (acceleration, is_refused) in [(1.02e4, true), (1e9, true), (0.98e4, false)] {
        let script = move |t: f64| HandleState {
            position: [0.5 * acceleration * t * t, 0.0, 0.0],
            velocity: [acceleration * t, 0.0, 0.0],
            ..HandleState::default()
        };
        for cloth in cloths(script) {
            let ended = window(cloth);
            let names_it = ended
                .as_ref()
                .err()
                .is_some_and(|error| error.contains("hand `hand`") && error.contains("size of the cloth, 5.000e-1 m"));
            assert!(if is_refused { names_it } else { ended.is_ok() }, "{acceleration} m/s²: {ended:?}");
        }
    }
}

/// A hand of constant velocity and spin is taken however fast it moves and turns.
#[test]
fn a_steady_hand_is_never_refused() {
    let (speed, spin) = (1e3, 400.0);
    let script = move |t: f64| {
        let [sin, cos] = [(0.5 * spin * t).sin(), (0.5 * spin * t).cos()];
        HandleState {
            position: [0.0, speed * t, 0.0],
            orientation: [0.0, sin, 0.0, cos],
            velocity: [0.0, speed, 0.0],
            spin: [0.0, spin, 0.0],
        }
    };
    for cloth in cloths(script) {
        let ended = window(cloth);
        assert!(!ended.as_ref().err().is_some_and(|error| error.contains("hand")), "{ended:?}");
    }
}
