//! Law of strain: a tape has by frame the strain that the cloth itself reports, and a surface that only moves has none.

use partita::prelude::*;
use partita_mesh::{Mesh, Side};
use partita_report::{Camera, Options, Report, Scenery, Tape};

/// A sheet of links that stretch, hung up by an edge, unstrained at first, beside a body that falls.
#[test]
fn the_largest_strain_is_that_of_the_cloth() {
    let mesh = Mesh::grid([6, 6], [1.0, 1.0]).unwrap();
    let net = Net::new(&mesh.positions(), &vec![0.01; mesh.vertices().len()]).unwrap();
    let net = net.bars(mesh.edges().iter().map(|edge| edge.vertices)).unwrap().triangles(mesh.triangles()).unwrap();
    let mut cloth = IbdsCloth::new("cloth", net).unwrap();
    cloth.pin(&mesh.edge(Side::Top).unwrap()).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("crate", Body::dynamic(Shape::cuboid([0.2; 3])).at([2.0, 0.0, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(48));
    scene.add(cloth.max_iterations(2).extensibility(1e-6)).add(rigid);
    let mut run = scene.build().unwrap();

    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("hanging", &Options { out: folder.path().into(), ..Options::default() }).unwrap();
    let camera = Camera::framing([[-1.0; 3], [2.0; 3]]);
    let mut told = vec![0.0];
    let recording = report.record_each(&mut run, 0.5, Scenery::new(camera), |run| {
        told.push(run.look("cloth", IbdsCloth::stretch)?);
        Ok("")
    });
    report.finish(recording.unwrap());
    let mut tape = Tape::open(folder.path().join("hanging.tape")).unwrap();
    let surfaces: Vec<String> = tape.begin().surfaces.iter().map(|taped| taped.surface.name.clone()).collect();
    let of = |name: &str| surfaces.iter().position(|surface| surface == name).unwrap();
    let mut largest = 0.0_f64;
    for number in 0..tape.frames() {
        let strains = tape.frame(number).unwrap().numbers.strains;
        assert_eq!(strains[of("crate")], None);
        let [found, mean] = strains[of("cloth")].unwrap();
        let expected = told[2 * number];
        assert!((found - expected).abs() < 1e-9 && mean <= found, "frame {number}: {found} for {expected}");
        largest = largest.max(found);
    }
    assert!(largest > 1e-3, "{largest}");
}
