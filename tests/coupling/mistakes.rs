//! Everything that is wrong with a scene is said at once, before the first step; a call that is
//! refused changes nothing (rows X1, X7, X8, X12); so does a step whose report makes no sense.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use crate::common::{Hooked, following_mass, free_mass, hash, rotor::Rotor};
use partita::{
    Error, Mistake, Rewind,
    prelude::*,
    simulator::{Guide, Reaction, StepReport},
};

fn mistakes(scene: Scene) -> Vec<Mistake> {
    match scene.build() {
        Err(Error::Scene(mistakes)) => mistakes.0,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the scene was built"),
    }
}

fn texts(scene: Scene) -> Vec<String> {
    mistakes(scene).iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_scene_is_refused() {
    assert_eq!(mistakes(Scene::new(Rate::hz(60))), [Mistake::Empty]);
}

#[test]
fn all_mistakes_are_said_at_once() {
    let (a, b, foreign) = (free_mass("a", 1.0), following_mass("b", 1.0), free_mass("elsewhere", 1.0).mass());
    let (mass, point) = (a.mass(), b.point(0));
    let mut scene = Scene::new(Rate::hz(0.0));
    scene.attach(point, foreign);
    scene.attach(mass, point);
    scene.attach(b.point(7), mass);
    scene.contact("b", "nobody").friction(-0.3);
    scene.contact("b", "a");
    scene.spring(mass, point).stiffness(f64::NAN);
    scene.spring(mass, point);
    scene.substeps("a", 0).substeps("c", 2);
    scene.rewind(Rewind { share: 2.0, marks: 0 });
    scene.scheme(Relaxed { tolerance: -1.0, ..Relaxed::default() });
    scene.add(a).add(b).add(free_mass("a", 2.0)).add(free_mass("", 1.0));
    let texts = texts(scene);
    for part in [
        "simulator name `a` is used twice",
        "window of the rate [s]: expected finite, above 0, found inf",
        "attachment 0 of `points` of `b` to a handle of another scene: expected a handle of a simulator of this scene",
        "attachment 1 of `mass` of `a` to `points` of `b`: `a` cannot follow an attached Point",
        "attachment 2 of handle 7 of `b` to `mass` of `a`: handle: expected below 1, found index 7",
        "no simulator is named `nobody`; there are `a`, `b`, `a`, ``",
        "contact of `b` with `nobody`, friction: expected finite, at least 0, found -0.3",
        "contact of `b` with `a`: expected at least one, found no surface of `a`",
        "spring 0 between `mass` of `a` and `points` of `b`, stiffness [N/m]: expected finite, at least 0, found NaN",
        "spring 1 between `mass` of `a` and `points` of `b`: expected a stiffness or a damping above 0, found neither",
        "substeps of `a`: expected at least 1, found 0",
        "name of simulator 3: expected a name",
        "substeps of `c`: no simulator is named `c`",
        "rewind, share: expected from 0 to 1, found 2",
        "rewind, marks: expected at least 2, found 0",
        "relaxed, tolerance: expected finite, above 0, found -1",
    ] {
        assert!(texts.iter().any(|text| text.contains(part)), "{part:?} is not in\n{}", texts.join("\n"));
    }
    assert_eq!(texts.len(), 16, "{}", texts.join("\n"));
}

#[test]
fn a_circle_of_leaders_is_refused() {
    let (a, b) = (following_mass("a", 1.0), following_mass("b", 1.0));
    let mut scene = Scene::new(Rate::hz(60));
    scene.attach(a.point(0), b.point(0)).attach(b.point(0), a.point(0));
    scene.add(a).add(b);
    assert!(texts(scene)[0].contains("couplings run in a circle: `a`, `b`"));
}

#[test]
fn points_that_are_apart_or_attached_twice_are_refused() {
    let (a, b) = (free_mass("a", 1.0).started_at([0.1, 0.0, 0.0], [0.0; 3]).unwrap(), following_mass("b", 1.0));
    let mut scene = Scene::new(Rate::hz(60));
    scene.attach(b.point(0), a.mass()).attach(b.point(0), a.mass());
    scene.attach(Vec::new(), a.mass());
    scene.attach([b.point(0), b.point(0), b.point(0)], [a.mass(), a.mass()]);
    scene.add(a).add(b);
    let texts = texts(scene);
    assert!(texts[0].contains("Points 0.1 m apart"), "{texts:?}");
    assert!(texts[1].contains("attached twice"), "{texts:?}");
    assert!(texts[2].contains("expected at least one, found no handle"), "{texts:?}");
    assert!(texts[3].contains("3 handles to 2"), "{texts:?}");
}

#[test]
fn simulators_start_at_one_time() {
    let (mut a, b) = (free_mass("a", 1.0), free_mass("b", 1.0));
    a.step(0.5, partita::simulator::Inputs::NONE).unwrap();
    let mut scene = Scene::new(Rate::hz(60));
    scene.add(a).add(b);
    assert!(texts(scene)[0].contains("time of `b`: expected 0.5 s as in `a`, found 0 s"));
}

#[test]
fn contacts_with_bad_coefficients_unknown_surfaces_or_themselves_are_refused() {
    let crate_ = || {
        let mut rigid = RigidBodies::new("rigid");
        rigid.add("crate", Body::dynamic(Shape::cuboid([1.0; 3]))).unwrap();
        rigid
    };
    let build = |contact: &dyn Fn(&mut Scene)| {
        let mut scene = Scene::new(Rate::hz(60));
        contact(&mut scene);
        scene.add(crate_()).add(Particles::new("dust"));
        texts(scene).join("\n")
    };
    let said = build(&|scene| {
        scene.contact("dust", "rigid").friction(-0.1);
    });
    assert!(said.contains("friction: expected finite, at least 0, found -0.1"), "{said}");
    let said = build(&|scene| {
        scene.contact("dust", "rigid").restitution(1.5);
    });
    assert!(said.contains("restitution: expected from 0 to 1, found 1.5"), "{said}");
    let said = build(&|scene| {
        scene.contact("dust", "rigid").thickness(f64::NAN);
    });
    assert!(said.contains("thickness: expected finite, at least 0, found NaN"), "{said}");
    let said = build(&|scene| {
        scene.contact("dust", "rigid").only(["ghost"]);
    });
    assert!(said.contains("no surface `ghost` of `rigid`"), "{said}");
    let said = build(&|scene| {
        scene.contact("dust", "dust");
    });
    assert!(said.contains("expected two, found one simulator"), "{said}");
    let said = build(&|scene| {
        scene.contact("dust", "rigid");
        scene.contact("dust", "rigid");
    });
    assert!(said.contains("twice"), "{said}");
    let said = build(&|scene| {
        scene.contact("rigid", "dust");
    });
    assert!(said.contains("no surface of `dust`"), "{said}");
}

#[test]
fn a_refused_call_changes_nothing() {
    let (mut scene, handle) = crate::common::hanging_chain(4, 256.0);
    scene.scheme(Relaxed::default());
    let mut run = scene.build().unwrap();
    run.for_seconds(0.1).unwrap();
    let names = ["support", "chain"];
    let before = hash(&mut run, &names);
    let foreign = free_mass("elsewhere", 1.0).mass();
    let bad = HandleId { index: 99, ..handle };
    assert!(run.push(foreign, Wrench::ZERO).is_err());
    assert!(run.push(bad, Wrench::ZERO).is_err());
    assert!(run.push(handle, Wrench::force([f64::NAN, 0.0, 0.0])).is_err());
    assert!(run.push(handle, Wrench::torque([1.0, 0.0, 0.0])).is_err());
    assert!(run.state(foreign).is_err() && run.state(bad).is_err());
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(run.set_rate(Rate::seconds(dt)).is_err());
        assert!(dt == 0.0 || run.for_seconds(dt).is_err());
    }
    assert!(run.look("support", |_: &Particles| ()).is_err());
    assert!(run.look("nobody", |_: &Particles| ()).is_err());
    assert!(run.simulator_ledger("nobody").is_err());
    assert_eq!(hash(&mut run, &names), before);

    // A load too large to compute with fails the window, and all are back at its start.
    run.push(handle, Wrench::force([1e300, 0.0, 0.0])).unwrap();
    run.push(handle, Wrench::force([1e300, 0.0, 0.0])).unwrap();
    run.set_rate(Rate::seconds(1e20)).unwrap();
    let error = run.advance().unwrap_err();
    assert!(error.to_string().contains("`support`"), "{error}");
    assert_eq!(hash(&mut run, &names), before);
}

