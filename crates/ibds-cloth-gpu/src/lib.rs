//! Impulse-based cloth in compute shaders: the method of `partita-ibds-cloth`, link by link or path by path, on a device.
//!
//! \[BBD09\] D. Bayer, J. Bender, R. Diziol: Impulse-based dynamic simulation on the GPU. CGVCVIP 2009.
//! \[THMPG\] M. Teschner, B. Heidelberger, M. Müller, D. Pomeranets, M. Gross: Optimized spatial hashing for collision detection of
//! deformable objects. VMV 2003.
//! \[TBV\] R. Tonge, F. Benevolenski, A. Voroshilov: Mass splitting for jitter-free parallel rigid body simulation. SIGGRAPH 2012.
//!
//! Links, or the paths that they are in, are taken apart into [`groups`] in which no particle is twice. A group is corrected at once, a thread
//! for each link; groups follow each other, again and again, until no link is off by more than it may be. Places, velocities, forces and
//! links stay on the device.
//! What comes back of a step is where particles are, what it took to hold them, and flags that say whether a sweep found nothing to correct.
//!
//! Start at [`IbdsClothGpu`], then `step.rs` for the stages, which are named as the shaders' entry points.
//!
//! # What to know
//!
//! - Numbers on the device have 32 bits: momentum is kept to about a millionth, and an extensibility that cannot be told of places and
//!   links as they begin is refused. What is held or attached ends each step where it should to the last of 64 bits; only links see it rounded.
//! - One device gives the same bits again; others may round otherwise.
//! - Obstacles are met by particles, not by what is between them: an edge or a needle comes through a link by about its length, so links
//!   should be short against what is met. What a [`Primitive`](partita_simulator::Primitive) is, is met exactly; other closed surfaces as
//!   volumes of signed distances, whose edges are round by a cell ([`Parameters::volume_cells`]). A particle is pushed by four at most.
//! - Kinematic particles do not stop bodies: they give them no impact, and bodies go through. A start within a body is not checked.
//! - It meets itself as balls ([`Parameters::self_distance`]), and pieces of one net meet each other. In a net of squares what lies on the
//!   middle of a cell is 0.37 of a link above it, or 0.14 at least, and what is on a particle 0.8: finer cloth is thinner. Friction there
//!   acts across the distance of layers, which takes spin. What moves against itself by more than 16 of these distances in a part may
//!   pass, which the step's outcome says: more [`Parameters::substeps`] help.
//! - What shares a particle is corrected one after the other: a ball with [struts](Net::struts) to 10,000 particles takes as many dispatches
//!   a sweep. Obstacles are for that.

mod back;
mod given;
mod gpu;
mod groups;
mod kernels;
mod memory;
mod obstacles;
mod order;
mod parameters;
mod state;
mod step;

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use nalgebra::Vector3;
use partita_cloth::{Holds, Vertices, begin_with, may_hold};
use partita_ibds_cloth::{Link, Net};
use partita_simulator::{
    Carrier, Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Precision, Settings,
    Simulator, SimulatorError, Snapshot, StepReport, Surface, check_guides, settings_of,
};

pub use gpu::{Gpu, GpuError};
pub use groups::groups;
use memory::{Memory, Plan, Room};
use obstacles::Obstacles;
use order::{AtRest, Order};
pub use parameters::{Parameters, Solver};
pub use partita_contact::ContactRates;
use state::{Bodies, Known, State};

type V3 = Vector3<f64>;

/// Roundings of a place that a link has to be off by at least to be told so: two at each end.
const ROUNDINGS: f64 = 4.0;

/// Pairs of particles that meet each other for which there is room at first, at least.
const FEWEST_PAIRS: u32 = 1024;

/// How far particles of a cloth that meets itself are kept apart unless it is said, of the mean length of links: one that comes through the
/// middle of a square is 0.71 of a link from its corners, and contacts are right to a tenth [-].
const OF_LINKS: f64 = 0.8;

