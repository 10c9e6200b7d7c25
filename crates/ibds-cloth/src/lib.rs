//! Impulse-based cloth, nets and ropes: particles joined by links that keep their length, to a stated tolerance, whatever pulls.
//!
//! \[BDB09\] D. Bayer, R. Diziol, J. Bender: Optimized Impulse-Based Dynamic Simulation. VRIPHYS 2009.
//! \[BBD09\] D. Bayer, J. Bender, R. Diziol: Impulse-Based Dynamic Simulation on the GPU. CGVCVIP 2009.
//!
//! | paper            | here                                          | unit  |
//! |------------------|-----------------------------------------------|-------|
//! | `p(t + h)`       | `places`, `predicted` without links           | m     |
//! | `v`              | `velocities`                                  | m/s   |
//! | `dist`           | `rest_length`                                 | m     |
//! | `n`              | `n`, from a link's first particle to its second | -   |
//! | `e`              | `e`, how much too long                        | m     |
//! | `i_p`, `i_v`     | `impulse`, towards the other particle         | N s   |
//! | `ε_d`, `ε_v`     | `extensibility` times `rest_length`, `velocity_tolerance` | m, m/s |
//!
//! A step predicts where particles would be without links, corrects that by impulses along the links until all are as long as
//! they have to be, takes the velocities that lead there, and corrects these, if asked to, until no link grows. Start at
//! [`IbdsCloth`], then `step.rs`; what is linked is a [`Net`] (`net.rs`), and how impulses are found in `solvers.rs`: link by link as
//! in the paper (`gauss_seidel.rs`), path by path (`paths.rs`, `batch.rs`), or all at once (`newton.rs`).
//!
//! # Limits of work
//!
//! Each of [`Parameters::substeps`] has at most four times [`Parameters::max_iterations`] sweeps for positions, and as many once for
//! velocities. Contact has a limit for the whole step, in
//! visits of pairs and contacts ([`partita_contact::Parameters::visits`]). Past that, the step ends as it is: the outcome is `StoppedAt`,
//! with the part of the step without contact.
//!
//! # What to know
//!
//! - Links push along where they will be, not along where they are, which takes energy and spin: a sheet that swings from level for two
//!   seconds ends at -0.27 m g L in steps of 10 ms, at -0.14 in steps of 1.25 ms. [`Parameters::substeps`] keep it at less cost
//!   than a tolerance does.
//! - A body that falls on inextensible cloth, or hangs from it, would have to stop at once, while it goes on for a window as it did: the
//!   cloth pulls as hard as sweeps last, and what interleaves gets energy. [`Net::compliance`] gives links a stiffness, and
//!   `Relaxed` finds what both agree on: 10 kg on 0.2 kg of cloth bounce with 1e-5 of their energy from the coupling. Plain
//!   interleaving wants h² k below the body's mass, of stiffness k of all that bears it.
//! - Corrections of positions change velocities in full only as far as that gives no energy, where no
//!   obstacle touches and no guide carries the cloth (`energy.rs`). Positions are corrected in full: a
//!   sheet at rest may be lifted by the error of length that links may have.
//! - Kinematic particles whose distance exceeds the rest length between them have no position of rest,
//!   even within the allowed error. A metre of two links held 5 mm too far apart, with 1 % allowed,
//!   oscillates at 1.5 m/s within that, path by path; link by link it rests after hundreds of sweeps a
//!   step. Hold it as long as it is, or let it give way ([`Net::compliance`]).
//! - A net does not resist bending by itself. To make it, put [`Net::braces`], stable however stiff, or the paper's explicit
//!   [`Net::springs`] between [`Net::interlaced`] particles. Balls that must not overlap are [`Net::struts`].
//! - In parts of a step before the last, [`Solver::Paths`], and what is built on it, sweeps links once where that finds none off by more
//!   than it may be.
//! - Path by path, groups of 20,000 links and more are swept by rayon's current threads, with the same bits for any number of them.
//! - What is near or in the way gets a contact that is solved together with the links, with Coulomb friction (`meet.rs`), and
//!   [`partita_contact`] has the last word: triangles, and links that are not within a sheet, pass through nothing. What that changes can
//!   leave links longer than they may be, which the step's outcome says.
//! - Its tension wavers from step to step. Around a bar of 5 cm a strip slides as far as the capstan equation says within 10 % at 480 Hz;
//!   at 240 Hz 0.6 to 0.96 as far, and just below the critical load it creeps.

