//! Every refusal names the thing, what was found and what was expected; and it changes nothing.

use std::sync::Arc;

use partita_simulator::{
    Carrier, Follows, Guide, HandleGroup, HandleId, HandleState, HandleTable, Inputs, Kind, Motion, Primitive,
    PrimitiveShape, Simulator, SimulatorError, Stages, Surface, Wrench, check, check_guides, check_pair, owner_of,
    reference::{Chain, ChainParameters, MassOnSpring, SpringParameters},
};

/// Asserts that `result` is a refusal whose thing, value and expectation contain these words.
fn refused<T>(result: Result<T, SimulatorError>, [in_thing, in_found, in_expected]: [&str; 3]) {
    match result.err().expect("accepted") {
        SimulatorError::Refused { thing, found, expected } => {
            assert!(thing.contains(in_thing), "thing `{thing}`, not `{in_thing}`");
            assert!(found.contains(in_found), "{thing}: found `{found}`, not `{in_found}`");
            assert!(expected.contains(in_expected), "{thing}: expected `{expected}`, not `{in_expected}`");
        }
        failed => panic!("{failed}"),
    }
}

/// Three points and a frame.
fn table() -> HandleTable {
    let mut table = HandleTable::new("test", "table");
    table.add("points", Kind::Point, 3).unwrap();
    table.add("body", Kind::Frame, 1).unwrap();
    table
}

fn handle(index: u32) -> HandleId {
    HandleId { owner: owner_of("test", "table"), index }
}

const FOREIGN: HandleId = HandleId { owner: 5, index: 0 };

fn loaded(handle: HandleId, wrench: Wrench) -> Inputs {
    Inputs { loads: vec![(handle, wrench)], ..Inputs::default() }
}

#[test]
fn time_steps_are_positive_and_finite_however_small_or_large() {
    for (dt, found) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (-0.01, "-0.01"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        refused(check(&table(), &[], dt, Inputs::NONE), ["dt [s]", found, "finite, above 0"]);
    }
    for dt in [1e-12, 1e3, f64::MIN_POSITIVE, 5e-324, 1e300] {
        check(&table(), &[], dt, Inputs::NONE).unwrap();
    }
}

#[test]
fn loads_are_finite_on_own_handles_and_turn_only_frames() {
    let check = |handle, wrench| check(&table(), &[], 0.01, &loaded(handle, wrench));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let found = format!("{bad:?}");
        refused(check(handle(2), Wrench::force([0.0, bad, 0.0])), ["load on points[2]", &found, "finite numbers"]);
        refused(check(handle(3), Wrench::torque([0.0, 0.0, bad])), ["load on body", &found, "finite numbers"]);
    }
    refused(check(FOREIGN, Wrench::ZERO), ["handle", "owner 5", &format!("owner {:x}", handle(0).owner)]);
    refused(check(handle(4), Wrench::ZERO), ["handle", "index 4", "below 4"]);
    refused(check(handle(u32::MAX), Wrench::ZERO), ["handle", "index 4294967295", "below 4"]);
    let turn = Wrench::torque([1.0, 0.0, 0.0]);
    refused(check(handle(0), turn), ["load on points[0]", "torque [1.0, 0.0, 0.0]", "no torque on a Point"]);
    check(handle(3), turn).unwrap();
    for size in [1e300, 5e-324, -0.0] {
        check(handle(0), Wrench::force([size; 3])).unwrap();
    }
}

fn sheet(carrier: Carrier) -> Surface {
    Surface {
        name: "sheet".into(),
        carrier,
        vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        triangles: vec![[0, 2, 1]],
        lines: vec![],
        two_sided: true,
        primitive: None,
        friction: 0.3,
        restitution: 0.0,
        thickness: 0.001,
    }
}

fn deforming() -> Carrier {
    Carrier::Points((0..3).map(|index| HandleId { owner: 9, index }).collect())
}

fn rigid() -> Carrier {
    Carrier::Frame(HandleId { owner: 9, index: 0 })
}

