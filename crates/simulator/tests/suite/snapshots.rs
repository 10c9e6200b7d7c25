//! Snapshots: typed, owned, shared, and safe against bytes from anywhere.

use partita_simulator::{
    Guide, HandleState, Identity, Inputs, Motion, Simulator, SimulatorError, Snapshot, hash_bytes, layout_of,
    reference::{Chain, ChainParameters, MassOnSpring, SpringParameters},
};
use serde::{Deserialize, Serialize};

/// A list that reuses its memory when it is cloned over.
#[derive(Default, Serialize, Deserialize)]
struct List(Vec<f64>);

impl Clone for List {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}

const OF: Identity = Identity { owner: 3, layout: 4 };

fn numbers(snapshot: &Snapshot) -> &[f64] {
    &snapshot.get::<List>(OF).unwrap().0
}

#[test]
fn renew_reuses_memory_that_nobody_else_holds() {
    let first = Snapshot::renew(None, OF, 0.0, &List(vec![1.0; 100]));
    let place = numbers(&first).as_ptr();
    let second = Snapshot::renew(Some(first), OF, 0.5, &List(vec![2.0; 80]));
    assert_eq!((numbers(&second).as_ptr(), numbers(&second), second.time()), (place, &[2.0; 80][..], 0.5));
    let other = Identity { layout: 9, ..OF };
    assert_eq!(Snapshot::renew(Some(second), other, 0.5, &List(vec![2.0])).identity(), other);
}

#[test]
fn renew_leaves_alone_what_somebody_else_holds_and_what_is_of_another_type() {
    let first = Snapshot::renew(None, OF, 0.0, &List(vec![1.0; 100]));
    let held = first.clone();
    let second = Snapshot::renew(Some(first), OF, 0.5, &List(vec![2.0]));
    assert_eq!((numbers(&held), held.time()), (&[1.0; 100][..], 0.0));
    assert_eq!(numbers(&second), [2.0]);

    let third =
        Snapshot::renew(Some(Snapshot::new(Identity { owner: 1, layout: 1 }, 9.0, 7_u8)), OF, 1.0, &List(vec![3.0]));
    assert_eq!((numbers(&third), third.time()), (&[3.0][..], 1.0));
}

#[test]
fn a_snapshot_of_another_owner_layout_or_type_is_refused() {
    let snapshot = Snapshot::new(OF, 0.0, List::default());
    assert!(snapshot.get::<List>(OF).is_ok());
    for (owner, layout) in [(3, 5), (2, 4)] {
        let of = Identity { owner, layout };
        let message = snapshot.get::<List>(of).err().unwrap().to_string();
        assert_eq!(message, format!("snapshot: expected owner {owner:x}, layout {layout:x}, found owner 3, layout 4"));
    }
    assert!(snapshot.get::<Vec<f64>>(OF).is_err());
}

/// Bits are compared, not numbers: −0 differs from 0, and NaN is NaN.
#[test]
fn the_first_difference_names_path_values_and_bits() {
    let of = |list: &[f64]| Snapshot::new(OF, 0.0, List(list.to_vec()));
    assert_eq!(of(&[0.0, f64::NAN]).first_difference(&of(&[0.0, f64::NAN])), None);
    assert_eq!(
        of(&[0.0, 0.5]).first_difference(&of(&[-0.0, 0.7])).unwrap(),
        "[0]: 0.0 (bits 0000000000000000) / -0.0 (bits 8000000000000000)"
    );
    assert_eq!(of(&[0.0, 0.5]).first_difference(&of(&[0.0])).unwrap(), ".len: Some(2) / Some(1)");
    let (later, others) = (Snapshot::new(OF, 1.0, 7_u8), Snapshot::new(Identity { layout: 9, ..OF }, 1.0, 7_u8));
    let first = Snapshot::new(OF, 0.0, 7_u8);
    assert_eq!(first.first_difference(&later).unwrap(), " taken at 0 s / at 1 s");
    assert_eq!(later.first_difference(&others).unwrap(), " of owner 3, layout 4 / of owner 3, layout 9");
}

