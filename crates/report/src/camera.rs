//! From where a drawing is seen.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::PictureError;
use crate::image::check_size;

/// A camera that frames a region of the world: it stands as near as it can with the region inside the picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Camera {
    bounds: [[f64; 3]; 2],
    direction: [f64; 3],
    field_of_view: f64,
    margin: f64,
}

/// A camera for one size of picture. Positions inside are relative to `origin`, so that single precision suffices
/// wherever in the world the scene is.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// Centre of the framed region, in the world `[m]`.
    pub origin: Vector3<f64>,
    /// Half the diagonal of the framed region `[m]`.
    pub radius: f32,
    /// Corners of the framed region, relative to `origin` `[m]`.
    pub corners: [Vector3<f32>; 8],
    pub eye: Vector3<f32>,
    pub right: Vector3<f32>,
    pub up: Vector3<f32>,
    pub back: Vector3<f32>,
    /// Distance of the picture plane `[pixels]`.
    pub focal: f32,
    pub width: u32,
    pub height: u32,
    /// Nothing nearer is drawn `[m]`.
    pub near: f32,
}

impl Camera {
    /// Frames the box from `bounds[0]` to `bounds[1]` `[m]`, seen from a little above and from the right, with a field of
    /// view of 30 degrees and a margin of 0.05.
    pub fn framing(bounds: [[f64; 3]; 2]) -> Self {
        Camera { bounds, direction: [0.55, 0.35, 1.0], field_of_view: 30.0, margin: 0.05 }
    }

    /// Looks from this side: from the framed region towards the camera; the length does not matter.
    pub fn from_direction(self, direction: [f64; 3]) -> Self {
        Camera { direction, ..self }
    }

    /// Vertical opening angle `[degrees]`, between 1 and 120. Small angles look from afar.
    pub fn field_of_view(self, degrees: f64) -> Self {
        Camera { field_of_view: degrees, ..self }
    }

    /// Part of the picture that stays free at each side `[-]`, from 0 to 0.4.
    pub fn margin(self, margin: f64) -> Self {
        Camera { margin, ..self }
    }

    /// The camera for a picture of this size.
    pub(crate) fn view(&self, width: u32, height: u32) -> Result<View, PictureError> {
        check_size(width, height)?;
        let [low, high] = self.bounds.map(Vector3::from);
        let finite = |v: &Vector3<f64>| v.iter().all(|c| c.abs() < 1e9);
        if !(finite(&low) && finite(&high) && low <= high) {
            return Err(PictureError::Bounds { minimum: self.bounds[0], maximum: self.bounds[1] });
        }
        let back = Vector3::from(self.direction);
        let back = Some(back).filter(finite).and_then(|back| back.try_normalize(1e-12));
        let back = back.ok_or(PictureError::Direction { direction: self.direction })?;
        check_range("field of view", self.field_of_view, 1.0..=120.0, "1 to 120 degrees")?;
        check_range("margin", self.margin, 0.0..=0.4, "0 to 0.4")?;

        let right = Vector3::y().cross(&back).try_normalize(1e-6).unwrap_or_else(Vector3::x);
        let up = back.cross(&right);

        let origin = 0.5 * (low + high);
        // A region without extent is seen like one of a centimetre.
        let half = (0.5 * (high - low)).map(|h| h.max(0.005));
        let corner =
            |k: usize| half.component_mul(&Vector3::from([0, 1, 2].map(|a| f64::from(k as i32 >> a & 1) * 2.0 - 1.0)));
        let corners: [Vector3<f64>; 8] = std::array::from_fn(corner);

        // Seen from the eye (ex, ey, d), corner (x, y, z) is inside if |x - ex| <= t (d - z), likewise in y. With
        // A = max(x + t z), B = max(-x + t z): ex = (A - B) / 2, d >= (A + B) / (2 t).
        let tangent = (0.5 * self.field_of_view.to_radians()).tan();
        let free = 1.0 - 2.0 * self.margin;
        let fit = |axis: &Vector3<f64>, t: f64| {
            let most = |sign: f64| {
                corners.iter().map(|p| sign * p.dot(axis) + t * p.dot(&back)).fold(f64::NEG_INFINITY, f64::max)
            };
            let (a, b) = (most(1.0), most(-1.0));
            (0.5 * (a - b), (a + b) / (2.0 * t))
        };
        let (ex, dx) = fit(&right, tangent * free * f64::from(width) / f64::from(height));
        let (ey, dy) = fit(&up, tangent * free);
        let nearest = corners.iter().map(|p| p.dot(&back)).fold(f64::NEG_INFINITY, f64::max);
        let d = dx.max(dy).max(nearest + 0.01 * half.norm());

        Ok(View {
            origin,
            radius: half.norm() as f32,
            corners: corners.map(|p| p.cast()),
            eye: (ex * right + ey * up + d * back).cast(),
            right: right.cast(),
            up: up.cast(),
            back: back.cast(),
            focal: (0.5 * f64::from(height) / tangent) as f32,
            width,
            height,
            near: (0.02 * d.min(half.norm())) as f32,
        })
    }
}

