//! Springs and braces between particles with one between them resist bending ([BBD09] section 4.1).

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, LinkKind, Net, Optimisations, Solver};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator, Wrench, simulator_laws};

type V3 = Vector3<f64>;

/// A rope of 0.4 m, held level along 0.1 m of its length, with what keeps it straight.
fn rope(stiffen: impl Fn(Net, Vec<[u32; 2]>) -> Net) -> IbdsCloth {
    let net = Net::chain([0.0; 3], [0.4, 0.0, 0.0], 8, 0.05).unwrap();
    let between = net.interlaced();
    let mut rope = IbdsCloth::new("rope", stiffen(net, between)).unwrap().extensibility(1e-6).max_iterations(20_000);
    rope.pin(&[0, 1, 2]).unwrap();
    rope
}

/// Where its free end hangs after so many seconds in thick air `[m]`.
fn end_of(mut rope: IbdsCloth, seconds: f64, dt: f64) -> V3 {
    for _ in 0..(seconds / dt).round() as u32 {
        let drag = |(k, v): (u32, &V3)| (rope.particle(k), Wrench::force(-0.05 * v));
        let loads = (0..).zip(rope.velocities()).map(drag).collect();
        drop(rope.step(dt, &Inputs { loads, ..Inputs::default() }).unwrap());
    }
    rope.positions()[8]
}

simulator_laws!(
    rope(|net, between| net.braces(between.clone(), 20.0).unwrap().springs(between, 0.2, 1e-3).unwrap())
        .extensibility(0.01)
        .max_iterations(100),
    dt = 1.0 / 256.0,
    load = 0.1,
    free = IbdsCloth::new("free", Net::sheet(&Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), 0.2).unwrap()).unwrap()
);

/// In a grid all particles that have one between them, along its rows, its columns and its diagonals; none around a corner.
#[test]
fn interlaced_particles_have_one_between_them() {
    let mesh = Mesh::grid([4, 3], [0.4, 0.3]).unwrap();
    let net = Net::sheet(&mesh, 0.2).unwrap();
    let mut found = net.interlaced();
    found.iter_mut().for_each(|ends| ends.sort_unstable());
    found.sort_unstable();
    let x = net.positions();
    let linked = |i: u32, j: u32| net.links().iter().any(|l| l.particles == [i, j] || l.particles == [j, i]);
    let mut expected = vec![];
    for i in 0..20_u32 {
        for j in i + 1..20 {
            let middle = 0.5 * (x[i as usize] + x[j as usize]);
            let between = (0..20_u32).find(|&k| (x[k as usize] - middle).norm() < 1e-9);
            if between.is_some_and(|k| linked(i, k) && linked(k, j)) {
                expected.push([i, j]);
            }
        }
    }
    assert_eq!(found, expected);
}

/// Springs in short steps and braces in long ones, two ways to the same bending, hang a rope alike, but for the square of the step:
/// impulses are along where links were in each sweep, not where they end. Stiffer ones let it down less.
#[test]
fn springs_and_braces_hang_a_rope_alike() {
    let mut drops = vec![];
    for stiffness in [20.0, 200.0] {
        let springs = end_of(rope(|net, between| net.springs(between, stiffness, 0.1).unwrap()), 5.0, 2.5e-4);
        for solver in [Solver::Paths, Solver::GaussSeidel(Optimisations::NONE), Solver::GaussSeidel(Optimisations::ALL)]
        {
            let [long, short] = [0.01, 0.001].map(|dt| {
                let braced = rope(|net, between| net.braces(between, stiffness).unwrap());
                (springs - end_of(braced.solver(solver), 5.0, dt)).norm()
            });
            // What Gauss-Seidel leaves alone, a millionth of 0.05 m, is more of a force the shorter the step.
            let share = if solver == Solver::Paths { 0.06 } else { 0.1 };
            assert!(long < 5e-3 && short < share * long, "{solver:?}, {stiffness} N/m: {long} m, {short} m");
        }
        drops.push(-springs.y);
    }
    assert!(drops[0] > drops[1] + 0.01, "{drops:?} m");
}

/// However stiff and light, braces give no energy: springs of such a stiffness explode.
#[test]
fn braces_are_stable() {
    let stiff = 1e5;
    let energy = |cloth: &IbdsCloth| cloth.ledger().map(|ledger| ledger.kinetic + ledger.potential).unwrap();
    let mut braced = rope(|net, between| net.braces(between, stiff).unwrap());
    let begin = energy(&braced);
    for _ in 0..100 {
        braced.step(0.01, Inputs::NONE).unwrap();
        // Each of seven braces may be off by a millionth of its length, which is worth k ε² l²/2.
        assert!(energy(&braced) < begin + 7.0 * 0.5 * stiff * 1e-14, "{} J", energy(&braced) - begin);
    }
    let mut sprung = rope(|net, between| net.springs(between, stiff, 0.0).unwrap());
    let exploded = (0..100).any(|_| sprung.step(0.01, Inputs::NONE).is_err() || energy(&sprung) > 1.0);
    assert!(exploded, "the test would not tell");
}

/// Braces go their own way: a slanted chain with them is found as exactly and almost as soon as one without.
#[test]
fn braces_do_not_break_paths() {
    let sweeps = |braced: bool| {
        let mut chain = Net::chain([0.0; 3], [1.0, -1.0, 0.3], 40, 0.1).unwrap();
        if braced {
            let between = chain.interlaced();
            assert_eq!(between.len(), 39);
            chain = chain.braces(between, 1e-3).unwrap();
        }
        let mut chain = IbdsCloth::new("chain", chain).unwrap().extensibility(1e-6).max_iterations(1000);
        chain.pin(&[0]).unwrap();
        (0..50).map(|_| f64::from(chain.step(0.01, Inputs::NONE).unwrap().iterations)).sum::<f64>()
    };
    let [plain, braced] = [false, true].map(sweeps);
    assert!(braced < 2.0 * plain, "{braced} sweeps, {plain} without braces");
}

/// Braces are no threads: nobody meets them, and they are not drawn.
#[test]
fn nobody_meets_a_brace() {
    let rope = Net::chain([0.0; 3], [1.0, 0.0, 0.0], 4, 0.1).unwrap();
    let between = rope.interlaced();
    let rope = rope.braces(between, 10.0).unwrap();
    assert_eq!(rope.links().iter().filter(|link| link.kind == LinkKind::Brace).count(), 3);
    let rope = IbdsCloth::new("rope", rope).unwrap();
    assert_eq!(rope.surfaces()[0].lines, [[0, 1], [1, 2], [2, 3], [3, 4]]);
}

/// What is wrong is said.
#[test]
fn wrong_springs_are_refused() {
    let net = || Net::chain([0.0; 3], [1.0, 0.0, 0.0], 2, 0.1).unwrap();
    for (error, told) in [
        (net().springs([[0, 2]], -1.0, 0.0).unwrap_err(), "stiffness of springs [N/m]"),
        (net().springs([[0, 2]], 1.0, f64::NAN).unwrap_err(), "damping of springs [N s/m]"),
        (net().springs([[0, 3]], 1.0, 0.0).unwrap_err(), "spring 0"),
        (net().braces([[0, 2]], 0.0).unwrap_err(), "stiffness of braces [N/m]"),
        (net().braces([[0, 2]], 1e-310).unwrap_err(), "compliance of braces [m/N]"),
        (net().compliance(-1.0).unwrap_err(), "compliance of links [m/N]"),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
}
