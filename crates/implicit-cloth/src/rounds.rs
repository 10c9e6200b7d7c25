//! A linear step with contacts, which are not linear: solved in rounds, until they hold as they turn out to.
//!
//! \[EW96\] S. Eisenstat, H. Walker: Choosing the Forcing Terms in an Inexact Newton Method. SIAM J. Sci. Comput. 17, 1996.
//!
//! What a step of velocities Δ costs is the potential ½ Δ·A₀ Δ - b₀·Δ and that of contacts, which is convex as long as none opens or
//! closes and friction goes by how hard each was pushed before. Newton's steps alone go to and fro between what sticks, slips and
//! lifts; they end if none goes farther than the potential falls.

use nalgebra::Vector3;

use partita_simulator::StageClock;

use crate::{
    Preconditioner,
    blocks::Blocks,
    integrate::{Ended, Memory, Problem, Scheme},
    links::Link,
    solve::{System, dot},
    state::State,
};

type V3 = Vector3<f64>;

/// Solves of a linear step, until contacts hold as they turn out to: of cloth with cells of a tenth of its radius that slides
/// around a bar, 8 leave friction unsettled, and it slides up to a fifth too little.
const ROUNDS: u32 = 12;

/// What is left over of a solve at most, relative to its begin [-].
const FORCING: f64 = 0.1;

/// Contacts hold if they leave no more than so many times what solves may leave over [-].
pub(crate) const HOLDS: f64 = 3.0;

/// Friction follows normal forces where a solve leaves no more than so many times what it may leave over [-].
const EXACT: f64 = 10.0;

/// On the way back from a solution, the slope is small by that share of the first [-], or after so many halves.
const SLOPE: f64 = 0.1;
const HALVES: u32 = 12;

/// Solves for the change of velocities, again until contacts hold as they turn out to: Newton's steps, each solved as exactly
/// as contacts turned out as thought (\[EW96\] eq. 2.2), and going no farther than the potential falls. If [`Scheme::turns`] is set, contacts
/// take the normals of where the first round ends.
pub(crate) fn solve(
    problem: &Problem<'_>,
    matrix: &mut Blocks,
    memory: &mut Memory,
    links: &mut [Link],
    scheme: &Scheme,
    ended: &mut Ended,
    clock: &mut StageClock,
) {
    let &Problem { sheet, parameters, state, .. } = problem;
    let n = sheet.masses.len();
    memory.before.clear();
    memory.plain.clone_from(&memory.b);
    let (mut scale, mut noise, mut thought): (f64, f64, [f64; 2]) = (0.0, 0.0, [0.0; 2]);
    for round in 1..=ROUNDS {
        add_links(matrix, memory, state, links, scheme);
        let Memory { solver, b, change, guess, couplings, impulses, spills, .. } = memory;
        let system = System { matrix, couplings };
        // Where that is cheap beside a solve, it follows contacts: half as many iterations where cloth lies on a box.
        if round == 1 || parameters.preconditioner != Preconditioner::Cholesky {
            clock.lap(stage(round));
            solver.prepare(matrix, problem.constraints, parameters.preconditioner);
            clock.lap("factorise");
        }
        if round == 1 {
            let weights = solver.measure(problem.weights(scheme.h));
            scale = solver.scale(&system, b, change).max(weights).max(ended.scale);
            ended.scale = scale;
            // Without gravity what is in balance would be solved for what rounding leaves.
            noise = if weights == 0.0 { solver.measure(problem.rounding(scheme.h)) } else { 0.0 };
        }
        guess.clone_from(change);
        let begun = solver.start(&system, b, change);
        let forcing = match round {
            1 if !links.is_empty() => FORCING,
            1 | ROUNDS => 0.0,
            _ => ((begun.sqrt() - thought[1].sqrt()).abs() / thought[0].sqrt()).min(FORCING),
        };
        let enough = (parameters.tolerance * parameters.tolerance * scale).max(noise);
        let solved =
            solver.solve(&system, change, begun, enough.max(forcing * forcing * begun), parameters.max_iterations);
        thought = [begun, solved.left];
        ended.iterations += solved.iterations;
        let of_scale = |square: f64| if square > noise { (square / scale).sqrt() } else { 0.0 };
        ended.error = of_scale(solved.left);
        // Of what is given, and what the solver left over: A Δ - b (PD97, section 4.3).
        impulses.resize(n, V3::zeros());
        system.product(change, impulses, spills);
        impulses.iter_mut().zip(b).for_each(|(impulse, b)| *impulse -= *b);

        let holds = links.is_empty() || round > 1 && solved.left <= enough && begun <= HOLDS * HOLDS * enough;
        if !holds && (2..ROUNDS).contains(&round) {
            go_back(matrix, memory, state, links, scheme);
        }
        for link in links.iter_mut() {
            let mut way = scheme.way_after(link, memory, state, &memory.change);
            link.begun = link.force_after(&scheme.way(link, memory, state));
            link.force = link.force_after(&way);
            if round == 1 && scheme.turns {
                link.turn(problem.contacts, |v| scheme.displacement(v, memory, state), scheme.part());
                way = scheme.way_after(link, memory, state, &memory.change);
            }
            if round < ROUNDS {
                link.turn_out(&way, scheme.h, round + 1 == ROUNDS, solved.left < EXACT * EXACT * enough);
            }
        }
        clock.lap(stage(round));
        if holds {
            break;
        }
        ended.contacts = if round == ROUNDS { of_scale(begun) } else { 0.0 };
    }
}

