//! From one time to the next: implicit integrators as one linear problem, with contact as springs (`links.rs`), for which each is
//! solved in rounds (`rounds.rs`).
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998, section 3.
//! \[CK02\] K.-J. Choi, H.-S. Ko: Stable but Responsive Cloth. SIGGRAPH 2002 (BDF-2).
//! \[VMT05\] P. Volino, N. Magnenat-Thalmann: Implicit Midpoint Integration and Adaptive Damping for Efficient Cloth
//! Simulation. Computer Animation and Virtual Worlds 16, 2005.
//!
//! All of them ask, at some moment of the step, for velocities v with
//!
//!   M (v - v_b) = h f(x_b + h v, v)
//!
//! | integrator        | h    | x_b            | v_b            | end of the step                    |
//! |-------------------|------|----------------|----------------|------------------------------------|
//! | backward Euler    | dt   | x              | v              | v, x + dt v                        |
//! | θ = ½ + damping   | θ dt | x              | v              | v + (v_θ - v)/θ, x + dt v_θ        |
//! | BDF-2, equal dt   | ⅔ dt | (4 x - x₋₁)/3  | (4 v - v₋₁)/3  | v, x_b + h v                       |
//!
//! (θ = ½ is the implicit midpoint). Around x_l and v_l, with K = -∂f/∂x and D = -∂f/∂v, a linear step is
//!
//!   (M + h D + h² K) (v - v_l) = -M (v_l - v_b) + h (f(x_l, v_l) - K (x_b + h v_l - x_l)),
//!
//! with x_l, v_l at the begin of the step (\[BW98\] eq. 18), or repeated where the last one ended, until nothing changes (Newton),
//! no farther than the potential ½ (v - v_b)·M (v - v_b) + E(x_b + h v) + ½ h v·D v
//! and that of contacts falls.

use nalgebra::{Matrix3, Vector3};
use partita_contact::Contacts;
use partita_simulator::StageClock;

use crate::{
    Fabric, Integrator, Parameters,
    assembly::Forces,
    blocks::{Blocks, Spills},
    links::Link,
    rounds::solve,
    sheet::Sheet,
    solve::{Constraint, Coupling, Solver},
    state::State,
};

type V3 = Vector3<f64>;

/// Newton steps after which it stops anyway.
const NEWTON: u32 = 50;

/// Change of velocities that rounding of positions makes, relative to the largest coordinate over the time step [-]:
/// Newton's method comes no closer. A few roundings.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Newton steps that damping follows. Each makes a potential fall, but with damping that is another one each time, which need not end; with
/// damping that stays, it does. What takes longer ends with damping around where that Newton step began.
const FOLLOWS: u32 = 10;

/// Newton steps of what only has to end no higher than standing still, which each of them does.
const LOWER: u32 = 4;

/// Where the normal of a contact turns by a larger sine in a step, forces are linearised again at its end [-]. Cloth that turns by α
/// stretches by α²/2, which a linear step does not see: 2e-4 here, as much as cotton stretches under a load of 0.4 N/m.
const TURNED: f64 = 0.02;

/// What is to advance, by how much, what of its velocities is given, and which external forces act.
pub(crate) struct Problem<'a> {
    pub sheet: &'a Sheet,
    pub parameters: &'a Parameters,
    pub state: &'a State,
    /// `[s]`
    pub dt: f64,
    pub constraints: &'a [Constraint],
    /// Velocities over the step where they are given `[m/s]`.
    pub targets: &'a [V3],
    /// Loads and gravity `[N]`.
    pub forces: &'a [V3],
    /// As [`Contacts::find_near`] left it.
    pub contacts: &'a Contacts,
}

impl Problem<'_> {
    /// What gravity gives in `h` `[N s]`: what solutions are measured against at least, or what is in balance would be solved for
    /// what rounding leaves.
    pub fn weights(&self, h: f64) -> impl Iterator<Item = V3> {
        let g = V3::from(self.parameters.gravity);
        self.sheet.masses.iter().map(move |m| h * *m * g)
    }

    /// Impulses of elastic forces over `h` by rounding of positions alone `[N s]`: no solution is more exact.
    pub fn rounding(&self, h: f64) -> impl Iterator<Item = V3> {
        let reach = self.state.positions.iter().fold(0.0, |reach: f64, x| reach.max(x.amax()));
        (0..self.sheet.masses.len()).map(move |k| V3::repeat(h * self.sheet.rounding(k, reach)))
    }
}

