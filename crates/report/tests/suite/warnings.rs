//! Warnings of a run are in the file of checks, with numbers and in words, and on the page.

use clap::Parser;
use partita::{
    prelude::*,
    simulator::reference::{Chain, ChainParameters, MassOnSpring, SpringParameters},
};
use partita_report::{Camera, Options, Report, Scenery};
use serde_json::Value;

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
}

#[test]
fn warnings_are_in_the_json_and_on_the_page() {
    for (ratio, told) in [(0.1, 0), (2.0, 2)] {
        let out = tempfile::tempdir().unwrap();
        let flags = Flags::parse_from(["x", "--out", out.path().to_str().unwrap()]);
        let parameters = SpringParameters { gravity: [1.0, 0.0, 0.0], ..SpringParameters::default() };
        let leader = MassOnSpring::new("leader", parameters).unwrap();
        let parameters = ChainParameters { mass: ratio, gravity: [0.0; 3], ..ChainParameters::default() };
        let follower = Chain::new("follower", &[[0.0; 3]], parameters).unwrap();
        let mut rigid = RigidBodies::new("rigid");
        rigid.add("box", Body::dynamic(Shape::cuboid([1.0; 3]))).unwrap();
        let mut scene = Scene::new(Rate::hz(60));
        scene.attach(follower.point(0), leader.mass());
        scene.add(leader).add(follower).add(rigid);
        let mut run = scene.build().unwrap();
        let report = Report::new("tied", &flags.options).unwrap();
        let camera = Camera::framing([[-1.0; 3], [1.0; 3]]);
        let recording = report.record(&mut run, 1.0, Scenery::new(camera)).unwrap();
        assert_eq!(run.warnings().len(), told, "{:?}", run.warnings());
        report.finish(recording);

        let json = std::fs::read_to_string(out.path().join("tied.json")).unwrap();
        let document: Value = serde_json::from_str(&json).unwrap();
        let warnings = document["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), told);
        let page = std::fs::read_to_string(out.path().join("tied.html")).unwrap();
        for (found, warning) in warnings.iter().zip(run.warnings()) {
            assert_eq!(found["text"], warning.to_string());
            assert_eq!(found["windows"]["first"], warning.windows.first);
            assert_eq!(found["windows"]["last"], 59);
            assert_eq!(found["source"], "follower on leader");
            assert!(page.contains(&warning.to_string()));
        }
    }
}