fn obstacle(surface: Surface) -> Guide {
    Guide::Obstacle { surface: Arc::new(surface), friction: 0.3, restitution: 0.1, thickness: 0.0, except: Vec::new() }
}

#[test]
fn motions_are_one_a_guide_one_state_a_carrier_finite_and_turned_by_unit_quaternions() {
    let guides = [Guide::Attachment { own: handle(0) }, obstacle(sheet(deforming()))];
    let still = |n: usize| -> Arc<[HandleState]> { vec![HandleState::default(); n].into() };
    let check = |motions: Vec<Option<Motion>>| check(&table(), &guides, 0.01, &Inputs { motions, ..Inputs::default() });
    let good = Motion { begin: still(3), end: still(3) };
    check(vec![]).unwrap();
    check(vec![None, None]).unwrap();
    check(vec![None, Some(good.clone())]).unwrap();

    refused(check(vec![None]), ["motions", "1", "one for each of 2 guides, or none"]);
    refused(check(vec![None; 3]), ["motions", "3", "one for each of 2 guides, or none"]);
    let short = Motion { end: still(2), ..good.clone() };
    refused(check(vec![None, Some(short)]), ["motion of guide 1, end", "2 states", "each of 3 carriers"]);
    let long = Motion { begin: still(4), ..good.clone() };
    refused(check(vec![None, Some(long)]), ["motion of guide 1, begin", "4 states", "each of 3 carriers"]);

    let with = |change: fn(&mut HandleState)| {
        let mut states = good.end.to_vec();
        change(&mut states[1]);
        check(vec![None, Some(Motion { end: states.into(), ..good.clone() })])
    };
    let changes: [fn(&mut HandleState); 4] = [
        |state| state.position[0] = f64::NAN,
        |state| state.velocity[1] = f64::NAN,
        |state| state.orientation[2] = f64::NAN,
        |state| state.spin[2] = f64::NAN,
    ];
    for change in changes {
        refused(with(change), ["motion of guide 1, end, carrier 1", "NaN", "finite numbers"]);
    }
    refused(
        with(|state| state.orientation = [0.0; 4]),
        ["end, carrier 1", "[0.0, 0.0, 0.0, 0.0]", "a unit quaternion"],
    );
    refused(with(|state| state.orientation = [0.0, 0.0, 0.0, 1.001]), ["carrier 1", "1.001", "a unit quaternion"]);
    with(|state| state.orientation = [0.0, 0.0, 0.0, -1.0]).unwrap();
}

/// What is followed, and in what words the rest is refused.
#[test]
fn guides_are_refused_that_cannot_be_followed_or_are_not_sound() {
    let none = Follows::default();
    let all = Follows {
        points: true,
        frames: true,
        rigid_surfaces: true,
        deforming_surfaces: true,
        lines: true,
        impacts: false,
        tolerance: 0.0,
    };
    let check = |follows, guide: &Guide| {
        check_guides(&table(), follows, &[], &[Guide::Attachment { own: handle(0) }, guide.clone()])
    };
    let kinds = [
        (Guide::Attachment { own: handle(1) }, "an attached Point", "points: false"),
        (Guide::Attachment { own: handle(3) }, "an attached Frame", "frames: false"),
        (obstacle(sheet(rigid())), "a rigid obstacle", "rigid_surfaces: false"),
        (obstacle(sheet(deforming())), "a deforming obstacle", "deforming_surfaces: false"),
        (
            obstacle(Surface { triangles: vec![], lines: vec![[0, 1]], ..sheet(rigid()) }),
            "an obstacle of lines",
            "lines: false",
        ),
    ];
    for (guide, what, lacks) in &kinds {
        check(all, guide).unwrap();
        refused(check_guides(&table(), none, &[], std::slice::from_ref(guide)), ["guide 0", what, lacks]);
    }
    refused(check(Follows { frames: false, ..all }, &kinds[1].0), ["guide 1", "an attached Frame", "frames: false"]);

    refused(
        check(all, &Guide::Attachment { own: handle(0) }),
        ["guides", "two attachments of", "one attachment a handle"],
    );
    refused(check(all, &Guide::Attachment { own: FOREIGN }), ["handle", "owner 5", "owner"]);
    refused(check(all, &Guide::Attachment { own: handle(9) }), ["handle", "index 9", "below 4"]);
    let mut guide = obstacle(sheet(rigid()));
    if let Guide::Obstacle { except, .. } = &mut guide {
        except.push(handle(7));
    }
    refused(check(all, &guide), ["handle", "index 7", "below 4"]);
    if let Guide::Obstacle { except, friction, .. } = &mut guide {
        except.clear();
        *friction = -0.5;
    }
    refused(check(all, &guide), ["guide 1, friction", "-0.5", "at least 0"]);
    let broken = Surface { triangles: vec![[0, 1, 3]], ..sheet(rigid()) };
    refused(check(all, &obstacle(broken)), ["surface `sheet`, triangle 0", "[0, 1, 3]", "indices below 3"]);
}

