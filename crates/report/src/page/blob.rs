//! Binary data as text: sections, each deflated and in base64, one a line.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, write::ZlibEncoder};
use partita::simulator::hash_bytes;

/// Sections are numbered in the order in which they are put in.
#[derive(Default)]
pub(super) struct Blob {
    sections: Vec<Vec<u8>>,
    /// Numbers by hash.
    known: HashMap<u64, usize>,
}

impl Blob {
    /// Puts a section in, and returns its number. Bodies of one shape share it: what is in already is not put in again.
    pub fn put(&mut self, bytes: Vec<u8>) -> usize {
        let number = *self.known.entry(hash_bytes(&bytes)).or_insert(self.sections.len());
        if self.sections.get(number).is_some_and(|section| *section == bytes) {
            return number;
        }
        self.sections.push(bytes);
        self.sections.len() - 1
    }

    /// Puts in numbers of four bytes, as [`planes`].
    pub fn put_words(&mut self, words: impl Iterator<Item = u32>) -> usize {
        self.put(planes(&words.map(u32::to_le_bytes).collect::<Vec<_>>()))
    }

    /// All sections, each on a line.
    pub fn into_text(self) -> String {
        let lines: Vec<Mutex<String>> = self.sections.iter().map(|_| Mutex::default()).collect();
        let (next, sections) = (AtomicUsize::new(0), &self.sections);
        let pack = || {
            while let Some((section, line)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                sections.get(number).zip(lines.get(number))
            } {
                *line.lock().expect("each line is written once") = STANDARD.encode(deflated(section));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(sections.len());
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| drop(scope.spawn(pack)));
            pack();
        });
        let lines: Vec<String> = lines.into_iter().map(|line| line.into_inner().unwrap_or_default()).collect();
        lines.join("\n")
    }
}

/// All first bytes, then all second bytes, and so on: alike bytes side by side deflate better.
pub(super) fn planes<const N: usize>(numbers: &[[u8; N]]) -> Vec<u8> {
    (0..N).flat_map(|k| numbers.iter().map(move |bytes| bytes[k])).collect()
}

/// As zlib, at the fastest level: the slower ones gain a few percent of a page for many times the time.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes every byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_keep_bytes_of_the_same_weight_together() {
        assert_eq!(planes(&[[1, 2], [3, 4], [5, 6]]), [1, 3, 5, 2, 4, 6]);
    }
}
