//! Cloth against exact solutions, laws and orders of convergence.

use std::f64::consts::{FRAC_PI_2, TAU};

use nalgebra::{Rotation3, Vector3};
use partita_implicit_cloth::{Fabric, ImplicitCloth, Integrator, Membrane, Parameters, Preconditioner};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Inputs, Outcome, Simulator};

type V3 = Vector3<f64>;

const G: f64 = 9.81;

/// Without damping, unless it is asked for.
fn elastic(stretch: f64, density: f64) -> Fabric {
    Fabric::cotton().stretch(stretch).shear(0.0).bend(0.0).density(density).damping(0.0).bend_damping(0.0)
}

fn plain(fabric: Fabric) -> Parameters {
    Parameters { fabric, gravity: [0.0; 3], tolerance: 1e-12, max_stretch: 10.0, ..Parameters::default() }
}

fn run(cloth: &mut ImplicitCloth, dt: f64, steps: u32) {
    for _ in 0..steps {
        let report = cloth.step(dt, Inputs::NONE).unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
    }
}

/// A vertex on a spring along x: a cell whose other three corners are held, stretched by 1e-7 of its size. Without shear the
/// triangle at the vertex is one spring of stiffness k A/L² with a third of the triangle's mass.
fn oscillator(integrator: Integrator) -> (ImplicitCloth, f64) {
    let mesh = Mesh::grid([1, 1], [1.0, 1.0]).unwrap();
    // Corners: upper left and right, lower left and right; the upper right one is in one triangle only.
    let mut positions = mesh.positions();
    positions[1][0] += 1e-7;
    let parameters = Parameters { integrator, ..plain(elastic(300.0, 0.5)) };
    let mut cloth =
        ImplicitCloth::with_parameters("one", mesh, parameters).unwrap().with_positions(&positions).unwrap();
    cloth.pin(&[0, 2, 3]).unwrap();
    let omega = (300.0 * 0.5 / cloth.masses()[1]).sqrt();
    (cloth, omega)
}

/// Displacement and velocity over ω, in units of the first displacement.
fn phase(cloth: &ImplicitCloth, omega: f64) -> [f64; 2] {
    [(cloth.positions()[1].x - 1.0) / 1e-7, cloth.velocities()[1].x / omega / 1e-7]
}

/// Each scheme damps and slows a spring as theory says: by (1 + ω²h²)^(-n/2) and atan(ωh)/ωh backward Euler, not at all and by
/// 2 atan(ωh/2)/ωh the midpoint, the θ method in between (M1).
#[test]
fn a_spring_is_damped_as_theory_says() {
    for (integrator, theta) in [
        (Integrator::Linearised, 1.0),
        (Integrator::BackwardEuler, 1.0),
        (Integrator::Midpoint, 0.5),
        (Integrator::SemiImplicit { damping: 0.0 }, 0.5),
        (Integrator::SemiImplicit { damping: 0.1 }, 0.6),
    ] {
        for wh in [0.1, 1.0] {
            let (mut cloth, omega) = oscillator(integrator);
            let h = wh / omega;
            let steps = if wh == 0.1 { 100 } else { 10 };
            let mut turned = 0.0;
            let mut last = phase(&cloth, omega);
            for _ in 0..steps {
                run(&mut cloth, h, 1);
                let now = phase(&cloth, omega);
                // The angle from one to the next, clockwise.
                turned += (now[0] * last[1] - now[1] * last[0]).atan2(now[0] * last[0] + now[1] * last[1]);
                last = now;
            }
            // y' = i ω y by the θ method: y₁/y₀ = (1 + i (1 - θ) ωh)/(1 - i θ ωh).
            let amplitude = ((1.0 + ((1.0 - theta) * wh).powi(2)) / (1.0 + (theta * wh).powi(2))).sqrt();
            let angle = (theta * wh).atan() + ((1.0 - theta) * wh).atan();
            let found = (last[0] * last[0] + last[1] * last[1]).sqrt();
            let expected = amplitude.powi(steps);
            // Strains of 1e-7 are not linear to about as much.
            assert!((found / expected - 1.0).abs() < 1e-5, "{integrator:?}, ωh {wh}: {found} for {expected}");
            assert!((turned / (f64::from(steps) * angle) - 1.0).abs() < 1e-5, "{integrator:?}, ωh {wh}: {turned}");
            if integrator == Integrator::Linearised && wh == 0.1 {
                assert!((found - 0.608039).abs() < 1e-5 && (turned / 10.0 - 0.996687).abs() < 1e-5);
            }
        }
    }
}

