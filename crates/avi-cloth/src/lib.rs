//! Asynchronous cloth: explicit variational integration in which every element has its own clock.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008.
//!
//! | paper           | here                                            | unit |
//! |-----------------|-------------------------------------------------|------|
//! | `t_e`, `Δt_e`   | `next`, `usual` of an element's clock           | s    |
//! | `t_j`           | `time` of a vertex, from which it flies freely  | s    |
//! | `α`             | `courant`                                       | -    |
//! | `ε_c,lim`, `ε_n,lim` | `strain` and `predicted` of [`Limit`]      | -    |
//! | element         | `Patch`, a triangle with hinges; `Fold`, a hinge by itself | |
//! | `Δt_c`          | `contact_interval`                              | s    |
//!
//! A step is cut into intervals (`step.rs`), in each of which what may meet is found (`collide.rs`) and events come in order of time
//! (`advance.rs`, `queue.rs`), those of large cloth in several parts at once (`parts.rs`, `windows.rs`). Each brings its element's vertices
//! to its time (`flight.rs`) and gives them what the element's forces give over the time since its last event
//! (`lane.rs`, `elements.rs`, `event.rs`, `fold.rs`), holds back edges that grow too long
//! (`limits.rs`), and keeps apart what would meet before its next (`meet.rs`). Beside viscosity, limits and contacts nothing
//! takes energy or gives it, but for what clocks that beat give ([`Parameters::courant`]). Start at [`AviCloth`], then `step.rs`.
//!
//! # Limits of work
//!
//! An element has at most one event for each of its time steps, which never get shorter than a sixteenth. A step longer than 1e6 of the
//! shortest is refused. An event checks at most 256 sides against their limits, and fewer of cloth that is beyond them (`limits.rs`).
//! Contact has a limit for each contact interval, in visits of pairs and contacts ([`partita_contact::Parameters::visits`]). In a step of fewer than four contact intervals,
//! divided ones share four of them ([`Parameters::contact_interval`]). Past that, the step ends
//! as it is: the outcome is `StoppedAt`, with the part of the step without contact. Where events would take too many visits, the contact at the end of the interval has all pairs.
//!
//! # What to know
//!
//! - Vertices can be read, loaded, attached, pinned; points within triangles and wind are implicit cloth's alone.
//! - A step of the simulator may be as long as a frame: elements take theirs within it, and end at different times before its end. What is
//!   read is where vertices would be at the end, flying on, which changes nothing.
//! - Cost goes with stiffness: a span is a quarter of 2/ω of an element's fastest mode. Soft cloth with a [`Limit`] behaves like
//!   stiff cloth at several times less.
//! - Cloth of 6,000 elements (triangles, and hinges with [`Bending::Hinges`]) and more is cut into parts, at most one a thread of the current
//!   rayon pool; results are the same to the bit for any number of threads. Two take some 0.7 of the time of one, spin during a step, and
//!   may take up other work of that pool. Where more than 6 % of the events would be across borders, as with triangles of very
//!   different sizes, or more than a tenth across borders or in contact, one thread does it all. Step in the same pool each time: cloth is
//!   cut anew when its size changes. In a pool of one there is one thread.
//! - Gravity and loads are not in the events: vertices fly along parabolas between them, which is exact.
//! - Viscosity costs: with τ of damping a span is at most 2 α/(τ ω²), which is shorter than 2 α/ω where τ ω > 1.
//!   Fabrics' 2 ms, which an implicit method damps with at no cost, make cells of a centimetre tens of times slower;
//!   [`Fabric::undamped`], or some 0.1 ms, is what suits here.
//! - Undamped cloth under a sudden load rings, and friction on cloth that rings is less: around a bar it slides up to 1.7 times as far as
//!   the capstan equation says. With a fabric's own viscosity it is within 10 %.
//! - Differs from the paper: a hinge pushes all of its four vertices, with the events of one of its triangles, which keeps momenta; spans
//!   go by modes in place of waves ([`Estimate`]); and what is at its limits is held back with all that moves it, not with its own events
//!   alone. Within an event forces come first, then limits, then collisions, so that nothing comes after what keeps pairs apart; algorithm 1
//!   has collisions first and limits last.

