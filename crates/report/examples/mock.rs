//! A jet of drops knocks a wall of crates over: no physics, but every kind of thing a picture can show.

use std::f64::consts::TAU;
use std::process::ExitCode;

use nalgebra::{UnitQuaternion, Vector3};
use partita_report::{Bound, Camera, Colour, Drawing, Film, FilmSettings, Look, Options, Report, Shape};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let options = Options::parse();
    let mut report = Report::new("mock", &options)?;
    let seconds = options.seconds_or(4.0, 0.5);

    let camera = Camera::framing([[-2.6, 0.0, -1.4], [2.4, 2.2, 1.6]]).from_direction([0.45, 0.32, 1.0]);
    let mut film = Film::new(FilmSettings::default(), camera)?;
    let bar = report.progress(seconds);
    let begin = std::time::Instant::now();
    let mut drawn = 0;
    for step in 0.. {
        let time = f64::from(step) / 240.0;
        if time > seconds {
            break;
        }
        bar.update(time, "");
        if film.is_due(time) {
            let drawing = scene(time)?;
            film.frame(&drawing)?;
            drawn += 1;
        }
    }
    bar.finish();

    report.check("frames", f64::from(drawn), Bound::at_least(1.0), "");
    report.figure("ms a frame", 1e3 * begin.elapsed().as_secs_f64() / f64::from(drawn));
    Ok(report.finish(film))
}

fn scene(time: f64) -> Result<Drawing, Box<dyn std::error::Error>> {
    let mut drawing = Drawing::on_ground(0.0);
    let half = 0.2;
    let wood = Shape::cuboid([2.0 * half; 3])?;

    // Rows of 8, 7, 6, 5 and 4 crates; from the top down they fly off, turning.
    let mut number = 0;
    for row in 0..5 {
        for k in 0..8 - row {
            number += 1;
            let start = Vector3::new(f64::from(2 * k + row) * 0.215 - 1.5, half * f64::from(2 * row + 1) * 1.004, 0.0);
            let flying = (time - 0.9 - 0.12 * f64::from(k + 2 * (4 - row))).max(0.0);
            let side = (f64::from(number) * 1.7).sin();
            let velocity = Vector3::new(1.2 + 0.4 * side, 1.0 + 0.3 * f64::from(row), 0.9 * side);
            let mut position = start + flying * velocity - Vector3::y() * 4.9 * flying * flying;
            let spin = Vector3::new(1.1 * side, 0.7, -1.9) * flying.min(0.7);
            let turn = UnitQuaternion::from_scaled_axis(spin);
            // Resting on the lowest corner.
            let reach = (turn * Vector3::y()).abs().sum() * half;
            position.y = position.y.max(if flying > 0.0 { reach } else { half });
            let [x, y, z, w] = turn.coords.into();
            drawing.body(&wood, position.into(), [x, y, z, w], Look::crate_wood(number as u64));
        }
    }

    let drops: Vec<[f64; 3]> = (0..5000)
        .map(|i| (f64::from(i) / 1500.0, TAU * (f64::from(i) * 0.618).fract(), (f64::from(i) * 0.754_877).fract()))
        .filter(|(begin, _, _)| time > *begin)
        .map(|(begin, angle, spread)| {
            let t = time - begin;
            let (sin, cos) = angle.sin_cos();
            let out = 0.06 * spread.sqrt();
            let (mut x, mut y, z) =
                (4.5 * t - 2.5, 1.1 + (1.5 + out * sin) * t - 4.9 * t * t + out * sin, out * cos * (1.0 + t));
            let wall = -1.5;
            if x > wall && t < 2.0 {
                (x, y) = (wall - 0.9 * (x - wall) * spread, y - 0.2 * (x - wall));
            }
            [x, y.max(0.02), z * (1.0 + 3.0 * (x - wall).abs())]
        })
        .collect();
    drawing.points(&drops, 0.018, Look::plain(Colour::WATER).gloss(0.5));
    Ok(drawing)
}