/// A sheet held at two corners swings for a while; where it is then, by steps of `dt`.
fn swing(integrator: Integrator, membrane: Membrane, steps: u32) -> Vec<V3> {
    let mesh = Mesh::grid([4, 4], [0.4, 0.4]).unwrap().turned([1.0, 0.0, 0.0], -1.2).unwrap();
    let fabric = elastic(20.0, 0.3).shear(5.0).bend(1e-3).damping(2e-3).bend_damping(2e-3).membrane(membrane);
    let parameters = Parameters { integrator, gravity: [0.0, -G, 0.0], tolerance: 1e-9, ..plain(fabric) };
    let mut cloth = ImplicitCloth::with_parameters("swing", mesh, parameters).unwrap();
    cloth.pin(&[0, 4]).unwrap();
    run(&mut cloth, 0.2 / f64::from(steps), steps);
    cloth.positions().to_vec()
}

/// Half the step leaves half the error of the first order schemes, and a quarter of that of the second order ones (M13).
#[test]
fn halving_the_step_shows_the_order() {
    let stvk = Membrane::StVenantKirchhoff { poisson: 0.3 };
    for (integrator, order) in [
        (Integrator::Linearised, 1),
        (Integrator::BackwardEuler, 1),
        (Integrator::Bdf2, 2),
        (Integrator::Midpoint, 2),
        (Integrator::SemiImplicit { damping: 0.0 }, 2),
        (Integrator::SemiImplicit { damping: 0.25 }, 1),
    ] {
        for membrane in [Membrane::BaraffWitkin, stvk] {
            let at = [200, 400, 800].map(|steps| swing(integrator, membrane, steps));
            let gap = |a: &[V3], b: &[V3]| a.iter().zip(b).map(|(a, b)| (a - b).norm_squared()).sum::<f64>().sqrt();
            let ratio = gap(&at[0], &at[1]) / gap(&at[1], &at[2]);
            let expected = f64::from(1 << order);
            assert!((ratio / expected - 1.0).abs() < 0.1, "{integrator:?} {membrane:?}: {ratio}");
        }
    }
}

/// At rest a strip that hangs from its upper edge is longer by ρ g L²/2k (M4), and who holds it feels its weight (M6). Green's
/// strain makes that a little less: (1 + e)³ - (1 + e) = 2 σ/k at each height (A8).
#[test]
fn a_hung_strip_is_as_long_as_it_has_to_be() {
    for (membrane, expected) in
        [(Membrane::BaraffWitkin, 8.175e-3), (Membrane::StVenantKirchhoff { poisson: 0.0 }, 8.0455e-3)]
    {
        let mesh = Mesh::grid([2, 40], [0.05, 1.0]).unwrap();
        let (top, rest) = (mesh.edge(Side::Top).unwrap(), mesh.positions());
        let fabric = elastic(300.0, 0.5).shear(150.0).membrane(membrane).damping(5e-3);
        let parameters = Parameters { gravity: [0.0, -G, 0.0], ..plain(fabric) };
        let mut cloth = ImplicitCloth::with_parameters("strip", mesh, parameters).unwrap();
        cloth.pin(&top).unwrap();
        run(&mut cloth, 1.0 / 30.0, 600);
        let before = cloth.ledger().unwrap().external.unwrap().linear[1];
        run(&mut cloth, 1.0 / 30.0, 1);
        let tip = cloth.positions().iter().map(|x| -x.y).fold(0.0, f64::max) - 1.0;
        assert!((tip / expected - 1.0).abs() < 5e-3, "{membrane:?}: {tip}");
        // Gravity and pins together give nothing.
        let external = cloth.ledger().unwrap().external.unwrap().linear[1] - before;
        assert!(external.abs() < 1e-6 * 0.025 * G / 30.0, "{external}");
        // Pins stay where they are to the last bit (M5).
        let stays = |v: u32| {
            cloth.positions()[v as usize].iter().zip(&rest[v as usize]).all(|(x, at)| x.to_bits() == at.to_bits())
        };
        assert!(top.iter().all(|&v| stays(v)));
    }
}