/// Memory of a step.
#[derive(Default)]
pub(crate) struct Memory {
    pub solver: Solver,
    forces: Vec<V3>,
    way: Vec<V3>,
    pub b: Vec<V3>,
    pub change: Vec<V3>,
    base: [Vec<V3>; 2],
    stage: Vec<V3>,
    at: Vec<V3>,
    middle: Vec<V3>,
    spare: Vec<V3>,
    targets: Vec<V3>,
    /// What contacts couple where the matrix has no room.
    pub couplings: Vec<Coupling>,
    /// Blocks of the matrix as they were before contacts were added, and the right-hand side without contacts.
    pub before: Vec<(u32, Matrix3<f64>)>,
    pub plain: Vec<V3>,
    pub spills: Spills,
    pub trial: Vec<V3>,
    /// What a round of solves begins with, and what the matrix makes of the way from there; of contacts, the way until there and
    /// from there.
    pub guess: Vec<V3>,
    pub image: Vec<V3>,
    pub ways: Vec<[V3; 2]>,
    /// Where and how fast vertices end, and the impulses that what is given took `[N s]`.
    pub x: Vec<V3>,
    pub v: Vec<V3>,
    pub impulses: Vec<V3>,
    /// Forces other than elastic ones, by vertex `[N]`; in the end the impulses that they gave in the time of the step `[N s]`.
    pub acted: Vec<V3>,
    /// What a method over two steps carries on from the one before `[N s]`.
    pub carried: Vec<V3>,
}

/// How the solves of a step ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ended {
    pub iterations: u32,
    /// Left over, relative to the scale, in the preconditioner's norm [-].
    pub error: f64,
    /// What contacts that turned out otherwise in the last round left over, relative to the scale, if they did [-].
    pub contacts: f64,
    /// The largest change of velocity in the last Newton step, and what it should be `[m/s]`; none without Newton.
    pub newton: Option<[f64; 2]>,
    /// Impulses that the last change of velocities leaves unbalanced, since the potential falls along a part of it only, relative
    /// to those of gravity and other forces [-].
    pub unbalanced: f64,
    /// Scale of the first solve, to which errors are relative where a second one follows: that has a small right-hand side.
    pub scale: f64,
}

/// Advances the state to the end in memory.
pub(crate) fn integrate(
    problem: &Problem<'_>,
    matrix: &mut Blocks,
    memory: &mut Memory,
    links: &mut [Link],
    clock: &mut StageClock,
) -> Ended {
    let &Problem { sheet, parameters, state, dt, .. } = problem;
    let (x, v, n) = (&state.positions, &state.velocities, state.positions.len());
    let mut scheme = Scheme::new(parameters.integrator, state, dt, memory);
    let h = scheme.h;

    // What the air does is that of the begin.
    memory.acted.clear();
    memory.acted.extend_from_slice(problem.forces);
    sheet.wind(x, v, dt, parameters, &mut memory.acted);

    memory.stage.clone_from(v);
    memory.at.clone_from(x);
    let mut ended = Ended::default();
    let mut newton =
        matches!(parameters.integrator, Integrator::BackwardEuler | Integrator::Bdf2 | Integrator::Midpoint);
    let to_the_end = newton;
    memory.targets.clear();
    memory.targets.extend((0..n).map(|k| scheme.target(&memory.base[0], problem, k)));
    if newton {
        begin_low(problem, memory, links, &scheme);
    }
    let reach = x.iter().map(V3::amax).fold(0.0, f64::max);
    let (mut step, mut last) = (0, NEWTON);
    while step < last {
        step += 1;
        scheme.turns = step == 1;
        if newton || step > 1 {
            place_at_stage(memory, h);
        }
        if step <= FOLLOWS {
            place_middle(problem, memory, newton || step > 1, h);
        }
        clock.lap("integrate");
        linearise(sheet, parameters, matrix, memory, h);
        clock.lap("assemble");
        begin_solve(problem, memory, links);
        if newton {
            ended.scale = 0.0;
        }
        solve(problem, matrix, memory, links, &scheme, &mut ended, clock);

        let length = if newton { search_line(sheet, &parameters.fabric, memory, state, links, &scheme) } else { 1.0 };
        if length < 1.0 {
            shorten(memory, state, links, &scheme, length);
        }
        memory.stage.iter_mut().zip(&memory.change).for_each(|(v, change)| *v += length * change);
        ended.unbalanced = if length < 1.0 { (1.0 - length) * unbalanced(problem, memory, h) } else { 0.0 };
        if newton {
            let most = memory.change.iter().map(|change| change.norm()).fold(0.0, f64::max);
            let fastest = memory.stage.iter().map(|v| v.norm()).fold(0.0, f64::max);
            let enough = (parameters.tolerance * (parameters.falls(dt) + fastest)).max(ROUNDING * reach / h);
            if to_the_end {
                ended.newton = Some([most, enough]);
            }
            if most <= enough || length == 0.0 {
                break;
            }
        } else if step == 1 && links.iter().any(|link| link.turned() > TURNED) {
            continue;
        } else if begin_low(problem, memory, links, &scheme) {
            (newton, last) = (true, step + LOWER);
        } else {
            break;
        }
    }
    scheme.finish(sheet, memory, state, dt);
    ended
}

