//! The two scenes of \[TPS08\]'s tables, and one run of either by any of the methods.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 5.

use std::{f64::consts::FRAC_PI_2, sync::Arc, time::Instant};

use nalgebra::Vector3;
use partita::{
    avi_cloth::{self, AviCloth, Estimate, Limit},
    implicit_cloth::{self, Fabric, ImplicitCloth, Membrane},
    simulator::{
        Carrier, Guide, HandleId, HandleState, HandleTable, Inputs, Ledger, Motion, Simulator, StepReport, Surface,
    },
};
use partita_mesh::Mesh;

use crate::table::Failure;

type V3 = Vector3<f64>;

/// Pictures are taken so often `[s]`.
const FRAME: f64 = 1.0 / 30.0;

/// What is simulated.
pub struct Scene {
    pub mesh: Mesh,
    fabric: Fabric,
    pinned: Vec<u32>,
    /// Whether there is a floor at height 0.
    floor: bool,
    /// Energy that counts as one: of the fall by its height `[m]`.
    height: f64,
}

/// E 300 N/m and G 150 N/m, hence no lateral contraction, 500 g/m².
fn fabric(bend: f64) -> Fabric {
    let fabric = Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).undamped();
    fabric.stretch(300.0).shear(150.0).bend(bend).density(0.5)
}

impl Scene {
    /// A square, pinned at two corners, is let go level. The paper does not tell its size: with 1.6 m the Courant estimate for α = 1 is the
    /// paper's mean span, 0.37 ms.
    pub fn swing(quick: bool) -> Result<Self, Failure> {
        Self::sheet(if quick { 500 } else { 5016 })
    }

    /// The same of so many triangles.
    pub fn sheet(triangles: u32) -> Result<Self, Failure> {
        let side = 1.6;
        let mesh = Mesh::unstructured([side; 2], triangles, |_| 1.0)?;
        let corners = [0.0, side]
            .map(|x| (0..mesh.vertices().len() as u32).find(|&v| mesh.positions()[v as usize] == [x, 0.0, 0.0]));
        let pinned = corners.into_iter().flatten().collect();
        let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?;
        Ok(Self { mesh, fabric: fabric(1e-5), pinned, floor: false, height: side })
    }

    /// A dome in a square, fine at its top, falls by half a metre; stiff in bending, so that it keeps its shape. Size and shape are not
    /// told: triangles are as small as the paper's steps of symplectic Euler, 0.05 ms, suggest.
    pub fn fall(quick: bool) -> Result<Self, Failure> {
        let (side, triangles) = (0.8, if quick { 300 } else { 2304 });
        let flat = Mesh::graded([side; 2], triangles, 160.0)?.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?;
        let flat = flat.at([-0.5 * side, 0.0, -0.5 * side])?;
        let dome = |[x, _, z]: [f64; 3]| [x, 0.5 + 0.12 * (-(x * x + z * z) / 0.03).exp(), z];
        let vertices: Vec<[f64; 3]> = flat.positions().into_iter().map(dome).collect();
        let mesh = Mesh::new(&vertices, flat.triangles())?;
        Ok(Self { mesh, fabric: fabric(1e-3), pinned: vec![], floor: true, height: 0.5 })
    }

    /// The same of cloth that resists stretch and shear so many times as much.
    pub fn stiffer(&self, factor: f64) -> Self {
        let Fabric { stretch, shear, .. } = self.fabric;
        let fabric = Fabric { stretch: stretch.map(|k| factor * k), shear: factor * shear, ..self.fabric };
        Self { mesh: self.mesh.clone(), pinned: self.pinned.clone(), fabric, ..*self }
    }

    /// Of `crates/avi-cloth`, with spans by an estimate and α [-].
    pub fn explicit_cloth(
        &self,
        integrator: avi_cloth::Integrator,
        (estimate, courant): (Estimate, f64),
        limit: Option<Limit>,
    ) -> Result<AviCloth, Failure> {
        let parameters = avi_cloth::Parameters {
            fabric: self.fabric,
            integrator,
            estimate,
            courant,
            limit,
            self_contact: false,
            ..avi_cloth::Parameters::default()
        };
        let mut cloth = AviCloth::with_parameters("cloth", self.mesh.clone(), parameters)?;
        cloth.pin(&self.pinned)?;
        cloth.follow(self.guides()?)?;
        Ok(cloth)
    }

    /// Whether triangles are of very different sizes.
    pub fn is_graded(&self) -> bool {
        self.mesh.area_ratio() > 50.0
    }