/// A rotation and a shift by a kilometre of scene and gravity change nothing but that (M8).
#[test]
fn no_direction_or_place_is_preferred() {
    let turn = Rotation3::new(V3::new(0.5, -1.2, 0.8));
    let fall = |turn: Rotation3<f64>, shift: V3| {
        let mesh = Mesh::grid([5, 5], [0.5, 0.5]).unwrap();
        let placed: Vec<[f64; 3]> = mesh.vertices().iter().map(|x| (turn * x + shift).into()).collect();
        let mesh = Mesh::new(&placed, mesh.triangles()).unwrap();
        let parameters = Parameters { gravity: (turn * V3::new(1.0, -9.0, 3.0)).into(), ..plain(Fabric::cotton()) };
        let cloth = ImplicitCloth::with_parameters("any", mesh, parameters).unwrap();
        let mut cloth = cloth.with_warp((turn * V3::x()).into()).unwrap();
        cloth.pin(&[0, 5]).unwrap();
        run(&mut cloth, 1.0 / 120.0, 60);
        cloth.positions().iter().map(|x| turn.inverse() * (x - shift)).collect::<Vec<V3>>()
    };
    let here = fall(Rotation3::identity(), V3::zeros());
    for shift in [V3::zeros(), V3::new(600.0, -500.0, 620.0)] {
        let there = fall(turn, shift);
        let worst = here.iter().zip(&there).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        // A kilometre away positions are rounded to 1e-13 m, which stiffness makes larger.
        assert!(worst < 1e-9 * (1.0 + shift.norm()), "{worst}");
    }
}

/// Nothing pulls at cloth that falls freely: it keeps its shape, with angles at rest that are not flat (M11).
#[test]
fn free_fall_bends_nothing() {
    let mesh = Mesh::cylinder(0.4, 0.1, 12).unwrap();
    let rest = mesh.vertices().to_vec();
    let mut cloth = ImplicitCloth::new("tube", mesh, Fabric::wool()).unwrap();
    run(&mut cloth, 1.0 / 60.0, 60);
    let fall = cloth.positions()[0] - rest[0];
    // Symplectic as backward Euler is for constant forces: g h² n (n + 1)/2.
    assert!((fall.y + G / 3600.0 * 60.0 * 61.0 / 2.0).abs() < 1e-9);
    assert!(cloth.positions().iter().zip(&rest).all(|(x, rest)| (x - rest - fall).norm() < 1e-9));
}

