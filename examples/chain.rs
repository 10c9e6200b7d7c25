//! You will see three triangles hang from a bar and swing, each by its own clock, and in `chain.svg` when each had its turns.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, figure 3.
//!
//! The paper's chain has three elements in a line; here they are triangles of very different sizes, that share two corners with the next.
//! Each takes as long from event to event as its fastest mode allows, here whether it is stretched or not, and a corner is where its last
//! event left it, until the next event of any triangle around it.

use std::{fmt::Write as _, process::ExitCode};

use clap::Parser;
use partita::{avi_cloth::Membrane, prelude::*};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type Failure = Box<dyn std::error::Error>;

const RATE: f64 = 120.0;

/// Of the picture of events: how much of the begin it shows `[s]`, and its size in points.
const SHOWN: f64 = 0.05;
const SIZE: [f64; 2] = [900.0, 260.0];

/// Of the elements.
const COLOURS: [&str; 3] = ["#c8553d", "#3d7ea6", "#5b8c5a"];

#[derive(Parser)]
#[command(about = "Three triangles with three clocks")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("chain", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 0.5);

    let vertices = [[-0.3, 0.0, 0.0], [0.3, 0.0, 0.0], [0.05, -0.5, 0.0], [0.16, -0.38, 0.0], [0.12, -0.62, 0.0]];
    let mesh = Mesh::new(&vertices, &[[0, 2, 1], [1, 2, 3], [2, 4, 3]])?;
    let fabric = Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).undamped();
    let fabric = fabric.stretch(300.0).shear(150.0).bend(1e-3).density(0.5);
    let mut chain = AviCloth::new("chain", mesh, fabric)?.limit(None);
    chain.pin(&[0, 1])?;
    chain.record_events();
    let velocities = vertices.map(|x| [0.0, 0.0, -2.0 * x[1]]);
    let spans = chain.spans().to_vec();
    let chain = chain.with_velocities(&velocities)?.with_spans(&spans)?;

    let mut scene = Scene::new(Rate::hz(RATE));
    scene.add(chain);
    let mut run = scene.build()?;
    let energy = |run: &mut Run| -> Result<f64, Failure> {
        let ledger = run.simulator_ledger("chain")?.ok_or("cloth has a ledger")?;
        Ok(ledger.kinetic + ledger.potential)
    };
    let (start, mut events, mut counts) = (energy(&mut run)?, vec![], [0_u64; 3]);
    let mut off = 0.0_f64;
    let recording = report.record_each(&mut run, seconds, scenery(), |run| {
        let new = run.look("chain", |chain: &AviCloth| chain.events().to_vec())?;
        new.iter().for_each(|(_, element)| counts[*element as usize] += 1);
        events.extend(new.into_iter().filter(|(time, _)| *time <= SHOWN));
        off = off.max((energy(run)? - start).abs());
        Ok("")
    })?;

    report::write_atomically(&report.path("svg"), picture(&events, &spans).as_bytes())?;
    for ((count, span), element) in counts.into_iter().zip(&spans).zip(1..) {
        report.figure(&format!("span of element {element} [ms]"), 1e3 * span);
        // One more or less where rounding puts the last at the end or behind it.
        let expected = (run.time() / span).floor();
        report.check(
            &format!("events of element {element}"),
            count as f64,
            Bound::within(expected - 1.0, expected + 1.0),
            "",
        );
    }
    report.check("energy, farthest from the start", off / start.abs(), Bound::at_most(0.01), "of it");
    report.note(format!("when each element had its turns: {}", report.path("svg").display()));
    report.note(run.report());
    Ok(recording)
}

/// Events over time, a line an element, as SVG.
fn picture(events: &[(f64, u32)], spans: &[f64]) -> String {
    let [width, height] = SIZE;
    let (left, right, top) = (150.0, 20.0, 30.0);
    let x = |time: f64| left + (width - left - right) * time / SHOWN;
    let lane = |element: u32| top + 55.0 * f64::from(element);
    let mut svg = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| {
        // A string takes all.
        let _ = writeln!(svg, "{text}");
    };
    line(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">"
    ));
    line(format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"));
    for ((element, span), colour) in (0..).zip(spans).zip(COLOURS) {
        let (y, count) = (lane(element), events.iter().filter(|event| event.1 == element).count());
        line(format_args!("<text x=\"10\" y=\"{}\" fill=\"{colour}\">element {}</text>", y + 14.0, element + 1));
        line(format_args!(
            "<text x=\"10\" y=\"{}\" fill=\"#555\">{:.2} ms, {count} events</text>",
            y + 31.0,
            1e3 * span
        ));
        for (time, _) in events.iter().filter(|event| event.1 == element) {
            line(format_args!(
                "<rect x=\"{:.2}\" y=\"{y}\" width=\"2\" height=\"36\" fill=\"{colour}\"/>",
                x(*time) - 1.0
            ));
        }
    }
    let axis = lane(3);
    line(format_args!("<path d=\"M{} {axis}H{}\" stroke=\"#555\"/>", x(0.0), x(SHOWN)));
    for k in 0..=5 {
        let time = SHOWN * f64::from(k) / 5.0;
        line(format_args!("<path d=\"M{:.2} {axis}v5\" stroke=\"#555\"/>", x(time)));
        line(format_args!(
            "<text x=\"{:.2}\" y=\"{}\" fill=\"#555\" text-anchor=\"middle\">{:.0} ms</text>",
            x(time),
            axis + 22.0,
            1e3 * time
        ));
    }
    line(format_args!("</svg>"));
    svg
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.3, -0.62, -0.3], [0.3, 0.0, 0.3]]).from_direction([-0.8, 0.2, 1.0]);
    Scenery::new(camera).look("chain", Look::plain(Colour::SIGNAL))
}
