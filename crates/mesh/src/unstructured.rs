//! Meshes of sheets without rows or columns, as fine as is asked for at each place.
//!
//! \[CH04\] L. Chen, J. Xu: Optimal Delaunay Triangulations. Journal of Computational Mathematics 22 (2004), 299-308.
//!
//! A triangulation without holes of V vertices, B of them at the boundary, has 2 V - B - 2 triangles, so that any number of these can be
//! met. Vertices at the boundary are spaced as asked; those within begin scattered, as densely as asked, and come to rest where each is
//! the centre of the triangles around it, which have a weight of area/h⁴ for edges of length h (\[CH04\] section 4; where all are equal
//! these are their areas).

use spade::{DelaunayTriangulation, Point2, Triangulation};

use crate::generators::check_size;
use crate::mesh::check_counts;
use crate::{Mesh, MeshError};

/// Rounds after which vertices hardly move any more.
const ROUNDS: usize = 40;

/// Places that are tried for a vertex.
const DARTS: usize = 1_000_000;

/// Gradings that are tried.
const TRIALS: usize = 30;

/// Places at each side where the length of edges is asked for.
const SAMPLES: usize = 512;

impl Mesh {
    /// A rectangular sheet as a [`Mesh::grid`] is, `[width, height]` `[m]` with its upper left corner at the origin, of so many triangles
    /// without a preferred direction, whose edges are as long at (x, y) as `spacing` says, relative to each other. The same call always
    /// gives the same mesh.
    ///
    /// ```
    /// use partita_mesh::Mesh;
    ///
    /// // Finer towards the right.
    /// let sheet = Mesh::unstructured([1.0, 0.5], 501, |[x, _]| 1.5 - x)?;
    /// assert_eq!(sheet.triangles().len(), 501);
    /// # Ok::<(), partita_mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Sizes or a spacing that are not positive and finite, or so few triangles that the boundary alone needs more; 2 are the least.
    pub fn unstructured(size: [f64; 2], triangles: u32, spacing: impl Fn([f64; 2]) -> f64) -> Result<Self, MeshError> {
        check_size("width", size[0])?;
        check_size("height", size[1])?;
        check_counts(0, triangles as usize)?;
        let too_few = |name| Err(MeshError::Resolution { name, expected: "enough for the boundary", count: triangles });
        let [w, h] = size;
        let corners = [[0.0, 0.0], [0.0, -h], [w, -h], [w, 0.0]];

        // Edges of length s × spacing make equilateral triangles of √3/4 of its square.
        let mut room = 0.0;
        let (mut finest, n) = (f64::INFINITY, SAMPLES / 8);
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let [x, y] = [i, j].map(|k| (k as f64 + 0.5) / n as f64);
            let at = spacing([w * x, -h * y]);
            check_size("spacing", at)?;
            room += w * h / (n * n) as f64 / (at * at);
            finest = finest.min(at);
        }
        let scale = (4.0 / 3.0_f64.sqrt() * room / f64::from(triangles)).sqrt();
        let sides: Result<Vec<Border>, _> =
            (0..4).map(|k| Border::new(corners[k], corners[(k + 1) % 4], &spacing)).collect();
        let sides = sides?;
        let mut segments: Vec<u32> =
            sides.iter().map(|side| ((side.spacings() / scale).round() as u32).max(1)).collect();
        // The number of vertices, (triangles + boundary + 2)/2, has to be whole.
        if !segments.iter().fold(triangles % 2, |sum, n| sum + n % 2).is_multiple_of(2) {
            segments[0] += 1;
        }
        let mut points: Vec<[f64; 2]> =
            sides.iter().zip(&segments).flat_map(|(side, &n)| (0..n).map(move |k| side.at(k, n))).collect();
        let boundary = points.len();
        // Twice the number of those within.
        let Some(within) = (triangles as usize + 2).checked_sub(boundary) else { return too_few("triangles") };