/// However stiff it is, energy never gets more than it was (M2).
#[test]
fn stiff_cloth_does_not_explode() {
    for integrator in [Integrator::Linearised, Integrator::BackwardEuler] {
        let fabric = Fabric { stretch: [2e9, 1.5e9], shear: 1e8, bend: [8.0, 6.0], ..Fabric::cotton() };
        let parameters = Parameters { fabric, integrator, tolerance: 1e-6, ..Parameters::default() };
        let mesh = Mesh::grid([8, 8], [0.4, 0.4]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
        let mut cloth = ImplicitCloth::with_parameters("stiff", mesh, parameters).unwrap();
        cloth.pin(&[0, 8]).unwrap();
        let energy = |cloth: &ImplicitCloth| {
            let ledger = cloth.ledger().unwrap();
            ledger.kinetic + ledger.potential
        };
        let start = energy(&cloth);
        let scale = cloth.masses().iter().sum::<f64>() * G * 0.4;
        let mut last = start;
        for step in 0..1000 {
            cloth.step(1.0 / 30.0, Inputs::NONE).unwrap();
            last = energy(&cloth);
            assert!(last < start + 0.01 * scale, "{integrator:?}, step {step}: {last} from {start}");
        }
        assert!(last < start - 0.3 * scale, "{integrator:?}: {last} from {start}");
    }
}

/// Cloth gains the momentum that gravity and pins give, also where steps go only a part of the way that was solved for, as those of
/// cloth do that is thrown about until it is stretched several times: to rounding, by its fastest vertices.
#[test]
fn momentum_is_what_gravity_and_pins_give() {
    for integrator in [Integrator::Linearised, Integrator::BackwardEuler, Integrator::Bdf2, Integrator::Midpoint] {
        let fabric = Fabric::cotton().damping(0.0).bend_damping(0.0);
        let parameters = Parameters { integrator, fabric, max_stretch: 10.0, ..Parameters::default() };
        let thrown: Vec<[f64; 3]> =
            (0..49).map(|k| [1.0, 2.0, 3.0].map(|c| 10.0 * (c * f64::from(k * k)).sin())).collect();
        let cloth =
            ImplicitCloth::with_parameters("thrown", Mesh::grid([6, 6], [0.2, 0.2]).unwrap(), parameters).unwrap();
        let mut cloth = cloth.with_velocities(&thrown).unwrap();
        cloth.pin(&[0, 6]).unwrap();
        let open = |cloth: &ImplicitCloth| {
            let ledger = cloth.ledger().unwrap();
            V3::from(ledger.momentum) - V3::from(ledger.external.unwrap().linear)
        };
        for step in 0..20 {
            let before = open(&cloth);
            cloth.step(1.0 / 60.0, Inputs::NONE).unwrap();
            let gained = (open(&cloth) - before).norm();
            assert!(
                gained < 1e-12 * 10.0 * cloth.masses().iter().sum::<f64>(),
                "{integrator:?}, step {step}: {gained} N s"
            );
        }
    }
}

/// A square membrane under tension 3 N/m with 0.5 kg/m² sounds at sqrt(T/2ρ)/L = 1.7321 Hz (M12).
#[test]
fn a_membrane_has_its_pitch() {
    let n = 16;
    let mesh = Mesh::grid([n, n], [1.0, 1.0]).unwrap();
    // At rest smaller by a hundredth: 300 N/m under 1 % of strain; heavier at rest, so that it is right when stretched.
    let rest: Vec<[f64; 3]> = mesh.positions().iter().map(|x| x.map(|c| c / 1.01)).collect();
    let rest = Mesh::new(&rest, mesh.triangles()).unwrap();
    let parameters = Parameters { integrator: Integrator::Midpoint, ..plain(elastic(300.0, 0.5 * 1.01 * 1.01)) };
    let bent: Vec<[f64; 3]> = (mesh.positions().iter())
        .map(|x| [x[0], x[1], 1e-5 * (TAU / 2.0 * x[0]).sin() * (TAU / 2.0 * -x[1]).sin()])
        .collect();
    let mut cloth = ImplicitCloth::with_parameters("drum", rest, parameters).unwrap().with_positions(&bent).unwrap();
    let border: Vec<u32> = mesh.boundary_edges().flat_map(|edge| edge.vertices).collect();
    cloth.pin(&border).unwrap();
    let middle = ((n + 1) * (n / 2) + n / 2) as usize;
    let (dt, mut crossings) = (2e-3, vec![]);
    let mut last = cloth.positions()[middle].z;
    for step in 1..1500 {
        run(&mut cloth, dt, 1);
        let now = cloth.positions()[middle].z;
        if (last > 0.0) != (now > 0.0) {
            crossings.push(dt * (f64::from(step) - now / (now - last)));
        }
        last = now;
    }
    let half = (crossings.last().unwrap() - crossings[0]) / (crossings.len() - 1) as f64;
    let found = 0.5 / half;
    assert!((found / 1.7321 - 1.0).abs() < 0.02, "{found} Hz");
}

/// The tighter the tolerance, the nearer to the solution; what was not reached is said (M7). Both preconditioners agree.
#[test]
fn the_solver_says_how_far_it_came() {
    let fall = |tolerance: f64, max_iterations: u32, preconditioner: Preconditioner| {
        let parameters = Parameters { tolerance, max_iterations, preconditioner, ..Parameters::default() };
        let mesh = Mesh::grid([15, 15], [0.5, 0.5]).unwrap().turned([1.0, 0.0, 0.0], -1.0).unwrap();
        let mut cloth = ImplicitCloth::with_parameters("sheet", mesh, parameters).unwrap();
        cloth.pin(&[0, 15]).unwrap();
        let reports: Vec<_> = (0..10).map(|_| cloth.step(1.0 / 60.0, Inputs::NONE).unwrap()).collect();
        (cloth.positions().to_vec(), reports)
    };
    let gap = |a: &[V3], b: &[V3]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    for preconditioner in [Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky] {
        let (exact, _) = fall(1e-13, 10_000, preconditioner);
        let errors = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10].map(|tolerance| {
            let (found, reports) = fall(tolerance, 10_000, preconditioner);
            assert!(reports.iter().all(|report| report.outcome == Outcome::Converged && report.iterations > 0));
            gap(&found, &exact)
        });
        assert!(errors.windows(2).all(|two| two[1] < 0.3 * two[0]), "{preconditioner:?}: {errors:?}");
        let (_, reports) = fall(1e-10, 3, preconditioner);
        let said = |report: &&partita_simulator::StepReport| matches!(report.outcome, Outcome::StoppedAt { error, .. } if error > 1e-10);
        assert!(reports.iter().filter(said).count() > 5);
    }
    let [one, other] =
        [Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky].map(|p| fall(1e-13, 10_000, p).0);
    assert!(gap(&one, &other) < 1e-9);
}
