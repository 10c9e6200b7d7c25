//! A scene: simulators, and how they act on each other.

use partita_simulator::{HandleId, Simulator};

use crate::{Error, Rate, Run, Scheme, Thresholds, build};

/// Simulators and their couplings, said in any order and checked all at once by [`Scene::build`].
pub struct Scene {
    pub(crate) rate: Rate,
    pub(crate) scheme: Scheme,
    pub(crate) threads: bool,
    pub(crate) timeout: Option<f64>,
    pub(crate) rewind: Rewind,
    pub(crate) thresholds: Thresholds,
    pub(crate) is_strict: bool,
    pub(crate) simulators: Vec<Box<dyn Simulator>>,
    pub(crate) substeps: Vec<(String, u32)>,
    pub(crate) attachments: Vec<Attach>,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) springs: Vec<Spring>,
}

/// How much of a run may go into being able to go back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rewind {
    /// Largest share of the run's time that taking marks may cost [-]. Default 0.005.
    pub share: f64,
    /// Most marks kept, at least 2; older ones are thinned out first. Default 48.
    pub marks: usize,
}

impl Default for Rewind {
    fn default() -> Self {
        Self { share: 0.005, marks: 48 }
    }
}

/// Own handles of the follower, and the leader's handle or handles that they are fixed to.
#[derive(Clone, Debug)]
pub(crate) struct Attach {
    pub own: Vec<HandleId>,
    pub to: Vec<HandleId>,
}

/// The follower meets the leader's surfaces; see [`Scene::contact`].
#[derive(Clone, Debug)]
pub struct Contact {
    pub(crate) follower: String,
    pub(crate) leader: String,
    pub(crate) only: Option<Vec<String>>,
    pub(crate) friction: Option<f64>,
    pub(crate) restitution: Option<f64>,
    pub(crate) thickness: Option<f64>,
    pub(crate) attached: bool,
}

impl Contact {
    /// Coulomb friction coefficient of this pair [-], in place of the leader's own.
    pub fn friction(&mut self, coefficient: f64) -> &mut Self {
        self.friction = Some(coefficient);
        self
    }

    /// Coefficient e of restitution of this pair [-], from 0 to 1, in place of the leader's own.
    ///
    /// Cloth that is held throws a body of velocity v back at the start of the window in which they would touch. So the
    /// body rises by up to (1 - e²) v dt more than e² times the height that it fell.
    pub fn restitution(&mut self, coefficient: f64) -> &mut Self {
        self.restitution = Some(coefficient);
        self
    }

    /// Distance that the follower keeps, besides its own radius or half its thickness `[m]`, in place of the leader's own.
    pub fn thickness(&mut self, distance: f64) -> &mut Self {
        self.thickness = Some(distance);
        self
    }

    /// Whether handles of the follower also collide with what they are attached to. Default false: they, the edges and
    /// triangles around them, and cloth that hangs from them deep inside a body pass through it.
    pub fn attached(&mut self, collide: bool) -> &mut Self {
        self.attached = collide;
        self
    }

    /// Only these surfaces of the leader, by name.
    pub fn only<S: Into<String>>(&mut self, surfaces: impl IntoIterator<Item = S>) -> &mut Self {
        self.only = Some(surfaces.into_iter().map(Into::into).collect());
        self
    }
}

/// A spring between two handles, computed outside both simulators (\[PD97\] §1.2); see [`Scene::spring`].
#[derive(Clone, Debug)]
pub struct Spring {
    pub(crate) ends: [HandleId; 2],
    pub(crate) stiffness: f64,
    pub(crate) damping: f64,
    pub(crate) rest_length: f64,
}

impl Spring {
    /// Spring constant `[N/m]`. Stable for any value: a spring that would swing by more than a radian in a window
    /// swings by a radian, as a softer one.
    pub fn stiffness(&mut self, stiffness: f64) -> &mut Self {
        self.stiffness = stiffness;
        self
    }

    /// Force against the speed at which the ends part `[N s/m]`. Default 0.
    pub fn damping(&mut self, damping: f64) -> &mut Self {
        self.damping = damping;
        self
    }

    /// Length without force `[m]`. Default 0.
    pub fn rest_length(&mut self, length: f64) -> &mut Self {
        self.rest_length = length;
        self
    }
}

