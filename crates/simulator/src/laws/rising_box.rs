//! The obstacle of the laws: a closed box below the simulator.

use crate::{Carrier, HandleId, HandleState, HandleTable, Surface};

/// A closed box a quarter wider than the bounds whose top lies 2 % of the size below them, carried
/// by a Frame or, if `deforming`, by its corners; and where the carriers start.
pub(super) fn rising_box(low: [f64; 3], high: [f64; 3], size: f64, deforming: bool) -> (Surface, Vec<HandleState>) {
    let half = [0.5 * (high[0] - low[0]) + 0.25 * size, 0.25 * size, 0.5 * (high[2] - low[2]) + 0.25 * size];
    let middle = [0.5 * (low[0] + high[0]), low[1] - half[1] - 0.02 * size, 0.5 * (low[2] + high[2])];
    let corner = |i: usize| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { half[axis] } else { -half[axis] });
    let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
    let quads: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let owner = HandleTable::new("laws", "box").owner();
    let handle = |index: u32| HandleId { owner, index };

    let (carrier, vertices, starts) = if deforming {
        let placed: Vec<_> = corners.iter().map(|x| [0, 1, 2].map(|axis| x[axis] + middle[axis])).collect();
        (Carrier::Points((0..8).map(handle).collect()), placed.clone(), placed)
    } else {
        (Carrier::Frame(handle(0)), corners, vec![middle])
    };
    let surface = Surface {
        name: "box".into(),
        carrier,
        vertices,
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        lines: vec![],
        two_sided: false,
        primitive: None,
        friction: 0.3,
        restitution: 0.2,
        thickness: 0.0,
    };
    (surface, starts.into_iter().map(|x| HandleState::point(x, [0.0; 3])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume is the sum of the triangles' triple products; positive where they face out.
    #[test]
    fn the_box_faces_outwards_and_lies_in_the_same_place_whatever_carries_it() {
        let (rigid, frame) = rising_box([0.0; 3], [1.0; 3], 1.0, false);
        let (deforming, points) = rising_box([0.0; 3], [1.0; 3], 1.0, true);
        for surface in [&rigid, &deforming] {
            surface.check().unwrap();
            let x = |i: u32| nalgebra::Vector3::from(surface.vertices[i as usize]);
            let volume: f64 = surface.triangles.iter().map(|&[a, b, c]| x(a).dot(&x(b).cross(&x(c))) / 6.0).sum();
            assert!((volume - 1.5 * 0.5 * 1.5).abs() < 1e-12, "{volume}");
        }
        assert_eq!(rigid.posed(&frame), deforming.posed(&points));
    }
}
