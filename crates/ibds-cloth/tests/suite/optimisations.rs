//! What spares Gauss-Seidel work leaves its result as it is ([BDB09] section 4; row I11).

use nalgebra::Vector3;
use partita_ibds_cloth::{Counts, IbdsCloth, LinkKind, Net, Optimisations, Solver};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Outcome, Simulator};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const G: f64 = 9.81;
const NONE: Optimisations = Optimisations::NONE;

/// A sheet without diagonals, with bars, ropes and struts, links twice and in either direction, masses apart by 100, pinned and thrown
/// about.
fn net(struts: &[[u32; 2]]) -> (Net, Vec<[f64; 3]>) {
    let mesh = Mesh::grid([5, 4], [0.5, 0.4]).unwrap();
    let masses: Vec<f64> = (0..30).map(|k| 0.01 * 100.0_f64.powf(0.5 + 0.5 * f64::from(7 * k).sin())).collect();
    let ends = |back: bool| {
        mesh.edges().iter().map(move |edge| edge.vertices).map(move |[i, j]| if back { [j, i] } else { [i, j] })
    };
    let net = Net::new(&mesh.positions(), &masses).unwrap();
    let net = net.bars(ends(false).step_by(2)).unwrap().bars(ends(true).skip(1).step_by(2)).unwrap();
    let net = net.bars(ends(true).step_by(5)).unwrap().ropes([[0, 29], [7, 22], [3, 18]]).unwrap();
    let net = net.struts(struts.iter().copied(), 0.141).unwrap();
    let velocity = |k: u32| [0.3 * f64::from(k).sin(), 0.2 * f64::from(3 * k).cos(), f64::from(k * k).sin()];
    (net.retain_links(|link| link.rest_length < 0.11 || link.kind == LinkKind::Rope), (0..30).map(velocity).collect())
}

const STRUTS: &[[u32; 2]] = &[[8, 15], [22, 15], [9, 14], [20, 27]];

fn cloth(struts: &[[u32; 2]], with: Optimisations, extensibility: f64) -> IbdsCloth {
    let (net, velocities) = net(struts);
    let mut cloth = IbdsCloth::new("net", net).unwrap().with_velocities(&velocities).unwrap();
    cloth.pin(&[0, 1, 6]).unwrap();
    cloth
        .solver(Solver::GaussSeidel(with))
        .extensibility(extensibility)
        .strut_tolerance(extensibility)
        .max_iterations(100_000)
}

/// Places after a step, and what that took.
fn after_a_step(with: Optimisations, extensibility: f64) -> (Vec<V3>, Counts) {
    after_a_step_of(STRUTS, H, with, extensibility)
}

fn after_a_step_of(struts: &[[u32; 2]], h: f64, with: Optimisations, extensibility: f64) -> (Vec<V3>, Counts) {
    let mut cloth = cloth(struts, with, extensibility);
    assert_eq!(cloth.step(h, Inputs::NONE).unwrap().outcome, Outcome::Converged, "{with:?}");
    assert!(cloth.stretch() <= extensibility * (1.0 + 1e-9), "{with:?}: {}", cloth.stretch());
    (cloth.positions().to_vec(), cloth.counts())
}

