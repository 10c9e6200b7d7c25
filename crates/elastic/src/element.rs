//! One term of the elastic energy, whichever it is: what it is at any place of the vertices, its force and its Jacobian.

use nalgebra::{Matrix3, Vector3};

use crate::{
    Sheet,
    hinge::{self, Hinge},
    membrane::{Density, Triangle},
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// A triangle that is stretched and sheared, or two that are bent about their common edge.
#[derive(Clone, Copy)]
pub struct Element<'a>(Term<'a>);

#[derive(Clone, Copy)]
enum Term<'a> {
    InPlane(&'a Triangle, &'a Density),
    Bending(&'a Hinge),
}

impl Element<'_> {
    /// Vertices on which it depends.
    pub fn vertices(&self) -> &[u32] {
        match self.0 {
            Term::InPlane(triangle, _) => &triangle.vertices,
            Term::Bending(hinge) => &hinge.vertices,
        }
    }

    /// Energy `[J]` with the cloth's vertices at `x` `[m]`.
    pub fn energy(&self, x: &[V3]) -> f64 {
        match self.0 {
            Term::InPlane(triangle, density) => triangle.area * density.energy(&triangle.steps_of(x)),
            Term::Bending(hinge) => hinge.energy(&hinge.positions(x)),
        }
    }

    /// Its negative gradient, one force a vertex `[N]`. A hinge with a triangle that has no area has none.
    pub fn forces(&self, x: &[V3]) -> Vec<V3> {
        match self.0 {
            Term::InPlane(triangle, density) => triangle.forces(&density.stress(&triangle.steps_of(x))).to_vec(),
            Term::Bending(hinge) => {
                let at = hinge.positions(x);
                let gradient = hinge::gradient(&at).unwrap_or_default();
                gradient.map(|g| -hinge.stiffness * hinge.bent(&at) * g).to_vec()
            }
        }
    }

    /// Derivatives of its forces, ∂f_i/∂x_j in row i and column j `[N/m]`, where it has forces.
    pub fn jacobian(&self, x: &[V3]) -> Vec<Vec<M3>> {
        let n = self.vertices().len();
        let rows = |of: &dyn Fn(usize, usize) -> M3| (0..n).map(|i| (0..n).map(|j| of(i, j)).collect()).collect();
        match self.0 {
            Term::InPlane(triangle, density) => {
                let tangent = density.tangent(&triangle.steps_of(x), false);
                rows(&|i, j| -triangle.stiffness(&tangent, i, j))
            }
            Term::Bending(hinge) => {
                let at = hinge.positions(x);
                let Some(g) = hinge::gradient(&at) else { return rows(&|_, _| M3::zeros()) };
                let (angle, second) = (hinge.bent(&at), hinge::hessian(&at));
                rows(&|i, j| -hinge.stiffness * (g[i] * g[j].transpose() + angle * second[i][j]))
            }
        }
    }
}

impl Sheet {
    /// All terms of the elastic energy: each triangle, then each edge between two of them.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        let (triangles, density) = (self.triangles.iter(), &self.density);
        let in_plane = triangles.map(move |triangle| Element(Term::InPlane(triangle, density)));
        in_plane.chain(self.hinges.iter().map(|hinge| Element(Term::Bending(hinge))))
    }
}
