//! Which facet, sphere or ground the eye sees at each sample of the picture.
//!
//! Samples hold a number and an inverse depth; colour comes later, once a pixel (`shade.rs`).

use crate::camera::View;
use crate::gather::Scene;

/// What a sample shows: [`NOTHING`], [`GROUND`], then all facets, then all spheres.
pub(crate) type Id = u32;
pub(crate) const NOTHING: Id = 0;
pub(crate) const GROUND: Id = 1;
pub(crate) const FIRST_FACET: Id = 2;

/// `samples` x `samples` of them in each pixel, in rows from the top.
pub(crate) struct Visibility {
    pub ids: Vec<Id>,
    pub columns: usize,
    pub samples: usize,
}

/// One of the things seen in a pixel.
pub(crate) struct Seen {
    pub id: Id,
    /// Middle of the samples that show it `[pixels]`.
    pub at: [f32; 2],
    /// Their share of the pixel `[-]`.
    pub share: f32,
}

impl Visibility {
    /// Lists what one pixel shows; what fills several samples comes once.
    pub fn seen_in_pixel(&self, row: usize, column: usize, seen: &mut Vec<Seen>) {
        seen.clear();
        let n = self.samples;
        let first = row * n * self.columns + column * n;
        let id = self.ids[first];
        if (0..n).all(|k| self.ids[first + k * self.columns..][..n].iter().all(|&other| other == id)) {
            seen.push(Seen { id, at: [column as f32 + 0.5, row as f32 + 0.5], share: 1.0 });
            return;
        }
        for k in 0..n {
            for (l, &id) in self.ids[first + k * self.columns..][..n].iter().enumerate() {
                let place = [l as f32 + 0.5, k as f32 + 0.5];
                match seen.iter_mut().find(|seen| seen.id == id) {
                    Some(Seen { at, share, .. }) => {
                        *at = [at[0] + place[0], at[1] + place[1]];
                        *share += 1.0;
                    }
                    None => seen.push(Seen { id, at: place, share: 1.0 }),
                }
            }
        }
        for Seen { at, share, .. } in seen.iter_mut() {
            let scale = 1.0 / (*share * n as f32);
            *at = [column as f32 + at[0] * scale, row as f32 + at[1] * scale];
            *share /= (n * n) as f32;
        }
    }
}

/// Places this many picture sizes away are cut off before they become whole numbers.
const GUARD: f32 = 4.0;
/// Parts of a sample to which corners are rounded: neighbours round alike, so no gap opens between them.
const PARTS: f32 = 256.0;

/// The ground counts as further away by this fraction of its distance, so that a floor at its height hides it `[-]`. Far
/// above the rounding of depths in single precision. Heuristic.
const BEHIND: f32 = 3e-4;

/// Looks at the whole scene.
pub(crate) fn rasterise(scene: &Scene, view: &View, samples: usize) -> Visibility {
    let (columns, rows) = (view.width as usize * samples, view.height as usize * samples);
    let mut ids = vec![NOTHING; columns * rows];
    let mut inverse_depth = vec![0.0f32; columns * rows];
    lay_ground(scene, view, samples, &mut ids, &mut inverse_depth, columns);

    let mut polygon = Vec::with_capacity(8);
    let mut spare = Vec::with_capacity(8);
    for (id, facet) in (FIRST_FACET..).zip(&scene.facets) {
        polygon.clear();
        polygon.extend(facet.corners.iter().map(|&corner| view.to_camera(corner)));
        clip(&mut polygon, &mut spare, |p| p[2] - view.near);
        polygon.iter_mut().for_each(|p| *p = view.project(*p, samples as f32));
        fill_polygon([columns, rows], &mut polygon, &mut spare, |at, w| {
            if w > inverse_depth[at] {
                (inverse_depth[at], ids[at]) = (w, id);
            }
        });
    }

    let first_sphere = FIRST_FACET + scene.facets.len() as Id;
    for (id, sphere) in (first_sphere..).zip(&scene.spheres) {
        let centre = view.to_camera(sphere.centre);
        if centre[2] - sphere.radius < view.near {
            continue;
        }
        let [x, y, w] = view.project(centre, samples as f32);
        let scale = samples as f32 * view.focal * w;
        // At least a pixel wide.
        let reach = (sphere.radius * scale).max(0.5 * samples as f32);
        fill_disc([columns, rows], [x, y], reach, |at, inside| {
            let w = 1.0 / (centre[2] - sphere.radius * inside);
            if w > inverse_depth[at] {
                (inverse_depth[at], ids[at]) = (w, id);
            }
        });
    }
    Visibility { ids, columns, samples }
}

