//! How long elements wait from event to event.

use crate::common::{
    cloth::{elastic, make, plain},
    random::Random,
};
use nalgebra::Vector3;
use partita_avi_cloth::{AviCloth, Bending, Estimate, Fabric, Membrane, Parameters};
use partita_elastic::{Cut, Sheet, hinge};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator};

type V3 = Vector3<f64>;

/// Triangles of very different sizes, with a hill.
fn hill() -> Mesh {
    let flat = Mesh::graded([0.5, 0.5], 300, 40.0).unwrap();
    let lifted = |[x, y, z]: [f64; 3]| [x, y, z + 0.1 * (-30.0 * ((x - 0.25).powi(2) + (y - 0.25).powi(2))).exp()];
    let places: Vec<[f64; 3]> = flat.positions().into_iter().map(lifted).collect();
    Mesh::new(&places, flat.triangles()).unwrap()
}

/// [`Estimate::Wave`] is eq. 3: a triangle with an inscribed circle of 5 mm, 500 g/m² and λ + 2 μ = 300 N/m take α 0.20412 ms; of similar
/// triangles, 160:1 in area is 12.65:1 in time (A6).
#[test]
fn spans_of_waves_are_equation_3() {
    let span = |side: f64, courant: f64| {
        let height = side * 0.75_f64.sqrt();
        let mesh = Mesh::new(&[[0.0; 3], [side, 0.0, 0.0], [0.5 * side, height, 0.0]], &[[0, 1, 2]]).unwrap();
        make(mesh, Parameters { estimate: Estimate::Wave, courant, ..plain(elastic()) }).spans()[0]
    };
    let side = 0.005 * 12.0_f64.sqrt();
    let expected = 0.005 * (0.5_f64 / 300.0).sqrt();
    for courant in [1.0, 0.7] {
        assert!((span(side, courant) / (courant * expected) - 1.0).abs() < 1e-12);
    }
    assert!((span(side * 160.0_f64.sqrt(), 1.0) / span(side, 1.0) / 160.0_f64.sqrt() - 1.0).abs() < 1e-12);
}

/// By modes, one triangle by itself, and two that share an edge and resist bending alone, are stable up to α = 1 and not beyond, whatever their
/// shape, and with viscosity.
#[test]
fn spans_of_modes_are_the_longest_that_are_stable() {
    let corners = [[0.0; 3], [0.03, 0.002, 0.0], [0.011, -0.017, 0.001], [0.021, 0.018, 0.004]];
    let stiff = elastic().shear(700.0);
    let cases: [(&[[u32; 3]], Fabric); 5] = [
        (&[[0, 2, 1]], stiff),
        (&[[0, 2, 1]], Fabric { membrane: Membrane::BaraffWitkin, ..stiff }),
        (&[[0, 2, 1]], stiff.damping(5e-5)),
        (&[[0, 2, 1], [0, 1, 3]], elastic().stretch(1e-10).shear(1e-10).bend(1e-3)),
        (&[[0, 2, 1], [0, 1, 3]], elastic().stretch(1e-10).shear(1e-10).bend(1e-3).bend_damping(1e-4)),
    ];
    for (number, (triangles, fabric)) in cases.into_iter().enumerate() {
        let mesh = Mesh::new(&corners[..triangles.len() + 2], triangles).unwrap();
        let mut random = Random(3);
        let speeds: Vec<[f64; 3]> = mesh.vertices().iter().map(|_| (1e-9 * random.vector()).into()).collect();
        let grown = |courant: f64| {
            let cloth = make(mesh.clone(), Parameters { courant, bending: Bending::Hinges, ..plain(fabric) });
            let spans = cloth.spans().to_vec();
            let shortest = spans.iter().copied().fold(f64::INFINITY, f64::min);
            // What explodes is not to become shorter.
            let mut cloth = cloth.with_spans(&spans).unwrap().with_velocities(&speeds).unwrap();
            if cloth.step(1500.0 * shortest, Inputs::NONE).is_err() {
                return f64::INFINITY;
            }
            cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max) / 1e-9
        };
        assert!(grown(0.99) < 100.0, "case {number}: {}", grown(0.99));
        assert!(grown(1.01) > 1e4, "case {number}: {}", grown(1.01));
    }
}

/// Whatever the mesh, if all wait as long as the one with the shortest span nothing grows (Irons and Treharne), with hinges of one triangle or
/// by themselves, with viscosity and without.
#[test]
fn spans_of_modes_are_stable_together() {
    let mesh = hill();
    let mut random = Random(5);
    let speeds: Vec<[f64; 3]> = mesh.vertices().iter().map(|_| (1e-7 * random.vector()).into()).collect();
    let stiff = elastic().bend(1e-3);
    for fabric in [stiff, stiff.damping(1e-4).bend_damping(3e-4), stiff.bend_damping(1e-3)] {
        for bending in [Bending::Triangles, Bending::Hinges] {
            let cloth = make(mesh.clone(), Parameters { bending, courant: 1.0, ..plain(fabric) });
            let shortest = cloth.spans().iter().copied().fold(f64::INFINITY, f64::min);
            let all = vec![0.999 * shortest; cloth.spans().len()];
            let mut cloth = cloth.with_spans(&all).unwrap().with_velocities(&speeds).unwrap();
            cloth.step(2000.0 * shortest, Inputs::NONE).unwrap();
            let fastest = cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!(fastest < 1e-6, "{fabric:?}, {bending:?}: {fastest}");
        }
    }
}

