//! Surfaces of tapes made by hand.

use partita::simulator::{Carrier, HandleTable, Kind, Surface};

/// A rigid box around its Frame, with edges of these lengths `[m]`.
pub fn cuboid(name: &str, size: [f64; 3]) -> Surface {
    let corner = |i: usize| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.5 * size[k] } else { -0.5 * size[k] });
    let faces: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mut table = HandleTable::new("rigid", name);
    let body = table.add("body", Kind::Frame, 1).unwrap();
    surface(name, Carrier::Frame(body), (0..8).map(corner).collect(), triangles, false)
}

/// A surface that nothing slides on for long.
pub fn surface(
    name: &str,
    carrier: Carrier,
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    two_sided: bool,
) -> Surface {
    let name = name.into();
    Surface {
        name,
        carrier,
        vertices,
        triangles,
        lines: vec![],
        two_sided,
        primitive: None,
        friction: 0.5,
        restitution: 0.0,
        thickness: 0.0,
    }
}
