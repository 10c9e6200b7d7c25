//! One step from top to bottom, and its stages (\[BBD09\] figure 2).

use std::sync::Arc;

use partita_simulator::{Inputs, SimulatorError, StageClock, StepReport, check};
use wgpu::{BindGroup, CommandEncoder, ComputePass, ComputePipeline};

use crate::{
    IbdsClothGpu, Solver,
    back::Back,
    given::Given,
    gpu::GpuError,
    kernels::{Kernels, MOST_PAIRS, SWEEPS, WORKGROUP, flag},
    memory::{ALIGNED, Entry, FIRST, KEEP_OUT, LOOK, MEASURE, Memory, Room},
    state::{Bodies, Known, State},
};

/// Dispatches between two looks at the flags, about: some systems take a device that is busy for seconds for lost.
const DISPATCHES: u32 = 4096;

/// Rounds of the loop of places, in which contacts are added with what is in the way then.
pub(crate) const ROUNDS: u32 = 4;

/// One of the loops: over links or paths; over contacts with obstacles; over pairs of particles, what they give and what that does.
struct Loop<'a> {
    sweep: &'a ComputePipeline,
    contacts: &'a ComputePipeline,
    pairs: [&'a ComputePipeline; 2],
    part: u32,
    /// Of the loop of places, which of several; none of that of velocities.
    round: Option<u32>,
}

impl IbdsClothGpu {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check(self.resolved)?;
        check(&self.table, &self.guides, dt, inputs)?;
        self.holds.check_step(self.state.time, dt)?;
        if self.plan.is_none() {
            let guides = std::mem::take(&mut self.guides);
            let plan = self.lay_out(&guides);
            self.guides = guides;
            self.plan = Some(plan?);
        }
        let mut clock = StageClock::start();
        let loads = self.gather_loads(dt, inputs)?;
        let parts = self.gather_parts(dt, inputs)?;
        let bodies = self.bodies_of_state()?;
        clock.lap("gather");
        let (back, iterations) = loop {
            let (back, iterations) = self.take_parts(&bodies, &parts, &loads)?;
            let Room { pairs: room, .. } = self.memory.room;
            if back.pairs <= room {
                break (back, iterations);
            }
            if back.pairs == u32::MAX {
                let thing = format!("particles near one, with a self_distance of {} m", self.apart());
                let (found, expected) =
                    (format!("more than {MOST_PAIRS}"), format!("at most {MOST_PAIRS}: a smaller distance"));
                return Err(SimulatorError::failed(thing, found, expected));
            }
            // Nothing has been committed yet.
            self.make_room(Room { pairs: back.pairs.saturating_add(back.pairs / 4), ..self.memory.room })?;
        };
        clock.lap("compute on the device");