/// Whether 32 bits can hold a number with all its digits.
fn fits(number: f64) -> bool {
    number == 0.0 || (number as f32).is_normal()
}

/// A net of particles and links as a simulator, on a device.
pub struct IbdsClothGpu {
    name: String,
    parameters: Parameters,
    net: Net,
    /// The least that links and struts can be told to be off by, of their length [-].
    resolved: [f64; 2],
    /// The largest coordinate of a particle at first `[m]`.
    farthest: f64,
    /// Mean rest length of links, of which those are measured that have none `[m]`.
    mean_rest: f64,
    holds: Holds,
    table: HandleTable,
    surfaces: Vec<Arc<Surface>>,
    guides: Vec<Guide>,
    gpu: Arc<Gpu>,
    memory: Memory,
    /// None where guides, parameters or what is held have changed.
    plan: Option<Plan>,
    state: State,
    /// Sweeps before flags are looked at: in the loop of velocities, and in each round of that of places.
    looks: [u32; step::ROUNDS as usize + 1],
    /// Hash of what the state takes for granted, when it has been asked for.
    identity: OnceLock<Identity>,
}

impl IbdsClothGpu {
    /// What is linked, at rest where the net has it. If it has triangles it meets itself ([`Parameters::self_contact`]).
    ///
    /// # Errors
    /// There are no particles or more than the device has threads for, masses, lengths, stiffnesses or compliances are nothing that 32 bits
    /// can hold, or the device has not enough memory.
    pub fn new(name: &str, net: Net, gpu: &Arc<Gpu>) -> Result<Self, SimulatorError> {
        let mut table = HandleTable::new("ibds-cloth-gpu", name);
        let n = net.positions().len();
        let owner = table.add("particles", Kind::Point, n as u32)?.owner;
        // Bits of links say what they are.
        let most = gpu.most_threads().min(1 << 29);
        if n as u64 > most {
            let expected = format!("at most {most} particles");
            return Err(SimulatorError::refused("net", n, expected));
        }
        let masses = net.masses().iter().flat_map(|m| [*m, 1.0 / m]);
        let links = net.links().iter().flat_map(|link| [link.rest_length, link.compliance]);
        let springs =
            net.all_springs().iter().flat_map(|spring| [spring.rest_length, spring.stiffness, spring.damping]);
        let struts = net.all_struts().iter().map(|strut| strut.distance);
        if let Some(wrong) = masses.chain(links).chain(springs).chain(struts).find(|x| !fits(*x)) {
            let expected = "masses, lengths, stiffnesses and compliances that 32 bits can hold";
            return Err(SimulatorError::refused("net", wrong, expected));
        }
        let parameters = Parameters { self_contact: !net.skin().is_empty(), ..Parameters::default() };
        let surface = Surface {
            name: name.into(),
            carrier: Carrier::Points((0..n as u32).map(|index| HandleId { owner, index }).collect()),
            vertices: net.positions().iter().map(|&x| x.into()).collect(),
            triangles: net.skin().to_vec(),
            lines: net.lone_edges(),
            two_sided: true,
            primitive: None,
            friction: parameters.friction,
            restitution: 0.0,
            thickness: 0.5 * parameters.thickness,
        };
        let is_shown = !surface.triangles.is_empty() || !surface.lines.is_empty();
        let order = Order::new(&net, parameters.solver, |_| false);
        let plan = Plan { order, obstacles: Obstacles::NONE, at_rest: None };
        let room = Room { entries: 0, parts: 1, pairs: FEWEST_PAIRS.max(n as u32 / 2) };
        let memory = Memory::new(gpu, n, &plan, room)?;
        let mut cloth = Self {
            name: name.into(),
            parameters,
            resolved: [0.0; 2],
            farthest: 0.0,
            mean_rest: net.mean_rest(),
            holds: Holds::default(),
            table,
            surfaces: if is_shown { vec![Arc::new(surface)] } else { vec![] },
            guides: vec![],
            gpu: gpu.clone(),
            memory,
            plan: None,
            state: State { known: Arc::default(), time: 0.0, external: Default::default(), bodies: None },
            looks: [1; step::ROUNDS as usize + 1],
            identity: OnceLock::new(),
            net,
        };
        let positions = cloth.net.positions().to_vec();
        cloth.place(&positions, &vec![V3::zeros(); n]);
        Ok(cloth)
    }