mod anticipation;
mod batch;
mod cholesky;
mod energy;
mod gauss_seidel;
mod lanes;
mod link_error;
mod links;
mod meet;
mod net;
mod newton;
mod parameters;
mod paths;
mod solvers;
mod state;
mod step;
mod values;

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use nalgebra::Vector3;
use partita_cloth::{Holds, Obstacles, Vertices, begin_with, may_hold};
use partita_simulator::{
    Carrier, Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Motion, Settings,
    Simulator, SimulatorError, Snapshot, StepReport, Surface, check_guides, settings_of,
};

use links::Links;
use meet::contacts;
pub use net::{Link, LinkKind, Net, Spring, Strut};
pub use parameters::{Integrator, Optimisations, Parameters, Solver};
pub use partita_contact::ContactRates;
pub use paths::{Path, paths};
pub use solvers::Counts;
use solvers::Solvers;
use state::State;
use step::Work;

type V3 = Vector3<f64>;

/// A net of particles and links as a simulator.
pub struct IbdsCloth {
    name: String,
    parameters: Parameters,
    net: Net,
    holds: Holds,
    table: HandleTable,
    surfaces: Vec<Arc<Surface>>,
    guides: Vec<Guide>,
    state: State,
    work: Work,
    /// Hash of what the state takes for granted, when it has been asked for.
    identity: OnceLock<Identity>,
}

impl IbdsCloth {
    /// What is linked, at rest where the net has it.
    ///
    /// # Errors
    /// There are no particles.
    pub fn new(name: &str, net: Net) -> Result<Self, SimulatorError> {
        let mut table = HandleTable::new("ibds-cloth", name);
        let n = net.positions.len();
        let owner = table.add("particles", Kind::Point, n as u32)?.owner;
        let parameters = Parameters { self_contact: !net.triangles.is_empty(), ..Parameters::default() };
        let surface = Surface {
            name: name.into(),
            carrier: Carrier::Points((0..n as u32).map(|index| HandleId { owner, index }).collect()),
            vertices: net.positions.iter().map(|&x| x.into()).collect(),
            triangles: net.triangles.clone(),
            lines: net.lone_edges(),
            two_sided: true,
            primitive: None,
            friction: parameters.friction,
            restitution: 0.0,
            thickness: 0.5 * parameters.thickness,
        };
        let state = State { positions: net.positions.clone(), velocities: vec![V3::zeros(); n], ..State::default() };
        Ok(Self {
            name: name.into(),
            parameters,
            holds: Holds::default(),
            table,
            surfaces: if surface.triangles.is_empty() && surface.lines.is_empty() {
                vec![]
            } else {
                vec![Arc::new(surface)]
            },
            guides: vec![],
            work: Work {
                solvers: Solvers::new(&net, |_| false),
                links: Links::new(&net),
                islands: net.islands(),
                ..Work::default()
            },
            net,
            state,
            identity: OnceLock::new(),
        })
    }

    /// Begins with particles elsewhere than at rest `[m]`.
    ///
    /// # Errors
    /// There are more or fewer than particles, a number is not finite, or there was a step.
    pub fn with_positions(mut self, positions: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        self.state.positions = self.begin_with("positions [m]", positions)?;
        self.holds.take_hold(&self.state.positions)?;
        if let [surface] = &mut self.surfaces[..] {
            Arc::make_mut(surface).vertices = positions.to_vec();
        }
        self.find_paths();
        Ok(self)
    }