/// Right-hand side of the last solve, relative to impulses of gravity and other forces over `h` [-].
fn unbalanced(problem: &Problem<'_>, memory: &mut Memory, h: f64) -> f64 {
    let Memory { solver, b, acted, .. } = memory;
    let left = solver.measure(b.iter().copied());
    let given = solver.measure(acted.iter().map(|f| h * f)).max(solver.measure(problem.weights(h)));
    if given > 0.0 { (left / given).sqrt() } else { 0.0 }
}

/// Where the vertices are at the stage.
fn place_at_stage(memory: &mut Memory, h: f64) {
    let Memory { stage, at, base: [base, _], .. } = memory;
    at.iter_mut().zip(base).zip(stage).for_each(|((at, base), v)| *at = *base + h * *v);
}

/// Where damping acts. A turn has no strain rate half-way; methods of second order need rates where they need all else.
fn place_middle(problem: &Problem<'_>, memory: &mut Memory, at_end: bool, h: f64) {
    let Memory { middle, at, .. } = memory;
    let (x, v) = (&problem.state.positions, &problem.state.velocities);
    middle.clone_from(at);
    match problem.parameters.integrator {
        Integrator::Bdf2 | Integrator::Midpoint => {}
        Integrator::SemiImplicit { .. } if at_end => {}
        Integrator::SemiImplicit { .. } => middle.iter_mut().zip(v).for_each(|(middle, v)| *middle += h * v),
        Integrator::Linearised | Integrator::BackwardEuler => {
            middle.iter_mut().zip(x).for_each(|(middle, x)| *middle = 0.5 * (*middle + x));
        }
    }
}

/// Where a solve begins: with what is given; what nobody holds, with all of it falling as one.
fn begin_solve(problem: &Problem<'_>, memory: &mut Memory, links: &[Link]) {
    let sheet = problem.sheet;
    let whole: f64 = sheet.masses.iter().sum();
    let is_free = problem.constraints.iter().all(|constraint| *constraint == Constraint::Free)
        && !links.iter().any(Link::is_closed);
    let fall = if is_free { memory.b.iter().sum::<V3>() / whole } else { V3::zeros() };
    memory.change.clear();
    for ((target, stage), constraint) in memory.targets.iter().zip(&memory.stage).zip(problem.constraints) {
        let to = target - stage;
        memory.change.push(fall + to - constraint.filter(&to));
    }
}

/// Makes what is given so, and all else stand still if that has a lower potential than the stage; whether it has. The potential
/// of standing still is no more than the energy at the begin, and what no step exceeds cannot grow.
fn begin_low(problem: &Problem<'_>, memory: &mut Memory, links: &[Link], scheme: &Scheme) -> bool {
    let &Problem { sheet, state, .. } = problem;
    for ((v, target), constraint) in memory.stage.iter_mut().zip(&memory.targets).zip(problem.constraints) {
        *v = target - constraint.filter(&(target - *v));
    }
    let moving = potential(sheet, memory, scheme.h, None)[0] + link_energy(memory, state, links, scheme, 0.0);
    memory.spare.clone_from(&memory.stage);
    for ((v, target), constraint) in memory.stage.iter_mut().zip(&memory.targets).zip(problem.constraints) {
        *v = target - constraint.filter(target);
    }
    let still = potential(sheet, memory, scheme.h, None)[0] + link_energy(memory, state, links, scheme, 0.0);
    // Solves are no more exact.
    let exact =
        problem.parameters.tolerance * sheet.masses.iter().sum::<f64>() * problem.parameters.falls(problem.dt).powi(2);
    if still + exact + 1e-12 * still.abs() < moving {
        return true;
    }
    std::mem::swap(&mut memory.stage, &mut memory.spare);
    false
}

