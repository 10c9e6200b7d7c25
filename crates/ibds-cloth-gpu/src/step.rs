//! One step from top to bottom, and its stages (\[BBD09\] figure 2).

use std::sync::Arc;

use bytemuck::Zeroable;
use nalgebra::Vector3;
use partita_cloth::Held;
use partita_ibds_cloth::Integrator;
use partita_simulator::{Inputs, Motion, Reaction, SimulatorError, StepReport, Wrench, check};
use wgpu::{BindGroup, CommandEncoder, ComputePass, ComputePipeline};

use crate::{
    IbdsClothGpu, Parameters, Solver,
    gpu::GpuError,
    kernels::{FLAGS, Kernels, SWEEPS, WORKGROUP},
    memory::{ALIGNED, Body, Entry, FIRST, Memory, Part},
    obstacles::{Obstacle, Placed},
    state::{Known, State},
};

type V3 = Vector3<f64>;

/// The shortest part of a step: squares of less are near what 32 bits end at `[s]`.
const SHORTEST: f64 = 1e-12;

/// Dispatches between two looks at the flags, about: some systems take a device that is busy for seconds for lost.
const DISPATCHES: u32 = 4096;

/// Rounds of the loop of places, in which contacts are added with what is in the way then.
const ROUNDS: u32 = 4;

/// How exact contacts are, of their distance, as the shaders have it [-].
pub(crate) const ENOUGH: f64 = 0.1;

/// How much of what a particle is too near to an obstacle by it is led away in a part [-], and in a second where parts are shorter than a
/// 60th of one `[1/s]`, as on the CPU.
const PARTING: [f64; 2] = [0.1, 6.0];

/// What a part of a step is given.
struct Given {
    h: f64,
    held: Vec<Held>,
    placed: Placed,
}

/// What comes back of a step.
struct Back {
    bodies: Vec<[f32; 6]>,
    /// Impulses on what is held, in the order of all parts' lists.
    impulses: Vec<V3>,
    /// Of each part, the sum of m x.
    moments: Vec<V3>,
    /// Impulses on obstacles and their torques, in the order of all parts' lists.
    wrenches: Vec<[V3; 2]>,
    /// The largest errors of lengths, of rates, of struts, and of distances from obstacles, of what they may be.
    worst: [f64; 4],
}

/// One of the loops.
struct Loop<'a> {
    sweep: &'a ComputePipeline,
    /// Of contacts, where there can be some.
    push: Option<&'a ComputePipeline>,
    part: u32,
}

impl IbdsClothGpu {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check(self.resolved)?;
        check(&self.table, &self.guides, dt, inputs)?;
        let Parameters { substeps, extensibility, strut_tolerance, velocity_tolerance, .. } = self.parameters;
        if self.plan.is_none() {
            let guides = std::mem::take(&mut self.guides);
            let plan = self.lay_out(&guides);
            self.guides = guides;
            self.plan = Some(plan?);
        }
        let loads = self.gather_loads(inputs)?;
        let parts = self.gather_parts(dt, inputs)?;
        self.upload(&parts, &loads)?;