/// Of which stage the time until the end of a round is.
fn stage(round: u32) -> &'static str {
    if round <= 1 { "solve" } else { "contact rounds" }
}

/// Goes back from a solution towards the guess, to where the potential is lowest on the way between them, with contacts as they
/// turn out. Its slope along s, which need only change its sign, is
///
///   p·(A₀ (g + s p) - b₀) - Σ h c p·f(way at g + s p),   A₀ = A - h² Σ c² K,
///
/// where p leads from the guess g to the solution, f is what a contact does, and K what the matrix takes it for.
fn go_back(matrix: &Blocks, memory: &mut Memory, state: &State, links: &[Link], scheme: &Scheme) {
    let (n, h) = (state.positions.len(), scheme.h);
    let mut ways = std::mem::take(&mut memory.ways);
    let Memory { change, impulses, guess, trial, image, spills, couplings, .. } = &mut *memory;
    trial.clear();
    trial.extend(change.iter().zip(guess.iter()).map(|(change, guess)| change - guess));
    image.resize(n, V3::zeros());
    System { matrix, couplings }.product(trial, image, spills);
    let mut curvature = dot(trial, image);
    let mut slope = dot(trial, impulses) - curvature;
    ways.clear();
    for link in links {
        let way = h * link.sum(|v| memory.trial[v], n);
        let from = scheme.way_after(link, memory, state, &memory.guess);
        curvature -= way.dot(&(link.matrix() * way));
        slope += way.dot(&link.force_after(&from));
        ways.push([from, way]);
    }
    let slope_at = |s: f64| {
        let contacts = links.iter().zip(&ways).map(|(link, [from, way])| way.dot(&link.force_at(&(from + s * way), h)));
        slope + s * curvature - contacts.sum::<f64>()
    };
    let (first, mut between, mut s) = (slope_at(0.0), [0.0, 1.0], 1.0);
    let mut here = slope_at(s);
    for _ in 0..HALVES {
        if here.abs() <= SLOPE * first.abs() || s == 1.0 && here < 0.0 {
            break;
        }
        between[usize::from(here > 0.0)] = s;
        s = 0.5 * (between[0] + between[1]);
        here = slope_at(s);
    }
    memory.ways = ways;
    memory.change.iter_mut().zip(&memory.trial).for_each(|(change, whole)| *change -= (1.0 - s) * whole);
}

/// Adds contacts that are closed, in place of those that were.
fn add_links(matrix: &mut Blocks, memory: &mut Memory, state: &State, links: &[Link], scheme: &Scheme) {
    let (n, h) = (state.positions.len(), scheme.h);
    memory.b.clone_from(&memory.plain);
    memory.before.drain(..).rev().for_each(|(place, block)| matrix.values()[place as usize] = block);
    memory.couplings.clear();
    for link in links.iter().filter(|link| link.is_closed()) {
        let way = scheme.way(link, memory, state);
        let (force, block) = (link.force_after(&way), h * h * link.matrix());
        for (i, c) in link.parts(n) {
            memory.b[i] += h * c * force;
            for (j, d) in link.parts(n) {
                // Of each pair once, for the lower triangle.
                if i < j {
                    continue;
                }
                let part = c * d * block;
                if let Some(place) = matrix.place(i as u32, j as u32) {
                    let own = &mut matrix.values()[place as usize];
                    memory.before.push((place, *own));
                    *own += part;
                } else {
                    memory.couplings.push(([i as u32, j as u32], part));
                }
            }
        }
    }
}