    fn guides(&self) -> Result<Vec<Guide>, Failure> {
        if !self.floor {
            return Ok(vec![]);
        }
        let floor = Mesh::cuboid([4.0, 0.5, 4.0])?;
        let owner = HandleTable::new("bench", "floor").owner();
        let surface = Surface {
            name: "floor".into(),
            carrier: Carrier::Frame(HandleId { owner, index: 0 }),
            vertices: floor.positions(),
            triangles: floor.triangles().to_vec(),
            lines: vec![],
            two_sided: false,
            primitive: None,
            friction: 0.5,
            restitution: 0.0,
            thickness: 0.0,
        };
        let surface = Arc::new(surface);
        Ok(vec![Guide::Obstacle { surface, friction: 0.5, restitution: 0.0, thickness: 0.0, except: vec![] }])
    }

    fn inputs(&self) -> Inputs {
        let state = HandleState::point([0.0, -0.25, 0.0], [0.0; 3]);
        let still = Motion { begin: Arc::new([state]), end: Arc::new([state]) };
        Inputs { motions: if self.floor { vec![Some(still)] } else { vec![] }, ..Inputs::default() }
    }
}

/// How it is integrated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Method {
    /// Of `crates/implicit-cloth`, in steps of such a length `[s]`.
    BackwardEuler(f64),
    /// The semi-implicit midpoint rule with a damping of 0.1, likewise.
    Midpoint(f64),
    /// The synchronous twins `[s]`.
    ForwardEuler(f64),
    /// See [`Method::ForwardEuler`].
    SymplecticEuler(f64),
    /// With α [-].
    Avi(Estimate, f64),
}

impl Method {
    pub fn name(self) -> String {
        match self {
            Self::BackwardEuler(step) => format!("backward Euler, {step} s"),
            Self::Midpoint(step) => format!("semi-implicit midpoint, {step:.3e} s"),
            Self::ForwardEuler(step) => format!("forward Euler, {step:.3e} s"),
            Self::SymplecticEuler(step) => format!("symplectic Euler, {step:.3e} s"),
            Self::Avi(Estimate::Wave, courant) => format!("AVI, {courant:.3} of waves' spans"),
            Self::Avi(Estimate::Mode, courant) => format!("AVI, {courant:.3} of modes' spans"),
        }
    }

    /// The same with steps so many times as long.
    pub fn times(self, factor: f64) -> Self {
        match self {
            Self::BackwardEuler(step) => Self::BackwardEuler(factor * step),
            Self::Midpoint(step) => Self::Midpoint(factor * step),
            Self::ForwardEuler(step) => Self::ForwardEuler(factor * step),
            Self::SymplecticEuler(step) => Self::SymplecticEuler(factor * step),
            Self::Avi(estimate, courant) => Self::Avi(estimate, factor * courant),
        }
    }
}

/// What came of a run.
#[derive(Clone, Default)]
pub struct Ran {
    /// Time stepping, and collisions `[s]`.
    pub solve: f64,
    pub contact: f64,
    /// Events, or triangles times steps.
    pub events: u64,
    /// Mean span of elements, and their shortest where none is stretched; or the step `[s]`.
    pub spans: [f64; 2],
    /// Gained since the start, by frame, of the fall's energy [-].
    pub energies: Vec<f64>,
    /// Mean over edges and frames of what is positive, and largest [-].
    pub strains: [f64; 2],
    /// Whether it was given up for what [`Until`] says.
    pub failed: bool,
}

impl Ran {
    pub fn total(&self) -> f64 {
        self.solve + self.contact
    }
}

/// Stages of implicit cloth that are collisions.
const CONTACT: [&str; 3] = ["find contacts", "contact", "contact rounds"];

/// For how long a run goes on, and what it is given up for.
#[derive(Clone, Copy)]
pub struct Until {
    /// `[s]`
    pub seconds: f64,
    /// Gained by more than so much of the fall's energy [-].
    pub gain: f64,
    /// An edge strained by more [-].
    pub strain: f64,
}

impl Until {
    /// For nothing.
    pub fn seconds(seconds: f64) -> Self {
        Self { seconds, gain: f64::INFINITY, strain: f64::INFINITY }
    }
}

/// A scene by a method, with limits where it has them, on one thread.
pub fn run(scene: &Scene, method: Method, limit: Option<Limit>, until: Until) -> Result<Ran, Failure> {
    use avi_cloth::Integrator::{Asynchronous, ForwardEuler, SymplecticEuler};
    use implicit_cloth::Integrator::{Linearised, SemiImplicit};
    let twin = |integrator| explicit(scene, integrator, (Estimate::Mode, 1.0), limit, until);
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| match method {
        Method::BackwardEuler(step) => implicit(scene, Linearised, step, until),
        Method::Midpoint(step) => implicit(scene, SemiImplicit { damping: 0.1 }, step, until),
        Method::ForwardEuler(step) => twin(ForwardEuler { step }),
        Method::SymplecticEuler(step) => twin(SymplecticEuler { step }),
        Method::Avi(estimate, courant) => explicit(scene, Asynchronous, (estimate, courant), limit, until),
    })
}

