//! Implicit cloth keeps the laws of the contract.

use partita_implicit_cloth::{Fabric, ImplicitCloth};
use partita_mesh::{Mesh, Side};
use partita_simulator::{HandleState, simulator_laws};

/// A sheet with two pinned corners.
fn hanging() -> ImplicitCloth {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let top = mesh.edge(Side::Top).unwrap();
    let mut cloth = ImplicitCloth::new("hanging", mesh, Fabric::cotton()).unwrap();
    cloth.pin(&[top[1], top[6]]).unwrap();
    cloth
}

/// A sheet that nothing holds.
fn free() -> ImplicitCloth {
    ImplicitCloth::new("free", Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), Fabric::cotton()).unwrap()
}

simulator_laws!(hanging(), dt = 1.0 / 256.0, load = 0.1, free = free());

/// The same for cloth that is cut otherwise than its mesh, with points in its triangles, shaken by a hand.
mod shaken {
    use super::*;

    fn with_points(mut cloth: ImplicitCloth) -> ImplicitCloth {
        cloth.point(3, [0.2, 0.3, 0.5]).unwrap();
        cloth.point(8, [0.5, 0.5, 0.0]).unwrap();
        cloth
    }

    fn shaken() -> ImplicitCloth {
        let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
        let cut = |v: u32| [0, 1].map(|k| 0.95 * mesh.positions()[v as usize][k]);
        let coordinates: Vec<_> = mesh.triangles().iter().map(|t| t.map(cut)).collect();
        let cloth = ImplicitCloth::new("shaken", mesh, Fabric::silk()).unwrap();
        let mut cloth = cloth.with_material_coordinates(&coordinates).unwrap().flat_at_rest().unwrap();
        let wave = |t: f64| HandleState::point([0.0, 0.0, 0.01 * (9.0 * t).sin()], [0.0, 0.0, 0.09 * (9.0 * t).cos()]);
        cloth.pin_along("hand", &[2, 5], wave).unwrap();
        with_points(cloth)
    }

    simulator_laws!(shaken(), dt = 1.0 / 256.0, load = 0.1, free = with_points(free()));
}
