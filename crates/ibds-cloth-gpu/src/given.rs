//! What a step is given: what is held, loaded and in the way in each of its parts, brought to the device.

use bytemuck::Zeroable;
use nalgebra::Vector3;
use partita_cloth::Held;
use partita_ibds_cloth::Integrator;
use partita_simulator::{Inputs, Motion, SimulatorError};

use crate::{
    IbdsClothGpu, Parameters,
    gpu::GpuError,
    kernels::WORKGROUP,
    memory::{ALIGNED, Entry, Memory, Part, Room},
    obstacles::{Obstacle, Placed},
};

type V3 = Vector3<f64>;

/// The shortest part of a step: squares of less are near what 32 bits end at `[s]`.
const SHORTEST: f64 = 1e-12;

/// What a part of a step is given.
pub(crate) struct Given {
    pub h: f64,
    pub held: Vec<Held>,
    pub placed: Placed,
}

impl IbdsClothGpu {
    /// Forces on particles in a step of `dt` `[s]`, one of each that is loaded `[N]`. Impulses are spread over the step.
    pub(crate) fn gather_loads(&self, dt: f64, inputs: &Inputs) -> Result<Vec<Entry>, SimulatorError> {
        let impulses = inputs.impulses.iter().map(|(handle, impulse)| (handle, impulse.scaled(1.0 / dt)));
        let loads = inputs.loads.iter().map(|(handle, load)| (handle, *load)).chain(impulses);
        let mut loads: Vec<(u32, V3)> = loads.map(|(handle, wrench)| (handle.index, V3::from(wrench.linear))).collect();
        loads.sort_by_key(|(particle, _)| *particle);
        let mut sums: Vec<(u32, V3)> = vec![];
        for (particle, force) in loads {
            match sums.last_mut() {
                Some((last, sum)) if *last == particle => *sum += force,
                _ => sums.push((particle, force)),
            }
        }
        let entry = |(particle, force): (u32, V3)| {
            let rounded = <[f64; 3]>::from(force).map(|x| x as f32);
            let mass = self.net.masses()[particle as usize];
            if rounded.iter().all(|x| x.is_finite() && ((f64::from(*x) / mass) as f32).is_finite()) {
                return Ok(Entry::load(particle, rounded));
            }
            let thing = format!("load on particle {particle} [N]");
            Err(SimulatorError::refused(
                thing,
                format!("{force:?}"),
                "a force and an acceleration that 32 bits can hold",
            ))
        };
        sums.into_iter().map(entry).collect()
    }

    /// What is held and what is in the way in each part.
    pub(crate) fn gather_parts(&self, dt: f64, inputs: &Inputs) -> Result<Vec<Given>, SimulatorError> {
        let substeps = self.parameters.substeps;
        let h = dt / f64::from(substeps);
        if !(SHORTEST..=1.0 / SHORTEST).contains(&h) {
            let expected = format!("parts of a step from {SHORTEST:e} to {:e} s", 1.0 / SHORTEST);
            return Err(SimulatorError::refused("dt [s]", dt, expected));
        }
        let [positions, _] = self.state.known.vectors();
        let part = |part: u32| {
            let motions: Vec<Option<Motion>> = (self.guides.iter().zip(&inputs.motions))
                .map(|(guide, motion)| motion.as_ref().map(|motion| motion.part(guide, dt, substeps, part)))
                .collect();
            let time = self.state.time + if part + 1 == substeps { dt } else { h * f64::from(part + 1) };
            let mut held = vec![];
            self.holds.ask(time, &self.guides, &motions, positions, &mut held)?;
            let placed = self.plan.as_ref().map(|plan| plan.obstacles.place(&motions)).transpose()?.unwrap_or_default();
            Ok(Given { h, held, placed })
        };
        (0..substeps).map(part).collect()
    }

