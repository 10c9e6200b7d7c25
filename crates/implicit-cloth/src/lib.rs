//! Backward Euler cloth: implicit steps at frame rate, contact, and what both do to others.
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998.
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997, section 4.
//!
//! | paper          | here                                   | unit  |
//! |----------------|----------------------------------------|-------|
//! | `h`, `Δt`      | `dt`                                   | s     |
//! | `M`            | masses, a third of each triangle's     | kg    |
//! | `f₀`           | `forces`                               | N     |
//! | `-∂f/∂x`       | stiffness                              | N/m   |
//! | `K Δẏ - f`     | `impulses` (\[PD97\] section 4.3)        | N s   |
//!
//! Cloth is cut from any triangle mesh (`cut.rs`), held by pins and hands (`pins.rs`), and has vertices and points within triangles
//! as handles (`points.rs`). A step linearises stretch, shear and bending around its begin ([`partita_elastic`], `assembly.rs`; each
//! term is an [`Element`]), adds what the air does (`air.rs`), solves for the change of velocity with what pins
//! and attachments give (`integrate.rs`, `solve.rs`) and what is near, as springs with friction (`links.rs`, `rounds.rs`), and hands the
//! way to [`partita_contact`], which lets nothing pass through anything. What it took to hold and to stop the cloth is told to who holds
//! and stops it, and whether anything gave energy is judged (`balance.rs`). Start at [`ImplicitCloth`], then `step.rs`.
//!
//! # What to know
//!
//! - A step may be as long as a frame, 1/60 s, where cloth hangs from pins or lies on what it does not move. What the cloth pulls
//!   at feels that a window later: stiff cloth tied to light bodies wants a higher rate or `Relaxed` (canvas tied to posts of 8 kg
//!   comes to rest at 240 Hz, at 120 Hz the posts tremble). So does cloth that catches what falls.
//! - Vertices that are not held can be attached; points within triangles can be read and loaded.
//! - What meets something on its way stops there at the end of a step, while the rest of the cloth goes on. Steps in which that, or
//!   what a linear step does not see, gives the cloth more than a tenth of its kinetic energy (1/500 in free flight) are taken in
//!   halves, down to a 32nd (`balance.rs`): impacts cost a few parts. What is left then, where stiff cloth of small cells is thrown at 8 m/s, is damped.
//! - [`Integrator::Midpoint`] and little damping of [`Integrator::SemiImplicit`] keep what contacts excite: for cloth that touches
//!   something take the others.
//! - Bodies that touch leave cloth between them no room. It is then named as pinched in the step's notes, may be pierced there,
//!   and is stretched beside; a skin on rigid bodies leaves it some.
//! - It slides round bars as the capstan equation says, within 10 % at 240 Hz with cells of 1 cm on bars of 5 cm radius and more, and
//!   12 % with finer ones. At 4 cm it slides up to 15 % less, at 120 Hz a fifth less, and meshes of bars hold it back: take round shapes as they are.
//! - Cloth that crosses itself or an obstacle at first is led apart, which a note says. This may give it the
//!   energy of lifting it, and half as much again. Cloth that would get more, since it is led against its
//!   tension, is kept as deep as it is, and a note says that (`balance.rs`).
//! - Large sheets are spread over rayon's current threads; how many there are changes no bit.
//!
//! # Limits of work
//!
//! A step takes at most 32 parts, in at most 64 attempts. Each attempt has at most 8 rounds of contact, 50 steps of Newton's method and
//! [`Parameters::max_iterations`] iterations for each of these. Contact has a limit for the whole step, in
//! visits of pairs and contacts ([`partita_contact::Parameters::visits`]). Past that, the step ends as it is: the outcome is `StoppedAt`,
//! with the part of the step without contact.
//!
//! # What it costs
//!
//! `partita-bench -- implicit` prints a step split by stage, as [`partita_simulator::StepReport::stages`] has it: `find contacts`,
//! `assemble`, `factorise`, `solve`, `contact rounds` (solves again, as contacts turn out), `integrate`, `contact`.

mod air;
mod assembly;
mod balance;
mod blocks;
mod cholesky;
mod cut;
mod incomplete;
mod integrate;
mod links;
mod multilevel;
mod parameters;
mod pins;
mod points;
mod precondition;
mod rounds;
mod sheet;
mod solve;
mod state;
mod step;

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use nalgebra::Vector3;
use partita_cloth::{Holds, Islands, Obstacles, Vertices, begin_with};
pub use partita_contact::ContactRates;
use partita_contact::{Contacts, Features};
use partita_elastic::Cut;
pub use partita_elastic::{Element, Fabric, Membrane};
use partita_simulator::{
    Carrier, Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Motion, Settings,
    Simulator, SimulatorError, Snapshot, StepReport, Surface, check_guides, settings_of,
};

