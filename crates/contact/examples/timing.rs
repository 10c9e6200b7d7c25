#[path = "../tests/scenes/common.rs"]
mod common;
use common::{Cloth, flat};
use nalgebra::Isometry3;
use partita_contact::{Obstacle, Parameters, Path, Shape};
use std::time::Instant;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    for cells in [50_u32] {
        let ball = Obstacle::new(Shape::Ball { radius: 0.3 }).friction(0.3);
        let mut cloth = Cloth::new(
            &flat([cells, cells], [1.2, 1.2], 0.305),
            Parameters { thickness: 2e-3, ..Parameters::default() },
            vec![ball],
        );
        let dt = 1.0 / 240.0;
        cloth.substeps = 2;
        let path = [Path::still(Isometry3::identity())];
        let mut times = vec![];
        let mut total = vec![];
        for i in 0..480 {
            let t = Instant::now();
            let report = cloth.step(dt, &path);
            total.push(t.elapsed().as_secs_f64() * 1e3);
            times.push(report.seconds.sum() * 1e3);
            if i % 60 == 59 {
                let s = &mut times;
                s.sort_by(f64::total_cmp);
                total.sort_by(f64::total_cmp);
                println!(
                    "{} tri {i} contact {:.2} ms (max {:.2}), all {:.2}; pairs {} contacts {} impacts {} rounds {} rigid {} held {} crossings {} {:?}",
                    2 * cells * cells,
                    s[s.len() / 2],
                    s[s.len() - 1],
                    total[total.len() / 2],
                    report.pairs,
                    report.contacts,
                    report.impacts,
                    report.rounds,
                    report.rigid,
                    report.held,
                    cloth.crossings(),
                    report.seconds
                );
                times.clear();
                total.clear();
            }
        }
    }
}
