//! Free particles: fields, emitters, collisions with moving triangles and exact solids.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! A step lets everyone fly as if nothing were in the way (the exact parabola, or symplectic Euler),
//! then takes those whose path meets the swept triangles and solids of obstacles from contact to contact:
//! exact times of impact (a cubic; Newton's method on a signed distance), restitution, Coulomb friction, rest. The impulse of each contact, −m Δv,
//! is summed into one wrench impulse for a rigid surface and into one impulse a vertex for a
//! deforming one (\[PD97, §4.2\]).
//!
//! | \[PD97\] | here                            | unit |
//! |---------|---------------------------------|------|
//! | `Δt`    | `dt`                            | s    |
//! | `m`     | [`Parameters::mass`]            | kg   |
//! | `p`     | position of the particle        | m    |
//! | `c`     | position of the carrying Frame  | m    |
//!
//! Differs from the paper: a triangle has the velocity of its path over the step instead of footnote
//! 3's interpolated one, with which particles that rest on an accelerating surface fall through it.
//!
//! What to know of contact:
//! - A particle's centre stays 10 µm plus radius plus the pair's thickness away from faces. Around
//!   convex edges it may come as near as 10 µm. It never passes a surface while the surface leaves
//!   it room; one caught between closing surfaces rides on the last it met, and the report notes it.
//! - One-sided surfaces stop what comes from outside and let out what is inside. A closed one also
//!   stops what is no more than 1 mm inside, and leads it out by 20 µm a step: that was caught there.
//! - Balls, capsules, cylinders, cones, boxes and half-spaces (`Surface::primitive`) are collided with exactly
//!   (`solids.rs`); their triangles do not matter. They know their inside at any depth: what is in there and
//!   does not fly out faster is led to the nearest place of the surface, by a tenth of its depth a step.
//! - Where a mesh turns within a step, its corners move straight; a solid turns evenly.
//! - Slow approaches (two steps' worth of acceleration) have no restitution, so bouncing ends in rest.
//!
//! Limit of work: a particle has at most 64 contacts in a step, of which 32 bounce. After these it rides on the last surface to the end of
//! the step, and the report notes it.
//!
//! Large crowds are spread over rayon's current pool; the number of threads changes no bit.
//!
//! Start at [`Particles`], then `step.rs`.

mod collide;
mod crossing;
mod emitter;
mod fly;
mod parameters;
mod places;
mod response;
mod solids;
mod state;
mod step;
mod triangles;

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use nalgebra::Vector3;
use partita_simulator::{
    Cloud, Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Mobility, Motion,
    Settings, Simulator, SimulatorError, Snapshot, StepReport, check_guides, check_vector, settings_of,
};

pub use emitter::{Emitter, EmitterShape};
use fly::Field;
pub use parameters::{Attractor, Integration, Parameters, Vortex};
use state::State;
use step::Work;

/// Free particles of equal mass.
///
/// Placed particles ([`Particles::add`]) are handles: others may load, read and attach them. Emitted ones
/// are not; they show in [`Simulator::cloud`].
///
/// Setters only write down. What is wrong with it is said by the first call that can fail
/// ([`Particles::checked`], [`Particles::add`], `follow`, `step`), which then does nothing.
///
/// ```
/// use partita_particles::{Emitter, Particles};
/// use partita_simulator::{Inputs, Simulator};
///
/// let rain = Emitter::disc([0.0, 4.0, 0.0], 0.5).rate(200.0).speed(5.0).spread(0.1).lifetime(3.0).seed(7);
/// let mut hail = Particles::new("hail").mass(0.001).radius(0.005).drag(0.002).emit(rain).checked()?;
/// let stone = hail.add([0.0, 1.0, 0.0], [0.0; 3])?;
/// hail.step(0.1, Inputs::NONE)?;
/// assert_eq!((hail.len(), hail.emitted(), stone), (21, 20, hail.particle(0)));
/// # Ok::<(), partita_simulator::SimulatorError>(())
/// ```
pub struct Particles {
    name: String,
    parameters: Parameters,
    fields: Vec<Field>,
    table: HandleTable,
    guides: Vec<Guide>,
    state: State,
    work: Work,
    /// Hash of what the state takes for granted, when it has been asked for.
    identity: OnceLock<Identity>,
}

