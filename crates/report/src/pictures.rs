//! Pictures of a tape: the film, the frame that tells most as a large picture, and a storyboard.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::camera::View;
use crate::film::Gif;
use crate::mp4::Mp4;
use crate::progress::Making;
use crate::shade::{Quality, render_with};
use crate::storyboard::storyboard;
use crate::telling::{activity, five_moments, most_telling, nearest};
use crate::{Begin, Drawing, Frame, Image, PictureError, Placement, ReportError, Shape, Tape};

/// How a tape is drawn.
pub(crate) struct Settings {
    /// That draw frames; the pictures are the same for any number.
    pub threads: usize,
    /// Width and height of the large picture, of the film, and of each part of the storyboard `[pixels]`.
    pub large: [u32; 2],
    pub film: [u32; 2],
    pub board: [u32; 2],
}

impl Default for Settings {
    fn default() -> Self {
        Settings { threads: 1, large: [960, 600], film: [640, 400], board: [480, 300] }
    }
}

/// All pictures of a run but the film, which is written while it is drawn.
pub(crate) struct Pictures {
    pub still: Image,
    pub storyboard: Image,
    /// Triangles and points of the film that were not finite.
    pub skipped: usize,
}

/// More frames a second are slowed down by viewers of GIFs, whose delays are hundredths of a second.
const FASTEST: f64 = 50.0;

/// Of the frames on a tape, the film has every so many-th.
fn film_stride(begin: &Begin) -> Result<usize, PictureError> {
    let frames_per_second = begin.frames_per_second;
    if !(frames_per_second > 0.0 && frames_per_second.is_finite()) {
        return Err(PictureError::FrameRate { frames_per_second });
    }
    Ok((frames_per_second / FASTEST - 1e-9).ceil().max(1.0) as usize)
}

/// Frames of the film by second `[1/s]`.
pub(crate) fn film_rate(begin: &Begin) -> Result<f64, PictureError> {
    Ok(begin.frames_per_second / film_stride(begin)? as f64)
}

/// Draws the tape. The film goes to `gif`, as a GIF file, and its frames to `mp4`, too.
///
/// # Errors
///
/// The tape cannot be read, a picture not be drawn, or the film not be written.
pub(crate) fn develop(
    tape: &mut Tape,
    settings: &Settings,
    gif: impl Write,
    mut mp4: Option<&mut Mp4>,
    progress: &Making,
) -> Result<Pictures, ReportError> {
    let begin = tape.begin().clone();
    let frames = tape.frames();
    if frames == 0 {
        return Err(PictureError::NoFrame.into());
    }
    let [large, film, board] =
        [settings.large, settings.film, settings.board].map(|[width, height]| begin.camera.view(width, height));
    let (large, film, board) = (large?, film?, board?);
    let studio = Studio { begin: &begin, shapes: shapes(&begin)?, threads: settings.threads.clamp(1, MOST_THREADS) };

    let stride = film_stride(&begin)?;
    // A last frame that is not due would advance less than the others.
    let filmed = tape.steady_frames()?.max(1);
    let shots = (0..filmed).step_by(stride).map(|frame| Shot { frame, view: &film, quality: Quality::FILM });
    let (mut gif, mut shown, mut skipped) = (Gif::new(gif, settings.film)?, 0, 0);
    studio.take(tape, shots, |_, image, left_out| {
        shown = filmed.min(shown + stride);
        progress.update(shown, filmed, &format!("film: {shown} of {filmed} frames"));
        skipped += left_out;
        if let Some(mp4) = &mut mp4 {
            mp4.frame(&image);
        }
        Ok(gif.add(&image, shown as f64 / begin.frames_per_second)?)
    })?;
    gif.finish()?;

    let (sweeps, forces) = activity(tape, &large)?;
    let still = match begin.still {
        Some(time) => nearest(tape, time)?,
        None => most_telling(&sweeps, &forces),
    };
    let still = Shot { frame: still, view: &large, quality: Quality::STILL };
    let boards = five_moments(&sweeps);
    let parts = boards.iter().map(|&frame| Shot { frame, view: &board, quality: Quality::BOARD });
    let mut images = Vec::new();
    progress.update(0, 1, "pictures");
    studio.take(tape, std::iter::once(still).chain(parts), |time, image, _| {
        images.push((time, image));
        Ok(())
    })?;
    let (_, still) = images.remove(0);
    Ok(Pictures { still, storyboard: storyboard(&images)?, skipped })
}

