//! Wavefront OBJ: a file a frame, an `o` group a surface, particles as points.
//!
//! Positions are in the world `[m]`, with as many digits as bring every bit of them back. Vertices keep their order
//! through all frames, so any frame can be the mesh for a point cache.

use super::place::PartialFolder;
use super::reel::Reel;
use super::{ExportError, line};

/// `0000.obj` and so on.
pub(super) fn is_own(name: &str) -> bool {
    name.strip_suffix(".obj").is_some_and(|number| number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn write(reel: &mut Reel, folder: &PartialFolder) -> Result<(), ExportError> {
    let ((surfaces, clouds), steady) = (reel.titles(), reel.steady_frames()?);
    while let Some((number, frame)) = reel.next_frame()? {
        if number >= steady {
            continue; // read all the same, since every frame is checked
        }
        let (name, frames) = (&reel.begin.name, reel.frames());
        let mut text = format!("# {name}, frame {number} of {frames}, at {:?} s; metres, Y up\n", frame.time);
        let mut first = 1; // vertices are counted from 1, through all objects

        for ((title, taped), placement) in surfaces.iter().zip(&reel.begin.surfaces).zip(&frame.surfaces) {
            line!(text, "o {title}");
            put_vertices(&mut text, &placement.vertices(&taped.surface));
            for corners in &taped.surface.triangles {
                let [i, j, k] = corners.map(|i| first + i as usize);
                line!(text, "f {i} {j} {k}");
            }
            first += taped.surface.vertices.len();
        }
        for (title, cloud) in clouds.iter().zip(&frame.clouds).filter(|(_, cloud)| !cloud.is_empty()) {
            line!(text, "o {title}");
            put_vertices(&mut text, &cloud.positions);
            (first..first + cloud.len()).for_each(|i| line!(text, "p {i}"));
            first += cloud.len();
        }
        folder.write(&format!("{number:04}.obj"), text.as_bytes())?;
    }
    Ok(())
}

fn put_vertices(text: &mut String, vertices: &[[f64; 3]]) {
    for [x, y, z] in vertices {
        line!(text, "v {x:?} {y:?} {z:?}");
    }
}