    /// Begins with particles elsewhere than at rest `[m]`.
    ///
    /// # Errors
    /// There are more or fewer than particles, a number is nothing that 32 bits can hold, or there was a step.
    pub fn with_positions(mut self, positions: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        let vectors = self.begin_with("positions [m]", positions)?;
        self.holds.take_hold(&vectors)?;
        let [_, velocities] = self.state.known.vectors().clone();
        self.place(&vectors, &velocities);
        if let [surface] = &mut self.surfaces[..] {
            Arc::make_mut(surface).vertices = positions.to_vec();
        }
        self.identity = OnceLock::new();
        Ok(self)
    }

    /// Begins with velocities `[m/s]`.
    ///
    /// # Errors
    /// As [`IbdsClothGpu::with_positions`].
    pub fn with_velocities(mut self, velocities: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        let vectors = self.begin_with("velocities [m/s]", velocities)?;
        let [positions, _] = self.state.known.vectors().clone();
        self.place(&positions, &vectors);
        Ok(self)
    }

    fn begin_with(&self, thing: &str, values: &[[f64; 3]]) -> Result<Vec<V3>, SimulatorError> {
        let vectors = begin_with(thing, values, self.net.masses().len(), self.state.time)?;
        if let Some(k) = values.iter().position(|v| v.iter().any(|x| !(*x as f32).is_finite())) {
            let found = format!("{:?}", values[k]);
            return Err(SimulatorError::refused(format!("{thing} of particle {k}"), found, "what 32 bits can hold"));
        }
        Ok(vectors)
    }

    /// Puts particles somewhere, and finds what can be told of their links there.
    fn place(&mut self, positions: &[V3], velocities: &[V3]) {
        let body = |(x, v): (&V3, &V3)| {
            let [x, v] = [x, v].map(|vector| <[f64; 3]>::from(*vector).map(|x| x as f32));
            [x[0], x[1], x[2], v[0], v[1], v[2]]
        };
        let bodies = positions.iter().zip(velocities).map(body).collect();
        // What has not been rounded yet is known as it was given.
        let given = positions.iter().zip(velocities).enumerate().map(|(k, (x, v))| (k as u32, *x, *v)).collect();
        (self.state.known, self.state.bodies) = (Arc::new(Known::new(bodies, given)), None);
        // What can be told of distances there may be another.
        self.plan = None;
        self.farthest = positions.iter().map(|x| x.amax()).fold(0.0, f64::max);
        let measure = |link: &Link| if link.rest_length > 0.0 { link.rest_length } else { self.mean_rest };
        let links = self.net.links().iter().map(measure).fold(f64::INFINITY, f64::min);
        let struts = self.net.all_struts().iter().map(|strut| strut.distance).fold(f64::INFINITY, f64::min);
        let rounding = f64::from(f32::EPSILON) / 2.0;
        self.resolved =
            [links, struts].map(|shortest| (ROUNDINGS * rounding * self.farthest / shortest).max(2.0 * rounding));
    }

    /// The state's particles on the device.
    fn bodies_of_state(&mut self) -> Result<Bodies, GpuError> {
        // Snapshots may be of another device.
        if let Some(bodies) = self.state.bodies.take().filter(|bodies| bodies.is_on(&self.gpu)) {
            return Ok(bodies);
        }
        let inverse_masses = self.net.masses().iter().map(|m| (1.0 / m) as f32);
        Bodies::new(&self.gpu, &self.state.known.to_device(inverse_masses))
    }

    /// Holds particles where they are. What is held cannot be attached.
    ///
    /// # Errors
    /// Names one that does not exist or that a hand holds, or says that there are guides or there was a step.
    pub fn pin(&mut self, particles: &[u32]) -> Result<(), SimulatorError> {
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin(particles, self.net.masses().len())?;
        self.plan = None;
        self.identity = OnceLock::new();
        Ok(())
    }