    /// Begins with velocities `[m/s]`.
    ///
    /// # Errors
    /// As [`IbdsCloth::with_positions`].
    pub fn with_velocities(mut self, velocities: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        self.state.velocities = self.begin_with("velocities [m/s]", velocities)?;
        Ok(self)
    }

    fn begin_with(&self, thing: &str, values: &[[f64; 3]]) -> Result<Vec<V3>, SimulatorError> {
        begin_with(thing, values, self.net.masses.len(), self.state.time)
    }

    /// Holds particles where they are. What is held cannot be attached.
    ///
    /// # Errors
    /// Names one that does not exist or that a hand holds, or says that there are guides or there was a step.
    pub fn pin(&mut self, particles: &[u32]) -> Result<(), SimulatorError> {
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin(particles, self.net.masses.len())?;
        self.find_paths();
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
        self.holds.pin_along(name, particles, &self.state.positions, script)?;
        self.find_paths();
        Ok(())
    }

    fn find_paths(&mut self) {
        // What is attached is held only in steps in which its guide has a motion.
        self.work.solvers = Solvers::new(&self.net, |k| self.holds.holds(k));
        self.identity = OnceLock::new();
    }

    /// Handle of a particle. If there is no such particle, whoever uses the handle says so.
    pub fn particle(&self, number: u32) -> HandleId {
        self.table.handle(number)
    }

    /// Positions `[m]`, one a particle.
    pub fn positions(&self) -> &[V3] {
        &self.state.positions
    }

    /// Velocities `[m/s]`, one a particle.
    pub fn velocities(&self) -> &[V3] {
        &self.state.velocities
    }

    /// What the loops of the last step did.
    pub fn counts(&self) -> Counts {
        self.work.counts
    }

    /// What is linked, and how it was at first.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// All parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// By how much the longest link is longer than at rest, of its rest length; negative where all are shorter [-].
    pub fn stretch(&self) -> f64 {
        let x = &self.state.positions;
        let of = |(link, scale): (&Link, &f64)| {
            let [i, j] = link.particles.map(|k| x[k as usize]);
            ((j - i).norm() - link.rest_length) / scale
        };
        self.net.links.iter().zip(&self.work.links.scale).map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    fn vertices_of<'a>(&'a self, state: &'a State) -> Vertices<'a> {
        Vertices { positions: &state.positions, velocities: &state.velocities, masses: &self.net.masses }
    }

    fn of(&self) -> Identity {
        *self.identity.get_or_init(|| {
            Identity::new(&self.table, &(&self.parameters, &self.net, &self.holds, &self.table, &self.guides))
        })
    }
}

impl Simulator for IbdsCloth {
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
        let State { positions, velocities, .. } = &self.state;
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
        Follows {
            points: true,
            frames: false,
            rigid_surfaces: true,
            deforming_surfaces: true,
            lines: true,
            impacts: true,
            tolerance: 0.0,
        }
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        check_guides(&self.table, self.follows(), &self.guides, &guides)?;
        self.holds.check_attachments(&self.table, &guides)?;
        let (own, obstacles) = Obstacles::new(&guides);
        let unseen = partita_contact::State::unseen(obstacles.len());
        self.work.contacts = contacts(&self.net, &self.parameters, obstacles)?;
        self.state.contact = unseen;
        self.work.obstacles = own;
        self.guides = guides;
        self.identity = OnceLock::new();
        Ok(())
    }

    fn check_start(&mut self, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        let Some(contacts) = &mut self.work.contacts else { return Ok(()) };
        self.work.obstacles.check_start(contacts, &self.guides, motions, &self.state.positions)
    }

    /// Potential energy is that of gravity (zero at the origin), of springs, and of links that give way.
    fn ledger(&self) -> Option<Ledger> {
        let (state, stored) = (&self.state, self.net.stored(&self.state.positions));
        Some(self.vertices_of(state).ledger(self.parameters.gravity, stored, state.external))
    }

    fn settings(&self) -> Settings {
        settings_of(&self.parameters)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