pub use parameters::{Integrator, Parameters, Preconditioner};
pub use partita_mesh::{Mesh, Side};
use points::Place;
use sheet::Sheet;
use state::State;
use step::Work;

type V3 = Vector3<f64>;

/// Cloth: a sheet, or several that meet each other as islands of one mesh.
pub struct ImplicitCloth {
    name: String,
    parameters: Parameters,
    /// Topology, and where vertices are at first.
    mesh: Mesh,
    cut: Cut,
    holds: Holds,
    sheet: Sheet,
    table: HandleTable,
    /// Of each handle.
    places: Vec<Place>,
    surfaces: Vec<Arc<Surface>>,
    guides: Vec<Guide>,
    state: State,
    work: Work,
    /// Hash of what the state takes for granted, when it has been asked for.
    identity: OnceLock<Identity>,
}

impl ImplicitCloth {
    /// Cloth that has the shape of `mesh` at rest and at first, its warp along x as far as that lies in a triangle's plane.
    ///
    /// # Errors
    /// A field of the fabric is out of range, a triangle has hardly any area, or a vertex so little mass that it cannot be divided
    /// by.
    pub fn new(name: &str, mesh: Mesh, fabric: Fabric) -> Result<Self, SimulatorError> {
        Self::with_parameters(name, mesh, Parameters { fabric, ..Parameters::default() })
    }

    /// As [`ImplicitCloth::new`], with all parameters.
    ///
    /// # Errors
    /// A parameter is wrong, or a triangle has no area.
    pub fn with_parameters(name: &str, mesh: Mesh, parameters: Parameters) -> Result<Self, SimulatorError> {
        parameters.check()?;
        let cut = Cut::as_mesh();
        let (sheet, matrix) = Sheet::new(&mesh, &parameters.fabric, &cut)?;
        let n = mesh.vertices().len();
        let mut table = HandleTable::new("implicit-cloth", name);
        let first = table.add("vertices", Kind::Point, n as u32)?;
        let owner = first.owner;
        let handles = (0..n as u32).map(|index| HandleId { owner, index }).collect();
        let surface = Surface {
            name: name.into(),
            carrier: Carrier::Points(handles),
            vertices: mesh.positions(),
            triangles: mesh.triangles().to_vec(),
            lines: vec![],
            two_sided: !mesh.is_closed(),
            primitive: None,
            friction: parameters.fabric.friction,
            restitution: 0.0,
            thickness: 0.5 * parameters.fabric.thickness,
        };
        let state = State { positions: mesh.vertices().to_vec(), velocities: vec![V3::zeros(); n], ..State::default() };
        let work = Work {
            matrix,
            memory: Default::default(),
            contacts: contacts(&mesh, &parameters, vec![])?,
            inverse_masses: vec![],
            begin: State::default(),
            next: State::default(),
            held: vec![],
            constraints: vec![],
            targets: vec![],
            loads: vec![],
            forces: vec![],
            near: vec![],
            links: vec![],
            normals: vec![],
            squeezes: vec![],
            obstacles: Obstacles::default(),
            reactions: vec![],
            impacts: vec![],
            holding: vec![],
            unbalanced: 0.0,
            depth: 0.0,
            islands: Islands::new(partita_mesh::islands(
                mesh.vertices().len(),
                mesh.edges().iter().map(|edge| edge.vertices),
            )),
        };
        Ok(Self {
            name: name.into(),
            places: (0..n as u32).map(Place::vertex).collect(),
            parameters,
            mesh,
            cut,
            holds: Holds::default(),
            sheet,
            table,
            surfaces: vec![Arc::new(surface)],
            guides: vec![],
            state,
            work,
            identity: OnceLock::new(),
        })
    }

    /// Begins with vertices elsewhere than at rest `[m]`.
    ///
    /// # Errors
    /// There are more or fewer than vertices, a number is not finite, or there was a step.
    pub fn with_positions(mut self, positions: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        self.state.positions = self.begin_with("positions [m]", positions)?;
        self.holds.take_hold(&self.state.positions)?;
        Arc::make_mut(&mut self.surfaces[0]).vertices = positions.to_vec();
        self.identity = OnceLock::new();
        Ok(self)
    }