    /// Holds particles by a hand: a frame with position, orientation, velocity and spin `[rad/s]` at time t `[s]` as `script(t)` says,
    /// which have to fit each other. They are fixed in it at the places where they are at time 0, and end each step, or part of one, with
    /// exactly its position and velocity. What a script has to be is told by [`Holds::pin_along`].
    ///
    /// # Errors
    /// As [`Holds::pin_along`], or says that there are guides or there was a step.
    pub fn pin_along(
        &mut self,
        name: &str,
        particles: &[u32],
        script: impl Fn(f64) -> HandleState + Send + Sync + 'static,
    ) -> Result<(), SimulatorError> {
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin_along(name, particles, &self.state.known.vectors()[0], script)?;
        self.plan = None;
        self.identity = OnceLock::new();
        Ok(())
    }

    /// Handle of a particle. If there is no such particle, whoever uses the handle says so.
    pub fn particle(&self, number: u32) -> HandleId {
        self.table.handle(number)
    }

    /// Positions `[m]`, one a particle.
    pub fn positions(&self) -> &[V3] {
        &self.state.known.vectors()[0]
    }

    /// Velocities `[m/s]`, one a particle.
    pub fn velocities(&self) -> &[V3] {
        &self.state.known.vectors()[1]
    }

    /// What is linked, and how it was at first.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// How many groups links, or paths, and struts are in since the last step: dispatches of a sweep, without those of contacts.
    pub fn groups_of_links(&self) -> usize {
        self.memory.links.len()
    }

    /// All parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Brings to the device what is linked and what guides are in the way.
    fn lay_out(&mut self, guides: &[Guide]) -> Result<Plan, SimulatorError> {
        self.parameters.check(self.resolved)?;
        let (n, distance) = (self.net.masses().len(), self.apart());
        let Parameters { solver, thickness, volume_cells, self_contact, self_distance, .. } = &self.parameters;
        let plan = Plan {
            order: Order::new(&self.net, *solver, |k| self.holds.holds(k)),
            obstacles: Obstacles::new(guides, n, 0.5 * thickness, *volume_cells)?,
            at_rest: self_contact.then(|| AtRest::new(&self.net)),
        };
        // Ten roundings of the farthest place.
        let resolved = 10.0 * f64::from(f32::EPSILON) / 2.0 * self.farthest / kernels::ENOUGH;
        if let Some((guide, distance)) = plan.obstacles.nearest().filter(|(_, distance)| *distance < resolved) {
            let thing = format!("half the thickness and that of guide {guide} [m]");
            let expected = format!("at least {resolved:.1e}, what 32 bits can tell of places like these");
            return Err(SimulatorError::refused(thing, distance, expected));
        }
        if *self_contact && self_distance.is_none() && self.net.links().iter().all(|link| link.rest_length == 0.0) {
            return Err(SimulatorError::refused("self_distance", "none", "a distance, where no link has a length"));
        }
        if *self_contact && distance < resolved {
            let thing = if self_distance.is_some() { "" } else { ", which is 0.8 of the mean length of links" };
            let expected = format!("at least {resolved:.1e}, what 32 bits can tell of places like these");
            return Err(SimulatorError::refused(format!("self_distance [m]{thing}"), distance, expected));
        }
        self.memory = Memory::new(&self.gpu, n, &plan, self.memory.room)?;
        Ok(plan)
    }

    /// How far particles stay away from each other `[m]`.
    fn apart(&self) -> f64 {
        self.parameters.self_distance.unwrap_or(OF_LINKS * self.mean_rest)
    }

    fn of(&self) -> Identity {
        *self.identity.get_or_init(|| {
            Identity::new(&self.table, &(&self.parameters, &self.net, &self.holds, &self.table, &self.guides))
        })
    }
}

