//! What the air does to cloth, triangle by triangle.
//!
//! With the wind's velocity u relative to a triangle of area A and unit normal n, and α the angle between wind and plane, sin α =
//! n·u/|u|:
//!
//! | force        | size [N]                    | direction                                    |
//! |--------------|-----------------------------|----------------------------------------------|
//! | drag         | ½ ρ C_D A sin α u²          | of the wind                                  |
//! | lift         | ½ ρ C_L A sin α cos α u²    | across the wind, towards the triangle's lee  |
//! | skin drag    | ½ ρ C_S A cos² α u²         | of the wind within the plane                 |
//!
//! Drag is that of the area which the wind sees. Lift is that of a flat plate before it stalls, on which air presses with a normal
//! force in proportion to sin α, of which cos α is across the wind. Both are the same for either side. Lift takes no energy from
//! the wind's point of view, the others only take it, so still air never moves cloth by itself.
//!
//! Forces are those of the begin of a step, and so would throw light cloth beyond the wind's speed in a long one: with mass by
//! area σ a triangle comes to the wind's speed at the rate r = ½ ρ (C_D + C_L + C_S) |u|/σ at most. A step is therefore taken in parts no longer
//! than 1/r; where the shortest is longer, the force is less, by r dt.

use nalgebra::Vector3;

use crate::{Parameters, sheet::Sheet};

type V3 = Vector3<f64>;

impl Sheet {
    /// The highest rate at which the air gives a triangle its speed `[1/s]`.
    pub fn air_rate(&self, v: &[V3], parameters: &Parameters) -> f64 {
        if rate(1.0, parameters) == 0.0 {
            return 0.0;
        }
        let speeds = self.triangles.iter().map(|t| {
            let [a, b, c] = t.vertices.map(|i| v[i as usize]);
            (V3::from(parameters.wind) - (a + b + c) / 3.0).norm()
        });
        rate(speeds.fold(0.0, f64::max), parameters)
    }

    /// Force of the air in a part of a step, added to `out` `[N]`.
    pub fn wind(&self, x: &[V3], v: &[V3], dt: f64, parameters: &Parameters, out: &mut [V3]) {
        let &Parameters { wind, drag, lift, skin_drag, .. } = parameters;
        if [drag, lift, skin_drag] == [0.0; 3] {
            return;
        }
        for t in &self.triangles {
            let [a, b, c] = t.vertices.map(|i| i as usize);
            let area = 0.5 * (x[b] - x[a]).cross(&(x[c] - x[a]));
            let Some(n) = area.try_normalize(0.0) else { continue };
            let u = V3::from(wind) - (v[a] + v[b] + v[c]) / 3.0;
            let Some(direction) = u.try_normalize(0.0) else { continue };
            let (speed, through) = (u.norm(), n.dot(&u));
            let (leeward, within) = (n - n.dot(&direction) * direction, u - through * n);
            let force =
                drag * through.abs() * u + lift * through * speed * leeward + skin_drag * within.norm() * within;
            let share = (dt * rate(speed, parameters)).max(1.0).recip();
            for i in [a, b, c] {
                out[i] += share * area.norm() / 6.0 * force;
            }
        }
    }
}

/// At which air that goes so fast past cloth gives it its speed, at most `[1/s]`.
fn rate(speed: f64, parameters: &Parameters) -> f64 {
    let &Parameters { drag, lift, skin_drag, .. } = parameters;
    0.5 * (drag + lift + skin_drag) * speed / parameters.fabric.density
}
