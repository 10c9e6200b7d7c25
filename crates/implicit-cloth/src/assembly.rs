//! Forces and stiffness of all elements, and where in the matrix they belong.
//!
//! Each piece of rows is filled by itself, from all elements that have a vertex in it, always in the same order: elements
//! between pieces are computed more than once, and the bits do not depend on the number of threads.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};
use partita_elastic::{Fabric, Hinge, Tangent, Triangle, hinge};
use rayon::prelude::*;

use crate::{
    blocks::{Blocks, piece_size},
    sheet::Sheet,
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Elements of one piece of a sum.
const PIECE: usize = 4096;

/// What acts on the vertices around a state, in first order.
pub(crate) struct Forces<'a> {
    /// Where and how fast they are.
    pub x: &'a [V3],
    /// Half-way there from the begin of the step. Strain rates are measured there, where a turn has none, however far it goes.
    pub middle: &'a [V3],
    pub v: &'a [V3],
    /// How far from there the forces are wanted `[m]`.
    pub way: &'a [V3],
    /// Whether with the exact Jacobian, which a scheme of second order needs; else with the definite one of the matrix.
    pub exact: bool,
    /// Of the step in which they act `[s]`.
    pub dt: f64,
}

/// Where elements belong.
pub(crate) struct Places {
    triangles: Vec<Place<3, 6>>,
    hinges: Vec<Place<4, 10>>,
    /// Of each piece of rows, the elements with a vertex in it.
    pieces: Vec<(Range<usize>, [Vec<u32>; 2])>,
}

/// Of the vertices of an element by number: which they are, and the places of their blocks in the lower triangle, row by row.
struct Place<const N: usize, const P: usize> {
    order: [usize; N],
    rows: [usize; N],
    blocks: [u32; P],
}

impl<const N: usize, const P: usize> Place<N, P> {
    fn new(vertices: &[u32; N], matrix: &Blocks) -> Self {
        let mut order: [usize; N] = std::array::from_fn(|k| k);
        order.sort_by_key(|&k| vertices[k]);
        let mut blocks = [0; P];
        let pairs = (0..N).flat_map(|i| (0..=i).map(move |j| [i, j]));
        for (block, pair) in blocks.iter_mut().zip(pairs) {
            let [row, column] = pair.map(|k| vertices[order[k]]);
            *block = matrix.place(row, column).expect("the matrix has room for its elements");
        }
        Self { order, rows: order.map(|k| vertices[k] as usize), blocks }
    }

    fn is_in(&self, rows: &Range<usize>) -> bool {
        self.rows.iter().any(|row| rows.contains(row))
    }
}

impl Places {
    pub fn new(triangles: &[Triangle], hinges: &[Hinge], matrix: &Blocks) -> Self {
        let triangles: Vec<_> = triangles.iter().map(|t| Place::new(&t.vertices, matrix)).collect();
        let hinges: Vec<_> = hinges.iter().map(|hinge| Place::new(&hinge.vertices, matrix)).collect();
        let of = |rows: Range<usize>| {
            let within = (0..triangles.len() as u32).filter(|&t| triangles[t as usize].is_in(&rows)).collect();
            let bent = (0..hinges.len() as u32).filter(|&h| hinges[h as usize].is_in(&rows)).collect();
            (rows, [within, bent])
        };
        let pieces = matrix.pieces().map(of).collect();
        Self { triangles, hinges, pieces }
    }
}

/// Rows of a piece: their numbers, forces on them, and their blocks, of which there are some before.
struct Piece<'a> {
    rows: &'a Range<usize>,
    out: &'a mut [V3],
    before: usize,
    values: &'a mut [M3],
}

impl Piece<'_> {
    fn add<const N: usize, const P: usize>(
        &mut self,
        place: &Place<N, P>,
        forces: &[V3; N],
        block: impl Fn(usize, usize) -> M3,
    ) {
        let mut places = place.blocks.iter();
        for i in 0..N {
            let row = place.rows[i];
            if !self.rows.contains(&row) {
                places.by_ref().take(i + 1).for_each(drop);
                continue;
            }
            self.out[row - self.rows.start] += forces[place.order[i]];
            for (j, &place) in (0..=i).zip(places.by_ref()) {
                self.values[place as usize - self.before] += block(i, j);
            }
        }
    }
}

impl Sheet {
    /// Of stretch, shear and bending `[J]`.
    pub fn energy(&self, x: &[V3]) -> f64 {
        let membrane = sum(&self.triangles, |t| t.area * self.density.energy(&t.steps_of(x)));
        membrane + sum(&self.hinges, |h| h.energy(&h.positions(x)))
    }

    /// v·D v, the power that damping takes `[W]`.
    pub fn dissipation(&self, x: &[V3], v: &[V3], fabric: &Fabric) -> f64 {
        let membrane = sum(&self.triangles, |t| {
            let (viscous, fast) = (self.density.viscous(&t.steps_of(x)), t.steps_of(v));
            let of = |c: usize| fast[c].dot(&(viscous[c][0] * fast[0] + viscous[c][1] * fast[1]));
            fabric.damping * t.area * (of(0) + of(1))
        });
        membrane
            + sum(&self.hinges, |hinge| {
                let Some(g) = hinge::gradient(&hinge.positions(x)) else { return 0.0 };
                let fast: f64 = (0..4).map(|k| g[k].dot(&v[hinge.vertices[k] as usize])).sum();
                fabric.bend_damping * hinge.stiffness * fast * fast
            })
    }