fn check_range(
    name: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), PictureError> {
    if range.contains(&value) { Ok(()) } else { Err(PictureError::Lens { name, expected, value }) }
}

impl View {
    /// Across `[m]`, up `[m]` and away from the eye `[m]`.
    pub fn to_camera(&self, point: Vector3<f32>) -> [f32; 3] {
        let p = point - self.eye;
        [p.dot(&self.right), p.dot(&self.up), -p.dot(&self.back)]
    }

    /// Whether a point of the world is inside the picture `[m]`, hidden or not.
    pub fn shows(&self, point: [f64; 3]) -> bool {
        let seen = self.to_camera((Vector3::from(point) - self.origin).cast());
        let [x, y, _] = self.project(seen, 1.0);
        seen[2] > self.near && (0.0..self.width as f32).contains(&x) && (0.0..self.height as f32).contains(&y)
    }

    /// Direction through the place (x, y) of the picture `[pixels]`, one metre deep.
    pub fn ray(&self, x: f32, y: f32) -> Vector3<f32> {
        let across = (x - 0.5 * self.width as f32) / self.focal;
        let upward = (0.5 * self.height as f32 - y) / self.focal;
        across * self.right + upward * self.up - self.back
    }

    /// Where a point in front of the eye is seen, in multiples of pixels, and its inverse depth `[1/m]`.
    pub fn project(&self, [x, y, depth]: [f32; 3], samples: f32) -> [f32; 3] {
        let w = 1.0 / depth;
        let half = [0.5 * self.width as f32, 0.5 * self.height as f32];
        [samples * (half[0] + self.focal * x * w), samples * (half[1] - self.focal * y * w), w]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> impl Iterator<Item = (Camera, [u32; 2])> {
        let bounds = [
            [[-1.0, 0.0, -1.0], [1.0, 3.0, 2.0]],
            [[-50.0, -2.0, 4.0], [70.0, 5.0, 5.0]],
            [[1e6, 1e6, 1e6], [1e6 + 3.0, 1e6 + 1.0, 1e6 + 2.0]],
            [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]],
        ];
        let directions = [[1.0, 0.5, 1.2], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.1, -1e5]];
        let sizes = [[640, 400], [100, 1000], [1, 1], [4000, 10]];
        bounds.into_iter().flat_map(move |b| {
            directions.into_iter().flat_map(move |d| {
                sizes.into_iter().map(move |size| (Camera::framing(b).from_direction(d).margin(0.1), size))
            })
        })
    }

    /// All eight corners are seen, a tenth of the picture from its sides, and the fit is tight in one direction.
    #[test]
    fn the_framed_region_is_inside_the_margin_and_touches_it() {
        for (camera, [width, height]) in cases() {
            let view = camera.view(width, height).unwrap();
            let mut span = [[f32::INFINITY, f32::NEG_INFINITY]; 2];
            for corner in view.corners {
                let seen = view.to_camera(corner);
                assert!(seen[2] > view.near, "{camera:?}");
                let [x, y, _] = view.project(seen, 1.0);
                for (span, at) in span.iter_mut().zip([x / width as f32, y / height as f32]) {
                    *span = [span[0].min(at), span[1].max(at)];
                }
            }
            let inside = |[low, high]: [f32; 2]| low > 0.0999 && high < 0.9001;
            assert!(span.iter().all(|&s| inside(s)), "{camera:?} {width} x {height}: {span:?}");
            assert!(span.iter().any(|[low, high]| high - low > 0.799), "{camera:?} {width} x {height}: {span:?}");
        }
    }

    #[test]
    fn cameras_that_see_nothing_are_errors() {
        let good = [[0.0; 3], [1.0; 3]];
        let refused = |camera: Camera| camera.view(64, 40).unwrap_err();
        for bad in [[[0.0; 3], [f64::NAN; 3]], [[0.0; 3], [f64::INFINITY; 3]], [[1.0; 3], [0.0; 3]]] {
            assert!(matches!(refused(Camera::framing(bad)), PictureError::Bounds { .. }));
        }
        for bad in [[0.0; 3], [f64::NAN, 0.0, 1.0]] {
            assert!(matches!(refused(Camera::framing(good).from_direction(bad)), PictureError::Direction { .. }));
        }
        assert!(matches!(refused(Camera::framing(good).field_of_view(0.0)), PictureError::Lens { .. }));
        assert!(matches!(refused(Camera::framing(good).margin(f64::NAN)), PictureError::Lens { .. }));
        assert!(matches!(Camera::framing(good).view(0, 40), Err(PictureError::Size { .. })));
    }
}