impl Scene {
    /// An empty scene whose simulators meet once a window.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            scheme: Scheme::Interleaved,
            threads: false,
            timeout: None,
            rewind: Rewind::default(),
            thresholds: Thresholds::default(),
            is_strict: false,
            simulators: Vec::new(),
            substeps: Vec::new(),
            attachments: Vec::new(),
            contacts: Vec::new(),
            springs: Vec::new(),
        }
    }

    /// Adds a simulator. The order does not matter but for ties: simulators that lead step first.
    pub fn add(&mut self, simulator: impl Simulator + 'static) -> &mut Self {
        self.add_boxed(Box::new(simulator))
    }

    /// As [`Scene::add`], for a simulator whose type is not known.
    pub fn add_boxed(&mut self, simulator: Box<dyn Simulator>) -> &mut Self {
        self.simulators.push(simulator);
        self
    }

    /// How the coupled forces are found. Default [`Scheme::Interleaved`].
    pub fn scheme(&mut self, scheme: impl Into<Scheme>) -> &mut Self {
        self.scheme = scheme.into();
        self
    }

    /// Gives each simulator a thread of its own. The results are the same to the last bit; it pays
    /// where several simulators do not wait for each other.
    /// Cloths that collide with one movable body step one after the other in any case, since each takes into account what the
    /// others put on it.
    pub fn threads(&mut self, threads: bool) -> &mut Self {
        self.threads = threads;
        self
    }

    /// Sets the longest time to wait for a simulator, such as for a step `[s]`. Default: no limit.
    ///
    /// Each simulator then has a thread of its own. If one does not reply in time, the window fails
    /// with an error that names it, and the run is at its last accepted window. It continues once
    /// the simulator has replied or is replaced ([`Run::replace`]).
    pub fn timeout(&mut self, seconds: f64) -> &mut Self {
        self.timeout = Some(seconds);
        self
    }

    /// How much being able to go back may cost.
    pub fn rewind(&mut self, rewind: Rewind) -> &mut Self {
        self.rewind = rewind;
        self
    }

    /// Sets the coupling errors beyond which a run warns ([`crate::RunReport::warnings`]).
    pub fn thresholds(&mut self, thresholds: Thresholds) -> &mut Self {
        self.thresholds = thresholds;
        self
    }

    /// Makes a new warning an error, which returns the run to the start of the window. A warning of
    /// the scene itself is one of its mistakes. Default false.
    pub fn strict(&mut self, strict: bool) -> &mut Self {
        self.is_strict = strict;
        self
    }

    /// The simulator takes `n` steps a window instead of one.
    pub fn substeps(&mut self, simulator: &str, n: u32) -> &mut Self {
        self.substeps.push((simulator.into(), n));
        self
    }

    /// The follower collides with the leader's surfaces and pushes back on them. Where cloth is held and cannot make room, bodies of
    /// the leader are stopped by impulses at the start of their next window.
    pub fn contact(&mut self, follower: &str, leader: &str) -> &mut Contact {
        let (follower, leader) = (follower.into(), leader.into());
        self.contacts.push(Contact {
            follower,
            leader,
            only: None,
            friction: None,
            restitution: None,
            thickness: None,
            attached: false,
        });
        self.contacts.last_mut().expect("pushed in the line above")
    }

    /// Fixes handles of the follower to handles of the leader: Points to a Point where they are, or
    /// Points and Frames to a Frame, each at the place in it where it now is. `to` is one handle,
    /// or one for each of `own`.
    ///
    /// The leader feels the follower's pull a window later: what is stiff, tied to what is light, wants a higher rate or
    /// [`Relaxed`](crate::Relaxed).
    pub fn attach(&mut self, own: impl Into<Vec<HandleId>>, to: impl Into<Vec<HandleId>>) -> &mut Self {
        self.attachments.push(Attach { own: own.into(), to: to.into() });
        self
    }

    /// Joins two handles of two simulators by a spring.
    ///
    /// Its force is constant over a window, and gives two free masses the frequency and decay of
    /// the exact solution. It uses the inverse masses of both handles, stated by their simulators
    /// or measured at the start.
    pub fn spring(&mut self, a: HandleId, b: HandleId) -> &mut Spring {
        self.springs.push(Spring { ends: [a, b], stiffness: 0.0, damping: 0.0, rest_length: 0.0 });
        self.springs.last_mut().expect("pushed in the line above")
    }

    /// Checks everything and makes a run of it.
    ///
    /// # Errors
    /// [`Error::Scene`] with every mistake there is.
    pub fn build(self) -> Result<Run, Error> {
        build::build(self)
    }
}