/// Each draws a frame of its own, which takes some ten megabytes.
const MOST_THREADS: usize = 64;

/// What all frames share.
struct Studio<'a> {
    begin: &'a Begin,
    shapes: Vec<Option<Shape>>,
    threads: usize,
}

/// One frame to be drawn.
struct Shot<'a> {
    frame: usize,
    view: &'a View,
    quality: Quality,
}

impl Studio<'_> {
    /// Draws frames over all threads, and hands each on in order: its time `[s]`, the image, and how many triangles and
    /// points were left out. The images of two chunks are in memory, of which one is handed on while the other is drawn.
    fn take<'a>(
        &self,
        tape: &mut Tape,
        mut shots: impl Iterator<Item = Shot<'a>>,
        mut hand_on: impl FnMut(f64, Image, usize) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        let mut before = Vec::new();
        loop {
            let chunk = shots.by_ref().take(2 * self.threads).map(|shot| Ok((tape.frame(shot.frame)?, shot)));
            let chunk = chunk.collect::<Result<Vec<(Frame, Shot)>, ReportError>>()?;
            if chunk.is_empty() && before.is_empty() {
                return Ok(());
            }

            let next = AtomicUsize::new(0);
            let draw = || {
                let number = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < chunk.len());
                let drawn = |number: usize| (number, self.drawn(&chunk[number].0, &chunk[number].1));
                std::iter::from_fn(number).map(drawn).collect::<Vec<_>>()
            };
            let (handed_on, mut drawn) = std::thread::scope(|scope| {
                let others = 1..self.threads.min(chunk.len());
                let others: Vec<_> = others.map(|_| scope.spawn(draw)).collect();
                let mut images = std::mem::take(&mut before).into_iter();
                let handed_on = images.try_for_each(|(time, image, left_out)| hand_on(time, image, left_out));
                let mut drawn = draw();
                for other in others {
                    drawn.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                }
                (handed_on, drawn)
            });
            handed_on?;
            drawn.sort_unstable_by_key(|&(number, _)| number);
            before = drawn.into_iter().map(|(_, drawn)| drawn).collect::<Result<_, _>>()?;
        }
    }

    fn drawn(&self, frame: &Frame, shot: &Shot) -> Result<(f64, Image, usize), ReportError> {
        let (image, left_out) = render_with(&drawing(self.begin, &self.shapes, frame)?, shot.view, shot.quality)?;
        Ok((frame.time, image, left_out))
    }
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
fn drawing(begin: &Begin, shapes: &[Option<Shape>], frame: &Frame) -> Result<Drawing, ReportError> {
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
    for (shown, cloud) in begin.clouds.iter().zip(&frame.clouds) {
        if !cloud.is_empty() {
            drawing.points(&cloud.positions, shown.radius, shown.look);
        }
    }
    Ok(drawing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{at, begin, square, tape};

    const SMALL: [u32; 2] = [96, 60];

    fn small() -> Settings {
        Settings { large: [120, 75], film: SMALL, board: [60, 40], ..Settings::default() }
    }

    /// With the GIF.
    fn developed(tape: &mut Tape, settings: &Settings) -> Result<(Pictures, Vec<u8>), ReportError> {
        let mut gif = Vec::new();
        let pictures = develop(tape, settings, &mut gif, None, &Making::new("test"))?;
        Ok((pictures, gif))
    }

    /// From left to right in one second.
    fn moving_square(frames_per_second: f64, frames: usize) -> Tape {
        let frames = (0..frames).map(|k| moved(k as f64 / frames_per_second));
        tape(&begin(frames_per_second, vec![square("square", 0.4, true)]), frames)
    }

    fn moved(time: f64) -> Vec<Placement> {
        vec![at([1.2 * (time - 0.5), 0.0, 0.0])]
    }

    fn is_red([r, g, b]: [u8; 3]) -> bool {
        r / 2 > g.max(b)
    }

    /// Middle of what is red, as a part of the width.
    fn place_of_square(image: &Image) -> f64 {
        let red = |&x: &u32| (0..image.height()).any(|y| is_red(image.pixel(x, y)));
        let columns: Vec<u32> = (0..image.width()).filter(red).collect();
        f64::from(columns[0] + columns[columns.len() - 1] + 1) / 2.0 / f64::from(image.width())
    }

    /// Its frames as a viewer shows them, and the hundredths of a second for which it shows each.
    fn shown(gif: &[u8]) -> (Vec<Image>, Vec<u16>) {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(gif).unwrap();
        assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
        let size = [decoder.width(), decoder.height()].map(usize::from);
        let (mut images, mut delays) = (vec![], vec![]);
        let mut canvas = vec![[0u8; 3]; size[0] * size[1]];
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            for (k, pixel) in frame.buffer.chunks(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
                let row = k / usize::from(frame.width) + usize::from(frame.top);
                let column = k % usize::from(frame.width) + usize::from(frame.left);
                canvas[row * size[0] + column].copy_from_slice(&pixel[..3]);
            }
            images.push(Image::new(size[0] as u32, size[1] as u32, canvas.clone()).unwrap());
            delays.push(frame.delay);
        }
        (images, delays)
    }

    #[test]
    fn pictures_are_the_same_for_any_number_of_threads() {
        for frames in [1, 2, 7, 23] {
            let drawn = |threads| {
                let settings = Settings { threads, ..small() };
                let (pictures, gif) = developed(&mut moving_square(24.0, frames), &settings).unwrap();
                (gif, pictures.still, pictures.storyboard)
            };
            let alone = drawn(1);
            for threads in [2, 3, 16, 1000] {
                assert!(drawn(threads) == alone, "{frames} frames, {threads} threads");
            }
        }
    }

    /// 48 frames at 24 a second last two seconds, although a GIF counts in hundredths; what the last frame shows is what
    /// a picture of that moment shows, up to the palette.
    #[test]
    fn the_film_has_every_frame_lasts_as_long_and_shows_the_scene() {
        let mut tape = moving_square(24.0, 20);
        let (images, delays) = shown(&developed(&mut tape, &small()).unwrap().1);
        assert_eq!((images.len(), delays.iter().sum::<u16>()), (20, 83));

        let begin = tape.begin().clone();
        let last = drawing(&begin, &shapes(&begin).unwrap(), &tape.frame(19).unwrap()).unwrap();
        let exact = crate::render(&last, &begin.camera, SMALL[0], SMALL[1], 2).unwrap();
        let worst = |a: &[u8; 3], b: &[u8; 3]| (0..3).map(|k| u32::from(a[k].abs_diff(b[k]))).max().unwrap();
        let errors: u32 = images[19].pixels().iter().zip(exact.pixels()).map(|(a, b)| worst(a, b)).sum();
        let mean = f64::from(errors) / exact.pixels().len() as f64;
        assert!(mean < 4.0, "mean error of {mean} levels");
    }

    /// A film has at most 50 frames a second, takes as long as what is on the tape, and shows each moment at its time.
    #[test]
    fn a_fast_tape_keeps_its_time() {
        for (rate, frames, expected) in [(50.0, 20, 20), (51.0, 21, 11), (120.0, 61, 21), (1000.0, 403, 21)] {
            let mut tape = moving_square(rate, frames);
            assert!(film_rate(tape.begin()).unwrap() <= 50.0);
            let (images, delays) = shown(&developed(&mut tape, &small()).unwrap().1);
            assert_eq!(images.len(), expected, "{rate} a second");
            let lasts: u16 = delays.iter().sum();
            // Viewers take less than two hundredths for ten, so the last frame may be two too long.
            let tape_lasts = (100.0 * frames as f64 / rate).round() as u16;
            assert!((tape_lasts..=tape_lasts + 2).contains(&lasts), "{rate} a second: {lasts}, not {tape_lasts}");
            assert!(delays.iter().all(|&delay| delay >= 2), "{delays:?}");

            let (middle, until) = (images.len() / 2, delays[..images.len() / 2].iter().sum::<u16>());
            let [then, at_first] = [middle, 0].map(|k| place_of_square(&images[k]));
            // 1.2 m a second; the picture of 2 m in height is 1.6 times as wide, and has margins.
            let metres = (then - at_first) * 1.6 * 2.0 / 0.9;
            assert!((metres - 0.012 * f64::from(until)).abs() < 0.12, "{rate} a second: {metres} m in {until} / 100 s");
        }
    }

    /// A film whose disk fills up: told as what it is, so that the file can be named.
    #[test]
    fn a_film_that_cannot_be_written_is_an_error() {
        let gif = std::io::Cursor::new([0; 5000]);
        let error = develop(&mut moving_square(24.0, 25), &small(), gif, None, &Making::new("test"));
        let error = error.map(|_| ()).unwrap_err();
        assert!(matches!(error, ReportError::Picture(PictureError::Gif(gif::EncodingError::Io(_)))), "{error}");
    }

    #[test]
    fn rates_that_are_none_are_errors() {
        for rate in [0.0, -24.0, f64::NAN, f64::INFINITY] {
            let mut tape = tape(&begin(rate, vec![]), [vec![]]);
            let error = developed(&mut tape, &small()).map(|_| ()).unwrap_err();
            assert!(matches!(error, ReportError::Picture(PictureError::FrameRate { .. })), "{error}");
        }
        let error = developed(&mut tape(&begin(24.0, vec![]), []), &small()).map(|_| ()).unwrap_err();
        assert!(matches!(error, ReportError::Picture(PictureError::NoFrame)), "{error}");
    }

    #[test]
    fn the_still_is_the_frame_that_was_asked_for() {
        let still = |time| {
            let begin = Begin { still: Some(time), ..begin(24.0, vec![square("square", 0.4, true)]) };
            developed(&mut tape(&begin, (0..25).map(|k| moved(k as f64 / 24.0))), &small())
        };
        let places: Vec<f64> =
            [0.0, 0.5, 1.0, 1e9].iter().map(|&t| place_of_square(&still(t).unwrap().0.still)).collect();
        assert!(places[0] < 0.4 && (places[1] - 0.5).abs() < 0.02 && places[2] > 0.6, "{places:?}");
        assert_eq!(places[3], places[2]);
    }

    /// Five moments, each of the size of a part, in order from left to right.
    #[test]
    fn the_storyboard_goes_from_the_first_frame_to_the_last() {
        let board = developed(&mut moving_square(24.0, 25), &small()).unwrap().0.storyboard;
        assert_eq!((board.width(), board.height()), (5 * 60 + 4 * 6, 40));
        let part = |k: u32| {
            let pixels = (0..40).flat_map(|y| (0..60).map(move |x| (x, y))).map(|(x, y)| board.pixel(66 * k + x, y));
            place_of_square(&Image::new(60, 40, pixels.collect()).unwrap())
        };
        let places: Vec<f64> = (0..5).map(part).collect();
        assert!(places.is_sorted() && places[0] < 0.4 && (places[2] - 0.5).abs() < 0.03, "{places:?}");
        assert_eq!(developed(&mut moving_square(24.0, 2), &small()).unwrap().0.storyboard.width(), 2 * 60 + 6);
    }

    /// Two triangles of a square that is nowhere, in two of three frames.
    #[test]
    fn what_is_not_finite_is_counted() {
        let place = |k: usize| vec![at([if k == 1 { 0.0 } else { f64::NAN }, 0.0, 0.0])];
        let mut tape = tape(&begin(24.0, vec![square("square", 0.4, true)]), (0..3).map(place));
        assert_eq!(developed(&mut tape, &small()).unwrap().0.skipped, 4);
    }
}
