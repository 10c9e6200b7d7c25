//! One step from top to bottom, and its stages (\[BBD09\] figure 2).

use std::sync::Arc;

use nalgebra::Vector3;
use partita_cloth::Held;
use partita_ibds_cloth::Integrator;
use partita_simulator::{Inputs, Motion, Reaction, SimulatorError, StepReport, Wrench, check};
use wgpu::{BindGroup, CommandEncoder, ComputePass, ComputePipeline};

use crate::{
    IbdsClothGpu, Parameters,
    gpu::{Gpu, GpuError},
    kernels::{FLAGS, Kernels, SWEEPS, WORKGROUP},
    memory::{ALIGNED, Body, Entry, Memory, Part},
    state::{Known, State},
};

type V3 = Vector3<f64>;

/// The shortest part of a step: squares of less are near what 32 bits end at `[s]`.
const SHORTEST: f64 = 1e-12;

/// Dispatches between two looks at the flags, about: some systems take a device that is busy for seconds for lost.
const DISPATCHES: u32 = 4096;

/// What a part of a step is given.
struct Given {
    h: f64,
    held: Vec<Held>,
}

/// What comes back of a step.
struct Back {
    bodies: Vec<[f32; 6]>,
    /// Impulses on what is held, in the order of all parts' lists.
    impulses: Vec<V3>,
    /// Of each part, the sum of m x.
    moments: Vec<V3>,
    /// The largest errors of lengths and of rates, of what they may be.
    worst: [f64; 2],
}

/// One of the loops.
struct Loop<'a> {
    sweep: &'a ComputePipeline,
    part: u32,
}

impl IbdsClothGpu {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check(self.resolved)?;
        check(&self.table, &self.guides, dt, inputs)?;
        let Parameters { substeps, extensibility, velocity_tolerance, .. } = self.parameters;
        let loads = self.gather_loads(inputs)?;
        let parts = self.gather_parts(dt, inputs)?;
        self.upload(&parts, &loads)?;

