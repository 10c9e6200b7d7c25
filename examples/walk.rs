//! You will see a figure of capsules walk off, stop and stand, in a wide skirt that swings after it.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, figure 1.
//!
//! The figure's motion is a script: hips and legs of a gait, which begins and ends smoothly. The skirt's waist goes with the hips; all
//! else of it is asynchronous cloth that meets hips, thighs and shins, and itself.

/// What is looked at after every window.
mod cloth;

use std::{
    f64::consts::{PI, TAU},
    process::ExitCode,
};

use clap::Parser;
use cloth::Failure;
use nalgebra::{UnitQuaternion, Vector3};
use partita::{avi_cloth::Membrane, prelude::*};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

const RATE: f64 = 60.0;
/// Walking speed `[m/s]`, and steps of either leg in a second.
const SPEED: f64 = 1.1;
const STRIDES: f64 = 0.95;
/// When the walk begins and ends, and how long both take `[s]`.
const WALK: [f64; 2] = [0.4, 2.9];
const EASE: f64 = 0.6;

/// Height of the hips, half their width, lengths of thigh and shin, and radii of hips, thighs and shins `[m]`.
const HIPS: f64 = 0.92;
const WIDTH: f64 = 0.08;
const LENGTHS: [f64; 2] = [0.42, 0.42];
const RADII: [f64; 3] = [0.1, 0.07, 0.05];

/// Of the skirt: vertices around, rows, radii of waist and hem, and its length `[m]`.
const AROUND: u32 = 64;
const ROWS: u32 = 24;
const WAIST: f64 = 0.16;
const HEM: f64 = 0.5;
const LENGTH: f64 = 0.5;
/// The waist above the hips' middle `[m]`.
const ABOVE: f64 = 0.1;

#[derive(Parser)]
#[command(about = "A skirt on a walking figure")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("walk", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.5, 0.2);

    let mut rigid = RigidBodies::new("figure");
    let hips = Shape::capsule_x(2.0 * WIDTH, RADII[0]);
    rigid.add("hips", Body::kinematic(hips, |t| Gait::at(t).above(0.0)).friction(0.2))?;
    rigid.add("torso", Body::kinematic(Shape::capsule_y(0.3, 0.11), |t| Gait::at(t).above(0.3)).friction(0.2))?;
    rigid.add("head", Body::kinematic(Shape::ball(0.1), |t| Gait::at(t).above(0.64)).friction(0.2))?;
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        for (part, what) in ["thigh", "shin"].into_iter().enumerate() {
            let shape = Shape::capsule_x(LENGTHS[part], RADII[1 + part]);
            let bone = Body::kinematic(shape, move |t| Gait::at(t).bone(side, part)).friction(0.2);
            rigid.add(&format!("{name} {what}"), bone)?;
        }
    }
    let mut scene = Scene::new(Rate::hz(RATE));
    scene.contact("skirt", "figure").friction(0.2);
    scene.add(rigid).add(skirt()?);
    let mut run = scene.build()?;
    let mut strain = 0.0_f64;
    let (recording, seen) = cloth::record::<AviCloth>(report, &mut run, &["skirt"], seconds, scenery(), |run| {
        strain = strain.max(run.look("skirt", AviCloth::stretch)?);
        Ok(())
    })?;
    seen.check_crossings(report);
    // The cloth's own limit of a tenth, to a hundredth of it.
    report.check("largest strain of an edge, in all windows", strain, Bound::at_most(0.101), "-");
    report.note(run.report());
    Ok(recording)
}

