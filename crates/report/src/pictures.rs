//! Pictures of a tape: the film, and the frame that tells most as a large picture.

use crate::{Begin, Drawing, Film, FilmSettings, Frame, Image, Placement, ReportError, Shape, Tape};

/// All pictures of a run.
pub(crate) struct Pictures {
    pub still: Image,
    /// A GIF file.
    pub gif: Vec<u8>,
    /// Triangles and points that were not finite.
    pub skipped: usize,
}

/// Draws the tape.
///
/// # Errors
///
/// The tape cannot be read, or a picture not be drawn.
pub(crate) fn develop(tape: &mut Tape, still: Option<f64>) -> Result<Pictures, ReportError> {
    let begin = tape.begin().clone();
    let frames = tape.frames();
    let still_frame =
        still.map(|time| (time * begin.frames_per_second).round() as usize).map(|frame| frame.min(frames - 1));
    let settings =
        FilmSettings { still_frame, frames_per_second: begin.frames_per_second.min(50.0), ..FilmSettings::default() };
    let mut film = Film::new(settings, begin.camera)?;
    let shapes = shapes(&begin)?;
    for number in 0..frames {
        film.frame(&drawing(&begin, &shapes, &tape.frame(number)?)?)?;
    }
    let skipped = film.skipped();
    let (still, gif) = film.develop()?;
    Ok(Pictures { still, gif, skipped })
}

/// By surface; `None` for those that deform or are not shown.
fn shapes(begin: &Begin) -> Result<Vec<Option<Shape>>, ReportError> {
    let shape = |taped: &crate::TapeSurface| {
        let rigid = matches!(taped.surface.carrier, partita::simulator::Carrier::Frame(_)) && taped.look.is_some();
        rigid.then(|| Shape::new(&taped.surface.vertices, &taped.surface.triangles)).transpose()
    };
    Ok(begin.surfaces.iter().map(shape).collect::<Result<_, _>>()?)
}

/// One frame as it is to be seen.
pub(crate) fn drawing(begin: &Begin, shapes: &[Option<Shape>], frame: &Frame) -> Result<Drawing, ReportError> {
    let mut drawing = Drawing { ground: begin.ground, ..Drawing::new() };
    for ((taped, shape), placement) in begin.surfaces.iter().zip(shapes).zip(&frame.surfaces) {
        let Some(look) = taped.look else { continue };
        match (placement, shape) {
            (&Placement::Rigid { position, orientation }, Some(shape)) => {
                drawing.body(shape, position, orientation, look);
            }
            (placement, _) => {
                drawing.mesh(&placement.vertices(&taped.surface), &taped.surface.triangles, look)?;
            }
        }
    }
    for (cloud, points) in begin.clouds.iter().zip(&frame.clouds) {
        if !points.is_empty() {
            drawing.points(points, cloud.radius, cloud.look);
        }
    }
    Ok(drawing)
}
