//! Angular momentum of islands of cloth that nothing carries.
//!
//! Internal forces have no torque about where the vertices are, but a step of first order lets them act on vertices that go on: it
//! changes the angular momentum of free cloth by -h² Σ v x f, which slows a spin ω by h²ω² a step. What is missing of
//! L₁ = L₀ + Σ x₀ x J over the impulses J from outside is put back as a rigid rotation, the change of velocities with that angular
//! momentum that takes the least energy:
//!
//!   v += w x (x₁ - c),   I₁ w = L₀ + Σ x₀ x J - L₁,
//!
//! about the centre of mass c at the end of the step, with the inertia I₁ there; or the largest part of it with which the cloth has
//! no more energy than it had and was given.

use nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Islands of cloth, and the angular momentum that a step has taken from each.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    /// Number of the island that each vertex is of.
    of: Vec<u32>,
    islands: Vec<Island>,
}

/// Momenta of an island.
#[derive(Clone, Debug, Default)]
struct Island {
    is_carried: bool,
    mass: f64,
    centre: V3,
    /// Impulse and angular momentum that are missing at the end of the step `[N s]`, `[N m s]`.
    linear: V3,
    angular: V3,
    inertia: M3,
    turn: V3,
}

/// Vertices at one time.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Positions `[m]`.
    pub x: &'a [V3],
    /// Velocities `[m/s]`.
    pub v: &'a [V3],
}

impl Islands {
    /// Islands by a number for each vertex, the same within an island.
    pub fn new(mut of: Vec<u32>) -> Self {
        let mut numbers = of.clone();
        numbers.sort_unstable();
        numbers.dedup();
        of.iter_mut().for_each(|number| *number = numbers.partition_point(|known| known < number) as u32);
        Self { of, islands: vec![Island::default(); numbers.len()] }
    }

    /// Starts a step with the vertices that something carries. Whether there is an island that nothing does.
    pub fn start(&mut self, carried: impl Iterator<Item = usize>) -> bool {
        self.islands.iter_mut().for_each(|island| *island = Island::default());
        carried.for_each(|k| self.islands[self.of[k] as usize].is_carried = true);
        self.islands.iter().any(|island| !island.is_carried)
    }

    /// Adds an impulse from outside on a vertex, at its position when the step started `[N s]`, `[m]`.
    pub fn add(&mut self, vertex: usize, x: &V3, impulse: V3) {
        let island = &mut self.islands[self.of[vertex] as usize];
        island.linear += impulse;
        island.angular += x.cross(&impulse);
    }

    /// Solves for the rotations that bring back what is missing between two moments.
    pub fn solve(&mut self, masses: &[f64], from: Moment<'_>, to: Moment<'_>) {
        for (k, &m) in masses.iter().enumerate() {
            let island = &mut self.islands[self.of[k] as usize];
            island.mass += m;
            island.centre += m * to.x[k];
            island.linear += m * (from.v[k] - to.v[k]);
            island.angular += m * (from.x[k].cross(&from.v[k]) - to.x[k].cross(&to.v[k]));
        }
        for island in &mut self.islands {
            island.centre /= island.mass;
            // A rotation about the centre of mass changes no linear momentum.
            island.angular -= island.centre.cross(&island.linear);
        }
        for (k, &m) in masses.iter().enumerate() {
            let island = &mut self.islands[self.of[k] as usize];
            let r = to.x[k] - island.centre;
            island.inertia += m * (M3::from_diagonal_element(r.norm_squared()) - r * r.transpose());
        }
        for island in self.islands.iter_mut().filter(|island| !island.is_carried) {
            // A single line of vertices has no inertia about itself, and turns about it by nothing.
            island.turn = island.inertia.cholesky().map_or(V3::zeros(), |inertia| inertia.solve(&island.angular));
        }
    }

    /// Change of a vertex's velocity by the rotation of its island `[m/s]`.
    fn turn(&self, vertex: usize, x: &V3) -> V3 {
        let island = &self.islands[self.of[vertex] as usize];
        island.turn.cross(&(x - island.centre))
    }

    /// Turns islands, as far as that gives no more energy than a step lost: `gained` so far, less than 0 `[J]`.
    pub fn put_back(&self, masses: &[f64], x: &[V3], v: &mut [V3], gained: f64) {
        let (mut along, mut own) = (0.0, 0.0);
        for (k, &m) in masses.iter().enumerate() {
            let turned = self.turn(k, &x[k]);
            along += m * v[k].dot(&turned);
            own += 0.5 * m * turned.norm_squared();
        }
        let part = largest_without_gain(gained, along, own);
        v.iter_mut().enumerate().for_each(|(k, v)| *v += part * self.turn(k, &x[k]));
    }
}

/// Largest s from 0 to 1 with gained + s along + s² own <= 0, for own >= 0. If there is none, the s at
/// which that is least [-].
pub fn largest_without_gain(gained: f64, along: f64, own: f64) -> f64 {
    if gained + along + own <= 0.0 {
        return 1.0;
    }
    if own <= 0.0 {
        return if along > 0.0 { (-gained / along).clamp(0.0, 1.0) } else { 0.0 };
    }
    let root = (along * along - 4.0 * own * gained).max(0.0);
    ((root.sqrt() - along) / (2.0 * own)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gain is none at the part that is found, and above it beyond; all of it where that is no gain.
    #[test]
    fn the_part_is_the_largest_without_gain() {
        assert_eq!(largest_without_gain(-3.0, 1.0, 1.0), 1.0);
        assert_eq!(largest_without_gain(0.1, 1.0, 1.0), 0.0);
        for (gained, along, own) in [(-1.0, 1.0, 1.0), (-0.3, -0.1, 2.0), (-1e-9, 5.0, 0.1)] {
            let part = largest_without_gain(gained, along, own);
            assert!((gained + part * along + part * part * own).abs() < 1e-12, "{part}");
            assert!(part > 0.0 && part < 1.0);
        }
    }

    /// A triangle and a pair of vertices lose all their velocities: each island gets its angular momentum back, the one that is carried
    /// nothing. Exact identities, so rounding only.
    #[test]
    fn islands_get_back_what_they_lost() {
        let x = [V3::x(), V3::y(), V3::new(0.3, 0.2, 1.0), V3::new(5.0, 0.0, 0.0), V3::new(5.0, 1.0, 0.0)];
        let masses = [1.0, 2.0, 0.5, 1.0, 1.0];
        let spun = x.map(|x| V3::new(0.1, 0.2, 0.3).cross(&x));
        let mut islands = Islands::new(vec![0, 0, 0, 3, 3]);
        assert!(islands.start([3].into_iter()));
        let mut v = [V3::zeros(); 5];
        islands.solve(&masses, Moment { x: &x, v: &spun }, Moment { x: &x, v: &v });
        islands.put_back(&masses, &x, &mut v, -1e9);
        let centre = (x[0] + 2.0 * x[1] + 0.5 * x[2]) / 3.5;
        let angular = |v: &[V3]| (0..3).map(|k| masses[k] * (x[k] - centre).cross(&v[k])).sum::<V3>();
        assert!((angular(&v) - angular(&spun)).norm() < 1e-14);
        assert_eq!([v[3], v[4]], [V3::zeros(); 2]);
    }
}
