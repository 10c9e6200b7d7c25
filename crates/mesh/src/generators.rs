//! Meshes of simple things.

use std::collections::HashMap;

use crate::mesh::{LARGEST, check_counts};
use crate::{Mesh, MeshError};

/// A side of a [`Mesh::grid`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Greatest y.
    Top,
    /// Least y.
    Bottom,
    /// Least x.
    Left,
    /// Greatest x.
    Right,
}

impl Mesh {
    /// A rectangular sheet of `[across, down]` cells and `[width, height]` `[m]`, hanging from the origin: its upper
    /// left corner is at (0, 0, 0), x runs to the right, y up, and outside is +z.
    ///
    /// Vertices come row by row from the top. Diagonals alternate, so that cloth made of it has no preferred one.
    ///
    /// # Errors
    ///
    /// No cells, more vertices or corners than `u32` can count, or sizes that are not positive and finite.
    pub fn grid(cells: [u32; 2], size: [f64; 2]) -> Result<Self, MeshError> {
        let [across, down] = cells;
        for (name, count) in [("cells across", across), ("cells down", down)] {
            check_resolution(name, count, 1, u32::MAX, "at least 1")?;
        }
        check_size("width", size[0])?;
        check_size("height", size[1])?;
        // 2 triangles a cell, 3 corners a triangle, numbered by u32; hence also fewer vertices than that.
        let triangles = (across as usize).saturating_mul(down as usize).saturating_mul(2);
        let limit = u32::MAX as usize / 3;
        if triangles > limit {
            return Err(MeshError::TooMany { things: "triangles", count: triangles, limit });
        }

        let place = |i: u32, j: u32| {
            [size[0] * f64::from(i) / f64::from(across), -size[1] * f64::from(j) / f64::from(down), 0.0]
        };
        let vertices: Vec<[f64; 3]> = (0..=down).flat_map(|j| (0..=across).map(move |i| place(i, j))).collect();
        let mut triangles = Vec::with_capacity(triangles);
        for j in 0..down {
            for i in 0..across {
                let upper_left = j * (across + 1) + i;
                let lower_left = upper_left + across + 1;
                let (upper_right, lower_right) = (upper_left + 1, lower_left + 1);
                triangles.extend(if (i + j) % 2 == 0 {
                    [[upper_left, lower_left, lower_right], [upper_left, lower_right, upper_right]]
                } else {
                    [[upper_left, lower_left, upper_right], [upper_right, lower_left, lower_right]]
                });
            }
        }
        let mut mesh = Mesh::new(&vertices, &triangles)?;
        mesh.cells = Some(cells);
        Ok(mesh)
    }