/// As many windows as cover the seconds, rounded up; what `begin` refuses ends
/// them, and those before stand as if nobody had watched.
#[test]
fn what_is_refused_at_the_begin_of_a_window_leaves_those_before() {
    let make = || crate::common::hanging_chain(4, 256.0).0.build().unwrap();
    for (seconds, windows) in [(0.0, 0), (1e-6, 1), (1.0 / 256.0, 1), (0.1, 26), (0.5, 128)] {
        let (mut run, mut begins) = (make(), Vec::new());
        run.each_window(seconds, |run| -> partita::Result<()> {
            begins.push(run.windows());
            Ok(())
        })
        .unwrap();
        assert_eq!((run.windows(), begins), (windows, (0..windows).collect()));
    }

    let (mut watched, mut alone) = (make(), make());
    let refuse = |run: &mut Run| if run.windows() == 5 { Err(Box::from("seen enough")) } else { Ok(()) };
    let error: Box<dyn std::error::Error> = watched.each_window(1.0, refuse).unwrap_err();
    alone.for_seconds(5.0 / 256.0).unwrap();
    assert_eq!((error.to_string().as_str(), watched.windows()), ("seen enough", 5));
    assert_eq!(hash(&mut watched, &["support", "chain"]), hash(&mut alone, &["support", "chain"]));
    let never = |_: &mut Run| -> partita::Result<()> { panic!("no window begins") };
    assert!(watched.each_window(f64::NAN, never).is_err() && watched.each_window(-1.0, never).is_err());
}