/// A frustum whose upper rim is held at the hips.
fn skirt() -> Result<AviCloth, Failure> {
    let place = |i: u32, j: u32| {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(AROUND)).sin_cos();
        let s = f64::from(j) / f64::from(ROWS);
        let radius = WAIST + s * (HEM - WAIST);
        // As wide as it can be without being taut in either direction.
        let down = s * (LENGTH * LENGTH - (HEM - WAIST).powi(2)).sqrt();
        [radius * cos, HIPS + ABOVE - down, radius * sin]
    };
    let vertices: Vec<[f64; 3]> = (0..=ROWS).flat_map(|j| (0..AROUND).map(move |i| place(i, j))).collect();
    let at = |i: u32, j: u32| j * AROUND + i % AROUND;
    let quads = (0..ROWS).flat_map(|j| (0..AROUND).map(move |i| (i, j)));
    let triangles = quads.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
        if (i + j) % 2 == 0 { [[a, c, b], [a, d, c]] } else { [[a, d, b], [d, c, b]] }
    });
    let mesh = Mesh::new(&vertices, &triangles.collect::<Vec<_>>())?;
    let fabric =
        Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).damping(1e-4).bend_damping(1e-4);
    let fabric = fabric.stretch(200.0).shear(80.0).bend(1e-5).density(0.2).thickness(4e-3).friction(0.2);
    let mut skirt = AviCloth::new("skirt", mesh, fabric)?;
    skirt.pin_along("waist", &(0..AROUND).collect::<Vec<u32>>(), |t| Gait::at(t).waist())?;
    Ok(skirt)
}

/// Where the walk has come to.
struct Gait {
    /// Of the way `[m]`.
    way: f64,
    /// Its speed `[m/s]`.
    speed: f64,
    /// Of the left leg, and how wide legs swing: 0 in standing, 1 in walking.
    phase: f64,
    swing: f64,
}

impl Gait {
    fn at(t: f64) -> Self {
        // From 0 to 1 within the ease, its slope and integral.
        let ease = |t: f64| {
            let s = (t / EASE).clamp(0.0, 1.0);
            let rest = (t - EASE).max(0.0);
            (s * s * (3.0 - 2.0 * s), EASE * (s.powi(3) - 0.5 * s.powi(4)) + rest)
        };
        let ((begun, gone), (ended, back)) = (ease(t - WALK[0]), ease(t - WALK[1]));
        let (swing, walked) = (begun - ended, gone - back);
        Self { way: SPEED * walked, speed: SPEED * swing, phase: TAU * STRIDES * walked, swing }
    }

    /// Of the hips' middle, which go a little up and down.
    fn middle(&self) -> V3 {
        V3::new(0.0, HIPS - 0.01 * self.swing * (1.0 + (2.0 * self.phase).cos()), self.way)
    }

    /// So far above the hips' middle.
    fn above(&self, height: f64) -> Pose {
        Pose::at((self.middle() + height * V3::y()).into())
    }

    fn waist(&self) -> HandleState {
        // Level, however the hips go up and down in it.
        HandleState::point(V3::new(0.0, 0.0, self.way), V3::new(0.0, 0.0, self.speed))
    }

    /// Thigh (0) or shin (1) of the left (-1) or right leg.
    fn bone(&self, side: f64, part: usize) -> Pose {
        let phase = if side < 0.0 { self.phase } else { self.phase + PI };
        let hip = self.middle() + V3::new(side * WIDTH, -0.03, 0.0);
        // Forwards is +z; knees bend backwards, most when the leg comes to the front.
        let thigh = self.swing * (0.08 + 0.42 * phase.sin());
        let knee = self.swing * 0.45 * (1.0 + (phase - 0.2).cos());
        let direction = |angle: f64| V3::new(0.0, -angle.cos(), angle.sin());
        let (upper, lower) = (direction(thigh), direction(thigh - knee));
        let joint = hip + LENGTHS[0] * upper;
        let (middle, along) =
            if part == 0 { (hip + 0.5 * LENGTHS[0] * upper, upper) } else { (joint + 0.5 * LENGTHS[1] * lower, lower) };
        // The capsule's axis is its x.
        let turn = UnitQuaternion::rotation_between(&V3::x(), &along).unwrap_or_default();
        let (axis, angle) = turn.axis_angle().map_or(([1.0, 0.0, 0.0], 0.0), |(axis, angle)| ((*axis).into(), angle));
        Pose::at(middle.into()).turned(axis, angle)
    }
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.3, 0.0, -0.3], [0.3, 1.6, 3.0]]).from_direction([1.0, 0.15, 0.3]);
    Scenery::new(camera)
        .ground(0.0)
        .look("figure", Look::plain(Colour::STEEL))
        .look("skirt", Look::plain(Colour::SIGNAL))
        .still(2.0)
}
