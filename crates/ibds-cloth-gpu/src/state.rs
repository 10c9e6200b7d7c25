//! All that a step reads or changes: on the device, and what is known of it here.

use std::sync::{Arc, OnceLock};

use nalgebra::Vector3;
use partita_simulator::Wrench;
use serde::{Deserialize, Serialize};
use wgpu::{Buffer, BufferUsages};

use crate::{
    gpu::{Gpu, GpuError},
    memory::Body,
};

type V3 = Vector3<f64>;

/// A state is what came back from the device at the end of a step, and the same on the device.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    pub known: Arc<Known>,
    /// `[s]`
    pub time: f64,
    /// As in [`partita_simulator::Ledger::external`].
    pub external: Wrench,
    /// None where it was read from bytes, or the device had no memory for it: it is made of what is known then.
    #[serde(skip)]
    pub bodies: Option<Bodies>,
}

/// What is known is shared, what is on the device is copied there, into the memory that is there.
impl Clone for State {
    fn clone(&self) -> Self {
        let Self { known, time, external, bodies } = self;
        let bodies = bodies.as_ref().and_then(|bodies| bodies.duplicate().ok());
        Self { known: known.clone(), time: *time, external: *external, bodies }
    }

    fn clone_from(&mut self, from: &Self) {
        let bodies = self.bodies.take();
        let bodies = match (bodies, &from.bodies) {
            (Some(bodies), Some(others)) if bodies.is_like(others) => {
                bodies.take_over(others).is_ok().then_some(bodies)
            }
            (_, others) => others.as_ref().and_then(|others| others.duplicate().ok()),
        };
        *self = Self { known: from.known.clone(), time: from.time, external: from.external, bodies };
    }
}

/// Particles as the device has them.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Position `[m]`, then velocity `[m/s]`.
    pub bodies: Vec<[f32; 6]>,
    /// What is held, not rounded as on the device.
    pub held: Vec<(u32, V3, V3)>,
    #[serde(skip)]
    vectors: OnceLock<[Vec<V3>; 2]>,
}

impl Known {
    pub fn new(bodies: Vec<[f32; 6]>, held: Vec<(u32, V3, V3)>) -> Self {
        Self { bodies, held, vectors: OnceLock::new() }
    }

    /// Positions `[m]` and velocities `[m/s]`.
    pub fn vectors(&self) -> &[Vec<V3>; 2] {
        self.vectors.get_or_init(|| {
            let of = |from: usize| {
                let vector = |body: &[f32; 6]| V3::from_fn(|axis, _| f64::from(body[from + axis]));
                self.bodies.iter().map(vector).collect::<Vec<V3>>()
            };
            let [mut positions, mut velocities] = [of(0), of(3)];
            for (k, position, velocity) in &self.held {
                (positions[*k as usize], velocities[*k as usize]) = (*position, *velocity);
            }
            [positions, velocities]
        })
    }

    /// As the device has them.
    pub fn to_device(&self, inverse_masses: impl Iterator<Item = f32>) -> Vec<Body> {
        let body = |(&[x, y, z, u, v, w], inverse_mass): (&[f32; 6], f32)| Body {
            x: [x, y, z, inverse_mass],
            v: [u, v, w, 0.0],
        };
        self.bodies.iter().zip(inverse_masses).map(body).collect()
    }
}

/// Bodies in the memory of a device.
pub(crate) struct Bodies {
    gpu: Arc<Gpu>,
    pub buffer: Buffer,
}

impl Bodies {
    /// # Errors
    /// There is no memory for them.
    pub fn new(gpu: &Arc<Gpu>, bodies: &[Body]) -> Result<Self, GpuError> {
        Ok(Self { gpu: gpu.clone(), buffer: gpu.filled("bodies of a state", bodies, BufferUsages::empty())? })
    }

    /// Whether they are on this device.
    pub fn is_on(&self, gpu: &Arc<Gpu>) -> bool {
        Arc::ptr_eq(&self.gpu, gpu)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.is_on(&other.gpu) && self.buffer.size() == other.buffer.size()
    }

    fn duplicate(&self) -> Result<Self, GpuError> {
        let buffer = self.gpu.buffer("bodies of a state", self.buffer.size(), BufferUsages::empty())?;
        let copy = Self { gpu: self.gpu.clone(), buffer };
        copy.take_over(self)?;
        Ok(copy)
    }

    fn take_over(&self, from: &Self) -> Result<(), GpuError> {
        let mut commands = self.gpu.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&from.buffer, 0, &self.buffer, 0, from.buffer.size());
        self.gpu.submit(commands)
    }
}