/// A pair tied by Points, or by Frames (one fixed in the other); while `trouble` is on, the
/// follower also reports `wrong` from window 5 on (not in those before, which going back plays again).
fn reporting(frames: bool, wrong: Reaction, trouble: &Arc<AtomicBool>) -> Scene {
    let trouble = trouble.clone();
    let hook = move |_: &_, report: &mut StepReport| {
        if trouble.load(SeqCst) && report.time > 5.5 / 128.0 {
            report.reactions.push(wrong);
        }
        Ok(())
    };
    let mut scene = Scene::new(Rate::hz(128));
    if frames {
        let drive = Wrench { linear: [1.0, 0.0, 0.0], angular: [0.0, 0.0, 1.0] };
        let (leader, follower) = (Rotor::new("leader", 2.0, 2.0).driven(drive), Rotor::new("follower", 1.0, 1.0));
        scene.attach(follower.frame(), leader.frame());
        scene.add(leader).add(Hooked::new(follower, hook));
    } else {
        let leader = free_mass("leader", 2.0).started_at([0.0; 3], [1.0, 0.0, 0.0]).unwrap();
        let follower = following_mass("follower", 1.0);
        scene.attach(follower.point(0), leader.mass());
        scene.add(leader).add(Hooked::new(follower, hook));
    }
    scene
}

/// A follower that says it pushed what it was not given, or with a force that is no number, is
/// named; the run stays at the window's start and goes on as if nothing had happened.
#[test]
fn a_reaction_on_nothing_names_its_simulator_and_changes_nothing() {
    let push = |guide, carrier, x| Reaction { guide, carrier, impulse: Wrench::force([x, 0.0, 0.0]) };
    let wrongs = [
        (push(1, 0, 1.0), "found carrier 0 of guide 1"),
        (push(0, 1, 1.0), "found carrier 1 of guide 0"),
        (push(u32::MAX, u32::MAX, 1.0), "of guide 4294967295"),
        (push(0, 0, f64::NAN), "reaction on guide 0: expected finite numbers"),
    ];
    let names = ["leader", "follower"];
    for frames in [false, true] {
        for (wrong, text) in wrongs {
            for (threads, scheme) in [(false, Scheme::Interleaved), (true, Relaxed::default().into())] {
                let trouble = Arc::new(AtomicBool::new(false));
                let mut scene = reporting(frames, wrong, &trouble);
                scene.threads(threads).scheme(scheme);
                let mut run = scene.build().unwrap();
                (0..5).for_each(|_| drop(run.advance().unwrap()));
                let before = hash(&mut run, &names);

                trouble.store(true, SeqCst);
                let error = run.advance().unwrap_err();
                let Error::Window { window: 5, simulator, .. } = &error else { panic!("{error}") };
                assert_eq!(simulator, "follower");
                assert!(error.to_string().contains(text), "{text:?} is not in {error}");
                assert_eq!((run.windows(), hash(&mut run, &names)), (5, before));

                trouble.store(false, SeqCst);
                run.advance().unwrap();
                let after = hash(&mut run, &names);
                run.rewind_to(0).unwrap();
                (0..6).for_each(|_| drop(run.advance().unwrap()));
                assert_eq!(hash(&mut run, &names), after);
            }
        }
    }
}

