//! Level sheets by every method of cloth, pinned or gripped.

use std::f64::consts::FRAC_PI_2;

use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

/// Names of the methods of cloth.
pub const METHODS: [&str; 3] = ["implicit", "ibds", "avi"];

/// Cells of a sheet along each side, and its size `[m]`.
pub const CELLS: u32 = 8;
const SIZE: f64 = 0.4;

/// Numbers of the vertices of a sheet whose column and row are as asked for.
pub fn vertices(are: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    (0..(CELLS + 1).pow(2)).filter(|k| are(k % (CELLS + 1), k / (CELLS + 1))).collect()
}

/// A level square about the y axis under gravity `[m/s²]`, with pins and a kinematic grip along a script; and handles of
/// some vertices.
pub fn level_sheet(
    method: &str,
    gravity: f64,
    pins: &[u32],
    (grip, script): (&[u32], impl Fn(f64) -> HandleState + Send + Sync + 'static),
    handles: &[u32],
) -> (Box<dyn Simulator>, Vec<HandleId>) {
    let mesh = Mesh::grid([CELLS; 2], [SIZE; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.5 * SIZE, 0.0, -0.5 * SIZE]).unwrap();
    macro_rules! with {
        ($cloth:expr, $handle:ident) => {{
            let mut cloth = $cloth.gravity([0.0, -gravity, 0.0]);
            cloth.pin(pins).unwrap();
            cloth.pin_along("grip", grip, script).unwrap();
            let handles = handles.iter().map(|&k| cloth.$handle(k)).collect();
            (Box::new(cloth), handles)
        }};
    }
    match method {
        "implicit" => with!(ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap(), vertex),
        "ibds" => with!(IbdsCloth::new("cloth", Net::sheet(&mesh, 0.15).unwrap()).unwrap().thickness(0.001), particle),
        _ => with!(AviCloth::new("cloth", mesh, Fabric::jersey().undamped()).unwrap(), vertex),
    }
}
