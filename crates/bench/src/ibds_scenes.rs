//! Scenes of \[BDB09\] section 5, and runs of them.

use std::{f64::consts::TAU, time::Instant};

use partita::{
    ibds_cloth::{Counts, IbdsCloth, Integrator, Net, Optimisations, Solver},
    simulator::{Inputs, Outcome, Simulator},
};

use crate::table::Failure;

/// Steps of a run, and their length `[s]`.
pub const STEPS: usize = 200;
pub const H: f64 = 0.01;
const G: f64 = 10.0;

/// Of the spheres in scenes 2 and 3 `[m]`.
const RADIUS: f64 = 0.15;

/// What happens to a sheet of a metre that is joined along the axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scene {
    /// One edge is pinned, and it swings down from level.
    Swing,
    /// It swings onto a sphere that is fixed.
    OntoSphere,
    /// Two edges are pinned, and a sphere of 10 kg falls on it.
    Dropped,
}

impl Scene {
    /// All, with what tables call them.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Swing, "1 swing"), (Self::OntoSphere, "2 onto a sphere"), (Self::Dropped, "3 sphere dropped")];

    /// Of the sheet `[kg]`.
    fn mass(self) -> f64 {
        if self == Self::Dropped { 2.0 } else { 0.2 }
    }

    /// A sheet of n x n particles, and the sphere as one more, kept away by struts.
    ///
    /// # Errors
    /// None, as it is.
    pub fn cloth(self, n: u32) -> Result<IbdsCloth, Failure> {
        let step = 1.0 / f64::from(n - 1);
        let row = if self == Self::Dropped { sagging(n) } else { (0..n).map(|k| [step * f64::from(k), 0.0]).collect() };
        let mut positions: Vec<[f64; 3]> =
            (0..n).flat_map(|z| row.iter().map(move |[x, y]| [*x, *y, step * f64::from(z)])).collect();
        let mut masses = vec![self.mass() / f64::from(n * n); positions.len()];
        // The particles' own radius leaves no hole between them.
        let distance = RADIUS + 0.5 * step;
        let sphere = match self {
            Self::Swing => None,
            Self::OntoSphere => Some(([0.5, -0.5, 0.5], 1.0)),
            Self::Dropped => {
                let low = row.iter().map(|[_, y]| *y).fold(f64::INFINITY, f64::min);
                Some(([0.5 * row[row.len() - 1][0], low + distance + 0.2, 0.5], 10.0))
            }
        };
        if let Some((place, mass)) = sphere {
            positions.push(place);
            masses.push(mass);
        }
        let across = (0..n * (n - 1)).map(|k| [k, k + n]);
        let along = (0..n * n).filter(|k| k % n + 1 < n).map(|k| [k, k + 1]);
        let mut net = Net::new(&positions, &masses)?.bars(along)?.bars(across)?;
        if sphere.is_some() {
            net = net.struts((0..n * n).map(|k| [k, n * n]), distance)?;
        }
        let mut pinned: Vec<u32> = (0..n).map(|row| row * n).collect();
        match self {
            Self::Swing => {}
            Self::OntoSphere => pinned.push(n * n),
            Self::Dropped => pinned.extend((1..=n).map(|row| row * n - 1)),
        }
        let mut cloth = IbdsCloth::new("sheet", net)?;
        cloth.pin(&pinned)?;
        Ok(cloth.integrator(Integrator::Parabola).gravity([0.0, -G, 0.0]).strut_tolerance(0.1))
    }
}

/// Places of n particles in a row of a metre, which sags along a circle between ends that are 0.9 m apart.
fn sagging(n: u32) -> Vec<[f64; 2]> {
    let links = n - 1;
    let mut row = vec![[0.0; 2]];
    for k in 0..links {
        let angle = 0.255 * TAU * ((f64::from(k) + 0.5) / f64::from(links) - 0.5);
        let [x, y] = row[row.len() - 1];
        row.push([x + angle.cos() / f64::from(links), y + angle.sin() / f64::from(links)]);
    }
    row
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// It, with so many particles along each side.
    pub scene: Scene,
    pub particles: u32,
    /// By how much links may be off [-], and whether there is a velocity loop.
    pub strain: f64,
    pub rates: bool,
}

/// How a run went.
pub struct Ran {
    /// With what building it took `[ms]`.
    pub cost: f64,
    pub iterations: u64,
    pub visits: u64,
    pub corrections: u64,
    /// Of any link, after any step [-].
    pub stretch: f64,
}

impl Case {
    /// Runs it once.
    ///
    /// # Errors
    /// A loop does not end where it should.
    pub fn run(&self, with: Optimisations, steps: usize) -> Result<Ran, Failure> {
        let start = Instant::now();
        let mut cloth = self.scene.cloth(self.particles)?.solver(Solver::GaussSeidel(with)).extensibility(self.strain);
        cloth = cloth.velocity_tolerance(self.rates.then_some(0.01)).max_iterations(10_000_000);
        let mut ran = Ran { cost: 0.0, iterations: 0, visits: 0, corrections: 0, stretch: 0.0 };
        for step in 0..steps {
            let report = cloth.step(H, Inputs::NONE)?;
            if report.outcome != Outcome::Converged {
                return Err(format!("step {step}, {with:?}: {:?}", report.outcome).into());
            }
            let Counts { iterations, visits, corrections, .. } = cloth.counts();
            ran.iterations += u64::from(iterations);
            ran.visits += visits;
            ran.corrections += corrections;
            ran.stretch = ran.stretch.max(cloth.stretch());
        }
        ran.cost = 1e3 * start.elapsed().as_secs_f64();
        Ok(ran)
    }
}

impl Ran {
    /// What a row of it carries.
    pub fn details(&self) -> [(&'static str, f64); 4] {
        [
            ("iterations", self.iterations as f64),
            ("visits", self.visits as f64),
            ("corrections", self.corrections as f64),
            ("largest stretch", self.stretch),
        ]
    }
}