/// A body that sits in another one and is attached to it, and a third thing of the follower's that is not: contact of the
/// two worlds does not push the first apart, and does stop the second.
#[test]
#[cfg(feature = "rigid")]
fn who_is_attached_to_a_body_does_not_collide_with_it() {
    let mut leader = RigidBodies::new("leader").gravity([0.0; 3]);
    let hull = leader.add("hull", Body::dynamic(Shape::cuboid([1.0; 3])).mass(1000.0)).unwrap();
    let mut follower = RigidBodies::new("follower");
    let engine = follower.add("engine", Body::dynamic(Shape::cuboid([0.5; 3])).mass(1.0).at([0.1, 0.3, 0.0])).unwrap();
    let load = follower.add("load", Body::dynamic(Shape::cuboid([0.2; 3])).mass(1.0).at([0.0, 0.7, 0.39])).unwrap();
    let follower = Hooked::new(follower, |_, _| Ok(()));
    let guides = follower.guides.clone();
    let mut scene = Scene::new(Rate::hz(120));
    scene.attach(engine, hull);
    scene.contact("follower", "leader");
    scene.add(leader).add(follower);
    let mut run = scene.build().unwrap();
    let excepted = |guide: &Guide| matches!(guide, Guide::Obstacle { except, .. } if *except == [engine]);
    assert!(guides.lock().unwrap().iter().any(excepted), "{guides:?}");
    run.for_seconds(0.5).unwrap();
    let height = |run: &mut Run, body| run.state(body).unwrap().position[1];
    let sunk = height(&mut run, hull);
    // 2 kg on 1000 kg for half a second: g t² / 1000 = 2.5 mm.
    assert!((-4e-3..0.0).contains(&sunk), "{sunk} m");
    assert!((height(&mut run, engine) - sunk - 0.3).abs() < 1e-3);
    assert!((height(&mut run, load) - sunk - 0.6).abs() < 2e-3);
}

/// A contact whose roles are the wrong way round says how it can be.
#[test]
#[cfg(all(feature = "rigid", feature = "implicit-cloth"))]
fn a_contact_the_wrong_way_round_says_so() {
    let mesh = partita_mesh::Mesh::grid([2; 2], [0.1; 2]).unwrap();
    let cloth = ImplicitCloth::new("towel", mesh, Fabric::cotton()).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("box", Body::fixed(Shape::cuboid([0.1; 3])).at([0.0, -1.0, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(60));
    scene.contact("rigid", "towel");
    scene.add(cloth).add(rigid);
    let texts = texts(scene);
    let said = |part: &str| texts.iter().any(|text| text.contains(part));
    assert!(said("`rigid` cannot follow") && said("the other way round: contact(\"towel\", \"rigid\")"), "{texts:?}");
}

/// Parameters of simulators that no step would take are mistakes of the scene, not of its first window.
#[test]
#[cfg(all(feature = "particles", feature = "implicit-cloth"))]
fn parameters_that_no_step_takes_are_mistakes() {
    let dust = Particles::new("dust").wind([f64::NAN, 0.0, 0.0]);
    let rain = Particles::new("rain").emit(Emitter::disc([0.0; 3], 0.5).rate(f64::NAN));
    let mesh = partita_mesh::Mesh::grid([2; 2], [0.1; 2]).unwrap();
    let towel = ImplicitCloth::new("towel", mesh, Fabric::cotton()).unwrap().wind([0.0, f64::NAN, 0.0]);
    let mut scene = Scene::new(Rate::hz(60));
    scene.add(dust).add(rain).add(towel);
    let texts = texts(scene);
    for name in ["dust", "rain", "towel"] {
        assert!(texts.iter().any(|text| text.starts_with(&format!("start of `{name}`"))), "{name}: {texts:?}");
    }
}
