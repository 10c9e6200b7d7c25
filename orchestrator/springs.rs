//! Springs between simulators: forces that are constant over a window, stable for any stiffness and damping.
//!
//! Let k be the stiffness, c the damping, x the stretch, v its rate, and w the sum of the inverse
//! masses of both ends. With κ = dt² k w and γ = dt c w, let λ₁ and λ₂ solve λ² + γ λ + κ = 0. The
//! exact stretch obeys x₁ = T x₀ - D x₋₁ with T = e^λ₁ + e^λ₂ and D = e^(λ₁ + λ₂).
//!
//! A constant force F between the ends changes their relative velocity to v₁ = v₀ - w dt F and their
//! distance to d₁ = d₀ + dt ((1 - θ) v₀ + θ v₁). Here θ is 1 for symplectic Euler and 1/2 for exact
//! motion. The shifted distance q = d + (1 - θ) dt v obeys symplectic Euler, q₁ = q₀ + dt v₁, for any
//! θ. So the force is evaluated at q. It then acts along q, and q₁ × v₁ = q₀ × v₀ = d₀ × v₀: angular
//! momentum is conserved.
//!
//! Along q, with stretch x and rate v, F = (p x/dt + (1 - D) v) / (w dt) gives a map of determinant D
//! and trace 1 + D - p. The latter is T for p = 1 + D - T. So frequency and decay are exact, up to
//! 1 rad a window. F is k x + c v for dt → 0 and for w → 0.

use nalgebra::{Matrix3, Vector3};
use partita_simulator::{HandleId, HandleState, Note, SimulatorError, Wrench};

use crate::{
    plan::{Member, SpringPlan},
    seat::Seat,
};

/// Largest angle by which a spring swings in one window `[rad]`. A stiffer one swings by this much, as if it were
/// softer: the exact solution, sampled at fewer than two points a period, would be that of another spring.
const RESOLVED: f64 = 1.0;

/// Fraction of its stiffness below which a spring is reported as softer [-]: that of half a radian a window is 0.98.
const SOFT: f64 = 0.9;

/// Measured properties of the ends of a spring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpringEnds {
    /// Sum of the inverse masses of the ends, each in the direction in which it is largest and times
    /// the number of springs at it [1/kg].
    inverse_mass: f64,
    /// Fraction θ of the change of the velocity that counts for the position of the same window [-].
    fraction: f64,
}

impl Default for SpringEnds {
    fn default() -> Self {
        Self { inverse_mass: 0.0, fraction: 1.0 }
    }
}

/// Measures the ends of springs in windows of `dt` `[s]`. Returns notes on ends that cannot be
/// measured, which are taken as immovable.
///
/// The force tends to k x + c v for dt → 0 even if the inverse mass is too large. If it is too
/// small, the spring may be unstable. Hence the largest inverse mass over all directions, with the
/// answers to all springs at the same simulator.
pub(crate) fn measure(
    springs: &mut [SpringPlan],
    members: &[Member],
    seats: &mut [Seat],
    dt: f64,
) -> Vec<(String, Note)> {
    let ends: Vec<(usize, HandleId)> =
        springs.iter().flat_map(|spring| [0, 1].map(|end| (spring.ends[end].0, spring.handles[end]))).collect();
    let mut notes = Vec::new();
    for (number, spring) in springs.iter_mut().enumerate() {
        let (mut inverse_mass, mut weighted) = (0.0, 0.0);
        for ((member, _), handle) in spring.ends.into_iter().zip(spring.handles) {
            // The handle itself comes first, once for each spring at it, and then the others of its simulator.
            let mut handles: Vec<HandleId> = ends.iter().filter(|end| end.0 == member).map(|end| end.1).collect();
            handles.sort_by_key(|other| *other != handle);
            match answer(&mut seats[member], handles, dt, members[member].substeps) {
                Ok((own, fraction)) => {
                    inverse_mass += own;
                    weighted += own * fraction;
                }
                Err(error) => notes.push((
                    members[member].name.clone(),
                    Note::about(
                        format!("`{}`", members[member].table.describe(handle)),
                        format!(
                            "immovable for springs, since it cannot be measured ({error}); a stiff one may be unstable"
                        ),
                    ),
                )),
            }
        }
        let fraction = if inverse_mass > 0.0 { weighted / inverse_mass } else { 1.0 };
        spring.measured = SpringEnds { inverse_mass, fraction };
        let effective = spring.force(1.0, 0.0, dt);
        if effective < SOFT * spring.stiffness {
            let kind = format!(
                "acts as one of {effective:.3e} N/m for {:.3e} N/m, since it swings by a radian and more in a window; \
                 raise the scene's rate",
                spring.stiffness
            );
            notes.push((format!("spring {number}"), Note::new(kind)));
        }
    }
    notes
}