/// Sets up the matrix and right-hand side around `memory.at` and `memory.stage`.
fn linearise(sheet: &Sheet, parameters: &Parameters, matrix: &mut Blocks, memory: &mut Memory, h: f64) {
    let n = sheet.masses.len();
    let [base_x, base_v] = &memory.base;
    let (at, stage) = (&memory.at, &memory.stage);
    memory.way.clear();
    memory.way.extend((0..n).map(|k| base_x[k] + h * stage[k] - at[k]));
    memory.forces.clone_from(&memory.acted);
    let exact = matches!(parameters.integrator, Integrator::SemiImplicit { .. });
    let around = Forces { x: at, middle: &memory.middle, v: stage, way: &memory.way, exact, dt: h };
    sheet.forces(&around, &parameters.fabric, &mut memory.forces, matrix);
    memory.b.clear();
    for k in 0..n {
        let m = sheet.masses[k];
        *matrix.diagonal_mut(k) += Matrix3::from_diagonal_element(m);
        memory.b.push(h * memory.forces[k] - m * (stage[k] - base_v[k]));
    }
}

/// How far along the change the potential falls, trying halves; 0 if it does not.
fn search_line(
    sheet: &Sheet,
    fabric: &Fabric,
    memory: &mut Memory,
    state: &State,
    links: &[Link],
    scheme: &Scheme,
) -> f64 {
    let mut at = |length: f64| {
        let [own, size] = potential(sheet, memory, scheme.h, Some((fabric, length)));
        let links = link_energy(memory, state, links, scheme, length);
        (own + links, size + links)
    };
    let (now, size) = at(0.0);
    let mut length = 1.0;
    // Rounding of the sum must not stop it.
    while at(length).0 > now + 1e-12 * size {
        length *= 0.5;
        if length < 1e-6 {
            return 0.0;
        }
    }
    length
}

/// Takes impulses, which are linear along the change, for those of a part of it, and contacts for what they do there; else momentum
/// would be told that nothing gained. What free vertices are off by goes to who holds the cloth, evenly: right in sum alone.
fn shorten(memory: &mut Memory, state: &State, links: &mut [Link], scheme: &Scheme, length: f64) {
    let Memory { impulses, b, .. } = memory;
    impulses.iter_mut().zip(b).for_each(|(impulse, b)| *impulse = length * (*impulse + *b) - *b);
    let n = state.positions.len();
    for link in links {
        let way = scheme.way(link, memory, state) + scheme.h * length * link.sum(|v| memory.change[v], n);
        let linear = link.begun.lerp(&link.force, length);
        link.turn_out(&way, scheme.h, false, true);
        link.force = link.force_after(&way);
        link.parts(n).for_each(|(v, c)| memory.impulses[v] += scheme.h * c * (linear - link.force));
    }
}

/// Of contacts, at the stage or so far along the change.
fn link_energy(memory: &Memory, state: &State, links: &[Link], scheme: &Scheme, length: f64) -> f64 {
    let n = state.positions.len();
    let more = |link: &Link| match length {
        0.0 => V3::zeros(),
        length => scheme.h * length * link.sum(|v| memory.change[v], n),
    };
    links.iter().map(|link| link.energy_at(&(scheme.way(link, memory, state) + more(link)), scheme.h)).sum()
}

/// ½ (v - v_b)·M (v - v_b) + E(x_b + h v) less the work of other forces, at the stage; or with that of damping, so far along the
/// change. And how large the parts of that sum are.
fn potential(sheet: &Sheet, memory: &mut Memory, h: f64, along: Option<(&Fabric, f64)>) -> [f64; 2] {
    let Memory { base: [base_x, base_v], stage, change, acted, trial, middle, .. } = memory;
    let length = along.map_or(0.0, |(_, length)| length);
    let v = |k: usize| if length > 0.0 { stage[k] + length * change[k] } else { stage[k] };
    trial.clear();
    trial.extend(base_x.iter().enumerate().map(|(k, x)| x + h * v(k)));
    let mut sum = sheet.energy(trial);
    let mut size = sum;
    for (k, x) in trial.iter_mut().enumerate() {
        let (moving, work) =
            (0.5 * sheet.masses[k] * (v(k) - base_v[k]).norm_squared(), acted[k].dot(&(*x - base_x[k])));
        sum += moving - work;
        size += moving + work.abs();
        *x = v(k);
    }
    let damped = along.map_or(0.0, |(fabric, _)| 0.5 * h * sheet.dissipation(middle, trial, fabric));
    [sum + damped, size + damped]
}