        let mut random = Random(1);
        // Of so many darts each is thrown until one stays: were it never, the spacing would be no number, or 0 between samples.
        for _ in 0..within / 2 {
            let dart = (0..DARTS).find_map(|_| {
                let at = [w * random.number(), -h * random.number()];
                (random.number() < (finest / spacing(at)).powi(2)).then_some(at)
            });
            points.push(dart.ok_or(MeshError::Size { name: "spacing", value: f64::NAN })?);
        }
        for _ in 0..ROUNDS {
            let weight = |at: [f64; 2]| spacing(at).powi(-4);
            let faces = delaunay(&points);
            let mut sums = vec![[0.0; 3]; points.len()];
            for face in faces {
                let corners = face.map(|v| points[v as usize]);
                let middle = [0, 1].map(|axis| corners.iter().map(|x| x[axis]).sum::<f64>() / 3.0);
                let share = area(corners) * weight(middle);
                for v in face {
                    let sum = &mut sums[v as usize];
                    *sum = [sum[0] + share * middle[0], sum[1] + share * middle[1], sum[2] + share];
                }
            }
            for (point, [x, y, whole]) in points.iter_mut().zip(sums).skip(boundary) {
                *point = [x / whole, y / whole];
            }
        }
        let faces = delaunay(&points);
        if faces.len() != triangles as usize {
            return too_few("triangles");
        }
        Self::new(&points.iter().map(|&[x, y]| [x, y, 0.0]).collect::<Vec<_>>(), &faces)
    }

    /// A sheet as of [`Mesh::unstructured`], fine in its middle and coarse at the boundary: the largest triangle has `ratio` times the area
    /// of the smallest, to 2 % where there are enough triangles for it; [`Mesh::area_ratio`] tells.
    ///
    /// # Errors
    ///
    /// As [`Mesh::unstructured`], or a ratio that is not from 1 to 1e4.
    pub fn graded(size: [f64; 2], triangles: u32, ratio: f64) -> Result<Self, MeshError> {
        if !(1.0..=1e4).contains(&ratio) {
            return Err(MeshError::Size { name: "ratio of areas", value: ratio });
        }
        let [w, h] = size;
        let of = |grading: f64| {
            Self::unstructured(size, triangles, |[x, y]| {
                // 0 in the middle, 1 from the nearer sides on.
                let from = (2.0 * x / w - 1.0).hypot(2.0 * y / h + 1.0).min(1.0);
                (grading.ln() * from).exp()
            })
        };
        // Edges' ratio is the root of that of areas, less what triangles of one size differ by.
        let mut grading = ratio.sqrt();
        let mut best = (f64::INFINITY, Self::grid([1, 1], size)?);
        for _ in 0..TRIALS {
            let mesh = of(grading)?;
            let error = (mesh.area_ratio() / ratio).ln();
            if error.abs() < best.0 {
                best = (error.abs(), mesh);
            }
            if best.0 < 0.02 {
                break;
            }
            grading = (grading * (-0.5 * error).exp()).max(1.0);
        }
        Ok(best.1)
    }

    /// Area of the largest triangle over that of the smallest [-].
    pub fn area_ratio(&self) -> f64 {
        let areas = self.triangles().iter().map(|t| {
            let [a, b, c] = t.map(|v| self.vertices()[v as usize]);
            0.5 * (b - a).cross(&(c - a)).norm()
        });
        let [least, most] =
            areas.fold([f64::INFINITY, 0.0], |[least, most], area| [least.min(area), f64::max(most, area)]);
        most / least
    }
}

/// From corner to corner, with how many spacings lie before each of its samples.
struct Border {
    from: [f64; 2],
    to: [f64; 2],
    before: Vec<f64>,
}

impl Border {
    fn new(from: [f64; 2], to: [f64; 2], spacing: &impl Fn([f64; 2]) -> f64) -> Result<Self, MeshError> {
        let mut side = Self { from, to, before: vec![0.0] };
        let part = (to[0] - from[0]).hypot(to[1] - from[1]) / SAMPLES as f64;
        for k in 0..SAMPLES {
            let at = spacing(side.place((k as f64 + 0.5) / SAMPLES as f64));
            check_size("spacing", at)?;
            side.before.push(side.before[k] + part / at);
        }
        Ok(side)
    }

    fn spacings(&self) -> f64 {
        self.before[SAMPLES]
    }

    /// Where the k-th of n segments begins.
    fn at(&self, k: u32, n: u32) -> [f64; 2] {
        let wanted = self.spacings() * f64::from(k) / f64::from(n);
        let next = self.before.partition_point(|before| *before <= wanted).clamp(1, SAMPLES);
        let [low, high] = [self.before[next - 1], self.before[next]];
        self.place(((next - 1) as f64 + (wanted - low) / (high - low)) / SAMPLES as f64)
    }

    fn place(&self, s: f64) -> [f64; 2] {
        [0, 1].map(|k| {
            if self.from[k] == self.to[k] { self.from[k] } else { self.from[k] + s * (self.to[k] - self.from[k]) }
        })
    }
}

/// Triangles of points, counter-clockwise, by number.
fn delaunay(points: &[[f64; 2]]) -> Vec<[u32; 3]> {
    let points = points.iter().map(|&[x, y]| Point2::new(x, y)).collect();
    let Ok(mesh) = DelaunayTriangulation::<Point2<f64>>::bulk_load_stable(points) else { return vec![] };
    mesh.inner_faces().map(|face| face.vertices().map(|v| v.index() as u32)).collect()
}

fn area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
}

/// Knuth's linear congruential generator (MMIX).
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