    /// Brings what parts are given to the device.
    pub(crate) fn upload(&mut self, parts: &[Given], loads: &[Entry]) -> Result<(), SimulatorError> {
        let (n, links) = (self.net.masses().len() as u32, self.memory.slots);
        let mut entries: Vec<Entry> = vec![];
        let mut uniforms = vec![0_u8; (ALIGNED as usize) * parts.len()];
        let most = self.obstacles();
        let numbers =
            (parts.len() as u64 + 2 * most as u64) * u64::from(n.div_ceil(WORKGROUP)) + 2 * (most * parts.len()) as u64;
        if numbers > u64::from(u32::MAX) {
            let expected = "fewer parts, with so many particles and obstacles";
            return Err(SimulatorError::refused("substeps", parts.len(), expected));
        }
        let mut obstacles = vec![Obstacle::zeroed(); most * parts.len()];
        // Behind sums of all parts.
        let first_wrench = parts.len() as u32 * n.div_ceil(WORKGROUP);
        let first_partial = first_wrench + 2 * obstacles.len() as u32;
        let held_by_all: u32 = parts.iter().map(|part| part.held.len() as u32).sum();
        let Parameters {
            gravity,
            integrator,
            extensibility,
            strut_tolerance,
            velocity_tolerance,
            friction,
            contact_rates,
            ..
        } = self.parameters;
        for (number, (given, slot)) in (0..).zip(parts.iter().zip(uniforms.chunks_exact_mut(ALIGNED as usize))) {
            let part = Part {
                gravity: gravity.map(|g| g as f32),
                h: given.h as f32,
                share: match integrator {
                    Integrator::SymplecticEuler => 1.0,
                    Integrator::Parabola => 0.5,
                },
                particles: n,
                first_held: entries.len() as u32,
                held: given.held.len() as u32,
                first_load: held_by_all,
                loads: loads.len() as u32,
                links,
                extensibility: extensibility as f32,
                strut_tolerance: strut_tolerance as f32,
                mean_rest: self.mean_rest as f32,
                velocity_tolerance: velocity_tolerance.unwrap_or(1.0) as f32,
                first_sum: number * n.div_ceil(WORKGROUP),
                obstacles: given.placed.obstacles.len() as u32,
                first_obstacle: number * most as u32,
                first_partial,
                first_wrench: first_wrench + 2 * number * most as u32,
                parting: contact_rates.recovered(given.h) as f32,
                restitution_threshold: contact_rates.restitution_threshold as f32,
                self_distance: self.apart() as f32,
                // More than any number holds as well.
                self_friction: (friction as f32).min(f32::MAX),
            };
            let first = number as usize * most;
            obstacles[first..first + given.placed.obstacles.len()].copy_from_slice(&given.placed.obstacles);
            slot[..size_of::<Part>()].copy_from_slice(bytemuck::bytes_of(&part));
            entries.extend(given.held.iter().map(|held| Entry::held(held, self.net.masses()[held.vertex])));
        }
        entries.extend(loads);
        let Room { entries: room, parts: for_parts, .. } = self.memory.room;
        if entries.len() as u32 > room || parts.len() as u32 > for_parts {
            self.make_room(Room { entries: entries.len() as u32, parts: parts.len() as u32, ..self.memory.room })?;
        }
        self.gpu.queue.write_buffer(&self.memory.parts, 0, &uniforms);
        self.gpu.queue.write_buffer(&self.memory.held, 0, bytemuck::cast_slice(&entries));
        self.gpu.queue.write_buffer(&self.memory.obstacles, 0, bytemuck::cast_slice(&obstacles));
        Ok(())
    }

    /// # Errors
    /// There is not as much memory.
    pub(crate) fn make_room(&mut self, room: Room) -> Result<(), GpuError> {
        let plan = self.plan.as_ref().expect("laid out before");
        self.memory = Memory::new(&self.gpu, self.net.masses().len(), plan, room)?;
        Ok(())
    }

    /// How many obstacles there can be.
    pub(crate) fn obstacles(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.obstacles.len())
    }
}
