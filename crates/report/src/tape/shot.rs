//! State of a run that a frame shows, at the end of a window or interpolated within one.

use std::collections::BTreeMap;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use partita::{
    PosedSurface, Run,
    simulator::{Carrier, Cloud, HandleState, path},
};

use super::tubes::add_corners;
use super::{Begin, Placement, TapeError};

/// Positions of all surfaces, particles and loaded handles at one time.
#[derive(Clone)]
pub(super) struct Shot {
    /// `[s]`
    pub time: f64,
    surfaces: Vec<PosedSurface>,
    /// Free particles, by simulator.
    pub clouds: Vec<Cloud>,
    /// Handles with loads, in the order of [`Run::loads`] `[m]`.
    pub handles: Vec<[f64; 3]>,
}

impl Shot {
    pub fn of(run: &mut Run, begin: &Begin) -> Result<Self, TapeError> {
        let picture = run.picture()?;
        let mut clouds = vec![Cloud::default(); begin.clouds.len()];
        for (simulator, cloud) in picture.clouds {
            if let Some(number) = begin.simulators.iter().position(|name| *name == simulator) {
                clouds[number] = cloud;
            }
        }
        let handles = run.loads().map(|load| load.state.position).collect();
        Ok(Self { time: run.time(), surfaces: picture.surfaces, clouds, handles })
    }

    /// Placement of each surface, in the order of [`Begin::surfaces`].
    pub fn placements(&self) -> Vec<Placement> {
        let placed = |posed: &PosedSurface| match posed.surface.carrier {
            Carrier::Frame(_) => {
                Placement::Rigid { position: posed.carriers[0].position, orientation: posed.carriers[0].orientation }
            }
            Carrier::Points(_) => {
                let mut vertices = posed.carriers.iter().map(|state| state.position).collect();
                add_corners(&posed.surface, &mut vertices);
                Placement::Deformed(vertices)
            }
        };
        self.surfaces.iter().map(placed).collect()
    }

    /// Interpolates between this shot and a later one, at `time` `[s]`. Handles follow the cubic
    /// Hermite polynomial of positions and velocities, and rotate by their spin. Free particles
    /// that exist in both shots move linearly; others are omitted.
    pub fn between(&self, end: &Self, time: f64) -> Self {
        let dt = end.time - self.time;
        let s = (time - self.time) / dt;
        let posed = |(a, b): (&PosedSurface, &PosedSurface)| {
            let carriers = a.carriers.iter().zip(&b.carriers);
            PosedSurface { carriers: carriers.map(|(a, b)| interpolated(a, b, dt, s)).collect(), ..b.clone() }
        };
        let straight = |a: [f64; 3], b: [f64; 3]| std::array::from_fn(|k| (1.0 - s) * a[k] + s * b[k]);
        let cloud = |(a, b): (&Cloud, &Cloud)| {
            let before: BTreeMap<u64, [f64; 3]> = a.ids.iter().copied().zip(a.positions.iter().copied()).collect();
            let mut between = Cloud::default();
            for (id, end) in b.ids.iter().zip(&b.positions) {
                if let Some(start) = before.get(id) {
                    between.push(*id, straight(*start, *end));
                }
            }
            between
        };
        Self {
            time,
            surfaces: self.surfaces.iter().zip(&end.surfaces).map(posed).collect(),
            clouds: self.clouds.iter().zip(&end.clouds).map(cloud).collect(),
            handles: self.handles.iter().zip(&end.handles).map(|(a, b)| straight(*a, *b)).collect(),
        }
    }

    /// Extrapolates back to an earlier `time` `[s]`, by velocity and spin. Free particles stay where they are.
    pub fn back_to(&self, time: f64) -> Self {
        let posed = |posed: &PosedSurface| {
            let carriers = posed.carriers.iter().map(|state| back(state, self.time - time)).collect();
            PosedSurface { carriers, ..posed.clone() }
        };
        Self { time, surfaces: self.surfaces.iter().map(posed).collect(), ..self.clone() }
    }
}

/// State of a handle `dt` before, by its velocity and spin `[s]`.
fn back(end: &HandleState, dt: f64) -> HandleState {
    let turned = UnitQuaternion::from_scaled_axis(-dt * Vector3::from(end.spin)) * orientation_of(end);
    let position = Vector3::from(end.position) - dt * Vector3::from(end.velocity);
    HandleState { position: position.into(), orientation: turned.coords.into(), ..*end }
}

/// State of a handle at the fraction `s` of a window. A cubic overshoots where the velocity or spin
/// jumps, as in an impact. In such windows the position or orientation is interpolated linearly.
fn interpolated(start: &HandleState, end: &HandleState, dt: f64, s: f64) -> HandleState {
    let cubic = path::cubic(start, end, dt, s);
    let straight = path::straight(start, end, dt, s);
    let apart = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    let way = apart(start.position, end.position);
    let is_smooth = apart(cubic.position, straight.position) <= 0.25 * way;
    let turn = path::rotation_between(start, end, dt).norm();
    let turns_smoothly = orientation_of(&cubic).angle_to(&orientation_of(&straight)) <= 0.25 * turn;
    HandleState {
        position: if is_smooth { cubic.position } else { straight.position },
        orientation: if turns_smoothly { cubic.orientation } else { straight.orientation },
        ..straight
    }
}

fn orientation_of(state: &HandleState) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::from(state.orientation))
}