/// The ground is an endless plane seen from above. Its inverse depth is linear in the picture, so it needs neither
/// triangles nor clipping: w = ray.y / (height - eye.y) for a ray one metre deep.
fn lay_ground(scene: &Scene, view: &View, samples: usize, ids: &mut [Id], inverse_depth: &mut [f32], columns: usize) {
    let Some(fall) = scene.ground.map(|height| height - view.eye.y).filter(|&fall| fall < 0.0) else { return };
    let step = 1.0 / samples as f32;
    for (row, (ids, depths)) in ids.chunks_mut(columns).zip(inverse_depth.chunks_mut(columns)).enumerate() {
        let w = |column: f32| view.ray((column + 0.5) * step, (row as f32 + 0.5) * step).y / fall;
        let (w0, dw) = (w(0.0), w(1.0) - w(0.0));
        for (column, (id, depth)) in ids.iter_mut().zip(depths).enumerate() {
            let w = w0 + dw * column as f32;
            if w > 0.0 && w * view.near < 1.0 {
                (*id, *depth) = (GROUND, w * (1.0 - BEHIND));
            }
        }
    }
}

/// Cuts a convex polygon along the plane `distance` = 0 and keeps the positive side. New corners are computed from
/// inside to outside, so two polygons that share an edge share the cut.
fn clip(polygon: &mut Vec<[f32; 3]>, spare: &mut Vec<[f32; 3]>, distance: impl Fn(&[f32; 3]) -> f32) {
    if polygon.iter().all(|p| distance(p) >= 0.0) {
        return;
    }
    spare.clear();
    for (i, a) in polygon.iter().enumerate() {
        let b = &polygon[(i + 1) % polygon.len()];
        let (da, db) = (distance(a), distance(b));
        if da >= 0.0 {
            spare.push(*a);
        }
        if (da >= 0.0) != (db >= 0.0) {
            let (inside, outside, d, e) = if da >= 0.0 { (a, b, da, db) } else { (b, a, db, da) };
            let s = d / (d - e);
            spare.push([0, 1, 2].map(|k| inside[k] + s * (outside[k] - inside[k])));
        }
    }
    std::mem::swap(polygon, spare);
}

/// Calls `plot(index of sample, w)` for every sample in a convex polygon of corners (x, y, w), w linear in x and y.
pub(crate) fn fill_polygon(
    [columns, rows]: [usize; 2],
    polygon: &mut Vec<[f32; 3]>,
    spare: &mut Vec<[f32; 3]>,
    mut plot: impl FnMut(usize, f32),
) {
    let sides = [columns as f32, rows as f32];
    for k in 0..2 {
        clip(polygon, spare, |p| p[k] + GUARD * sides[k]);
        clip(polygon, spare, |p| (1.0 + GUARD) * sides[k] - p[k]);
    }
    for k in 2..polygon.len() {
        fill_triangle([columns, rows], [polygon[0], polygon[k - 1], polygon[k]], &mut plot);
    }
}

fn fill_triangle([columns, rows]: [usize; 2], corners: [[f32; 3]; 3], plot: &mut impl FnMut(usize, f32)) {
    let [a, mut b, mut c] = corners.map(|[x, y, w]| ((x * PARTS).round() as i64, (y * PARTS).round() as i64, w));
    let twice_area = |b: (i64, i64, f32), c: (i64, i64, f32)| (b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1);
    let mut area = twice_area(b, c);
    if area == 0 {
        return;
    }
    if area < 0 {
        (b, c, area) = (c, b, -area);
    }

    // w = w_a + dx (x - x_a) + dy (y - y_a), held between the corners' values where the triangle is a sliver.
    let (wb, wc, area) = (b.2 - a.2, c.2 - a.2, area as f32);
    let dx = (wb * (c.1 - a.1) as f32 - wc * (b.1 - a.1) as f32) / area;
    let dy = (wc * (b.0 - a.0) as f32 - wb * (c.0 - a.0) as f32) / area;
    let (low, high) = (a.2.min(b.2).min(c.2), a.2.max(b.2).max(c.2));

    let part = PARTS as i64;
    let half = part / 2;
    let first_row = (a.1.min(b.1).min(c.1) - half).div_euclid(part).max(0);
    let last_row = (a.1.max(b.1).max(c.1) - half).div_euclid(part).min(rows as i64 - 1);
    for row in first_row..=last_row {
        let y = row * part + half;
        // Samples where each edge function (q - p) x (sample - p) is not negative.
        let (mut first, mut last) = (0, columns as i64 - 1);
        for (p, q) in [(a, b), (b, c), (c, a)] {
            let slope = p.1 - q.1;
            let at_half = (q.0 - p.0) * (y - p.1) + slope * (half - p.0);
            match slope.signum() {
                1 => first = first.max(-at_half.div_euclid(slope * part)),
                -1 => last = last.min(at_half.div_euclid(-slope * part)),
                _ if at_half < 0 => last = -1,
                _ => {}
            }
        }
        let w_row = a.2 + dy * (y - a.1) as f32;
        for column in first..=last {
            let w = w_row + dx * (column * part + half - a.0) as f32;
            plot(row as usize * columns + column as usize, w.clamp(low, high));
        }
    }
}