/// h, and how the end follows from v.
pub(crate) struct Scheme {
    pub h: f64,
    theta: f64,
    /// Whether contacts take new normals in a solve: in the first of a step.
    pub turns: bool,
}

impl Scheme {
    fn new(integrator: Integrator, state: &State, dt: f64, memory: &mut Memory) -> Self {
        let (x, v) = (&state.positions, &state.velocities);
        memory.base[0].clone_from(x);
        memory.base[1].clone_from(v);
        let theta = integrator.stage();
        if let (Integrator::Bdf2, Some((before_x, before_v, before_dt))) = (integrator, &state.before) {
            // Of steps dt₋₁ and dt, r = dt/dt₋₁: y_b = ((1 + r)² y - r² y₋₁)/(1 + 2 r), h = dt (1 + r)/(1 + 2 r).
            let r = dt / before_dt;
            let whole = 1.0 + 2.0 * r;
            let [now, then] = [(1.0 + r) * (1.0 + r) / whole, r * r / whole];
            for (base, before) in memory.base.iter_mut().zip([before_x, before_v]) {
                base.iter_mut().zip(before).for_each(|(y, before)| *y = now * *y - then * before);
            }
            return Self { h: dt * (1.0 + r) / whole, theta, turns: true };
        }
        Self { h: theta * dt, theta, turns: true }
    }

    /// What a contact's first feature goes against the second by the stage.
    pub fn way(&self, link: &Link, memory: &Memory, state: &State) -> V3 {
        let n = state.positions.len();
        let own = link.sum(|v| memory.base[0][v] + self.h * memory.stage[v] - state.positions[v], n);
        own + self.part() * link.near.drift
    }

    /// Fraction of the step at which the stage is [-].
    pub fn part(&self) -> f64 {
        self.theta.min(1.0)
    }

    /// Displacement of a vertex by the stage if velocities change so on top `[m]`.
    pub fn displacement(&self, v: usize, memory: &Memory, state: &State) -> V3 {
        memory.base[0][v] + self.h * (memory.stage[v] + memory.change[v]) - state.positions[v]
    }

    /// The same if velocities change so on top.
    pub fn way_after(&self, link: &Link, memory: &Memory, state: &State, change: &[V3]) -> V3 {
        self.way(link, memory, state) + self.h * link.sum(|v| change[v], state.positions.len())
    }

    /// Velocity at the stage that a vertex has to have where it is given.
    fn target(&self, base: &[V3], problem: &Problem<'_>, k: usize) -> V3 {
        let &Problem { state, dt, .. } = problem;
        let over_the_step = problem.targets[k];
        if self.theta < 1.0 || self.h == dt {
            return over_the_step;
        }
        (state.positions[k] + dt * over_the_step - base[k]) / self.h
    }

    /// The end of the step, and impulses as if the constraint forces at the stage had acted over all of it.
    fn finish(&self, sheet: &Sheet, memory: &mut Memory, state: &State, dt: f64) {
        let n = memory.stage.len();
        memory.x.resize(n, V3::zeros());
        memory.v.resize(n, V3::zeros());
        memory.carried.resize(n, V3::zeros());
        for k in 0..n {
            let (v, stage) = (state.velocities[k], memory.stage[k]);
            if self.theta < 1.0 {
                memory.x[k] = state.positions[k] + dt * stage;
                memory.v[k] = v + (stage - v) / self.theta;
            } else {
                memory.x[k] = memory.base[0][k] + self.h * stage;
                memory.v[k] = stage;
            }
            memory.impulses[k] *= dt / self.h;
            memory.acted[k] *= dt;
            // Nothing but for BDF-2.
            let change = (memory.v[k] - v) - dt / self.h * (stage - memory.base[1][k]);
            memory.carried[k] = if self.theta == 1.0 { sheet.masses[k] * change } else { V3::zeros() };
        }
    }
}