/// Inverse mass of the first of some handles under springs at all of them [1/kg], and its θ.
///
/// The springs together move a handle by at most the sum of its answers to each of them, that is by its row
/// of the mobility.
fn answer(seat: &mut Seat, handles: Vec<HandleId>, dt: f64, substeps: u32) -> Result<(f64, f64), SimulatorError> {
    let (mobility, _) = seat.mobilities(vec![handles[0]], dt)?[0];
    let linear = Matrix3::from_fn(|i, j| 0.5 * (mobility.linear[i][j] + mobility.linear[j][i]));
    let eigen = linear.symmetric_eigen();
    let largest = eigen.eigenvalues.imax();
    let (inverse_mass, axis) = (eigen.eigenvalues[largest], eigen.eigenvectors.column(largest).into_owned());
    if inverse_mass <= 0.0 {
        return Ok((0.0, 1.0));
    }
    // A millimetre a second: little to the simulator, and much against rounding.
    let load = axis * (1.0e-3 / (inverse_mass * dt));
    let [free, loaded] = seat.answers(handles, load.into(), dt, substeps)?;
    let change = |a: [f64; 3], b: [f64; 3]| Vector3::from(a) - Vector3::from(b);
    let changes = loaded.iter().zip(&free).map(|(loaded, free)| change(loaded.velocity, free.velocity).norm());
    let [x, v] = [change(loaded[0].position, free[0].position), change(loaded[0].velocity, free[0].velocity)];
    let (x, v) = (x.dot(&axis), v.dot(&axis));
    if v <= 0.0 {
        return Ok((inverse_mass, 1.0));
    }
    Ok((inverse_mass * changes.sum::<f64>() / v, (x / (dt * v)).clamp(0.5, 1.0)))
}

impl SpringPlan {
    /// Loads on member `m` in a window of `dt` `[s]`, from the states at its start.
    pub(crate) fn add_loads(
        &self,
        m: usize,
        states: &[Vec<HandleState>],
        dt: f64,
        loads: &mut Vec<(HandleId, Wrench)>,
    ) {
        let [a, b] = self.ends.map(|(member, watched)| &states[member][watched]);
        let velocity = Vector3::from(b.velocity) - Vector3::from(a.velocity);
        let shift = (1.0 - self.measured.fraction) * dt * velocity;
        let q = Vector3::from(b.position) - Vector3::from(a.position) + shift;
        let Some(n) = q.try_normalize(0.0) else { return };
        let f = self.force(q.norm() - self.rest_length, velocity.dot(&n), dt) * n;
        for (end, force) in [(0, f), (1, -f)] {
            if self.ends[end].0 == m {
                loads.push((self.handles[end], Wrench::force(force)));
            }
        }
    }

    /// Tension over a window of `dt` `[s]` that starts with a stretch `[m]` and its rate `[m/s]` `[N]`.
    fn force(&self, stretch: f64, rate: f64, dt: f64) -> f64 {
        let w = self.measured.inverse_mass;
        let (kappa, gamma) = (dt * dt * self.stiffness * w, dt * self.damping * w);
        // Below this, k x + c v is the same to rounding.
        if kappa + gamma < 1.0e-12 {
            return self.stiffness * stretch + self.damping * rate;
        }
        let discriminant = 0.25 * gamma * gamma - kappa;
        // p = (1 - e^λ₁) (1 - e^λ₂), without cancellation.
        let p = if discriminant >= 0.0 {
            let slow = -kappa / (0.5 * gamma + discriminant.sqrt());
            slow.exp_m1() * (-gamma - slow).exp_m1()
        } else {
            let (decay, angle) = (-0.5 * gamma, (-discriminant).sqrt().min(RESOLVED));
            let [real, imaginary] =
                [decay.exp_m1() - 2.0 * decay.exp() * (0.5 * angle).sin().powi(2), decay.exp() * angle.sin()];
            real * real + imaginary * imaginary
        };
        (p * stretch / dt - (-gamma).exp_m1() * rate) / (w * dt)
    }
}