/// Calls `plot(index of sample, z)` for every sample in a disc, where z is the height of the unit half sphere over it.
pub(crate) fn fill_disc([columns, rows]: [usize; 2], [x, y]: [f32; 2], radius: f32, mut plot: impl FnMut(usize, f32)) {
    let range = |centre: f32, reach: f32, count: usize| {
        let first = (centre - reach - 0.5).ceil().max(0.0) as usize;
        let end = (centre + reach + 0.5).floor().clamp(0.0, count as f32) as usize;
        first..end
    };
    for row in range(y, radius, rows) {
        let dy = (row as f32 + 0.5 - y) / radius;
        let left = 1.0 - dy * dy;
        if left < 0.0 {
            continue;
        }
        for column in range(x, radius * left.sqrt(), columns) {
            let dx = (column as f32 + 0.5 - x) / radius;
            plot(row * columns + column, (left - dx * dx).max(0.0).sqrt());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of triangles that cover each sample.
    fn cover(size: [usize; 2], triangles: &[[[f32; 3]; 3]]) -> Vec<u32> {
        let mut count = vec![0; size[0] * size[1]];
        for triangle in triangles {
            fill_polygon(size, &mut triangle.to_vec(), &mut vec![], |at, _| count[at] += 1);
        }
        count
    }

    /// A fan of slivers around a point that is no sample: every sample of the square is covered.
    #[test]
    fn neighbours_leave_no_gap() {
        let rim: Vec<[f32; 3]> = (0..360)
            .map(|k| (k as f32).to_radians().sin_cos())
            .map(|(s, c)| [20.3 + 100.0 * c, 17.7 + 100.0 * s, 1.0])
            .collect();
        let fan: Vec<_> = (0..360).map(|k| [[20.3, 17.7, 1.0], rim[k], rim[(k + 1) % 360]]).collect();
        assert!(cover([40, 30], &fan).iter().all(|&count| count > 0));
    }

    /// The area of a triangle is the number of its samples, up to half a sample along its edges.
    #[test]
    fn a_triangle_covers_its_area() {
        let triangle = [[3.2, 4.1, 1.0], [90.7, 20.4, 1.0], [30.3, 77.9, 1.0]];
        let [a, b, c] = triangle;
        let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
        let covered: u32 = cover([100, 100], &[triangle]).iter().sum();
        assert!((covered as f32 - area).abs() < 0.5 * 260.0, "{covered} samples for an area of {area}");
        let mirrored: u32 = cover([100, 100], &[[a, c, b]]).iter().sum();
        assert_eq!(covered, mirrored);
    }

    /// A floor at the height of the ground hides all of it, from any side and distance.
    #[test]
    fn a_floor_at_the_height_of_the_ground_hides_it() {
        for (size, rise) in [0.1, 1.0, 50.0, 1e3].into_iter().flat_map(|size| [0.05, 0.3, 1.0].map(|rise| (size, rise)))
        {
            let floor =
                [[-1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]].map(|x| x.map(|x| size * x));
            let shape = crate::Shape::new(&floor, &[[0, 1, 2], [0, 2, 3]]).unwrap();
            let camera = crate::Camera::framing([[-size, 0.0, -size], [size, 0.5 * size, size]])
                .from_direction([0.7, rise, 1.0]);
            let view = camera.view(96, 60).unwrap();
            let seen = |mut drawing: crate::Drawing| {
                drawing.body(&shape, [0.0; 3], [0.0, 0.0, 0.0, 1.0], crate::Look::plain(crate::Colour::WOOD));
                rasterise(&crate::gather::gather(&drawing, view.origin), &view, 2).ids
            };
            let (alone, on_ground) = (seen(crate::Drawing::new()), seen(crate::Drawing::on_ground(0.0)));
            let covered = alone.iter().zip(&on_ground).filter(|(alone, _)| **alone >= FIRST_FACET);
            assert!(covered.clone().count() > 100, "{size} m, {rise}");
            assert!(covered.clone().all(|(alone, both)| alone == both), "{size} m, {rise}");
        }
    }

    #[test]
    fn triangles_far_outside_neither_wrap_nor_overflow() {
        let huge = [[-1e30, -1e30, 1.0], [1e30, -1e30, 1.0], [0.0, 1e30, 1.0]];
        assert!(cover([20, 10], &[huge]).iter().all(|&count| count > 0));
        let beside = [[1e9, 0.0, 1.0], [1e9, 10.0, 1.0], [2e9, 5.0, 1.0]];
        assert!(cover([20, 10], &[beside]).iter().all(|&count| count == 0));
    }

    #[test]
    fn depth_is_linear_inside_a_triangle() {
        let plane = |x: f32, y: f32| 0.25 + 0.001 * x - 0.002 * y;
        let corner = |x: f32, y: f32| [x, y, plane(x, y)];
        let mut polygon = vec![corner(-100.0, -50.0), corner(300.0, 20.0), corner(10.0, 200.0)];
        fill_polygon([64, 64], &mut polygon, &mut vec![], |at, w| {
            let expected = plane((at % 64) as f32 + 0.5, (at / 64) as f32 + 0.5);
            assert!((w - expected).abs() < 1e-4, "{w} instead of {expected}");
        });
    }
}