        let mut report =
            StepReport { substeps: parts.len() as u32, iterations, ..StepReport::new(self.state.time + dt) };
        let external = self.judge(&parts, &back, &mut report)?;
        let gpu = self.gpu.clone();
        let mut commands = gpu.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&self.memory.bodies, 0, &bodies.buffer, 0, bodies.buffer.size());
        gpu.submit(commands)?;
        // From here on nothing can fail.
        let held = parts.last().map(|part| &part.held[..]).unwrap_or_default();
        let held = held.iter().map(|held| (held.vertex as u32, held.position, held.velocity)).collect();
        let known = Arc::new(Known::new(back.bodies, held));
        self.state = State { known, time: report.time, external, bodies: Some(bodies) };
        clock.lap("finish");
        report.stages = clock.stages;
        Ok(report)
    }

    /// All parts of a step, of particles that begin like this; and how many sweeps they took.
    fn take_parts(&mut self, bodies: &Bodies, parts: &[Given], loads: &[Entry]) -> Result<(Back, u32), SimulatorError> {
        self.upload(parts, loads)?;
        let mut commands = self.gpu.device.create_command_encoder(&Default::default());
        commands.copy_buffer_to_buffer(&bodies.buffer, 0, &self.memory.bodies, 0, bodies.buffer.size());
        commands.clear_buffer(&self.memory.flags, 0, None);
        let mut iterations = 0;
        for (part, given) in (0..).zip(parts) {
            commands = self.take_part(commands, part, given, loads.len(), &mut iterations)?;
        }
        Ok((self.read_back(commands, parts)?, iterations))
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
        let Kernels { measure_lengths, sum_pushes, close, close_pairs, advance, hold_velocities, .. } = &gpu.kernels;
        let Kernels { sum_wrenches, book, .. } = &gpu.kernels;
        let (n, held, obstacles) =
            (self.net.masses().len() as u32, given.held.len() as u32, given.placed.obstacles.len() as u32);
        self.begin_part(&mut commands, part, held, loads as u32);
        commands = self.correct_lengths(commands, part, iterations)?;
        // Of lengths, rates and struts the last part counts, of distances from obstacles and each other all do.
        commands.clear_buffer(&self.memory.flags, u64::from(flag::LENGTHS) * 4, Some(u64::from(flag::OF_PART) * 4));
        self.find(&mut commands, part, KEEP_OUT);
        self.find(&mut commands, part, MEASURE);
        let mut stage = self.stage(&mut commands, part);
        stage.with_pairs(close_pairs, 0, n);
        stage.run(measure_lengths, self.memory.slots);
        stage.with_obstacles(sum_pushes, 0, n);
        stage.with_obstacles(close, 0, n);
        stage.run(advance, n);
        stage.run(hold_velocities, held);
        drop(stage);
        if self.parameters.velocity_tolerance.is_some() {
            commands = self.correct_rates(commands, part, iterations)?;
        }
        let mut stage = self.stage(&mut commands, part);
        stage.with_obstacles(sum_wrenches, 0, WORKGROUP * obstacles);
        stage.run(book, held);
        drop(stage);
        Ok(commands)
    }

    /// Where particles would be without links and contacts.
    fn begin_part(&self, commands: &mut CommandEncoder, part: u32, held: u32, loads: u32) {
        let Kernels { begin, add_loads, add_springs, predict, hold, sum_moments, .. } = &self.gpu.kernels;
        let n = self.net.masses().len() as u32;
        commands.clear_buffer(&self.memory.pulls, 0, None);
        let mut stage = self.stage(commands, part);
        stage.run(begin, n);
        stage.run(add_loads, loads);
        for (group, range) in self.memory.springs.iter().enumerate() {
            stage.run_on(&self.memory.with_springs, add_springs, self.memory.range_of_springs(group), range.count);
        }
        stage.run(predict, n);
        stage.run(hold, held);
        stage.run(sum_moments, n);
    }

    /// The loop of places, in rounds: in each contacts are found, in the first what is near or in the way, then what is met all the same.
    fn correct_lengths(
        &mut self,
        mut commands: CommandEncoder,
        part: u32,
        iterations: &mut u32,
    ) -> Result<CommandEncoder, GpuError> {
        let gpu = self.gpu.clone();
        let Kernels { sweep_lengths, sweep_path_lengths, sweep_contact_lengths, .. } = &gpu.kernels;
        let Kernels { sweep_pair_lengths, apply_pair_lengths, .. } = &gpu.kernels;
        for round in 0..ROUNDS {
            self.find(&mut commands, part, round);
            let of = Loop {
                sweep: if self.parameters.solver == Solver::Links { sweep_lengths } else { sweep_path_lengths },
                contacts: sweep_contact_lengths,
                pairs: [sweep_pair_lengths, apply_pair_lengths],
                part,
                round: Some(round),
            };
            let has_more;
            (commands, has_more) = self.repeat(commands, &of, iterations)?;
            if !has_more {
                break;
            }
        }
        Ok(commands)
    }

    fn correct_rates(
        &mut self,
        mut commands: CommandEncoder,
        part: u32,
        iterations: &mut u32,
    ) -> Result<CommandEncoder, GpuError> {
        let gpu = self.gpu.clone();
        let Kernels { begin_rates, sweep_rates, sweep_path_rates, measure_rates, end_rates, .. } = &gpu.kernels;
        let Kernels { sweep_contact_rates, sweep_pair_rates, apply_pair_rates, sum_rate_pushes, .. } = &gpu.kernels;
        let n = self.net.masses().len() as u32;
        self.stage(&mut commands, part).run(begin_rates, n);
        let of = Loop {
            sweep: if self.parameters.solver == Solver::Links { sweep_rates } else { sweep_path_rates },
            contacts: sweep_contact_rates,
            pairs: [sweep_pair_rates, apply_pair_rates],
            part,
            round: None,
        };
        (commands, _) = self.repeat(commands, &of, iterations)?;
        let mut stage = self.stage(&mut commands, part);
        stage.run(measure_rates, self.memory.slots);
        stage.run(end_rates, n);
        stage.with_obstacles(sum_rate_pushes, 0, n);
        drop(stage);
        Ok(commands)
    }

    /// Sweeps until one corrects nothing, or as often as may be. Flags are looked at after as many as it took last time, or never: sweeps
    /// that are too many do nothing. Whether more is met then than there are contacts for; not in real time, nor in the loop of velocities.
    fn repeat(
        &mut self,
        mut commands: CommandEncoder,
        of: &Loop<'_>,
        iterations: &mut u32,
    ) -> Result<(CommandEncoder, bool), GpuError> {
        let gpu = self.gpu.clone();
        let looks = of.round.map_or(0, |round| round as usize + 1);
        let (mut done, mut count, mut has_more) = (0, self.looks[looks], false);
        let (meets_obstacles, meets_itself) = (self.memory.with_obstacles.is_some(), self.memory.with_pairs.is_some());
        let stages = self.memory.links.len() as u32 + u32::from(meets_obstacles) + 2 * u32::from(meets_itself);
        let looks_for_more = of.round.is_some() && (meets_obstacles || meets_itself);
        while done < self.parameters.max_iterations && stages > 0 {
            let most = (DISPATCHES / stages).clamp(1, SWEEPS);
            count = if self.parameters.real_time { most } else { count.clamp(1, most) };
            count = count.min(self.parameters.max_iterations - done);
            commands.clear_buffer(&self.memory.flags, 0, Some(u64::from(SWEEPS) * 4));
            let mut stage = self.stage(&mut commands, of.part);
            for sweep in (0..count).map(|sweep| if done + sweep == 0 { FIRST } else { sweep }) {
                // Links after contacts: where they find nothing to correct, contacts have moved nothing since.
                let (n, offset) = (self.net.masses().len() as u32, self.memory.range_of_contacts(sweep));
                stage.with_obstacles(of.contacts, offset, n);
                of.pairs.into_iter().for_each(|kernel| stage.with_pairs(kernel, offset, n));
                for (group, range) in self.memory.links.iter().enumerate() {
                    let offset = self.memory.range_of_links(sweep, group);
                    stage.run_on(&self.memory.with_links, of.sweep, offset, range.count);
                }
            }
            drop(stage);
            if self.parameters.real_time {
                gpu.submit(commands)?;
                commands = gpu.device.create_command_encoder(&Default::default());
                done += count;
                continue;
            }
            if looks_for_more {
                commands.clear_buffer(&self.memory.flags, u64::from(flag::MORE) * 4, Some(4));
                self.find(&mut commands, of.part, LOOK);
            }
            let (Memory { flags, staging, .. }, size) = (&self.memory, u64::from(flag::ALL) * 4);
            commands.copy_buffer_to_buffer(flags, 0, staging, 0, size);
            let (over, more) = gpu.run(commands, staging, size, |bytes| {
                let flags: &[u32] = bytemuck::cast_slice(bytes);
                (flags[..count as usize].iter().position(|flag| *flag == 0), flags[flag::MORE as usize] != 0)
            })?;
            has_more = looks_for_more && more;
            commands = gpu.device.create_command_encoder(&Default::default());
            done += over.map_or(count, |sweep| sweep as u32 + 1);
            if over.is_some() {
                break;
            }
            count *= 2;
        }
        self.looks[looks] = done.min(SWEEPS);
        *iterations += done;
        Ok((commands, has_more))
    }

    /// Looks for contacts: in the first rounds to make them, of what is near or in the way and then of what is met all the same; [`LOOK`],
    /// [`KEEP_OUT`], [`MEASURE`]. Pairs of particles are found in a grid, by where they begin and where they are by now.
    fn find(&self, commands: &mut CommandEncoder, part: u32, round: u32) {
        let Kernels { bound_ways, insert, find_pairs, find_contacts, .. } = &self.gpu.kernels;
        let (n, offset) = (self.net.masses().len() as u32, self.memory.range_of_contacts(round));
        // Obstacles have the last word.
        let of_pairs = self.memory.table.as_ref().filter(|_| round != KEEP_OUT);
        if let Some(table) = of_pairs {
            commands.clear_buffer(table, 0, None);
        }
        let mut stage = self.stage(commands, part);
        if of_pairs.is_some() {
            [bound_ways, insert, find_pairs].into_iter().for_each(|kernel| stage.with_pairs(kernel, offset, n));
        }
        stage.with_obstacles(find_contacts, offset, n);
    }

    fn stage<'a>(&'a self, commands: &'a mut CommandEncoder, part: u32) -> Stage<'a> {
        Stage { memory: &self.memory, pass: commands.begin_compute_pass(&Default::default()), part: ALIGNED * part }
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

    /// The same with obstacles, where there can be some.
    fn with_obstacles(&mut self, kernel: &ComputePipeline, range: u32, threads: u32) {
        if let Some(memory) = &self.memory.with_obstacles {
            self.run_on(memory, kernel, range, threads);
        }
    }

    /// The same with pairs of particles, where there can be some.
    fn with_pairs(&mut self, kernel: &ComputePipeline, range: u32, threads: u32) {
        if let Some(memory) = &self.memory.with_pairs {
            self.run_on(memory, kernel, range, threads);
        }
    }

    /// The same of a group of links or springs.
    fn run_on(&mut self, memory: &BindGroup, kernel: &ComputePipeline, range: u32, threads: u32) {
        if threads > 0 {
            self.pass.set_pipeline(kernel);
            self.pass.set_bind_group(0, memory, &[self.part]);
            self.pass.set_bind_group(1, &self.memory.ranges, &[range]);
            self.pass.dispatch_workgroups(threads.div_ceil(WORKGROUP), 1, 1);
        }
    }
}