mod advance;
mod collide;
mod cut;
mod elements;
mod event;
mod flight;
mod fold;
mod hold;
mod lane;
mod limits;
mod lists;
mod meet;
mod parameters;
mod parts;
mod queue;
mod run;
mod spans;
mod state;
mod step;
mod windows;

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use nalgebra::Vector3;
use partita_cloth::{Holds, Obstacles, Vertices, begin_with, may_hold, not_started};
pub use partita_contact::ContactRates;
use partita_contact::{Contacts, Features};
use partita_elastic::{Cut, Sheet};
pub use partita_elastic::{Fabric, Membrane};
pub use partita_mesh::{Mesh, Side};
use partita_simulator::{
    Carrier, Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Motion, Settings,
    Simulator, SimulatorError, Snapshot, StepReport, Surface, check_guides, settings_of,
};

use elements::Elements;
use meet::Owners;
pub use parameters::{Bending, Estimate, Integrator, Limit, Parameters};
use state::{Clock, Node, Sides, State};
use step::Work;

type V3 = Vector3<f64>;

/// Cloth: a sheet, or several that meet each other as islands of one mesh.
pub struct AviCloth {
    name: String,
    parameters: Parameters,
    /// Topology, and where vertices are at first.
    mesh: Mesh,
    cut: Cut,
    holds: Holds,
    sheet: Sheet,
    elements: Elements,
    owners: Owners,
    table: HandleTable,
    surfaces: Vec<Arc<Surface>>,
    guides: Vec<Guide>,
    state: State,
    work: Work,
    /// Whether events are written down.
    records: bool,
    /// Hash of what the state takes for granted, when it has been asked for.
    identity: OnceLock<Identity>,
}

/// What the last step did, or the last that was tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Events of elements; of the synchronous integrators, triangles times steps.
    pub events: u64,
    /// How often [`Limit`] held a triangle's side back; one may be several times in an event.
    pub limited: u64,
    /// Sides that events checked against [`Limit`].
    pub checked: u64,
    /// Sides that were left as they were until a later event, as one event checks 256 at most, and fewer of cloth that is
    /// beyond its limits.
    pub given_up: u64,
    /// Events after which [`Limit`] made an element's next come earlier than usual.
    pub early: u64,
    /// Pairs of features that might meet in an interval, summed over all intervals, and of these, pairs that were culled.
    pub found: usize,
    /// See `found`.
    pub culled: usize,
    /// Pairs that got impulses with an event.
    pub handled: usize,
    /// Impacts that were left to the last stage.
    pub missed: usize,
}

impl AviCloth {
    /// Cloth that has the shape of `mesh` at rest and at first, its warp along x as far as that lies in a triangle's plane. It meets
    /// itself, and edges are limited to a tenth of strain ([`Parameters`]). Presets of fabrics are damped for implicit cloth, which is dear
    /// here: begin with [`Fabric::undamped`].
    ///
    /// ```
    /// use partita_avi_cloth::{AviCloth, Fabric, Mesh, Side};
    /// use partita_simulator::{Inputs, Simulator};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mesh = Mesh::grid([10, 10], [0.5, 0.5])?;
    /// let top = mesh.edge(Side::Top)?;
    /// let mut flag = AviCloth::new("flag", mesh, Fabric::jersey().undamped())?;
    /// flag.pin(&top)?;
    /// flag.step(1.0 / 60.0, Inputs::NONE)?;
    /// // Two hundred triangles, some twenty events each.
    /// assert!(flag.counts().events > 2000 && flag.stretch() < 0.1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A field of the fabric is out of range, a triangle has hardly any area, or a vertex so little mass that it cannot be divided by.
    pub fn new(name: &str, mesh: Mesh, fabric: Fabric) -> Result<Self, SimulatorError> {
        Self::with_parameters(name, mesh, Parameters { fabric, ..Parameters::default() })
    }

