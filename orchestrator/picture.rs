//! The drawable state of a run: surfaces and particles.

use std::sync::Arc;

use partita_simulator::{Cloud, HandleState, Simulator, SimulatorError, Surface};

use crate::{Result, Run, reported::check_finite_state};

/// A surface with its current pose.
#[derive(Clone, Debug)]
pub struct PosedSurface {
    /// Name of its simulator.
    pub simulator: String,
    /// Shape and topology.
    pub surface: Arc<Surface>,
    /// States of the handles that carry it.
    pub carriers: Vec<HandleState>,
}

impl PosedSurface {
    /// Vertices in the world `[m]`.
    pub fn vertices(&self) -> Vec<[f64; 3]> {
        self.surface.posed(&self.carriers)
    }
}

/// All that can be drawn of a run at one time.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Simulated time `[s]`.
    pub time: f64,
    /// Every surface of every simulator.
    pub surfaces: Vec<PosedSurface>,
    /// Free particles by simulator, each by ascending id.
    pub clouds: Vec<(String, Cloud)>,
}

impl Run {
    /// All that can be drawn now.
    ///
    /// # Errors
    /// A simulator panicked, timed out or is stuck, cannot read the handles that carry its surfaces,
    /// reports numbers that are not finite, or has two particles with one id.
    pub fn picture(&mut self) -> Result<Picture> {
        let mut picture = Picture { time: self.time(), ..Picture::default() };
        for member in 0..self.engine.members.len() {
            let name = self.engine.members[member].name.clone();
            let seen = self.look_at(member, |simulator| Ok((posed(simulator)?, cloud(simulator)?)))?;
            let (surfaces, cloud) = seen.map_err(|error| self.of(member, error))?;
            let posed = |(surface, carriers)| PosedSurface { simulator: name.clone(), surface, carriers };
            picture.surfaces.extend(surfaces.into_iter().map(posed));
            if !cloud.is_empty() {
                picture.clouds.push((name, cloud));
            }
        }
        Ok(picture)
    }
}

type Posed = (Arc<Surface>, Vec<HandleState>);

fn posed(simulator: &dyn Simulator) -> std::result::Result<Vec<Posed>, SimulatorError> {
    let pose = |surface: &Arc<Surface>| {
        let carriers = surface.carrier.handles();
        let mut states = vec![HandleState::default(); carriers.len()];
        simulator.read(carriers, &mut states)?;
        for (&handle, state) in carriers.iter().zip(&states) {
            check_finite_state(simulator.handles(), handle, state)?;
        }
        Ok((surface.clone(), states))
    };
    simulator.surfaces().iter().map(pose).collect()
}

fn cloud(simulator: &dyn Simulator) -> std::result::Result<Cloud, SimulatorError> {
    let mut cloud = Cloud::default();
    simulator.cloud(&mut cloud);
    let cloud = cloud.by_id()?;
    match cloud.ids.iter().zip(&cloud.positions).find(|(_, position)| position.iter().any(|x| !x.is_finite())) {
        Some((id, position)) => Err(SimulatorError::failed(
            format!("position of particle {id} [m]"),
            format!("{position:?}"),
            "finite numbers",
        )),
        None => Ok(cloud),
    }
}
