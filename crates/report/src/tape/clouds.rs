//! Clouds as bytes: ids in runs, then positions.
//!
//! Ids ascend, and many are neighbours, since emitters count up. A run is how many ids are left out before it, and how
//! many follow each other in it; a jet of any size takes a few bytes.

use partita::simulator::Cloud;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize)]
struct Packed<'a> {
    runs: Vec<[u64; 2]>,
    positions: &'a [[f64; 3]],
}

#[derive(Deserialize)]
struct Unpacked {
    runs: Vec<[u64; 2]>,
    positions: Vec<[f64; 3]>,
}

pub(super) fn serialize<S: Serializer>(clouds: &[Cloud], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(clouds.iter().map(|cloud| Packed { runs: runs(&cloud.ids), positions: &cloud.positions }))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Cloud>, D::Error> {
    let clouds = Vec::<Unpacked>::deserialize(from)?;
    let unpacked = |Unpacked { runs, positions }| Cloud { ids: ids(&runs, positions.len()), positions };
    Ok(clouds.into_iter().map(unpacked).collect())
}

/// What is wrong with one of these, if anything is.
pub(super) fn fault(clouds: &[Cloud]) -> Option<String> {
    let fault = |(number, cloud): (usize, &Cloud)| Some(format!("number {number}, {}", cloud.check_order().err()?));
    clouds.iter().enumerate().find_map(fault)
}

fn runs(ids: &[u64]) -> Vec<[u64; 2]> {
    let (mut runs, mut next) = (Vec::<[u64; 2]>::new(), 0u64);
    for &id in ids {
        match runs.last_mut() {
            Some([_, length]) if id == next => *length += 1,
            _ => runs.push([id.wrapping_sub(next), 1]),
        }
        next = id.wrapping_add(1);
    }
    runs
}

/// One more than `positions` at most: what says that there are more asks for no memory.
fn ids(runs: &[[u64; 2]], positions: usize) -> Vec<u64> {
    let (mut ids, mut next) = (Vec::with_capacity(positions), 0u64);
    for &[left_out, length] in runs {
        let first = next.wrapping_add(left_out);
        let room = (positions + 1 - ids.len()) as u64;
        ids.extend((0..length.min(room)).map(|k| first.wrapping_add(k)));
        next = first.wrapping_add(length);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_and_neighbours_take_one_run() {
        let jet: Vec<u64> = (7..7_000).chain((1 << 44) + 5..(1 << 44) + 9_000).collect();
        assert_eq!(runs(&jet), [[7, 6_993], [(1 << 44) - 6_995, 8_995]]);
        for list in [jet, vec![], vec![0], vec![0, 1, 3, 4, u64::MAX - 1, u64::MAX]] {
            assert_eq!(ids(&runs(&list), list.len()), list);
        }
    }

    #[test]
    fn runs_that_are_too_long_or_go_back_are_found() {
        let cloud = |runs: &[[u64; 2]]| Cloud { ids: ids(runs, 2), positions: vec![[0.0; 3]; 2] };
        let faults = [
            (vec![[0, u64::MAX], [1, 5]], "one for each of 2 positions, found 3 ids"),
            (vec![[4, 1]], "one for each of 2 positions, found 1 ids"),
            (vec![[u64::MAX, 2]], "ascending ids, each once, found id 0 after id 18446744073709551615"),
        ];
        for (runs, words) in faults {
            let fault = fault(&[cloud(&[[9, 2]]), cloud(&runs)]).unwrap();
            assert!(fault.starts_with("number 1, a cloud: ") && fault.contains(words), "{fault}");
        }
    }
}