    /// As [`AviCloth::new`], with all parameters.
    ///
    /// # Errors
    /// A parameter is wrong, or as of [`AviCloth::new`].
    pub fn with_parameters(name: &str, mesh: Mesh, parameters: Parameters) -> Result<Self, SimulatorError> {
        parameters.check()?;
        let cut = Cut::as_mesh();
        let sheet = Sheet::new(&mesh, &parameters.fabric, &cut)?;
        let n = mesh.vertices().len();
        let mut table = HandleTable::new("avi-cloth", name);
        let owner = table.add("vertices", Kind::Point, n as u32)?.owner;
        let surface = Surface {
            name: name.into(),
            carrier: Carrier::Points((0..n as u32).map(|index| HandleId { owner, index }).collect()),
            vertices: mesh.positions(),
            triangles: mesh.triangles().to_vec(),
            lines: vec![],
            two_sided: !mesh.is_closed(),
            primitive: None,
            friction: parameters.fabric.friction,
            restitution: 0.0,
            thickness: 0.5 * parameters.fabric.thickness,
        };
        let elements = Elements::new(&mesh, &sheet, &cut, &parameters);
        // Without zeros below 0, which a flight of no length would change.
        let at_rest = |x: &V3| Node { x: x.add_scalar(0.0), time: 0.0, v: V3::zeros(), w: 0.0 };
        let state = State { nodes: mesh.vertices().iter().map(at_rest).collect(), ..State::default() };
        let mut cloth = Self {
            name: name.into(),
            owners: Owners::new(&mesh),
            parameters,
            mesh,
            cut,
            holds: Holds::default(),
            sheet,
            elements,
            table,
            surfaces: vec![Arc::new(surface)],
            guides: vec![],
            state,
            work: Work::default(),
            records: false,
            identity: OnceLock::new(),
        };
        cloth.set_clocks();
        Ok(cloth)
    }

    /// Begins with vertices elsewhere than at rest `[m]`.
    ///
    /// # Errors
    /// There are more or fewer than vertices, a number is not finite, or there was a step.
    pub fn with_positions(mut self, positions: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        let places = begin_with("positions [m]", positions, self.sheet.masses.len(), self.state.time)?;
        self.state.nodes.iter_mut().zip(&places).for_each(|(node, x)| node.x = x.add_scalar(0.0));
        self.holds.take_hold(&places)?;
        Arc::make_mut(&mut self.surfaces[0]).vertices = positions.to_vec();
        self.set_clocks();
        Ok(self)
    }

    /// Begins with velocities `[m/s]`.
    ///
    /// # Errors
    /// As [`AviCloth::with_positions`].
    pub fn with_velocities(mut self, velocities: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        let given = begin_with("velocities [m/s]", velocities, self.sheet.masses.len(), self.state.time)?;
        self.state.nodes.iter_mut().zip(given).for_each(|(node, v)| node.v = v);
        Ok(self)
    }

    /// Gives each element its span `[s]`, in place of the estimate, and not shortened by stretch: triangles in order of the mesh, then hinges
    /// where these have clocks ([`Bending::Hinges`]). Whatever changes elements or their estimate afterwards (how cloth is cut, bending,
    /// integrator, estimate, α) makes it estimate them again.
    ///
    /// # Errors
    /// There are more or fewer than elements, one is not above 0 and finite, or there was a step.
    pub fn with_spans(mut self, spans: &[f64]) -> Result<Self, SimulatorError> {
        not_started("spans", self.state.time)?;
        let elements = self.elements.spans.len();
        if spans.len() != elements {
            return Err(SimulatorError::refused("spans", spans.len(), format!("one for each of {elements} elements")));
        }
        if let Some(k) = spans.iter().position(|span| !(*span > 0.0 && span.is_finite())) {
            return Err(SimulatorError::refused(format!("span [s] of element {k}"), spans[k], "above 0 and finite"));
        }
        self.elements.spans = spans.to_vec();
        self.elements.adapts = false;
        self.elements.share_sides(&self.mesh);
        self.set_clocks();
        Ok(self)
    }

    /// Brings all vertices to one time. What is read of them stays.
    pub(crate) fn bring_together(&mut self) {
        let (time, gravity) = (self.state.time, V3::from(self.parameters.gravity));
        self.state.nodes.iter_mut().for_each(|node| node.fly(time, gravity));
    }

