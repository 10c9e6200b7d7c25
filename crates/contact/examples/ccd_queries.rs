//! Collision queries and our answers, for others to judge: `ccd_queries FILE [COUNT]`.
//!
//! A query is 26 numbers of 8 bytes: 0 for point and triangle or 1 for edges, four vertices at the begin, four at the end,
//! and when we say that they touch, 2 for never. Half of them lie on a grid, which makes edges parallel and of no length,
//! features coplanar, motions common or none; of these and of the others a third hits by construction.

use std::{
    env,
    error::Error,
    fs::File,
    io::{BufWriter, Write},
};

use nalgebra::Vector3;
use partita_contact::{Kind, impact};

/// Numbers from 0 to 1 without pattern, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// On a grid of quarters, or anywhere, within 1 of the origin.
    fn vector(&mut self, grid: bool) -> Vector3<f64> {
        let v = Vector3::from_fn(|_, _| 2.0 * self.next() - 1.0);
        if grid { v.map(|c| (4.0 * c).round() / 4.0) } else { v }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("usage: ccd_queries FILE [COUNT]")?;
    let count: usize = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let mut out = BufWriter::new(File::create(file)?);
    let mut random = Random(1);
    for query in 0..count {
        let kind = if query % 2 == 0 { Kind::PointTriangle } else { Kind::EdgeEdge };
        let grid = query % 4 < 2;
        let x: [Vector3<f64>; 4] = std::array::from_fn(|_| random.vector(grid));
        let mut end: [Vector3<f64>; 4] = std::array::from_fn(|_| random.vector(grid));
        if grid && query % 3 == 1 {
            // All by the same way, or none.
            let way = if query % 5 == 0 { Vector3::zeros() } else { random.vector(true) };
            end = x.map(|x| x + way);
        }
        if query % 3 == 0 {
            // Places of both features are at one place at a time that binary fractions hold exactly.
            let time = (1.0 + (7.0 * random.next()).floor()) / 8.0;
            let [s, t] = [random.next(), random.next()].map(|r| (4.0 * r).floor() / 8.0);
            let weights = match kind {
                Kind::PointTriangle => [1.0, s + t - 1.0, -s, -t],
                Kind::EdgeEdge => [1.0 - s, s, t - 1.0, -t],
            };
            let gap: Vector3<f64> = (0..4).map(|k| weights[k] * (x[k] + time * (end[k] - x[k]))).sum();
            let first = if kind == Kind::PointTriangle { 1 } else { 2 };
            end[..first].iter_mut().for_each(|end| *end -= gap / time);
        }
        let u = std::array::from_fn(|k| end[k] - x[k]);
        let time = impact(kind, &x, &u, 0.0, 1e-6).map_or(2.0, |impact| impact.time);
        let numbers = [f64::from(u8::from(kind == Kind::EdgeEdge))].into_iter();
        let vertices = x.iter().chain(&end).flat_map(|v| v.iter().copied());
        for number in numbers.chain(vertices).chain([time]) {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}
