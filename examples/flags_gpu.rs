//! You will see a wall of twelve flags in gusts of wind, all of them one net on a device, or on the CPU where there is none.
//!
//! \[BBD09\] D. Bayer, J. Bender, R. Diziol: Impulse-based dynamic simulation on the GPU. CGVCVIP 2009, section 5: many pieces of cloth are
//! corrected together, since no link joins two of them.
//!
//! Wind is pushed in from outside, as a user would: on each triangle the dynamic pressure of the wind through it, along its normal.

/// Cloth on a device, or on the CPU.
mod device;

use std::{f64::consts::TAU, process::ExitCode};

use clap::Parser;
use device::{Added, Failure, add, cloth, look, stretch};
use nalgebra::Vector3;
use partita::prelude::*;
use partita_mesh::{Mesh, Side};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Flags across and up, how far apart they are `[m]`, cells of one, its size `[m]` and its mass `[kg]`.
const FLAGS: [u32; 2] = [4, 3];
const APART: [f64; 2] = [1.1, 0.75];
const CELLS: [u32; 2] = [24, 16];
const SIZE: [f64; 2] = [0.9, 0.6];
const MASS: f64 = 0.08;

/// Speed of the wind `[m/s]`, how much of that gusts are, and the density of air `[kg/m³]`.
const WIND: f64 = 7.0;
const GUSTS: f64 = 0.4;
const AIR: f64 = 1.2;

const RATE: f64 = 120.0;

#[derive(Parser)]
#[command(about = "A wall of flags in wind, on a device or on the CPU")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("flags_gpu", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(6.0, 0.25);
    let (net, poles) = wall()?;
    let mut scene = Scene::new(Rate::hz(RATE));
    let Added { on_device, particles } = add(&mut scene, "flags", net, &poles, 2)?;
    let mut run = scene.build()?;

    let mut longest = 0.0_f64;
    // The wind pushes for one window at a time.
    let mut blow = |run: &mut Run| -> Result<&str, Failure> {
        let time = run.time();
        let (forces, stretched) =
            look(run, "flags", on_device, move |net, x, v| (wind(net, x, v, time), stretch(net, x)))?;
        longest = longest.max(stretched);
        for (handle, force) in particles.iter().zip(forces) {
            run.push(*handle, Wrench::force(<[f64; 3]>::from(force)))?;
        }
        Ok("")
    };
    blow(&mut run)?;
    let recording = report.record_each(&mut run, seconds, scenery(), blow)?;

    report.check("longest link, too long by", longest, Bound::at_most(0.0101), "-");
    if seconds >= 2.0 {
        let blown = look(&mut run, "flags", on_device, |_, x, _| blown(x))?;
        report.check("how far the end of the least flag is blown", blown, Bound::at_least(0.3 * SIZE[0]), "m");
    }
    for (name, seconds) in run.report().simulators {
        report.figure(&format!("ms a window, {name}"), 1e3 * seconds / run.windows() as f64);
    }
    report.note(run.report());
    Ok(recording)
}

/// All flags as one net, and the particles at their poles.
fn wall() -> Result<(Net, Vec<u32>), Failure> {
    let one = Mesh::grid(CELLS, SIZE)?;
    let pole = one.edge(Side::Left)?;
    let (mut vertices, mut triangles, mut poles) = (vec![], vec![], vec![]);
    for flag in 0..FLAGS[0] * FLAGS[1] {
        let first = vertices.len() as u32;
        let [across, up] = [flag % FLAGS[0], flag / FLAGS[0]].map(f64::from);
        vertices.extend(one.vertices().iter().map(|x| [x.x + APART[0] * across, x.y + APART[1] * up, x.z]));
        triangles.extend(one.triangles().iter().map(|t| t.map(|v| v + first)));
        poles.extend(pole.iter().map(|v| v + first));
    }
    let mesh = Mesh::new(&vertices, &triangles)?;
    Ok((cloth(&mesh, CELLS[0] + 1, MASS / one.vertices().len() as f64)?, poles))
}

/// Force of the wind on each particle, a third of that on each of its triangles `[N]`.
fn wind(net: &Net, positions: &[V3], velocities: &[V3], time: f64) -> Vec<V3> {
    let mut forces = vec![V3::zeros(); positions.len()];
    for triangle in net.skin() {
        let [a, b, c] = triangle.map(|v| positions[v as usize]);
        let mean: V3 = triangle.iter().map(|v| velocities[*v as usize]).sum::<V3>() / 3.0;
        let through = air((a + b + c) / 3.0, time) - mean;
        let twice_area = (b - a).cross(&(c - a));
        let n = twice_area.normalize();
        let rate = through.dot(&n);
        let force = 0.5 * AIR * 0.5 * twice_area.norm() * rate.abs() * rate * n;
        triangle.iter().for_each(|v| forces[*v as usize] += force / 3.0);
    }
    forces
}

/// The wind at a place `[m/s]`: along x, with gusts that come with it and sway it.
fn air(x: V3, time: f64) -> V3 {
    let phase = TAU * (0.45 * (WIND * time - x.x) / SIZE[0]);
    let gust = GUSTS * WIND;
    let sway = (phase + 1.3 * x.y).sin() + 0.5 * (1.7 * phase - 2.1 * x.y).sin();
    V3::new(WIND + 0.5 * gust * (0.31 * phase).sin(), 0.3 * gust * (0.7 * phase + x.y).cos(), gust * sway)
}

/// How far from its pole the flying end is of the flag of which that is nearest `[m]`.
fn blown(positions: &[V3]) -> f64 {
    let one = positions.len() / (FLAGS[0] * FLAGS[1]) as usize;
    let of = |flag: &[V3]| {
        let far = flag.iter().map(|x| x.x).fold(f64::NEG_INFINITY, f64::max);
        far - flag.iter().map(|x| x.x).fold(f64::INFINITY, f64::min)
    };
    positions.chunks(one).map(of).fold(f64::INFINITY, f64::min)
}

fn scenery() -> Scenery {
    let [across, up] = [0, 1].map(|axis| APART[axis] * f64::from(FLAGS[axis] - 1) + SIZE[axis]);
    let camera = Camera::framing([[0.0, -0.45, -0.4], [across, up, 0.4]]).from_direction([0.25, 0.15, 1.0]);
    Scenery::new(camera).look("flags", Look::plain(Colour::SIGNAL)).still(3.0)
}