    /// Elements as the parameters want them.
    fn lay_out(&mut self) {
        self.elements = Elements::new(&self.mesh, &self.sheet, &self.cut, &self.parameters);
        self.set_clocks();
    }

    /// All begin together.
    fn set_clocks(&mut self) {
        let (elements, nodes, time) = (&self.elements, &self.state.nodes, self.state.time);
        let clock = |(element, &span): (usize, &f64)| {
            let usual = elements.shortened(element, span, elements.stiffening(element, |v| nodes[v as usize].x));
            Clock { next: time + usual, span: usual, usual, taut: Sides::default(), called: Sides::default() }
        };
        self.state.clocks = elements.spans.iter().enumerate().map(clock).collect();
        // What viscosity goes on from.
        let viscous = elements.damping.iter().any(|tau| *tau > 0.0);
        self.state.strains = if viscous { elements.strains(|v| nodes[v as usize].x) } else { vec![] };
        (self.work.parts, self.work.threads) = (None, 0);
        self.identity = OnceLock::new();
    }

    /// Holds vertices where they are. What is held cannot be attached.
    ///
    /// # Errors
    /// Names one that does not exist or that a hand holds, or says that there are guides or there was a step.
    pub fn pin(&mut self, vertices: &[u32]) -> Result<(), SimulatorError> {
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin(vertices, self.sheet.masses.len())?;
        self.identity = OnceLock::new();
        Ok(())
    }

    /// Holds vertices by a hand: a frame with position, orientation, velocity and spin `[rad/s]` at time t `[s]` as `script(t)` says,
    /// which have to fit each other. They are fixed in it at the places where they are at time 0, end each step with exactly its position
    /// and velocity, and go along a cubic in between. What a script has to be is told by [`Holds::pin_along`].
    ///
    /// # Errors
    /// As [`Holds::pin_along`], or says that there are guides or there was a step.
    pub fn pin_along(
        &mut self,
        name: &str,
        vertices: &[u32],
        script: impl Fn(f64) -> HandleState + Send + Sync + 'static,
    ) -> Result<(), SimulatorError> {
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin_along(name, vertices, &self.positions(), script)?;
        self.identity = OnceLock::new();
        Ok(())
    }

    /// Writes down the events of each step from now on, for [`AviCloth::events`]. Changes no result.
    pub fn record_events(&mut self) {
        self.records = true;
    }

    /// When which element had an event in the last step, in their order `[s]`: none unless it was to write them down
    /// ([`AviCloth::record_events`]), and none of a synchronous integrator.
    pub fn events(&self) -> &[(f64, u32)] {
        &self.work.events
    }

    /// What the last step did, or the last that was tried.
    pub fn counts(&self) -> Counts {
        self.work.counts
    }

    /// In how many parts, a thread each, events of the last step were at most: 1 where cloth is too small to be cut, or too much of it was
    /// across borders or in contact; 0 before any step.
    pub fn parts(&self) -> usize {
        self.work.in_parts
    }

    /// Time from event to event where an element is not stretched, one an element `[s]`.
    pub fn spans(&self) -> &[f64] {
        &self.elements.spans
    }

