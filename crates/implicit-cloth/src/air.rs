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

use nalgebra::Vector3;

use crate::{Parameters, sheet::Sheet};

type V3 = Vector3<f64>;

impl Sheet {
    /// Force of the air, added to `out` `[N]`.
    pub fn wind(&self, x: &[V3], v: &[V3], parameters: &Parameters, out: &mut [V3]) {
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
            for i in [a, b, c] {
                out[i] += area.norm() / 6.0 * force;
            }
        }
    }
}