#[test]
fn surfaces_have_finite_vertices_corners_that_exist_and_a_carrier_a_vertex() {
    sheet(rigid()).check().unwrap();
    sheet(deforming()).check().unwrap();
    Surface { vertices: vec![], triangles: vec![], carrier: Carrier::Points(vec![]), ..sheet(rigid()) }
        .check()
        .unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        let mut surface = sheet(rigid());
        surface.vertices[2][1] = bad;
        refused(surface.check(), ["surface `sheet`, vertex 2", &format!("{bad:?}"), "finite coordinates"]);
    }
    let of = |triangle| Surface { triangles: vec![[0, 1, 2], triangle], ..sheet(rigid()) };
    refused(of([0, u32::MAX, 1]).check(), ["triangle 1", "4294967295", "indices below 3"]);
    let two = Carrier::Points(vec![FOREIGN; 2]);
    refused(sheet(two).check(), ["surface `sheet`, carrier", "2 Points", "one for each of 3 vertices"]);
    refused(Surface { thickness: -1.0, ..sheet(rigid()) }.check(), ["surface `sheet`, thickness", "-1", "at least 0"]);
}

#[test]
fn primitives_have_sizes_and_axes_and_a_frame() {
    let ball = |radius| Primitive {
        shape: PrimitiveShape::Ball { radius },
        position: [0.0; 3],
        orientation: [0.6, 0.0, 0.0, -0.8],
    };
    let of = |primitive, carrier| Surface { primitive: Some(primitive), ..sheet(carrier) }.check();
    of(ball(0.1), rigid()).unwrap();
    for wrong in [
        ball(0.0),
        ball(f64::NAN),
        Primitive { position: [0.0, f64::INFINITY, 0.0], ..ball(0.1) },
        Primitive { orientation: [0.6, 0.0, 0.0, 0.6], ..ball(0.1) },
        Primitive { shape: PrimitiveShape::Capsule { half_length: -1.0, radius: 0.1 }, ..ball(0.1) },
        Primitive { shape: PrimitiveShape::Cuboid { half_extents: [1.0, f64::INFINITY, 1.0] }, ..ball(0.1) },
    ] {
        refused(of(wrong, rigid()), ["surface `sheet`, primitive", "Primitive {", "above 0"]);
    }
    refused(of(ball(0.1), deforming()), ["surface `sheet`, primitive", "Ball", "in a Frame's axes"]);
}

#[test]
fn coefficients_of_a_pair_are_in_range() {
    check_pair("pair", 0.0, 0.0, 0.0).unwrap();
    check_pair("pair", 3.0, 1.0, 0.5).unwrap();
    let rows = [
        ([f64::NAN, 0.0, 0.0], "friction", "NaN", "finite, at least 0"),
        ([f64::INFINITY, 0.0, 0.0], "friction", "inf", "finite, at least 0"),
        ([0.0, 1.1, 0.0], "restitution", "1.1", "from 0 to 1"),
        ([0.0, f64::NAN, 0.0], "restitution", "NaN", "from 0 to 1"),
        ([0.0, 0.0, -1e-9], "thickness", "-0.000000001", "finite, at least 0"),
        ([0.0, 0.0, f64::INFINITY], "thickness", "inf", "finite, at least 0"),
    ];
    for ([friction, restitution, thickness], field, found, expected) in rows {
        let result = check_pair("pair", friction, restitution, thickness);
        refused(result, [&format!("pair, {field}"), found, expected]);
    }
}