impl Simulator for IbdsClothGpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn time(&self) -> f64 {
        self.state.time
    }

    fn handles(&self) -> &HandleTable {
        &self.table
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        let [positions, velocities] = self.state.known.vectors();
        self.table.read_with(handles, out, |k| HandleState::point(positions[k], velocities[k]))
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &self.surfaces
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.take_step(dt, inputs)
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of(), self.state.time, &self.state)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.state.clone_from(to.get::<State>(self.of())?);
        Ok(())
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<State>(self.of(), bytes)
    }

    fn follows(&self) -> Follows {
        Follows { points: true, rigid_surfaces: true, tolerance: 0.0, ..Follows::default() }
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows(), &self.guides, &guides)?;
        self.holds.check_attachments(&self.table, &guides)?;
        self.plan = Some(self.lay_out(&guides)?);
        self.guides = guides;
        self.identity = OnceLock::new();
        Ok(())
    }

    /// Potential energy is that of gravity (zero at the origin), of springs, and of links that give way.
    fn ledger(&self) -> Option<Ledger> {
        let [positions, velocities] = self.state.known.vectors();
        let vertices = Vertices { positions, velocities, masses: self.net.masses() };
        let ledger = vertices.ledger(self.parameters.gravity, self.net.stored(positions), self.state.external);
        Some(Ledger { precision: Precision::Single, ..ledger })
    }

    fn settings(&self) -> Settings {
        settings_of(&self.parameters)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that is lost is an error of each step from then on; what was there before can be read, kept and gone back to.
    #[test]
    fn what_was_known_outlives_the_device() {
        let gpu = match Gpu::new() {
            Ok(gpu) => gpu,
            Err(error) if std::env::var_os("PARTITA_REQUIRE_GPU").is_some() => panic!("{error}"),
            Err(error) => return eprintln!("SKIPPED, NOTHING WAS TESTED: {error}"),
        };
        let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], 5, 1.0).unwrap();
        let mut cloth = IbdsClothGpu::new("chain", net.clone(), &gpu).unwrap();
        cloth.pin(&[0]).unwrap();
        cloth.step(0.01, Inputs::NONE).unwrap();
        let mark = cloth.snapshot(None);
        cloth.step(0.01, Inputs::NONE).unwrap();
        let (places, bytes) = (cloth.positions().to_vec(), cloth.snapshot(None).to_bytes());
        gpu.device.destroy();
        for _ in 0..2 {
            let error = cloth.step(0.01, Inputs::NONE).unwrap_err();
            assert!(error.to_string().contains("gpu"), "{error}");
            assert!(cloth.positions() == places && cloth.snapshot(None).to_bytes() == bytes);
        }
        assert!(IbdsClothGpu::new("another", net.clone(), &gpu).is_err());
        // On another device the same cloth goes on from there, with the same bits as ever.
        let other = Gpu::new().unwrap();
        let make = || {
            let mut cloth = IbdsClothGpu::new("chain", net.clone(), &other).unwrap();
            cloth.pin(&[0]).unwrap();
            cloth
        };
        let (mut second, mut fresh) = (make(), make());
        second.step(0.01, Inputs::NONE).unwrap();
        second.retract(&mark).unwrap();
        fresh.retract(&mark).unwrap();
        for again in [&mut second, &mut fresh] {
            again.step(0.01, Inputs::NONE).unwrap();
            assert!(again.snapshot(None).to_bytes() == bytes);
        }
        // Memory of another cloth is of no use.
        let small = IbdsClothGpu::new("small", Net::chain([0.0; 3], [1.0, 0.0, 0.0], 2, 1.0).unwrap(), &other).unwrap();
        let reused = second.snapshot(Some(small.snapshot(None)));
        second.step(0.01, Inputs::NONE).unwrap();
        second.retract(&reused).unwrap();
        second.step(0.01, Inputs::NONE).unwrap();

        cloth.retract(&mark).unwrap();
        assert!(cloth.time() == 0.01 && cloth.positions() != places);
        assert!(cloth.step(0.01, Inputs::NONE).is_err());
    }
}
