//! Scenes shared by the tests: floors, boxes, and how they move.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use partita_particles::Particles;
use partita_simulator::{Carrier, Guide, HandleId, HandleState, Inputs, Motion, Simulator, StepReport, Surface};

pub const G: f64 = 9.81;

/// A handle of another simulator, which carries.
pub fn carrier(index: u32) -> HandleId {
    HandleId { owner: 42, index }
}

pub fn surface(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>, two_sided: bool) -> Surface {
    let carrier = Carrier::Frame(carrier(0));
    Surface {
        name: "s".into(),
        carrier,
        vertices,
        triangles,
        lines: vec![],
        two_sided,
        primitive: None,
        friction: 0.0,
        restitution: 0.0,
        thickness: 0.0,
    }
}

/// A square of side 2 `half` in the plane y = 0, n by n cells, seen from above.
pub fn sheet(half: f64, n: u32) -> Surface {
    let at = |i: u32| half * (2.0 * f64::from(i) / f64::from(n) - 1.0);
    let vertices = (0..=n).flat_map(|i| (0..=n).map(move |j| [at(i), 0.0, at(j)])).collect();
    let corner = |i: u32, j: u32| i * (n + 1) + j;
    let cell = |i: u32, j: u32| {
        let [a, b, c, d] = [corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j)];
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..n).flat_map(|i| (0..n).flat_map(move |j| cell(i, j))).collect();
    surface(vertices, triangles, false)
}

/// A closed box; `inward` turns its normals.
pub fn cuboid(size: [f64; 3], inward: bool) -> Surface {
    let vertices =
        (0..8).map(|i| std::array::from_fn(|k| if i >> k & 1 == 1 { 0.5 * size[k] } else { -0.5 * size[k] })).collect();
    // Corner i has bit k set where it is on the positive side of axis k; each face counter-clockwise from outside.
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let turn = |[a, b, c]: [u32; 3]| if inward { [a, c, b] } else { [a, b, c] };
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [turn([a, b, c]), turn([a, c, d])]).collect();
    surface(vertices, triangles, false)
}

pub fn obstacle(surface: Surface, friction: f64, restitution: f64) -> Guide {
    Guide::Obstacle { surface: Arc::new(surface), friction, restitution, thickness: 0.0, except: vec![] }
}

/// A frame at `position`, turned by the rotation vector `turn`.
pub fn frame(position: [f64; 3], velocity: [f64; 3], turn: [f64; 3], spin: [f64; 3]) -> HandleState {
    let q = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
    HandleState { position, velocity, orientation: q.coords.into(), spin }
}

pub fn still() -> HandleState {
    HandleState::default()
}

pub fn motion(begin: HandleState, end: HandleState) -> Option<Motion> {
    Some(Motion { begin: [begin].into(), end: [end].into() })
}

pub fn with(motions: Vec<Option<Motion>>) -> Inputs {
    Inputs { motions, ..Inputs::default() }
}

/// Steps on obstacles that all stand still at the origin.
pub fn step_still(particles: &mut Particles, guides: usize, dt: f64) -> StepReport {
    particles.step(dt, &with(vec![motion(still(), still()); guides])).unwrap()
}

/// The linear impulses of all reactions [N s].
pub fn reaction(report: &StepReport) -> Vector3<f64> {
    report.reactions.iter().map(|reaction| Vector3::from(reaction.impulse.linear)).sum()
}

/// SplitMix64, for scenes made by chance.
pub struct Chance(pub u64);

impl Chance {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * (-53.0f64).exp2()
    }

    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        std::array::from_fn(|_| size * (2.0 * self.unit() - 1.0))
    }
}
