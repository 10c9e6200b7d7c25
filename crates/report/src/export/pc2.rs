//! Point caches (PC2): the vertices of one surface through all frames, for modifiers that replay a mesh.
//!
//! ```text
//! "POINTCACHE2\0" | version: i32 = 1 | points: i32 | first frame: f32 = 0 | frames a sample: f32 = 1 | samples: i32
//! sample: x, y, z: f32 of every point, in the world [m]
//! ```
//!
//! All little-endian. Single precision is good for 6e-8 of the distance from the origin: 1e-6 m up to 16 m away.
//! A cache holds no triangles (any file of `obj` has them, in the same order of vertices) and a fixed number of points,
//! so particles, whose number changes, have none.
//!
//! Samples stand for equal times, so the last frame has none where the run ended before it was due: a run of 0.24 s at
//! 24 frames a second has frames at 0, 1/24, .., 5/24 and 0.24 s, and a sample for all but the last.

use super::ExportError;
use super::names::{Unique, identifier};
use super::place::PartialFolder;
use super::reel::Reel;

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";

pub(super) fn is_own(name: &str) -> bool {
    name.strip_suffix(".pc2").is_some_and(|stem| identifier(stem) == stem || stem.len() > 100)
}

pub(super) fn write(reel: &mut Reel, folder: &PartialFolder) -> Result<(), ExportError> {
    let (names, samples) = (file_names(reel), reel.steady_frames()?);
    for (name, taped) in names.iter().zip(&reel.begin.surfaces) {
        folder.append(name, &header(taped.surface.vertices.len(), samples))?;
    }
    while let Some((number, frame)) = reel.next_frame()? {
        if number >= samples {
            continue; // read all the same, since every frame is checked
        }
        for ((name, taped), placement) in names.iter().zip(&reel.begin.surfaces).zip(&frame.surfaces) {
            let vertices = placement.vertices(&taped.surface);
            let sample: Vec<u8> = vertices.as_flattened().iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
            folder.append(name, &sample)?;
        }
    }
    Ok(())
}

/// `SIMULATOR_SURFACE.pc2` by surface.
fn file_names(reel: &Reel) -> Vec<String> {
    let mut names = Unique::default();
    let (titles, _) = reel.titles();
    titles.iter().map(|title| names.name(&identifier(title)) + ".pc2").collect()
}

fn header(points: usize, samples: usize) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(1i32.to_le_bytes());
    bytes.extend((points as i32).to_le_bytes());
    bytes.extend(0f32.to_le_bytes());
    bytes.extend(1f32.to_le_bytes());
    bytes.extend((samples as i32).to_le_bytes());
    bytes
}
