//! What comes back of a step, and what it is booked as.

use nalgebra::Vector3;
use partita_simulator::{Reaction, SimulatorError, StepReport, Wrench};
use wgpu::CommandEncoder;

use crate::{
    IbdsClothGpu, Parameters,
    given::Given,
    gpu::GpuError,
    kernels::{ENOUGH, FARTHEST, WORKGROUP, flag},
    memory::{Body, Entry, Memory},
};

type V3 = Vector3<f64>;

/// What comes back of a step.
pub(crate) struct Back {
    pub bodies: Vec<[f32; 6]>,
    /// Whether all of these are.
    is_finite: bool,
    /// Impulses on what is held, in the order of all parts' lists.
    impulses: Vec<V3>,
    /// Of each part, the sum of m x.
    moments: Vec<V3>,
    /// Impulses on obstacles and their torques, in the order of all parts' lists.
    wrenches: Vec<[V3; 2]>,
    worst: Worst,
    /// How many pairs of particles there is room needed for.
    pub pairs: u32,
}

/// The largest errors, of what they may be [-].
#[derive(Debug)]
struct Worst {
    lengths: f64,
    rates: f64,
    struts: f64,
    /// Of distances from obstacles, and from each other.
    depth: f64,
    near: f64,
    /// Of what particles move against each other.
    fast: f64,
}

impl IbdsClothGpu {
    /// Waits for the end of a step.
    pub(crate) fn read_back(&self, mut commands: CommandEncoder, parts: &[Given]) -> Result<Back, GpuError> {
        let Memory { bodies, held, sums, flags, staging, .. } = &self.memory;
        let n = self.net.masses().len();
        let moments = n.div_ceil(WORKGROUP as usize);
        let count: usize = parts.iter().map(|part| part.held.len()).sum();
        let most = self.obstacles();
        let of_sums = (moments + 2 * most) * parts.len() * 16;
        let sizes = [n * size_of::<Body>(), count * size_of::<Entry>(), of_sums, flag::ALL as usize * 4];
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
            let first_wrench = held + 4 * moments * parts.len();
            // Looked at on the way, for what has to be brought from memory once.
            let mut is_finite = true;
            let body = |b: &[f32]| {
                let body = [b[0], b[1], b[2], b[4], b[5], b[6]];
                is_finite &= body.iter().fold(true, |all, x| all & x.is_finite());
                body
            };
            let vector = |v: &[f32]| V3::new(v[0].into(), v[1].into(), v[2].into());
            let of_part = |sums: &[f32]| sums.chunks_exact(4).map(vector).sum();
            let flags = &bytemuck::cast_slice::<u8, u32>(bytes)[sums..];
            let error = |which: u32| f64::from(f32::from_bits(flags[which as usize]));
            let worst = Worst {
                lengths: error(flag::LENGTHS),
                rates: error(flag::RATES),
                struts: error(flag::STRUTS),
                depth: error(flag::DEPTH),
                near: error(flag::NEAR),
                fast: error(flag::FAST),
            };
            Back {
                bodies: numbers[..bodies].chunks_exact(8).map(body).collect(),
                is_finite,
                impulses: numbers[bodies..held].chunks_exact(16).map(|entry| vector(&entry[12..])).collect(),
                moments: numbers[held..first_wrench].chunks_exact(4 * moments).map(of_part).collect(),
                wrenches: (numbers[first_wrench..sums].chunks_exact(8))
                    .map(|wrench| [vector(wrench), vector(&wrench[4..])])
                    .collect(),
                worst,
                pairs: flags[flag::PAIRS as usize],
            }
        })
    }

    /// Says in a report how well a step went, and what it took of guides. What came from outside since time 0.
    ///
    /// # Errors
    /// Something is not finite.
    pub(crate) fn judge(
        &self,
        parts: &[Given],
        back: &Back,
        report: &mut StepReport,
    ) -> Result<Wrench, SimulatorError> {
        let Parameters { extensibility, strut_tolerance, velocity_tolerance, .. } = self.parameters;
        let is_wrong = |body: &[f32; 6]| body.iter().any(|x| !x.is_finite());
        if let Some(k) = (!back.is_finite).then(|| back.bodies.iter().position(is_wrong)).flatten() {
            let found = format!("{:?}", back.bodies[k]);
            return Err(SimulatorError::failed(format!("position and velocity of particle {k}"), found, "finite"));
        }
        let Worst { lengths, rates, struts, depth, near, fast } = back.worst;
        if !(lengths + rates + struts + depth + near + fast).is_finite() {
            let found = format!("{:?}", back.worst);
            return Err(SimulatorError::failed("errors of links and contacts", found, "finite"));
        }
        let outcome = &mut report.outcome;
        outcome.note(extensibility * lengths, extensibility, "of the rest length");
        outcome.note(strut_tolerance * struts, strut_tolerance, "of a strut's distance");
        if let Some(tolerance) = velocity_tolerance {
            outcome.note(tolerance * rates, tolerance, "m/s");
        }
        outcome.note(ENOUGH * depth, ENOUGH, "of the distance from an obstacle");
        outcome.note(ENOUGH * near, ENOUGH, "of the distance from itself");
        let most = 2.0 * FARTHEST * self.apart();
        outcome.note(most * fast, most, "m of motion against itself in a part");
        let mut reactions = vec![];
        let external = self.book(parts, back, &mut reactions);
        report.add_up(&mut reactions);
        if !external.is_finite() {
            let thing = "impulses on what is held [N s]";
            return Err(SimulatorError::failed(thing, format!("{external:?}"), "finite"));
        }
        if let Some(reaction) = report.reactions.iter().find(|reaction| !reaction.impulse.is_finite()) {
            let thing = format!("impulse on guide {} [N s]", reaction.guide);
            return Err(SimulatorError::failed(thing, format!("{:?}", reaction.impulse), "finite"));
        }
        Ok(external)
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