/// A Frame carries its surface's vertices in its axes: a quarter turn about z takes x to y.
#[test]
fn a_surface_is_posed_by_its_carriers() {
    let half = f64::sqrt(0.5);
    let frame = HandleState { position: [0.0, 0.0, 5.0], orientation: [0.0, 0.0, half, half], ..Default::default() };
    let posed = sheet(rigid()).posed(&[frame]);
    for (found, expected) in posed.iter().zip([[0.0, 0.0, 5.0], [0.0, 1.0, 5.0], [0.0, 0.0, 6.0]]) {
        assert!((0..3).all(|axis| (found[axis] - expected[axis]).abs() < 1e-15), "{posed:?}");
    }
    let points: Vec<_> = (0..3).map(|i| HandleState::point([f64::from(i), 2.0, 0.0], [0.0; 3])).collect();
    assert_eq!(sheet(deforming()).posed(&points), [[0.0, 2.0, 0.0], [1.0, 2.0, 0.0], [2.0, 2.0, 0.0]]);
}

#[test]
fn a_handle_table_refuses_names_used_twice_and_counts_past_u32() {
    let mut table = table();
    let before = table.clone();
    refused(table.add("points", Kind::Frame, 1), ["handle name", "`points` twice", "a name used once"]);
    refused(table.add("more", Kind::Point, u32::MAX - 3), ["handle count", "4 + 4294967292", "at most u32::MAX"]);
    assert_eq!(table, before);
    assert_eq!(table.add("more", Kind::Point, u32::MAX - 4).unwrap(), handle(4));
    assert_eq!(table.len(), u32::MAX);
    refused(table.add("one", Kind::Point, 1), ["handle count", "4294967295 + 1", "at most u32::MAX"]);
    assert_eq!(table.kind(handle(u32::MAX - 1)), Ok(Kind::Point));
}

#[test]
fn the_last_group_can_grow_and_a_refused_one_does_not() {
    let mut table = table();
    assert_eq!(table.extend(2).unwrap(), handle(4));
    assert_eq!((table.len(), table.describe(handle(5))), (6, "body[2]".into()));
    refused(table.extend(u32::MAX), ["handle count", "6 + 4294967295", "at most u32::MAX"]);
    assert_eq!(table.len(), 6);
    refused(HandleTable::new("test", "empty").extend(1), ["handle group", "none", "a group to extend"]);
}

/// Bytes of a table that no sequence of calls makes: a gap between groups, a name twice.
#[test]
fn a_table_that_is_read_is_checked() {
    let bytes = |groups: &[(&str, Kind, u32, u32)]| postcard::to_allocvec(&(7_u64, groups)).unwrap();
    let read = |bytes: Vec<u8>| postcard::from_bytes::<HandleTable>(&bytes);
    assert_eq!(read(postcard::to_allocvec(&table()).unwrap()).unwrap(), table());
    assert_eq!(read(bytes(&[("a", Kind::Point, 0, 2), ("b", Kind::Frame, 2, 1)])).unwrap().len(), 3);
    assert!(read(bytes(&[("a", Kind::Point, 0, 2), ("b", Kind::Frame, 3, 1)])).is_err());
    assert!(read(bytes(&[("a", Kind::Point, 1, 2)])).is_err());
    assert!(read(bytes(&[("a", Kind::Point, 0, 2), ("a", Kind::Frame, 2, 1)])).is_err());
}