fn explicit(
    scene: &Scene,
    integrator: avi_cloth::Integrator,
    estimate: (Estimate, f64),
    limit: Option<Limit>,
    until: Until,
) -> Result<Ran, Failure> {
    let mut cloth = scene.explicit_cloth(integrator, estimate, limit)?;
    let shortest = cloth.spans().iter().copied().fold(f64::INFINITY, f64::min);
    let spans = match integrator {
        // The mean is that of events, below.
        avi_cloth::Integrator::Asynchronous => [f64::NAN, shortest],
        avi_cloth::Integrator::SymplecticEuler { step } | avi_cloth::Integrator::ForwardEuler { step } => [step; 2],
    };
    let mut ran = Ran { spans, ..Ran::default() };
    let (triangles, strained) = (scene.mesh.triangles().len() as f64, strains(&scene.mesh));
    watch(&mut cloth, scene, FRAME, until, &mut ran, |cloth, ran| {
        ran.events += cloth.counts().events;
        strained(&cloth.positions())
    })?;
    ran.spans[0] = triangles * cloth.time() / ran.events as f64;
    Ok(ran)
}

fn implicit(scene: &Scene, integrator: implicit_cloth::Integrator, step: f64, until: Until) -> Result<Ran, Failure> {
    // Steps are not cut, as the paper's are not.
    let parameters = implicit_cloth::Parameters {
        fabric: scene.fabric,
        integrator,
        max_stretch: 100.0,
        self_contact: false,
        ..implicit_cloth::Parameters::default()
    };
    let mut cloth = ImplicitCloth::with_parameters("cloth", scene.mesh.clone(), parameters)?;
    cloth.pin(&scene.pinned)?;
    cloth.follow(scene.guides()?)?;
    let mut ran = Ran { spans: [step; 2], ..Ran::default() };
    let strained = strains(&scene.mesh);
    watch(&mut cloth, scene, step, until, &mut ran, |cloth, _| strained(cloth.positions()))?;
    Ok(ran)
}

/// What edges are strained by with vertices at such places, where that is positive: mean and largest [-].
fn strains(mesh: &Mesh) -> impl Fn(&[V3]) -> [f64; 2] {
    let edges = mesh.edges();
    let length = |[a, b]: [u32; 2], x: &[V3]| (x[b as usize] - x[a as usize]).norm();
    let at_rest: Vec<f64> = edges.iter().map(|edge| length(edge.vertices, mesh.vertices())).collect();
    move |x| {
        let strains = edges.iter().zip(&at_rest).map(|(edge, rest)| (length(edge.vertices, x) / rest - 1.0).max(0.0));
        let [sum, most] = strains.fold([0.0, 0.0], |[sum, most], strain| [sum + strain, f64::max(most, strain)]);
        [sum / edges.len() as f64, most]
    }
}

/// Steps and looks.
fn watch<C: Simulator>(
    cloth: &mut C,
    scene: &Scene,
    step: f64,
    until: Until,
    ran: &mut Ran,
    mut look: impl FnMut(&C, &mut Ran) -> [f64; 2],
) -> Result<(), Failure> {
    let known = |cloth: &C| cloth.ledger().ok_or("cloth without a ledger");
    let of = |ledger: Ledger| ledger.kinetic + ledger.potential;
    let first = known(cloth)?;
    let (start, scale) = (of(first), first.mass * 9.81 * scene.height);
    let inputs = scene.inputs();
    let (mut looks, mut sum) = (0, 0.0);
    while cloth.time() < until.seconds - 1e-9 {
        let begin = Instant::now();
        let report: StepReport = cloth.step(step, &inputs)?;
        let whole = begin.elapsed().as_secs_f64();
        let contact: f64 =
            report.stages.0.iter().filter(|(name, _)| CONTACT.contains(&name.as_str())).map(|(_, s)| s).sum();
        ran.contact += contact;
        ran.solve += whole - contact;
        let energy = (of(known(cloth)?) - start) / scale;
        ran.energies.push(energy);
        let [mean, most] = look(cloth, ran);
        (looks, sum) = (looks + 1, sum + mean);
        ran.strains = [sum / f64::from(looks), ran.strains[1].max(most)];
        // What is not finite is an error of the step.
        if energy > until.gain || most > until.strain {
            ran.failed = true;
            break;
        }
    }
    Ok(())
}