/// With spans that differ, no eigenvalue of M⁻¹ Σ Δt_e² K_e is above 4, by the second derivatives that implicit cloth has; the largest is not
/// far below, and spans are longer than those of eq. 3.
#[test]
fn no_span_of_a_mode_is_too_long_beside_the_others() {
    let (mesh, fabric) = (hill(), elastic().bend(1e-3));
    let parameters = Parameters { bending: Bending::Hinges, courant: 1.0, ..plain(fabric) };
    let cloth = make(mesh.clone(), parameters);
    let sheet = Sheet::new(&mesh, &fabric, &Cut::as_mesh()).unwrap();
    let (x, spans) = (mesh.vertices(), cloth.spans());
    let (of_triangles, of_hinges) = spans.split_at(sheet.triangles.len());
    // M⁻¹ Σ Δt_e² K_e y.
    let product = |y: &[V3]| {
        let mut sum = vec![V3::zeros(); y.len()];
        for (t, span) in sheet.triangles.iter().zip(of_triangles) {
            let tangent = sheet.density.tangent(&t.steps_of(x), true);
            for (i, &a) in t.vertices.iter().enumerate() {
                for (j, &b) in t.vertices.iter().enumerate() {
                    sum[a as usize] += span * span * t.stiffness(&tangent, i, j) * y[b as usize];
                }
            }
        }
        for (bend, span) in sheet.hinges.iter().zip(of_hinges) {
            let gradient = hinge::gradient(&bend.positions(x)).unwrap();
            let turn: f64 = gradient.iter().zip(bend.vertices).map(|(g, v)| g.dot(&y[v as usize])).sum();
            gradient
                .iter()
                .zip(bend.vertices)
                .for_each(|(g, v)| sum[v as usize] += span * span * bend.stiffness * turn * g);
        }
        sum.iter().zip(&sheet.masses).map(|(s, m)| s / *m).collect::<Vec<V3>>()
    };
    let mut random = Random(9);
    let mut y: Vec<V3> = x.iter().map(|_| random.vector()).collect();
    let mut largest = 0.0;
    for _ in 0..500 {
        let next = product(&y);
        largest = next.iter().map(|v| v.norm_squared()).sum::<f64>().sqrt();
        y = next.iter().map(|v| v / largest).collect();
    }
    assert!(largest < 4.0 * (1.0 + 1e-9) && largest > 2.0, "{largest}");

    let waves = sheet.triangles.iter().map(|t| 2.0 * t.area / t.sides().iter().sum::<f64>() * (0.5_f64 / 300.0).sqrt());
    let [mode, wave] = [of_triangles.iter().copied().map(f64::recip).sum::<f64>(), waves.map(f64::recip).sum()];
    assert!(wave / mode > 1.5, "{}", wave / mode);
}

/// Stretched to twice its length, a triangle is 5½ times as stiff (q + ½ (q - 1) of q = 4) and waits so much shorter, from its first event on and
/// no longer when it has come back; spans that are given stay, and make it another cloth.
#[test]
fn a_triangle_waits_shorter_once_it_was_stretched() {
    let mesh = Mesh::new(&[[0.0; 3], [0.1, 0.0, 0.0], [0.0, -0.1, 0.0]], &[[0, 2, 1]]).unwrap();
    let mut at = mesh.positions();
    at[1][0] *= 2.0;
    let stretched = || make(mesh.clone(), plain(elastic())).with_positions(&at).unwrap();
    let span = stretched().spans()[0];
    let waits = |mut cloth: AviCloth, pinned: &[u32]| {
        cloth.pin(pinned).unwrap();
        cloth.record_events();
        cloth.step(20.0 * span, Inputs::NONE).unwrap();
        let times: Vec<f64> = std::iter::once(0.0).chain(cloth.events().iter().map(|(time, _)| *time)).collect();
        (times.windows(2).map(|pair| (pair[1] - pair[0]) / span).collect::<Vec<f64>>(), cloth.stretch())
    };
    let all = |waits: &[f64], expected: f64| {
        waits.len() > 10 && waits.iter().all(|wait| (wait / expected - 1.0).abs() < 1e-9)
    };
    assert!(all(&waits(stretched(), &[0, 1, 2]).0, 1.0 / 5.5));
    let given = || stretched().with_spans(&[span]).unwrap();
    assert!(all(&waits(given(), &[0, 1, 2]).0, 1.0));
    let (free, stretch) = waits(stretched(), &[]);
    assert!(stretch < 0.9 && free.len() > 10 && (5.5 * free[0] - 1.0).abs() < 1e-9, "{stretch}, {free:?}");
    assert!(free.windows(2).all(|pair| pair[1] < pair[0] * (1.0 + 1e-9)), "{free:?}");

    assert!(stretched().retract(&stretched().snapshot(None)).is_ok());
    assert!(given().retract(&stretched().snapshot(None)).is_err());
}