impl Particles {
    /// No particle yet, default parameters.
    pub fn new(name: &str) -> Self {
        Self::with_parameters(name, Parameters::default())
    }

    /// No particle yet.
    pub fn with_parameters(name: &str, parameters: Parameters) -> Self {
        Self {
            name: name.into(),
            parameters,
            fields: Vec::new(),
            table: HandleTable::new("particles", name),
            guides: Vec::new(),
            state: State::default(),
            work: Work::default(),
            identity: OnceLock::new(),
        }
    }

    fn set(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        self.identity = OnceLock::new();
        self
    }

    /// See [`Parameters::mass`] `[kg]`.
    pub fn mass(self, mass: f64) -> Self {
        self.set(|p| p.mass = mass)
    }

    /// See [`Parameters::radius`] `[m]`.
    pub fn radius(self, radius: f64) -> Self {
        self.set(|p| p.radius = radius)
    }

    /// See [`Parameters::gravity`] `[m/s²]`.
    pub fn gravity(self, gravity: [f64; 3]) -> Self {
        self.set(|p| p.gravity = gravity)
    }

    /// See [`Parameters::drag`] `[N s/m]`.
    pub fn drag(self, drag: f64) -> Self {
        self.set(|p| p.drag = drag)
    }

    /// See [`Parameters::quadratic_drag`] `[N s²/m²]`.
    pub fn quadratic_drag(self, quadratic_drag: f64) -> Self {
        self.set(|p| p.quadratic_drag = quadratic_drag)
    }

    /// See [`Parameters::wind`] `[m/s]`.
    pub fn wind(self, wind: [f64; 3]) -> Self {
        self.set(|p| p.wind = wind)
    }

    /// One more of [`Parameters::vortices`].
    pub fn vortex(self, vortex: Vortex) -> Self {
        self.set(|p| p.vortices.push(vortex))
    }

    /// One more of [`Parameters::attractors`].
    pub fn attractor(self, attractor: Attractor) -> Self {
        self.set(|p| p.attractors.push(attractor))
    }

    /// One more of [`Parameters::emitters`].
    pub fn emit(self, emitter: Emitter) -> Self {
        self.set(|p| p.emitters.push(emitter))
    }

    /// See [`Parameters::integration`].
    pub fn integration(self, integration: Integration) -> Self {
        self.set(|p| p.integration = integration)
    }

    /// See [`Parameters::max_particles`].
    pub fn max_particles(self, max_particles: u64) -> Self {
        self.set(|p| p.max_particles = max_particles)
    }

    /// A field of your own: the acceleration `[m/s²]` at position `[m]`, velocity `[m/s]` and time `[s]`.
    /// It must depend on nothing else. Snapshots know it by `name`.
    ///
    /// ```
    /// use partita_particles::Particles;
    /// let swing = Particles::new("swing").field("spring", |x, _, _| x.map(|x| -100.0 * x));
    /// ```
    pub fn field(
        mut self,
        name: &str,
        acceleration: impl Fn([f64; 3], [f64; 3], f64) -> [f64; 3] + Send + Sync + 'static,
    ) -> Self {
        self.fields.push(Field { name: name.into(), acceleration: Arc::new(acceleration) });
        self.set(|_| ())
    }

    /// The same, if all parameters are right.
    ///
    /// # Errors
    /// Names the first that is wrong ([`Parameters::check`]).
    pub fn checked(self) -> Result<Self, SimulatorError> {
        self.parameters.check()?;
        Ok(self)
    }

    /// Places a particle at `position` `[m]` with `velocity` `[m/s]` and gives its handle. Before the
    /// first step only.
    ///
    /// # Errors
    /// A parameter is wrong, a number is not finite, or there was a step.
    pub fn add(&mut self, position: [f64; 3], velocity: [f64; 3]) -> Result<HandleId, SimulatorError> {
        self.parameters.check()?;
        check_vector("position [m]", position)?;
        check_vector("velocity [m/s]", velocity)?;
        if self.state.time != 0.0 {
            let found = format!("time {} s", self.state.time);
            return Err(SimulatorError::refused("a particle to place", found, "to be before the first step"));
        }
        let handle = match self.table.is_empty() {
            true => self.table.add("placed", Kind::Point, 1)?,
            false => self.table.extend(1)?,
        };
        self.state.ids.push(self.state.ids.len() as u64);
        self.state.births.push(0.0);
        self.state.positions.push(position.into());
        self.state.velocities.push(velocity.into());
        self.identity = OnceLock::new();
        Ok(handle)
    }