        let mut report = StepReport { substeps, ..StepReport::new(self.state.time + dt) };
        let (gpu, bodies) = (self.gpu.clone(), self.bodies_of_state()?);
        let mut commands = gpu.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&bodies.buffer, 0, &self.memory.bodies, 0, bodies.buffer.size());
        for part in 0..substeps {
            commands = self.take_part(commands, part, &parts[part as usize], loads.len(), &mut report.iterations)?;
        }
        let back = self.read_back(commands, substeps, &parts)?;

        let is_finite = |body: &[f32; 6]| body.iter().all(|x| x.is_finite());
        if let Some(k) = back.bodies.iter().position(|body| !is_finite(body)) {
            let found = format!("{:?}", back.bodies[k]);
            return Err(SimulatorError::failed(format!("position and velocity of particle {k}"), found, "finite"));
        }
        let [lengths, rates] = back.worst;
        if !(lengths + rates).is_finite() {
            return Err(SimulatorError::failed("errors of links", format!("{:?}", back.worst), "finite"));
        }
        report.outcome.note(extensibility * lengths, extensibility, "of the rest length");
        if let Some(tolerance) = velocity_tolerance {
            report.outcome.note(tolerance * rates, tolerance, "m/s");
        }
        let mut reactions = vec![];
        let external = self.book(&parts, &back, &mut reactions);
        report.add_up(&mut reactions);

        let mut commands = gpu.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&self.memory.bodies, 0, &bodies.buffer, 0, bodies.buffer.size());
        gpu.submit(commands)?;
        // From here on nothing can fail.
        let held = parts.last().map(|part| &part.held[..]).unwrap_or_default();
        let held = held.iter().map(|held| (held.vertex as u32, held.position, held.velocity)).collect();
        let known = Arc::new(Known::new(back.bodies, held));
        self.state = State { known, time: report.time, external, bodies: Some(bodies) };
        Ok(report)
    }

    /// Forces on particles, one of each that is loaded `[N]`.
    fn gather_loads(&self, inputs: &Inputs) -> Result<Vec<Entry>, SimulatorError> {
        let mut loads: Vec<(u32, V3)> =
            inputs.loads.iter().map(|(handle, wrench)| (handle.index, V3::from(wrench.linear))).collect();
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

    /// What is held in each part.
    fn gather_parts(&self, dt: f64, inputs: &Inputs) -> Result<Vec<Given>, SimulatorError> {
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
            Ok(Given { h, held })
        };
        (0..substeps).map(part).collect()
    }

    /// Brings what parts are given to the device.
    fn upload(&mut self, parts: &[Given], loads: &[Entry]) -> Result<(), SimulatorError> {
        let (n, links) = (self.net.masses().len() as u32, self.net.links().len() as u32);
        let mut entries: Vec<Entry> = vec![];
        let mut uniforms = vec![0_u8; (ALIGNED as usize) * parts.len()];
        let held_by_all: u32 = parts.iter().map(|part| part.held.len() as u32).sum();
        let Parameters { gravity, integrator, extensibility, velocity_tolerance, .. } = self.parameters;
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
                mean_rest: self.mean_rest as f32,
                velocity_tolerance: velocity_tolerance.unwrap_or(1.0) as f32,
                first_sum: number * n.div_ceil(WORKGROUP),
                unused: 0,
            };
            slot[..size_of::<Part>()].copy_from_slice(bytemuck::bytes_of(&part));
            entries.extend(given.held.iter().map(|held| Entry::held(held, self.net.masses()[held.vertex])));
        }
        entries.extend(loads);
        if entries.len() as u32 > self.memory.entries || parts.len() as u32 > self.memory.room {
            self.memory = Memory::new(&self.gpu, &self.net, entries.len() as u32, parts.len() as u32)?;
        }
        self.gpu.queue.write_buffer(&self.memory.parts, 0, &uniforms);
        self.gpu.queue.write_buffer(&self.memory.held, 0, bytemuck::cast_slice(&entries));
        Ok(())
    }

    fn take_part(
        &mut self,
        mut commands: CommandEncoder,
        part: u32,
        given: &Given,
        loads: usize,
        iterations: &mut u32,
    ) -> Result<CommandEncoder, GpuError> {
        let gpu = self.gpu.clone();
        let Kernels {
            begin,
            add_loads,
            add_springs,
            predict,
            sum_moments,
            hold,
            sweep_lengths,
            measure_lengths,
            advance,
            hold_velocities,
            begin_rates,
            sweep_rates,
            measure_rates,
            end_rates,
            book,
            ..
        } = &gpu.kernels;
        let (n, links, held) = (self.net.masses().len() as u32, self.net.links().len() as u32, given.held.len() as u32);
        commands.clear_buffer(&self.memory.pulls, 0, None);
        let mut stage = self.stage(&mut commands, part);
        stage.run(begin, n);
        stage.run(add_loads, loads as u32);
        for (group, range) in self.memory.springs.iter().enumerate() {
            stage.run_on(&self.memory.with_springs, add_springs, self.memory.range_of_springs(group), range.count);
        }
        stage.run(predict, n);
        stage.run(hold, held);
        stage.run(sum_moments, n);
        drop(stage);
        commands = self.repeat(commands, &Loop { sweep: sweep_lengths, part }, iterations)?;
        commands.clear_buffer(&self.memory.flags, u64::from(SWEEPS) * 4, None);
        let mut stage = self.stage(&mut commands, part);
        stage.run(measure_lengths, links);
        stage.run(advance, n);
        stage.run(hold_velocities, held);
        if self.parameters.velocity_tolerance.is_some() {
            stage.run(begin_rates, n);
            drop(stage);
            commands = self.repeat(commands, &Loop { sweep: sweep_rates, part }, iterations)?;
            stage = self.stage(&mut commands, part);
            stage.run(measure_rates, links);
            stage.run(end_rates, n);
        }
        stage.run(book, held);
        drop(stage);
        Ok(commands)
    }

    /// Sweeps until one corrects nothing, or as often as may be. Flags are looked at after as many as it took last time.
    fn repeat(
        &mut self,
        mut commands: CommandEncoder,
        of: &Loop<'_>,
        iterations: &mut u32,
    ) -> Result<CommandEncoder, GpuError> {
        let gpu = self.gpu.clone();
        let (mut done, mut count) = (0, self.looks);
        while done < self.parameters.max_iterations && !self.memory.links.is_empty() {
            let most = (DISPATCHES / self.memory.links.len() as u32).clamp(1, SWEEPS);
            count = count.clamp(1, most).min(self.parameters.max_iterations - done);
            commands.clear_buffer(&self.memory.flags, 0, Some(u64::from(SWEEPS) * 4));
            let mut stage = self.stage(&mut commands, of.part);
            for sweep in 0..count {
                for (group, range) in self.memory.links.iter().enumerate() {
                    let offset = self.memory.range_of_links(sweep, group);
                    stage.run_on(&self.memory.with_links, of.sweep, offset, range.count);
                }
            }
            drop(stage);
            let Memory { flags, staging, .. } = &self.memory;
            commands.copy_buffer_to_buffer(flags, 0, staging, 0, u64::from(count) * 4);
            let is_over = |bytes: &[u8]| bytes.chunks_exact(4).position(|flag| flag == [0; 4]);
            let over = gpu.run(commands, staging, u64::from(count) * 4, is_over)?;
            commands = gpu.device.create_command_encoder(&Default::default());
            done += over.map_or(count, |sweep| sweep as u32 + 1);
            if over.is_some() {
                break;
            }
            count *= 2;
        }
        self.looks = done.min(SWEEPS);
        *iterations += done;
        Ok(commands)
    }

    fn stage<'a>(&'a self, commands: &'a mut CommandEncoder, part: u32) -> Stage<'a> {
        Stage { memory: &self.memory, pass: commands.begin_compute_pass(&Default::default()), part: ALIGNED * part }
    }

    fn read_back(&self, mut commands: CommandEncoder, substeps: u32, parts: &[Given]) -> Result<Back, GpuError> {
        let Memory { bodies, held, sums, flags, staging, .. } = &self.memory;
        let n = self.net.masses().len();
        let moments = n.div_ceil(WORKGROUP as usize);
        let count: usize = parts.iter().map(|part| part.held.len()).sum();
        let sizes =
            [n * size_of::<Body>(), count * size_of::<Entry>(), moments * substeps as usize * 16, FLAGS as usize * 4];
        let mut ends = [0; 4];
        let mut at = 0;
        for ((buffer, size), end) in [bodies, held, sums, flags].into_iter().zip(sizes).zip(&mut ends) {
            commands.copy_buffer_to_buffer(buffer, 0, staging, at as u64, size as u64);
            at += size;
            *end = at;
        }
        self.gpu.run(commands, staging, at as u64, |bytes| {
            let numbers: &[f32] = bytemuck::cast_slice(bytes);
            let [bodies, held, sums, _] = ends.map(|end| end / 4);
            let vector = |v: &[f32]| V3::new(v[0].into(), v[1].into(), v[2].into());
            let of_part = |sums: &[f32]| sums.chunks_exact(4).map(vector).sum();
            let flag = |which: usize| f64::from(numbers[sums + SWEEPS as usize + which]);
            Back {
                bodies: numbers[..bodies].chunks_exact(8).map(|b| [b[0], b[1], b[2], b[4], b[5], b[6]]).collect(),
                impulses: numbers[bodies..held].chunks_exact(16).map(|entry| vector(&entry[12..])).collect(),
                moments: numbers[held..sums].chunks_exact(4 * moments).map(of_part).collect(),
                worst: [flag(0), flag(1)],
            }
        })
    }

    /// Reactions of what is attached, and what came from outside since time 0.
    fn book(&self, parts: &[Given], back: &Back, reactions: &mut Vec<Reaction>) -> Wrench {
        let gravity = V3::from(self.parameters.gravity);
        let mass: f64 = self.net.masses().iter().sum();
        let (mut linear, mut angular) = (V3::zeros(), V3::zeros());
        for (Given { h, .. }, moment) in parts.iter().zip(&back.moments) {
            linear += mass * *h * gravity;
            angular += moment.cross(&(*h * gravity));
        }
        for (held, impulse) in parts.iter().flat_map(|part| &part.held).zip(&back.impulses) {
            match held.guide {
                None => {
                    linear += impulse;
                    angular += held.position.cross(impulse);
                }
                Some(guide) => reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(-impulse) }),
            }
        }
        let Wrench { linear: before, angular: turned } = self.state.external;
        Wrench { linear: (V3::from(before) + linear).into(), angular: (V3::from(turned) + angular).into() }
    }
}

/// A pass in which stages run one after the other.
struct Stage<'a> {
    memory: &'a Memory,
    pass: ComputePass<'a>,
    part: u32,
}

impl Stage<'_> {
    /// One thread for each of so many.
    fn run(&mut self, kernel: &ComputePipeline, threads: u32) {
        self.run_on(&self.memory.with_links, kernel, 0, threads);
    }

    /// The same of a group of pairs.
    fn run_on(&mut self, memory: &BindGroup, kernel: &ComputePipeline, range: u32, threads: u32) {
        if threads > 0 {
            self.pass.set_pipeline(kernel);
            self.pass.set_bind_group(0, memory, &[self.part]);
            self.pass.set_bind_group(1, &self.memory.ranges, &[range]);
            self.pass.dispatch_workgroups(threads.div_ceil(WORKGROUP), 1, 1);
        }
    }
}

/// How many threads a dispatch may have.
pub(crate) fn most_threads(gpu: &Gpu) -> u64 {
    u64::from(gpu.limits.max_compute_workgroups_per_dimension) * u64::from(WORKGROUP)
}