    /// The vertices' own times, none of which is after that of the simulator `[s]`.
    pub fn vertex_times(&self) -> impl Iterator<Item = f64> + '_ {
        self.state.nodes.iter().map(|node| node.time)
    }

    /// Handle of a vertex. If there is no such vertex, whoever uses the handle says so.
    pub fn vertex(&self, number: u32) -> HandleId {
        self.table.handle(number)
    }

    /// Handles of vertices.
    pub fn vertices(&self, numbers: &[u32]) -> Vec<HandleId> {
        numbers.iter().map(|&number| self.vertex(number)).collect()
    }

    /// Positions now `[m]`, one a vertex: copies that flew on to the simulator's time.
    pub fn positions(&self) -> Vec<V3> {
        self.now().map(|(x, _)| x).collect()
    }

    /// Velocities now `[m/s]`, as [`AviCloth::positions`].
    pub fn velocities(&self) -> Vec<V3> {
        self.now().map(|(_, v)| v).collect()
    }

    /// What is held is always at the simulator's time.
    fn now(&self) -> impl Iterator<Item = (V3, V3)> + '_ {
        let gravity = V3::from(self.parameters.gravity);
        self.state.nodes.iter().map(move |node| node.at(self.state.time, gravity))
    }

    /// Masses `[kg]`, one a vertex.
    pub fn masses(&self) -> &[f64] {
        &self.sheet.masses
    }

    /// All parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Of stretch, shear and bending `[J]`.
    pub fn elastic_energy(&self) -> f64 {
        let x = self.positions();
        self.elements.energy(|v| x[v as usize])
    }

    /// The largest strain of an edge, below 0 where all are shorter than at rest [-].
    pub fn stretch(&self) -> f64 {
        let x = self.positions();
        self.elements.stretch(|v| x[v as usize])
    }

    /// Strains of the sides of each triangle, in any order, those within the sheet twice [-].
    pub fn strains(&self) -> impl Iterator<Item = f64> {
        let x = self.positions();
        self.elements.patches.iter().flat_map(move |patch| patch.strains(|v| x[v as usize]))
    }

    fn of(&self) -> Identity {
        *self.identity.get_or_init(|| {
            let mesh = (self.mesh.positions(), self.mesh.triangles(), &self.cut);
            let handles = (&self.table, &self.guides, &self.elements.spans, self.elements.adapts);
            Identity::new(&self.table, &(&self.parameters, mesh, &self.holds, handles))
        })
    }

    /// Of what is there to meet, if there is something and it is not known yet.
    fn prepare_contacts(&mut self) -> Result<(), SimulatorError> {
        let Parameters { self_contact, fabric: Fabric { thickness, friction, .. }, contact_rates: rates, .. } =
            self.parameters;
        if self.work.contacts.is_some() {
            return Ok(());
        }
        let (own, obstacles) = Obstacles::new(&self.guides);
        if obstacles.is_empty() && !self_contact {
            return Ok(());
        }
        let refused = |error| SimulatorError::refused("contact", error, "cloth and obstacles that can meet");
        let features = Features::new(self.mesh.vertices().len(), self.mesh.triangles(), &[]).map_err(refused)?;
        // Events repel; steps of the synchronous twins have none that do.
        let repels = self.parameters.integrator != Integrator::Asynchronous;
        let default = partita_contact::Parameters::default();
        let parameters = partita_contact::Parameters { thickness, friction, self_contact, repels, rates, ..default };
        self.work.contacts = Some(Contacts::new(features, parameters, obstacles).map_err(refused)?);
        self.work.obstacles = own;
        Ok(())
    }
}

impl Simulator for AviCloth {
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
        let gravity = V3::from(self.parameters.gravity);
        self.table.read_with(handles, out, |k| {
            let (x, v) = self.state.nodes[k].at(self.state.time, gravity);
            HandleState::point(x, v)
        })
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
        let before = (std::mem::replace(&mut self.guides, guides), self.work.contacts.take());
        if let Err(error) = self.prepare_contacts() {
            (self.guides, self.work.contacts) = before;
            return Err(error);
        }
        let obstacles = self.guides.iter().filter(|guide| matches!(guide, Guide::Obstacle { .. })).count();
        self.state.contact = partita_contact::State::unseen(obstacles);
        self.identity = OnceLock::new();
        Ok(())
    }

    fn check_start(&mut self, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        let positions = self.positions();
        let Some(contacts) = &mut self.work.contacts else { return Ok(()) };
        self.work.obstacles.check_start(contacts, &self.guides, motions, &positions)
    }

    /// Potential energy is that of stretch, shear, bending and gravity (zero at the origin).
    fn ledger(&self) -> Option<Ledger> {
        let (positions, velocities) = (self.positions(), self.velocities());
        let masses = &self.sheet.masses;
        let vertices = Vertices { positions: &positions, velocities: &velocities, masses };
        Some(vertices.ledger(self.parameters.gravity, self.elastic_energy(), self.state.external))
    }

    fn settings(&self) -> Settings {
        settings_of(&self.parameters)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