    /// Handle of the placed particle `number`, in the order of [`Particles::add`]. If there is no such
    /// particle, whoever uses the handle says so.
    pub fn particle(&self, number: u32) -> HandleId {
        self.table.handle(number)
    }

    /// All parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Number of particles now.
    pub fn len(&self) -> usize {
        self.state.ids.len()
    }

    /// Whether there is no particle now.
    pub fn is_empty(&self) -> bool {
        self.state.ids.is_empty()
    }

    /// Number of particles that all emitters made so far.
    pub fn emitted(&self) -> u64 {
        self.state.emitted.iter().sum()
    }

    /// Positions `[m]`: of placed particles, then of emitted ones in the order of their births.
    pub fn positions(&self) -> &[Vector3<f64>] {
        &self.state.positions
    }

    /// Velocities `[m/s]`, in the same order.
    pub fn velocities(&self) -> &[Vector3<f64>] {
        &self.state.velocities
    }

    /// What each particle is called, in the same order: 0, 1, … for placed ones; for an emitted one its
    /// emitter and serial number, the same at any step size.
    pub fn ids(&self) -> &[u64] {
        &self.state.ids
    }

    /// Times of birth `[s]`, in the same order; 0 for placed ones.
    pub fn births(&self) -> &[f64] {
        &self.state.births
    }

    fn of(&self) -> Identity {
        *self.identity.get_or_init(|| {
            let fields: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
            Identity::new(&self.table, &(&self.parameters, fields, &self.table, &self.guides))
        })
    }
}

impl Simulator for Particles {
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
        let state = &self.state;
        self.table.read_with(handles, out, |i| HandleState::point(state.positions[i], state.velocities[i]))
    }

    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        self.table.check(handle).ok().map(|()| Mobility::point(1.0 / self.parameters.mass))
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.take_step(dt, inputs)
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of(), self.state.time, &self.state)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        let state = to.get::<State>(self.of())?;
        self.state.clone_from(state);
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
            lines: false,
            impacts: false,
            tolerance: 0.0,
        }
    }

    fn check_start(&mut self, _motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.parameters.check()
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        check_guides(&self.table, self.follows(), &self.guides, &guides)?;
        self.work = Work::new(&guides);
        self.guides = guides;
        self.identity = OnceLock::new();
        Ok(())
    }

    /// Potential energy is that of gravity (zero at the origin) and attractors; not of the user's fields.
    fn ledger(&self) -> Option<Ledger> {
        let (p, state) = (&self.parameters, &self.state);
        let (m, g) = (p.mass, Vector3::from(p.gravity));
        let mut ledger = Ledger { mass: m * self.len() as f64, external: Some(state.external), ..Ledger::default() };
        let [mut linear, mut angular] = [Vector3::zeros(); 2];
        for (x, v) in state.positions.iter().zip(&state.velocities) {
            linear += m * v;
            angular += m * x.cross(v);
            ledger.kinetic += 0.5 * m * v.norm_squared();
            ledger.potential -= m * g.dot(x);
            for attractor in &p.attractors {
                let r2 = (x - Vector3::from(attractor.centre)).norm_squared();
                ledger.potential -= m * attractor.strength / (r2 + attractor.softening * attractor.softening).sqrt();
            }
        }
        (ledger.momentum, ledger.angular_momentum) = (linear.into(), angular.into());
        Some(ledger)
    }

    fn cloud(&self, out: &mut Cloud) {
        out.positions.extend(self.state.positions.iter().map(|&x| <[f64; 3]>::from(x)));
        out.ids.extend(&self.state.ids);
    }

    fn settings(&self) -> Settings {
        settings_of(&self.parameters)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