#[test]
fn handles_are_described_by_group_and_place() {
    let table = table();
    assert_eq!(table.describe(handle(2)), "points[2]");
    assert_eq!(table.describe(handle(3)), "body");
    assert_eq!(table.describe(FOREIGN), "5/0");
    assert_eq!(table.describe(handle(4)), format!("{:x}/4", table.owner()));
    assert_eq!(table.kind(handle(2)), Ok(Kind::Point));
    assert_eq!(table.kind(handle(3)), Ok(Kind::Frame));
    assert_eq!(table.iter().map(|handle| handle.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let body = HandleGroup { name: "body".into(), kind: Kind::Frame, first: 3, count: 1 };
    assert_eq!(table.group("body"), Some(&body));
    assert_eq!(table.group("nobody"), None);
}

/// An empty group has no handles, and its neighbours keep theirs.
#[test]
fn an_empty_group_takes_no_place() {
    let mut table = HandleTable::new("test", "table");
    table.add("none", Kind::Frame, 0).unwrap();
    assert!(table.is_empty());
    refused(table.check(handle(0)), ["handle", "index 0", "below 0"]);
    table.add("some", Kind::Point, 2).unwrap();
    table.add("none again", Kind::Frame, 0).unwrap();
    assert_eq!((table.kind(handle(0)), table.describe(handle(0))), (Ok(Kind::Point), "some[0]".into()));
    assert_eq!((table.kind(handle(1)), table.describe(handle(1))), (Ok(Kind::Point), "some[1]".into()));
}

/// All handles are checked before the first place is written.
#[test]
fn a_refused_reading_writes_nothing() {
    let table = table();
    let mut out = [HandleState::default(); 2];
    let read = |handles: &[HandleId], out: &mut [HandleState]| {
        table.read_with(handles, out, |_| HandleState::point([1.0; 3], [0.0; 3]))
    };
    refused(read(&[handle(0), FOREIGN], &mut out), ["handle", "owner 5", "owner"]);
    refused(read(&[handle(0), handle(4)], &mut out), ["handle", "index 4", "below 4"]);
    refused(read(&[handle(0)], &mut out), ["read", "2 places", "1 handles"]);
    assert_eq!(out, [HandleState::default(); 2]);
    read(&[handle(0), handle(3)], &mut out).unwrap();
    assert_eq!(out[1].position, [1.0; 3]);
}

#[test]
fn parameters_of_the_references_are_refused_by_name() {
    let spring = |parameters| MassOnSpring::new("m", parameters);
    let good = SpringParameters::default();
    for (mass, found) in [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        refused(spring(SpringParameters { mass, ..good.clone() }), ["mass [kg]", found, "finite, above 0"]);
        let parameters = ChainParameters { mass, ..Default::default() };
        refused(Chain::new("c", &[[0.0; 3]], parameters), ["mass [kg]", found, "finite, above 0"]);
    }
    for (value, found) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let parameters = SpringParameters { stiffness: value, ..good.clone() };
        refused(spring(parameters), ["stiffness [N/m]", found, "finite, at least 0"]);
        let parameters = SpringParameters { damping: value, ..good.clone() };
        refused(spring(parameters), ["damping [N s/m]", found, "finite, at least 0"]);
        let parameters = ChainParameters { stiffness: value, ..Default::default() };
        refused(Chain::new("c", &[[0.0; 3]], parameters), ["stiffness [N/m]", found, "finite, at least 0"]);
        let parameters = ChainParameters { damping: value, ..Default::default() };
        refused(Chain::new("c", &[[0.0; 3]], parameters), ["damping [N s/m]", found, "finite, at least 0"]);
    }
    let nan = [0.0, f64::NAN, 0.0];
    refused(spring(SpringParameters { anchor: nan, ..good.clone() }), ["anchor [m]", "NaN", "finite numbers"]);
    refused(spring(SpringParameters { gravity: nan, ..good.clone() }), ["gravity [m/s²]", "NaN", "finite numbers"]);
    refused(spring(good.clone()).unwrap().started_at(nan, [0.0; 3]), ["position [m]", "NaN", "finite numbers"]);
    refused(spring(good).unwrap().started_at([0.0; 3], nan), ["velocity [m/s]", "NaN", "finite numbers"]);

    let chain = |positions: &[[f64; 3]]| Chain::new("c", positions, ChainParameters::default());
    refused(chain(&[]), ["positions", "none", "at least one"]);
    refused(chain(&[[0.0; 3], nan]), ["position 1 [m]", "NaN", "finite numbers"]);
    refused(chain(&[[0.0; 3], [1.0; 3], [1.0; 3]]), ["length of link 1 [m]", "0", "finite, above 0"]);
    refused(chain(&[[1e300; 3], [-1e300; 3]]), ["length of link 0 [m]", "inf", "finite, above 0"]);
    refused(chain(&[[0.0; 3]]).unwrap().moving_at(nan), ["velocity [m/s]", "NaN", "finite numbers"]);
    let parameters = ChainParameters { gravity: nan, ..Default::default() };
    refused(Chain::new("c", &[[0.0; 3]], parameters), ["gravity [m/s²]", "NaN", "finite numbers"]);
}

/// Handles of another simulator, made before or after, are refused by every call that takes some.
#[test]
fn handles_of_another_simulator_are_refused_everywhere() {
    let mut own = Chain::new("own", &[[0.0; 3]], ChainParameters::default()).unwrap();
    let other = Chain::new("other", &[[0.0; 3]], ChainParameters::default()).unwrap().point(0);
    let owner = format!("owner {:x}", other.owner);
    let before = own.snapshot(None);
    refused(own.step(0.01, &loaded(other, Wrench::ZERO)), ["handle", &owner, "owner"]);
    refused(own.read(&[other], &mut [HandleState::default()]), ["handle", &owner, "owner"]);
    refused(own.follow(vec![Guide::Attachment { own: other }]), ["handle", &owner, "owner"]);
    assert_eq!(own.snapshot(None).first_difference(&before), None);
    own.retract(&before).unwrap();
}

#[test]
fn who_cannot_follow_refuses_guides_by_name() {
    let mut mass = MassOnSpring::new("mass", SpringParameters::default()).unwrap();
    let guide = Guide::Attachment { own: mass.mass() };
    refused(mass.follow(vec![guide]), ["mass", "1 guides", "a simulator that can follow"]);
}

/// A load so large that the state would not be finite fails the step and names the point.
#[test]
fn a_step_that_overflows_fails_and_names_the_culprit() {
    let mut chain = Chain::new("c", &[[0.0; 3], [1.0, 0.0, 0.0]], ChainParameters::default()).unwrap();
    let before = chain.snapshot(None);
    let error = chain.step(1e10, &loaded(chain.point(1), Wrench::force([1e300, 0.0, 0.0]))).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, SimulatorError::Failed { .. }), "{message}");
    assert!(message.starts_with("step failed at point 1: expected finite numbers, found position [[inf"), "{message}");
    assert_eq!(chain.snapshot(None).first_difference(&before), None);
}