        let mut report = StepReport { substeps, ..StepReport::new(self.state.time + dt) };
        let (gpu, bodies) = (self.gpu.clone(), self.bodies_of_state()?);
        let mut commands = gpu.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&bodies.buffer, 0, &self.memory.bodies, 0, bodies.buffer.size());
        commands.clear_buffer(&self.memory.flags, 0, None);
        for part in 0..substeps {
            commands = self.take_part(commands, part, &parts[part as usize], loads.len(), &mut report.iterations)?;
        }
        let back = self.read_back(commands, substeps, &parts)?;

        let is_finite = |body: &[f32; 6]| body.iter().all(|x| x.is_finite());
        if let Some(k) = back.bodies.iter().position(|body| !is_finite(body)) {
            let found = format!("{:?}", back.bodies[k]);
            return Err(SimulatorError::failed(format!("position and velocity of particle {k}"), found, "finite"));
        }
        let [lengths, rates, struts, depth] = back.worst;
        if !(lengths + rates + struts + depth).is_finite() {
            let found = format!("{:?}", back.worst);
            return Err(SimulatorError::failed("errors of links and contacts", found, "finite"));
        }
        report.outcome.note(extensibility * lengths, extensibility, "of the rest length");
        report.outcome.note(strut_tolerance * struts, strut_tolerance, "of a strut's distance");
        if let Some(tolerance) = velocity_tolerance {
            report.outcome.note(tolerance * rates, tolerance, "m/s");
        }
        report.outcome.note(ENOUGH * depth, ENOUGH, "of the distance from an obstacle");
        let mut reactions = vec![];
        let external = self.book(&parts, &back, &mut reactions);
        report.add_up(&mut reactions);
        if !external.is_finite() {
            let thing = "impulses on what is held [N s]";
            return Err(SimulatorError::failed(thing, format!("{external:?}"), "finite"));
        }
        if let Some(reaction) = report.reactions.iter().find(|reaction| !reaction.impulse.is_finite()) {
            let thing = format!("impulse on guide {} [N s]", reaction.guide);
            return Err(SimulatorError::failed(thing, format!("{:?}", reaction.impulse), "finite"));
        }

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
            let placed = self.plan.as_ref().map(|plan| plan.obstacles.place(&motions)).transpose()?.unwrap_or_default();
            Ok(Given { h, held, placed })
        };
        (0..substeps).map(part).collect()
    }

    /// Brings what parts are given to the device.
    fn upload(&mut self, parts: &[Given], loads: &[Entry]) -> Result<(), SimulatorError> {
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
        let Parameters { gravity, integrator, extensibility, strut_tolerance, velocity_tolerance, .. } =
            self.parameters;
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
                parting: PARTING[0].min(PARTING[1] * given.h) as f32,
            };
            let first = number as usize * most;
            obstacles[first..first + given.placed.obstacles.len()].copy_from_slice(&given.placed.obstacles);
            slot[..size_of::<Part>()].copy_from_slice(bytemuck::bytes_of(&part));
            entries.extend(given.held.iter().map(|held| Entry::held(held, self.net.masses()[held.vertex])));
        }
        entries.extend(loads);
        if entries.len() as u32 > self.memory.entries || parts.len() as u32 > self.memory.room {
            let plan = self.plan.as_ref().expect("laid out before");
            self.memory = Memory::new(&self.gpu, n as usize, plan, entries.len() as u32, parts.len() as u32)?;
        }
        self.gpu.queue.write_buffer(&self.memory.parts, 0, &uniforms);
        self.gpu.queue.write_buffer(&self.memory.held, 0, bytemuck::cast_slice(&entries));
        self.gpu.queue.write_buffer(&self.memory.obstacles, 0, bytemuck::cast_slice(&obstacles));
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
            sweep_path_lengths,
            measure_lengths,
            advance,
            hold_velocities,
            begin_rates,
            sweep_rates,
            sweep_path_rates,
            measure_rates,
            end_rates,
            book,
            find,
            push,
            keep_out,
            sum_pushes,
            close,
            push_rates,
            sum_rate_pushes,
            sum_wrenches,
            ..
        } = &gpu.kernels;
        let (n, links, held) = (self.net.masses().len() as u32, self.memory.slots, given.held.len() as u32);
        let (sweep_lengths, sweep_rates) = match self.parameters.solver {
            Solver::Links => (sweep_lengths, sweep_rates),
            Solver::Paths => (sweep_path_lengths, sweep_path_rates),
        };
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
        let obstacles = given.placed.obstacles.len() as u32;
        let met = if obstacles > 0 { n } else { 0 };
        stage.meet(find, met);
        drop(stage);
        let meets = |push| (obstacles > 0).then_some(push);
        let of_lengths = Loop { sweep: sweep_lengths, push: meets(push), part };
        for round in 1..=ROUNDS {
            commands = self.repeat(commands, &of_lengths, iterations)?;
            let is_last = obstacles == 0 || round == ROUNDS || self.parameters.real_time;
            if is_last || !self.find_more(&mut commands, part)? {
                break;
            }
        }
        // Of lengths, rates and struts the last part counts, of distances from obstacles all do.
        commands.clear_buffer(&self.memory.flags, u64::from(SWEEPS) * 4, Some(12));
        let mut stage = self.stage(&mut commands, part);
        stage.meet(keep_out, met);
        stage.run(measure_lengths, links);
        stage.meet(sum_pushes, met);
        stage.meet(close, met);
        stage.run(advance, n);
        stage.run(hold_velocities, held);
        if self.parameters.velocity_tolerance.is_some() {
            stage.run(begin_rates, n);
            drop(stage);
            let of_rates = Loop { sweep: sweep_rates, push: meets(push_rates), part };
            commands = self.repeat(commands, &of_rates, iterations)?;
            stage = self.stage(&mut commands, part);
            stage.run(measure_rates, links);
            stage.run(end_rates, n);
            stage.meet(sum_rate_pushes, met);
        }
        stage.meet(sum_wrenches, WORKGROUP * obstacles);
        stage.run(book, held);
        drop(stage);
        Ok(commands)
    }

    /// Sweeps until one corrects nothing, or as often as may be. Flags are looked at after as many as it took last time, or never: sweeps
    /// that are too many do nothing.
    fn repeat(
        &mut self,
        mut commands: CommandEncoder,
        of: &Loop<'_>,
        iterations: &mut u32,
    ) -> Result<CommandEncoder, GpuError> {
        let gpu = self.gpu.clone();
        let (mut done, mut count) = (0, self.looks);
        let stages = self.memory.links.len() as u32 + u32::from(of.push.is_some());
        while done < self.parameters.max_iterations && stages > 0 {
            let most = (DISPATCHES / stages).clamp(1, SWEEPS);
            count = if self.parameters.real_time { most } else { count.clamp(1, most) };
            count = count.min(self.parameters.max_iterations - done);
            commands.clear_buffer(&self.memory.flags, 0, Some(u64::from(SWEEPS) * 4));
            let mut stage = self.stage(&mut commands, of.part);
            for sweep in (0..count).map(|sweep| if done + sweep == 0 { FIRST } else { sweep }) {
                for (group, range) in self.memory.links.iter().enumerate() {
                    let offset = self.memory.range_of_links(sweep, group);
                    stage.run_on(&self.memory.with_links, of.sweep, offset, range.count);
                }
                if let Some(push) = of.push {
                    let (n, offset) = (self.net.masses().len() as u32, self.memory.range_of_contacts(sweep));
                    stage.run_on(&self.memory.with_obstacles, push, offset, n);
                }
            }
            drop(stage);
            if self.parameters.real_time {
                gpu.submit(commands)?;
                commands = gpu.device.create_command_encoder(&Default::default());
                done += count;
                continue;
            }
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

    /// Adds contacts with what is met all the same. Whether there were any.
    fn find_more(&self, commands: &mut CommandEncoder, part: u32) -> Result<bool, GpuError> {
        let (gpu, Memory { flags, staging, .. }) = (&self.gpu, &self.memory);
        let more = u64::from(SWEEPS + 3) * 4;
        commands.clear_buffer(flags, more, Some(4));
        self.stage(commands, part).meet(&gpu.kernels.find_more, self.net.masses().len() as u32);
        commands.copy_buffer_to_buffer(flags, more, staging, 0, 4);
        let commands = std::mem::replace(commands, gpu.device.create_command_encoder(&Default::default()));
        gpu.run(commands, staging, 4, |bytes| bytes != [0; 4])
    }

    fn stage<'a>(&'a self, commands: &'a mut CommandEncoder, part: u32) -> Stage<'a> {
        Stage { memory: &self.memory, pass: commands.begin_compute_pass(&Default::default()), part: ALIGNED * part }
    }

    fn read_back(&self, mut commands: CommandEncoder, substeps: u32, parts: &[Given]) -> Result<Back, GpuError> {
        let Memory { bodies, held, sums, flags, staging, .. } = &self.memory;
        let n = self.net.masses().len();
        let moments = n.div_ceil(WORKGROUP as usize);
        let count: usize = parts.iter().map(|part| part.held.len()).sum();
        let most = self.obstacles();
        let of_sums = (moments + 2 * most) * substeps as usize * 16;
        let sizes = [n * size_of::<Body>(), count * size_of::<Entry>(), of_sums, FLAGS as usize * 4];
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
            let first_wrench = held + 4 * moments * substeps as usize;
            let vector = |v: &[f32]| V3::new(v[0].into(), v[1].into(), v[2].into());
            let of_part = |sums: &[f32]| sums.chunks_exact(4).map(vector).sum();
            let flag = |which: usize| f64::from(numbers[sums + SWEEPS as usize + which]);
            Back {
                bodies: numbers[..bodies].chunks_exact(8).map(|b| [b[0], b[1], b[2], b[4], b[5], b[6]]).collect(),
                impulses: numbers[bodies..held].chunks_exact(16).map(|entry| vector(&entry[12..])).collect(),
                moments: numbers[held..first_wrench].chunks_exact(4 * moments).map(of_part).collect(),
                wrenches: (numbers[first_wrench..sums].chunks_exact(8))
                    .map(|wrench| [vector(wrench), vector(&wrench[4..])])
                    .collect(),
                worst: [flag(0), flag(1), flag(2), flag(4)],
            }
        })
    }

    /// How many obstacles there can be.
    fn obstacles(&self) -> usize {
        self.plan.as_ref().map_or(0, |plan| plan.obstacles.len())
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
        for (part, wrenches) in parts.iter().zip(back.wrenches.chunks(self.obstacles().max(1))) {
            for (&guide, [linear, angular]) in part.placed.guides.iter().zip(wrenches) {
                let impulse = Wrench { linear: (*linear).into(), angular: (*angular).into() };
                if impulse != Wrench::default() {
                    reactions.push(Reaction { guide: guide as u32, carrier: 0, impulse });
                }
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

    /// The same with obstacles.
    fn meet(&mut self, kernel: &ComputePipeline, threads: u32) {
        self.run_on(&self.memory.with_obstacles, kernel, 0, threads);
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