    /// Elastic forces and damping at `way` from a state in first order, added to `out` `[N]`; and, in `matrix`, dt² of
    /// their stiffness and dt of their damping. Of bending that leaves out what changes with the angle's second derivative,
    /// which may be indefinite.
    pub fn forces(&self, at: &Forces<'_>, fabric: &Fabric, out: &mut [V3], matrix: &mut Blocks) {
        matrix.clear();
        // As at the begin of a step.
        let at = &Forces { middle: if at.middle == at.x { at.x } else { at.middle }, ..*at };
        let size = piece_size(matrix.rows());
        let pieces = self.places.pieces.par_iter().zip(out.par_chunks_mut(size)).zip(matrix.values_of_pieces());
        pieces.for_each(|(((rows, [triangles, hinges]), out), (before, values))| {
            let mut piece = Piece { rows, out, before, values };
            for &t in triangles {
                self.add_triangle(t as usize, at, fabric, &mut piece);
            }
            for &hinge in hinges {
                self.add_hinge(hinge as usize, at, fabric, &mut piece);
            }
        });
    }

    fn add_triangle(&self, number: usize, at: &Forces<'_>, fabric: &Fabric, piece: &mut Piece<'_>) {
        let (t, place) = (&self.triangles[number], &self.places.triangles[number]);
        let (h, damping) = (at.dt, fabric.damping);
        let steps = t.steps_of(at.x);
        let elastic = self.density.tangent(&steps, true);
        let viscous = self.density.viscous(&t.steps_of(at.middle));
        let (far, fast) = (t.steps_of(at.way), t.steps_of(at.v));
        let exact = if at.exact { self.density.tangent(&steps, false) } else { elastic };
        let mut stress = self.density.stress(&steps);
        for c in 0..2 {
            for d in 0..2 {
                stress[c] += exact[c][d] * far[d] + damping * (viscous[c][d] * fast[d]);
            }
        }
        let both: Tangent =
            std::array::from_fn(|c| std::array::from_fn(|d| h * h * elastic[c][d] + h * damping * viscous[c][d]));
        // Nothing comes of moving all three corners: rows and columns add up to 0.
        let [_, b, c] = place.order;
        let [bb, cb, cc] = [[b, b], [c, b], [c, c]].map(|[i, j]| t.stiffness(&both, i, j));
        let [ba, ca] = [-(bb + cb.transpose()), -(cb + cc)];
        let blocks = [-(ba + ca), ba, bb, ca, cb, cc];
        piece.add(place, &t.forces(&stress), |i, j| blocks[i * (i + 1) / 2 + j]);
    }

    fn add_hinge(&self, number: usize, at: &Forces<'_>, fabric: &Fabric, piece: &mut Piece<'_>) {
        let (hinge, place) = (&self.hinges[number], &self.places.hinges[number]);
        let x = hinge.positions(at.x);
        // A triangle without area has no angle, and is kept from that by what is in its plane.
        let Some(g) = hinge::gradient(&x) else { return };
        let half_way =
            if std::ptr::eq(at.middle, at.x) { Some(g) } else { hinge::gradient(&hinge.positions(at.middle)) };
        let Some(m) = half_way else { return };
        let along = |g: &[V3; 4], of: &[V3]| -> f64 { (0..4).map(|k| g[k].dot(&of[hinge.vertices[k] as usize])).sum() };
        let (k, angle) = (hinge.stiffness, hinge.bent(&x));
        let (bent, turning) = (angle + along(&g, at.way), fabric.bend_damping * along(&m, at.v));
        let mut forces: [V3; 4] = std::array::from_fn(|i| -k * (bent * g[i] + turning * m[i]));
        if at.exact {
            for (row, force) in hinge::hessian(&x).iter().zip(&mut forces) {
                let far = row.iter().zip(&hinge.vertices).map(|(block, &v)| block * at.way[v as usize]);
                *force -= k * angle * far.sum::<V3>();
            }
        }
        let (h2, h) = (k * at.dt * at.dt, k * at.dt * fabric.bend_damping);
        let [g, m] = [g, m].map(|of| place.order.map(|k| of[k]));
        let [far, fast] = [g.map(|g| h2 * g), m.map(|m| h * m)];
        piece.add(place, &forces, |i, j| far[i] * g[j].transpose() + fast[i] * m[j].transpose());
    }
}

/// Piece by piece, with the same bits for any number of threads.
fn sum<T: Sync>(all: &[T], of: impl Fn(&T) -> f64 + Sync) -> f64 {
    all.par_chunks(PIECE).map(|piece| piece.iter().map(&of).sum::<f64>()).collect::<Vec<f64>>().iter().sum()
}