fn apart(a: &[V3], b: &[V3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Each link in turn, by directions that are taken once an iteration: written down anew, to be compared with.
fn once_an_iteration(extensibility: f64) -> Vec<V3> {
    let cloth = cloth(STRUTS, NONE, extensibility);
    let net = cloth.net();
    let w: Vec<f64> = (0..30).map(|k| if [0, 1, 6].contains(&k) { 0.0 } else { 1.0 / net.masses()[k] }).collect();
    let gravity = |k: usize| if w[k] > 0.0 { -H * G * V3::y() } else { V3::zeros() };
    let speed = |k: usize| if w[k] > 0.0 { cloth.velocities()[k] } else { V3::zeros() };
    let mut y: Vec<V3> = (0..30).map(|k| net.positions()[k] + H * (speed(k) + gravity(k))).collect();
    // Ends, lengths, and where errors do nothing.
    let all = net
        .links()
        .iter()
        .map(|link| (link.particles, link.rest_length, (link.kind == LinkKind::Rope).then_some(-1.0)));
    let all: Vec<_> =
        all.chain(net.all_struts().iter().map(|strut| (strut.particles, strut.distance, Some(1.0)))).collect();
    loop {
        let ends: Vec<[usize; 2]> = all.iter().map(|(ends, ..)| ends.map(|k| k as usize)).collect();
        let n: Vec<V3> = ends.iter().map(|[i, j]| (y[*j] - y[*i]).normalize()).collect();
        let mut corrections = 0;
        for (((_, length, slack), [i, j]), n) in all.iter().zip(ends).zip(n) {
            let e = n.dot(&(y[j] - y[i])) - length;
            let is_slack = slack.is_some_and(|side| side * e >= 0.0);
            if is_slack || e.abs() <= extensibility * length || w[i] + w[j] == 0.0 {
                continue;
            }
            let pull = e / (w[i] + w[j]) * n;
            y[i] += w[i] * pull;
            y[j] -= w[j] * pull;
            corrections += 1;
        }
        if corrections == 0 {
            return y;
        }
    }
}

/// What is skipped would not have been corrected: the same bits, with fewer visits.
#[test]
fn skipping_changes_no_bit() {
    for (anticipation, kept_directions) in [(false, false), (false, true), (true, false), (true, true)] {
        let with = Optimisations { anticipation, kept_directions, ..NONE };
        for extensibility in [1e-2, 1e-4] {
            let (x, counts) = after_a_step(with, extensibility);
            let (y, fewer) = after_a_step(Optimisations { skipping: true, ..with }, extensibility);
            assert_eq!(x, y, "{with:?}");
            assert_eq!(counts.corrections, fewer.corrections);
            assert!(fewer.visits < counts.visits, "{with:?}: {} visits, {} before", fewer.visits, counts.visits);
        }
    }
}

/// Nor does it where a particle has more links than bits.
#[test]
fn skipping_changes_no_bit_of_a_star() {
    let places: Vec<[f64; 3]> = std::iter::once([0.0; 3])
        .chain((0..100).map(|k| [f64::from(k).cos(), f64::from(k).sin(), 0.01 * f64::from(k)]))
        .collect();
    let rim = (1..100).map(|k| [k, k + 1]);
    let net = Net::new(&places, &[0.01; 101]).unwrap().bars((1..=100).map(|k| [0, k])).unwrap().ropes(rim).unwrap();
    let velocities: Vec<[f64; 3]> = (0..101).map(|k| [f64::from(k * k).sin(), f64::from(3 * k).cos(), 0.5]).collect();
    let after = |skipping: bool| {
        let mut star = IbdsCloth::new("star", net.clone()).unwrap().with_velocities(&velocities).unwrap();
        star = star.solver(Solver::GaussSeidel(Optimisations { skipping, ..NONE })).extensibility(1e-4);
        star = star.max_iterations(100_000);
        assert_eq!(star.step(H, Inputs::NONE).unwrap().outcome, Outcome::Converged);
        (star.positions().to_vec(), star.counts().visits)
    };
    let [(x, all), (y, fewer)] = [false, true].map(after);
    assert_eq!(x, y);
    assert!(fewer <= all);
}

/// An error that is anticipated is the one that would be measured: the same places to 1e-9 m as from the loop above, or as from one with
/// directions that stay.
#[test]
fn anticipated_errors_are_those_measured() {
    for extensibility in [1e-2, 1e-4, 1e-6] {
        let anticipated = after_a_step(Optimisations { anticipation: true, ..NONE }, extensibility).0;
        let off = apart(&anticipated, &once_an_iteration(extensibility));
        assert!(off < 1e-9, "{off} m");
        let measured = after_a_step(Optimisations { kept_directions: true, ..NONE }, extensibility).0;
        let anticipated =
            after_a_step(Optimisations { kept_directions: true, anticipation: true, ..NONE }, extensibility).0;
        let off = apart(&anticipated, &measured);
        assert!(off < 1e-9, "{off} m, directions kept");
    }
}

/// Struts have a say in all this.
#[test]
fn struts_matter() {
    let off = apart(&after_a_step(NONE, 1e-4).0, &after_a_step_of(&[], H, NONE, 1e-4).0);
    assert!(off > 1e-3, "{off} m");
}

/// Squares tell the same as roots, but for rounding.
#[test]
fn squares_tell_what_roots_do() {
    for extensibility in [1e-2, 1e-6] {
        let off = apart(
            &after_a_step(Optimisations { squares: true, ..NONE }, extensibility).0,
            &after_a_step(NONE, extensibility).0,
        );
        assert!(off < 1e-9, "{off} m");
    }
}

/// Directions that stay lead elsewhere: corrections of the order of h along directions that turn by the order of h. That falls with the
/// square of the step or faster, as fewer sweeps are made along the first ones, and not with what links may be off by.
#[test]
fn kept_directions_differ_by_the_square_of_the_step() {
    let off = |h: f64| {
        let kept = after_a_step_of(&[], h, Optimisations::ALL, 1e-8).0;
        apart(&kept, &after_a_step_of(&[], h, NONE, 1e-8).0)
    };
    let [long, half, quarter] = [0.5 * H, 0.25 * H, 0.125 * H].map(off);
    for ratio in [long / half, half / quarter] {
        assert!(ratio > 3.3, "{long} m, {half} m, {quarter} m");
    }
}
