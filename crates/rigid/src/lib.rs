//! Rigid bodies: rapier3d in `f64` behind the contract, led by nobody or following others.
//!
//! Rapier solves contacts and joints as impulses in substeps: semi-implicit Euler, one pass with a
//! bias that takes errors out of positions, one without that takes the bias out of velocities again
//! ("TGS soft"). [`RigidBodies`] adds what a black box in a coupled scene owes its neighbours: exact
//! rewind, loads that act for one step, reactions to rounding, and no silence where rapier has some.
//!
//! Bodies come in words ([`Body`], [`Shape`], [`Joint`]) or as a whole world that the user built
//! ([`RigidBodies::from_world`]). Sizes are full sizes, in metres. A free body's Frame is at its
//! centre of mass; a Point is given from the body's own origin.
//!
//! # Rapier's traps
//!
//! Measured with rapier3d-f64 0.36.1; a test stands behind each that is mended.
//!
//! | rapier | here |
//! |---|---|
//! | reports a joint's impulse for the last of its substeps only, in rows that it made orthogonal | own substeps of one iteration each; the rows are made again (`follow.rs`) |
//! | leaves the list of new joints out of its bytes | what was added is taken in before the first snapshot |
//! | writes the hash maps of mesh contacts in the order of their memory | bytes are written with sorted maps (`canonical.rs`) |
//! | remembers in its pipeline by epochs that start again with a restored state | a fresh pipeline after each retract |
//! | indexes with whatever corrupted bytes say | bytes carry a seal |
//! | puts what is not finite out of action and goes on | the step fails, names the body, and is undone |
//! | cuts speeds to 400 m/s and spins to an eighth of a turn a step | 1e5 m/s and no limit; reported where it happens |
//! | stops a body whose squared speed overflows | the step fails |
//! | keeps forces until they are reset | reset after each substep, the user's own put back |
//! | lets a body at rest fall asleep before its load acts, in steps of half a second | loaded bodies stay awake; bodies do not sleep unless told to, and never while following |
//! | goes on reporting the contact impulses of a sleeping body | the same |
//! | `FrictionModel::Coulomb` is too weak by 13 % (a box stops 15 % late) | the default model, right to 0.3 % |
//! | a hull with a `contact_skin` of more than 2 cm loses contact points, and what lies on it rocks | obstacles that are hulls are rounded by their thickness |
//! | stretches a chain under a thousandfold weight by 5 % in four substeps | as it is: 0.3 % in sixteen |
//! | sweeps fast bodies against fixed ones only, and drops the rest of the substep after an impact | a substep ends at impacts of fast bodies with any body (`sweep.rs`); the report names pairs that still pass |
//! | reuses contacts of bodies that moved by less than 2 cm, and may miss new ones | contacts are recomputed after 5 mm, times the smallest body size in metres where that is below 1 |
//! | lets bodies sink by g/ω², ω = 2π 60 Hz on fixed bodies and 2π 30 Hz on others | 0.07 mm, and 0.28 mm on obstacles; stiffer for bodies below 11 cm, which sink by 0.25 % of their size at most |
//! | has no contact for bodies from 4e10 kg on, nor for hulls and meshes of a few millimetres | such bodies are refused, with what would help |
//! | loses contacts of meshes on meshes | convex meshes are hulls; a note names others that move freely |
//! | gets a wrong contact for a substep where two cylinders touch exactly | as it is: they move by 3 % of their size |
//! | gains energy where bodies spin fast: a disc of 200 rad/s has twice its energy after a second | free rotation is integrated here (`rotation.rs`), exact in energy and angular momentum |
//! | turns by 2 atan(h ω/2) for h ω | turns by h ω |
//!
//! # Limits of work
//!
//! Iterations are fixed: substeps times solver iterations times sweeps ([`Parameters`]). The outcome is `StoppedAt` where a followed
//! handle then is too far from its carrier.
//!
//! # What it costs
//!
//! Times on one core (`cargo run --release -p partita-bench -- rigid`), of a wall of 100 boxes at rest with
//! 4 sweeps, and of 100 boxes that tumble:
//!
//! | what | ms |
//! |---|---|
//! | Rapier alone, 4 substeps | 0.155 |
//! | the same behind the contract | 0.161 |
//! | 4 own substeps ([`Parameters::substeps`]) | 0.34 |
//! | a snapshot; a retraction | 0.07; 0.07 |
//! | tumbling boxes, Rapier's explicit correction | 0.11 |
//! | tumbling boxes, exact free rotation, 0.5 µs a substep and box | 0.33 |
//!
//! A copy of the state before each step would add a sixth to it, so there is one before every sixteenth. A
//! step that fails is undone by going back to that copy and repeating the steps since, with the poses that
//! scripts gave then, which gives the same bits.
//!
//! Start at `RigidBodies::take_step` in `step.rs`.

mod bodies;
mod body;
mod canonical;
mod convert;
mod follow;
mod joint;
mod ledger;
mod limits;
mod mesh;
mod mobility;
mod parameters;
mod rotation;
mod settings;
mod shape;
mod simulator;
mod state;
mod step;
mod surfaces;
mod sweep;
mod world;

pub use bodies::RigidBodies;
pub use body::{Body, Pose, Role};
pub use joint::Joint;
pub use parameters::Parameters;
/// The rapier that [`RigidBodies::from_world`] takes worlds of.
pub use rapier3d_f64 as rapier;
pub use shape::Shape;