/// Bit by bit, so that they can travel between threads and processes.
#[test]
fn errors_and_inputs_survive_serde() {
    let inputs = loaded(handle(3), Wrench { linear: [1.0, 2.0, 3.0], angular: [-0.0, f64::MIN_POSITIVE, 5e-324] });
    let bytes = postcard::to_allocvec(&inputs).unwrap();
    assert_eq!(postcard::from_bytes::<Inputs>(&bytes).unwrap(), inputs);
    let error = SimulatorError::refused("a", 1, "b");
    let bytes = postcard::to_allocvec(&error).unwrap();
    assert_eq!(postcard::from_bytes::<SimulatorError>(&bytes).unwrap(), error);
}

/// A wall clock is no result.
#[test]
fn seconds_by_stage_add_up_and_never_make_reports_differ() {
    let mut stages = Stages::default();
    stages.add("predict", 1.0);
    stages.add("correct", 0.5);
    stages.add("predict", 2.0);
    assert_eq!(stages.0, [("predict".to_string(), 3.0), ("correct".to_string(), 0.5)]);
    assert_eq!(stages, Stages::default());
}

#[test]
fn wrenches_add_scale_and_turn_around() {
    let a = Wrench { linear: [1.0, 2.0, 3.0], angular: [4.0, 5.0, 6.0] };
    assert_eq!(a + a, a.scaled(2.0));
    assert_eq!(a - a, Wrench::ZERO);
    assert_eq!(-a, a.scaled(-1.0));
    assert_eq!(Wrench::force(a.linear) + Wrench::torque(a.angular), a);
}