    /// Begins with velocities `[m/s]`.
    ///
    /// # Errors
    /// As [`ImplicitCloth::with_positions`].
    pub fn with_velocities(mut self, velocities: &[[f64; 3]]) -> Result<Self, SimulatorError> {
        self.state.velocities = self.begin_with("velocities [m/s]", velocities)?;
        Ok(self)
    }

    fn begin_with(&self, thing: &str, values: &[[f64; 3]]) -> Result<Vec<V3>, SimulatorError> {
        begin_with(thing, values, self.sheet.masses.len(), self.state.time)
    }

    /// Positions `[m]`, one a vertex.
    pub fn positions(&self) -> &[V3] {
        &self.state.positions
    }

    /// Velocities `[m/s]`, one a vertex.
    pub fn velocities(&self) -> &[V3] {
        &self.state.velocities
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
        self.sheet.energy(&self.state.positions)
    }

    /// All terms of the elastic energy: each triangle, then each edge between two of them.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.sheet.elements()
    }

    /// The largest strain of warp or weft where they are longer than at rest [-].
    pub fn stretch(&self) -> f64 {
        self.sheet.stretch(&self.state.positions)
    }

    fn vertices_of<'a>(&'a self, state: &'a State) -> Vertices<'a> {
        Vertices { positions: &state.positions, velocities: &state.velocities, masses: &self.sheet.masses }
    }

    fn of(&self) -> Identity {
        *self.identity.get_or_init(|| {
            let mesh = (self.mesh.positions(), self.mesh.triangles(), &self.cut);
            let handles = (&self.table, &self.places, &self.guides);
            Identity::new(&self.table, &(&self.parameters, mesh, &self.holds, handles))
        })
    }
}

fn contacts(
    mesh: &Mesh,
    parameters: &Parameters,
    obstacles: Vec<partita_contact::Obstacle>,
) -> Result<Contacts, SimulatorError> {
    let refused = |error| SimulatorError::refused("contact", error, "cloth and obstacles that can meet");
    let features = Features::new(mesh.vertices().len(), mesh.triangles(), &[]).map_err(refused)?;
    let Fabric { thickness, friction, .. } = parameters.fabric;
    let &Parameters { self_contact, contact_rates: rates, .. } = parameters;
    let parameters = partita_contact::Parameters {
        thickness,
        friction,
        self_contact,
        rates,
        ..partita_contact::Parameters::default()
    };
    Contacts::new(features, parameters, obstacles).map_err(refused)
}

impl Simulator for ImplicitCloth {
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
        let (places, state) = (&self.places, &self.state);
        self.table.read_with(handles, out, |i| {
            HandleState::point(places[i].of(&state.positions), places[i].of(&state.velocities))
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
        let vertices = self.sheet.masses.len();
        let is_vertex = |handle: &HandleId| (handle.index as usize) < vertices;
        for (number, guide) in guides.iter().enumerate() {
            let (found, expected) = match guide {
                Guide::Attachment { own } if !is_vertex(own) || self.holds.holds(own.index) => {
                    (format!("an attachment of {}", self.table.describe(*own)), "a vertex that is not held")
                }
                Guide::Obstacle { except, .. } => match except.iter().find(|handle| !is_vertex(handle)) {
                    Some(point) => (format!("one that lets {} through", self.table.describe(*point)), "vertices alone"),
                    None => continue,
                },
                Guide::Attachment { .. } => continue,
            };
            return Err(SimulatorError::refused(format!("guide {number}"), found, expected));
        }
        let (own, obstacles) = Obstacles::new(&guides);
        let unseen = partita_contact::State::unseen(obstacles.len());
        self.work.contacts = contacts(&self.mesh, &self.parameters, obstacles)?;
        self.state.contact = unseen;
        self.work.obstacles = own;
        self.guides = guides;
        self.identity = OnceLock::new();
        Ok(())
    }

    fn check_start(&mut self, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        let Work { contacts, obstacles, .. } = &mut self.work;
        obstacles.check_start(contacts, &self.guides, motions, &self.state.positions)
    }

    /// Potential energy is that of stretch, shear, bending and gravity (zero at the origin).
    fn ledger(&self) -> Option<Ledger> {
        Some(self.vertices_of(&self.state).ledger(self.parameters.gravity, self.elastic_energy(), self.state.external))
    }

    fn settings(&self) -> Settings {
        settings_of(&self.parameters)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
