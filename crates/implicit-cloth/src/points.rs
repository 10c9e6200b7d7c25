//! Places in the cloth: vertices, and points within triangles.

use nalgebra::Vector3;
use partita_cloth::not_started;
use partita_simulator::{HandleId, Kind, SimulatorError};
use serde::Serialize;

use crate::ImplicitCloth;

type V3 = Vector3<f64>;

/// How far from 1 weights may add up to [-].
const ROUNDING: f64 = 1e-9;

/// Name of the group of handles that are points within triangles.
const POINTS: &str = "points";

/// A vertex, or a point within a triangle.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Place {
    vertices: [u32; 3],
    weights: [f64; 3],
}

impl Place {
    pub fn vertex(v: u32) -> Self {
        Self { vertices: [v; 3], weights: [1.0, 0.0, 0.0] }
    }

    /// Vertices and weights.
    pub fn parts(&self) -> impl Iterator<Item = (usize, f64)> {
        let all = self.vertices.map(|v| v as usize).into_iter().zip(self.weights);
        all.filter(|(_, weight)| *weight != 0.0)
    }

    pub fn of(&self, values: &[V3]) -> V3 {
        self.parts().map(|(v, weight)| weight * values[v]).sum()
    }
}

impl ImplicitCloth {
    /// Handle of a vertex. If there is no such vertex, whoever uses the handle says so.
    pub fn vertex(&self, number: u32) -> HandleId {
        self.table.handle(number)
    }

    /// Handles of vertices.
    pub fn vertices(&self, numbers: &[u32]) -> Vec<HandleId> {
        numbers.iter().map(|&number| self.vertex(number)).collect()
    }

    /// A handle within a triangle, at Σ weight × corner. It can be read and loaded as a vertex can, not attached; a load on it goes to the
    /// corners by the same weights, which keeps force and torque.
    ///
    /// ```
    /// use partita_implicit_cloth::{Fabric, ImplicitCloth};
    /// use partita_mesh::Mesh;
    /// use partita_simulator::{HandleState, Simulator};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut sheet = ImplicitCloth::new("sheet", Mesh::grid([1, 1], [1.0, 1.0])?, Fabric::cotton())?;
    /// // The middle of the first triangle's last side, which is the diagonal.
    /// let middle = sheet.point(0, [0.5, 0.0, 0.5])?;
    /// let mut state = [HandleState::default()];
    /// sheet.read(&[middle], &mut state)?;
    /// assert_eq!(state[0].position, [0.5, -0.5, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no such triangle, a weight is not a number from 0 to 1, they do not add up to 1, or there was a step.
    pub fn point(&mut self, triangle: u32, weights: [f64; 3]) -> Result<HandleId, SimulatorError> {
        let thing = format!("point in triangle {triangle}");
        not_started(&thing, self.state.time)?;
        let triangles = self.mesh.triangles();
        let Some(&vertices) = triangles.get(triangle as usize) else {
            return Err(SimulatorError::refused(thing, triangle, format!("one of {} triangles", triangles.len())));
        };
        let sum: f64 = weights.iter().sum();
        if weights.iter().any(|weight| !(0.0..=1.0).contains(weight)) || (sum - 1.0).abs() > ROUNDING {
            let found = format!("{weights:?}");
            return Err(SimulatorError::refused(format!("{thing}, weights [-]"), found, "0 to 1, with sum 1"));
        }
        let point = match self.table.group(POINTS) {
            Some(_) => self.table.extend(1)?,
            None => self.table.add(POINTS, Kind::Point, 1)?,
        };
        self.places.push(Place { vertices, weights: weights.map(|weight| weight / sum) });
        self.identity = Default::default();
        Ok(point)
    }
}