/// Published test vectors of 64-bit FNV-1a.
#[test]
fn the_hash_is_fnv_1a() {
    assert_eq!(hash_bytes(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(hash_bytes(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(hash_bytes(b"foobar"), 0x8594_4171_f739_67e8);
}

fn chain(name: &str) -> Chain {
    let positions: Vec<_> = (0..5).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    Chain::new(name, &positions, ChainParameters::default()).unwrap()
}

fn spring() -> MassOnSpring {
    let parameters = SpringParameters { stiffness: 50.0, ..Default::default() };
    MassOnSpring::new("spring", parameters).unwrap().started_at([0.3, 0.0, 0.0], [0.0; 3]).unwrap()
}

fn hash(simulator: &dyn Simulator) -> u64 {
    hash_bytes(&simulator.snapshot(None).to_bytes())
}

/// Every cut and every flipped bit, wherever it is.
#[test]
fn bytes_that_are_cut_or_changed_are_refused_and_nothing_happens() {
    let simulators: [Box<dyn Simulator>; 2] = [Box::new(chain("chain")), Box::new(spring())];
    for mut simulator in simulators {
        for _ in 0..3 {
            simulator.step(0.01, Inputs::NONE).unwrap();
        }
        let before = hash(&*simulator);
        let bytes = simulator.snapshot(None).to_bytes();
        let cuts = (0..bytes.len()).map(|n| bytes[..n].to_vec());
        let flips = (0..8 * bytes.len()).map(|bit| {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            other
        });
        for other in cuts.chain(flips).chain([[&bytes[..], &[0]].concat()]) {
            let error = simulator.snapshot_from_bytes(&other).unwrap_err();
            assert!(matches!(&error, SimulatorError::Refused { thing, .. } if thing == "snapshot"), "{error}");
        }
        assert_eq!(hash(&*simulator), before);
        assert_eq!(simulator.snapshot_from_bytes(&bytes).unwrap().time(), simulator.time());
    }
}

/// Bytes whose seal is right, of a simulator of another name, of one with other parameters, or with
/// a state of another type.
#[test]
fn sealed_bytes_of_something_else_are_refused() {
    let bytes = chain("chain").snapshot(None).to_bytes();
    let error = chain("other").snapshot_from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().starts_with("snapshot: expected owner "), "{error}");
    let shorter = Chain::new("chain", &[[0.0; 3], [0.1, 0.0, 0.0]], ChainParameters::default()).unwrap();
    let error = shorter.snapshot_from_bytes(&bytes).unwrap_err();
    assert!(error.to_string().contains("layout"), "{error}");

    let of = Identity { owner: 1, layout: 2 };
    let (text, number) = (Snapshot::new(of, 0.5, "text".to_string()), Snapshot::new(of, 0.5, 7_u8));
    // Bytes that would decode, of a type that is not that of the state.
    for error in [
        Snapshot::from_bytes::<Vec<u8>>(of, &text.to_bytes()).unwrap_err(),
        Snapshot::from_bytes::<i8>(of, &number.to_bytes()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("the same type and version"), "{error}");
    }
    assert_eq!(Snapshot::from_bytes::<u8>(of, &number.to_bytes()).unwrap().get::<u8>(of), Ok(&7));
}

/// A length of 2^60 in bytes whose seal is right must not become an allocation.
#[test]
fn a_huge_length_in_the_bytes_is_refused_before_memory_is_taken() {
    let of = Identity { owner: 1, layout: 2 };
    let mut huge = Snapshot::new(of, 0.0, Vec::<f64>::new()).to_bytes();
    assert_eq!(huge.pop(), Some(0), "the length of the list");
    huge.extend([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
    let seal = hash_bytes(&huge[8..]).to_le_bytes();
    huge[..8].copy_from_slice(&seal);
    let error = Snapshot::from_bytes::<Vec<f64>>(of, &huge).unwrap_err();
    assert!(error.to_string().starts_with("snapshot: expected bytes of `to_bytes`"), "{error}");
}

#[test]
fn one_mark_serves_a_hundred_retracts_and_is_not_changed_by_them() {
    let mut chain = chain("chain");
    chain.step(0.01, Inputs::NONE).unwrap();
    let mark = chain.snapshot(None);
    let (bytes, before) = (mark.to_bytes(), hash(&chain));
    for i in 0..100 {
        for _ in 0..i % 7 {
            chain.step(0.01, Inputs::NONE).unwrap();
        }
        chain.retract(&mark).unwrap();
        assert_eq!(hash(&chain), before);
    }
    assert_eq!(mark.to_bytes(), bytes);
}

/// Guides are configuration: with them the layout is another, and the mark from before is refused,
/// marks from after serve.
#[test]
fn a_mark_from_before_the_guides_is_refused_and_one_from_after_serves() {
    let mut chain = chain("chain");
    let old = chain.snapshot(None);
    chain.follow(vec![Guide::Attachment { own: chain.point(0) }]).unwrap();
    let (new, before) = (chain.snapshot(None), hash(&chain));
    let state = HandleState::point([0.0; 3], [0.0; 3]);
    let held =
        Inputs { motions: vec![Some(Motion { begin: [state].into(), end: [state].into() })], ..Inputs::default() };
    let message = chain.retract(&old).unwrap_err().to_string();
    assert!(message.starts_with("snapshot: expected owner "), "{message}");
    assert_eq!(hash(&chain), before);
    chain.step(0.01, &held).unwrap();
    chain.retract(&new).unwrap();
    assert_eq!(hash(&chain), before);
}

#[test]
fn marks_of_another_chain_are_refused_by_name_and_by_parameters() {
    let mut own = chain("own");
    let before = hash(&own);
    let stiffer = ChainParameters { stiffness: 101.0, ..Default::default() };
    let positions: Vec<_> = (0..5).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    for other in [chain("other"), Chain::new("own", &positions, stiffer).unwrap()] {
        assert!(own.retract(&other.snapshot(None)).is_err());
        assert_eq!(hash(&own), before);
    }
    let twin = chain("own");
    own.retract(&twin.snapshot(None)).unwrap();
}

/// Owner and layout are hashes of bytes, so they are the same in every process.
#[test]
fn a_layout_is_a_hash_of_what_serde_writes() {
    assert_eq!(layout_of(&(1_u8, 2_u8)), hash_bytes(&[1, 2]));
}