    /// A box around the origin with full edge lengths `size` `[m]`: 8 vertices, 12 triangles, exact.
    ///
    /// # Errors
    ///
    /// Sizes that are not positive and finite.
    pub fn cuboid(size: [f64; 3]) -> Result<Self, MeshError> {
        size.iter().zip(["size x", "size y", "size z"]).try_for_each(|(&s, name)| check_size(name, s))?;
        // Vertex number: bits 0, 1, 2 are set where x, y, z are positive.
        let corner =
            |k: u32| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.5 * size[axis] } else { -0.5 * size[axis] });
        let vertices: Vec<[f64; 3]> = (0..8).map(corner).collect();
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles: Vec<[u32; 3]> = faces.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Mesh::new(&vertices, &triangles)
    }

    /// A ball around the origin: an icosahedron of this `radius` `[m]` whose triangles are cut in four `subdivisions`
    /// times, with 10 · 4ⁿ + 2 vertices on the sphere. Facets lie inside it by at most 0.30 · 4⁻ⁿ of the radius
    /// (1.8 % at n = 2, 0.5 % at n = 3).
    ///
    /// # Errors
    ///
    /// More than 8 subdivisions (655,362 vertices), or a radius that is not positive and finite.
    pub fn ball(radius: f64, subdivisions: u32) -> Result<Self, MeshError> {
        check_size("radius", radius)?;
        check_resolution("subdivisions", subdivisions, 0, 8, "at most 8")?;
        let (mut directions, mut triangles) = icosahedron();
        for _ in 0..subdivisions {
            let mut middles = HashMap::new();
            let mut middle = |i: u32, j: u32| {
                *middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                    let (a, b) = (directions[i as usize], directions[j as usize]);
                    directions.push(normalized([0, 1, 2].map(|k| a[k] + b[k])));
                    directions.len() as u32 - 1
                })
            };
            triangles = triangles
                .iter()
                .flat_map(|&[a, b, c]| {
                    let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                })
                .collect();
        }
        let vertices: Vec<[f64; 3]> = directions.iter().map(|d| d.map(|c| radius * c)).collect();
        Mesh::new(&vertices, &triangles)
    }

    /// A capsule along y around the origin: a cylinder of this `length` `[m]`, closed by half balls of this `radius`
    /// `[m]`, so `length + 2 radius` long. `segments` go around; a quarter as many, at least one, from rim to pole.
    /// Vertices are on the true surface, facets inside it by at most 10 / segments² of the radius.
    ///
    /// # Errors
    ///
    /// Fewer than 4 or more than 4096 segments, or sizes that are not positive and finite.
    pub fn capsule(length: f64, radius: f64, segments: u32) -> Result<Self, MeshError> {
        check_size("length", length)?;
        check_size("radius", radius)?;
        check_resolution("segments", segments, 4, 4096, "4 to 4096")?;
        let rings = segments / 4;
        // From the lower pole to the lower rim, then mirrored.
        let lower = (0..=rings).map(|k| {
            let (sin, cos) = (std::f64::consts::FRAC_PI_2 * f64::from(k) / f64::from(rings)).sin_cos();
            [radius * sin, -0.5 * length - radius * cos]
        });
        let lower: Vec<[f64; 2]> = lower.collect();
        let upper = lower.iter().rev().map(|&[r, y]| [r, -y]);
        let profile: Vec<[f64; 2]> = lower.iter().copied().chain(upper).collect();
        Mesh::revolved(&profile, segments)
    }

    /// A cylinder along y around the origin, `length` `[m]` from end to end, of this `radius` `[m]`, with
    /// `segments` around. Vertices are on the true surface, facets inside it by at most 5 / segments² of the radius.
    ///
    /// # Errors
    ///
    /// Fewer than 3 or more than 4096 segments, or sizes that are not positive and finite.
    pub fn cylinder(length: f64, radius: f64, segments: u32) -> Result<Self, MeshError> {
        check_size("length", length)?;
        check_size("radius", radius)?;
        let end = 0.5 * length;
        Mesh::revolved(&[[0.0, -end], [radius, -end], [radius, end], [0.0, end]], segments)
    }

    /// A cone along y: its apex is at y = `length` / 2 `[m]`, the centre of its base, of this `radius` `[m]`, at
    /// −`length` / 2. `segments` go around. Vertices are on the true surface, facets inside it by at most 5 / segments²
    /// of the radius.
    ///
    /// # Errors
    ///
    /// Fewer than 3 or more than 4096 segments, or sizes that are not positive and finite.
    pub fn cone(length: f64, radius: f64, segments: u32) -> Result<Self, MeshError> {
        check_size("length", length)?;
        check_size("radius", radius)?;
        let end = 0.5 * length;
        Mesh::revolved(&[[0.0, -end], [radius, -end], [0.0, end]], segments)
    }

    /// A surface of revolution: a profile of points (distance from the axis, y) `[m]`, turned about the y axis. It runs
    /// from a pole on the axis to a pole on the axis, and outside is at its right: a profile that rises encloses a
    /// volume. Vertices are the first pole, `segments` for each point between, the first of them towards +x, and the
    /// last pole. Facets are nearer the axis than the true surface by at most 5 / segments² of the distance from it:
    /// inside it on an outer wall, outside on an inner one.
    ///
    /// ```
    /// // A bowl: up at the outside, over the rim, down inside.
    /// let profile = [[0.0, 0.0], [0.2, 0.0], [0.3, 0.2], [0.28, 0.2], [0.19, 0.02], [0.0, 0.02]];
    /// let bowl = partita_mesh::Mesh::revolved(&profile, 32)?;
    /// assert!(bowl.is_closed());
    /// # Ok::<(), partita_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fewer than 3 or more than 4096 segments, fewer than 3 points, a first or last one that is not on the axis, one
    /// between that is not off it, coordinates that are not finite or beyond 1e100 m, more corners than `u32` can
    /// count, or points so near to each other that a triangle has no area.
    pub fn revolved(profile: &[[f64; 2]], segments: u32) -> Result<Self, MeshError> {
        check_resolution("segments", segments, 3, 4096, "3 to 4096")?;
        let wrong = |point: usize, expected| MeshError::Profile { point, found: profile[point], expected };
        let (first, rings, last) = match profile {
            &[first, ref rings @ .., last] if !rings.is_empty() => (first, rings, last),
            _ => {
                let count = profile.len() as u32;
                return Err(MeshError::Resolution { name: "points of the profile", expected: "at least 3", count });
            }
        };
        for (point, &[r, y]) in profile.iter().enumerate() {
            let pole = point == 0 || point == profile.len() - 1;
            if pole && r != 0.0 {
                return Err(wrong(point, "a pole, at distance 0"));
            }
            let finite = r.abs() <= LARGEST && y.abs() <= LARGEST;
            if !finite || (!pole && r <= 0.0) {
                return Err(wrong(point, "a positive distance, and both at most 1e100 m"));
            }
        }
        // Corners are numbered by u32; hence also fewer vertices than that.
        check_counts(0, (2 * segments as usize).saturating_mul(rings.len()))?;

        let mut vertices = vec![[0.0, first[1], 0.0]];
        for &[r, y] in rings {
            vertices.extend((0..segments).map(|k| {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(segments)).sin_cos();
                [r * cos, y, -r * sin]
            }));
        }
        vertices.push([0.0, last[1], 0.0]);

        let (pole, rings) = (vertices.len() as u32 - 1, rings.len() as u32);
        let at = |ring: u32, k: u32| 1 + ring * segments + k % segments;
        let mut triangles = vec![];
        for k in 0..segments {
            triangles.push([0, at(0, k + 1), at(0, k)]);
            for ring in 1..rings {
                let [a, b, c, d] = [at(ring - 1, k), at(ring - 1, k + 1), at(ring, k + 1), at(ring, k)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
            triangles.push([pole, at(rings - 1, k), at(rings - 1, k + 1)]);
        }
        Mesh::new(&vertices, &triangles)
    }
}

/// Directions of the corners, and the faces.
fn icosahedron() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let corners = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ];
    let faces = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    (corners.map(normalized).to_vec(), faces.to_vec())
}

fn normalized(v: [f64; 3]) -> [f64; 3] {
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    v.map(|c| c / length)
}

pub(crate) fn check_size(name: &'static str, value: f64) -> Result<(), MeshError> {
    if value > 0.0 && value <= LARGEST { Ok(()) } else { Err(MeshError::Size { name, value }) }
}

fn check_resolution(
    name: &'static str,
    count: u32,
    least: u32,
    most: u32,
    expected: &'static str,
) -> Result<(), MeshError> {
    if (least..=most).contains(&count) { Ok(()) } else { Err(MeshError::Resolution { name, expected, count }) }
}
