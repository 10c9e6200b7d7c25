//! Law of parameters as data: what a scene was built of stands in its settings, by name.

use partita::prelude::*;
use partita_mesh::Mesh;

#[test]
fn settings_name_simulators_couplings_and_their_parameters() {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0, -1.62, 0.0]);
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).mass(2.5).friction(0.4).at([0.0, 1.0, 0.0])).unwrap();
    let sheet = Mesh::grid([4, 4], [1.0, 1.0]).unwrap();
    let cloth = ImplicitCloth::new("cloth", sheet, Fabric::cotton()).unwrap();
    let mut hail = Particles::new("hail").drag(0.25);
    let stone = hail.add([0.0, 3.0, 0.0], [0.0; 3]).unwrap();
    let mut scene = Scene::new(Rate::hz(49));
    scene.contact("hail", "rigid").friction(0.3).thickness(2e-3);
    scene.attach([cloth.vertex(0), cloth.vertex(1)], ball);
    scene.spring(stone, ball).stiffness(40.0).damping(0.5).rest_length(1.5);
    scene.scheme(Relaxed::default().passes(7)).substeps("rigid", 3);
    scene.add(rigid).add(cloth).add(hail);
    let run = scene.build().unwrap();

    let settings = run.settings();
    let number = |path: &str| settings.pointer(path).and_then(|value| value.as_f64());
    let text = |path: &str| settings.pointer(path).and_then(|value| value.as_str());
    for (path, expected) in [
        ("/rate", 49.0),
        ("/scheme/Relaxed/passes", 7.0),
        ("/substeps/rigid", 3.0),
        ("/contacts/0/friction", 0.3),
        ("/contacts/0/thickness", 2e-3),
        ("/attachments/0/handles", 2.0),
        ("/springs/0/stiffness", 40.0),
        ("/springs/0/damping", 0.5),
        ("/springs/0/rest_length", 1.5),
        ("/simulators/rigid/gravity/1", -1.62),
        ("/simulators/rigid/bodies/ball/friction", 0.4),
        ("/simulators/rigid/bodies/ball/mass", 2.5),
        ("/simulators/hail/drag", 0.25),
        ("/thresholds/work", 0.1),
    ] {
        assert_eq!(number(path), Some(expected), "{path} in {settings:#}");
    }
    for (path, expected) in [
        ("/contacts/0/follower", "hail"),
        ("/contacts/0/leader", "rigid"),
        ("/attachments/0/follower", "cloth"),
        ("/attachments/0/leader", "rigid"),
        ("/springs/0/ends/1", "ball"),
    ] {
        assert_eq!(text(path), Some(expected), "{path} in {settings:#}");
    }
    assert!(settings.pointer("/contacts/0/restitution").unwrap().is_null(), "{settings:#}");
    assert!(settings.pointer("/simulators/cloth/fabric").is_some(), "{settings:#}");
}

/// Stages are parts of a simulator's own time, which they make up but for what is before and after them.
#[test]
fn every_simulator_tells_where_its_time_goes() {
    let sheet = || Mesh::grid([12, 12], [1.0, 1.0]).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    (0..20).for_each(|k| {
        rigid.add(&format!("ball {k}"), Body::dynamic(Shape::ball(0.1)).at([0.3 * f64::from(k), 1.0, 3.0])).unwrap();
    });
    let mut hail = Particles::new("hail");
    (0..2000).for_each(|k| {
        hail.add([0.01 * f64::from(k), 3.0, 0.0], [0.0; 3]).unwrap();
    });
    let mesh = sheet();
    let net = Net::new(&mesh.positions(), &vec![0.01; mesh.vertices().len()]).unwrap();
    let net = net.bars(mesh.edges().iter().map(|edge| edge.vertices)).unwrap();
    let mut scene = Scene::new(Rate::hz(60));
    scene.add(rigid).add(hail).add(IbdsCloth::new("links", net).unwrap());
    scene.add(ImplicitCloth::new("implicit", sheet(), Fabric::cotton()).unwrap());
    scene.add(AviCloth::new("avi", sheet(), Fabric::cotton()).unwrap());
    let mut run = scene.build().unwrap();
    run.for_seconds(0.1).unwrap();
    let report = run.report();
    for ((name, seconds), stages) in report.simulators.iter().zip(&report.stages) {
        let sum: f64 = stages.0.iter().map(|(_, seconds)| seconds).sum();
        assert!(stages.0.len() >= 2 && sum <= *seconds, "{name}: {stages:?} of {seconds} s");
    }
}
