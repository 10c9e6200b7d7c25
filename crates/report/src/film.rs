//! Frames of a run, encoded to GIF as they come, and one of them again as a large picture.

use std::borrow::Cow;

use crate::camera::{Camera, View};
use crate::drawing::Drawing;
use crate::palette::{COLOURS, Palette};
use crate::shade::{Quality, render_with};
use crate::{Image, PictureError};

/// Sizes and speed of a film, and which frame is its still.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FilmSettings {
    /// Width of the film `[pixels]`. Default 640.
    pub width: u32,
    /// Height of the film `[pixels]`. Default 400.
    pub height: u32,
    /// Frames by second of simulated time, at most 50 `[1/s]`. Default 24.
    pub frames_per_second: f64,
    /// Width and height of the PNG `[pixels]`. Default 960 x 600.
    pub still: [u32; 2],
    /// Which frame becomes the PNG; by default one near the middle.
    pub still_frame: Option<usize>,
}

impl Default for FilmSettings {
    fn default() -> Self {
        FilmSettings { width: 640, height: 400, frames_per_second: 24.0, still: [960, 600], still_frame: None }
    }
}

/// A film in the making.
pub struct Film {
    settings: FilmSettings,
    view: View,
    still_view: View,
    strip: Strip,
    frames: usize,
    skipped: usize,
    kept: Vec<(usize, Drawing)>,
    /// Distance of the drawings that are kept `[frames]`.
    stride: usize,
}

/// Drawings kept while it is not known yet which frame will be the middle one.
const KEPT: usize = 16;

impl std::fmt::Debug for Film {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Film").field("settings", &self.settings).field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl Film {
    /// An empty film.
    ///
    /// # Errors
    ///
    /// Sizes or a frame rate out of range, or a camera that sees nothing.
    pub fn new(settings: FilmSettings, camera: Camera) -> Result<Self, PictureError> {
        let rate = settings.frames_per_second;
        if !(rate > 0.0 && rate <= 50.0) {
            return Err(PictureError::FrameRate { frames_per_second: rate });
        }
        let view = camera.view(settings.width, settings.height)?;
        let still_view = camera.view(settings.still[0], settings.still[1])?;
        let strip = Strip::new(settings.width, settings.height, rate)?;
        Ok(Film { settings, view, still_view, strip, frames: 0, skipped: 0, kept: vec![], stride: 1 })
    }

    /// Whether the next frame belongs at or before `time` `[s]`; the first one belongs at 0.
    pub fn is_due(&self, time: f64) -> bool {
        // A step may end a rounding error before a frame's time.
        time * self.settings.frames_per_second >= self.frames as f64 - 1e-6
    }

    /// Draws and adds one frame.
    ///
    /// # Errors
    ///
    /// When GIF encoding fails.
    pub fn frame(&mut self, drawing: &Drawing) -> Result<(), PictureError> {
        let (image, skipped) = render_with(drawing, &self.view, Quality::FILM)?;
        self.strip.add(&image)?;
        self.skipped += skipped;
        self.keep(drawing);
        self.frames += 1;
        Ok(())
    }

    /// Frames so far.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Triangles and points that were left out of frames because they were not finite, or absurdly far away.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The large picture and the GIF file.
    ///
    /// # Errors
    ///
    /// A film without frames.
    pub fn develop(self) -> Result<(Image, Vec<u8>), PictureError> {
        let wanted = self.settings.still_frame.unwrap_or(self.frames / 2);
        let nearest = self.kept.iter().min_by_key(|(frame, _)| frame.abs_diff(wanted));
        let (_, drawing) = nearest.ok_or(PictureError::NoFrame)?;
        let (still, _) = render_with(drawing, &self.still_view, Quality::STILL)?;
        Ok((still, self.strip.finish()?))
    }

    /// Keeps the drawing of the chosen frame, or of every `stride`-th frame, so that one is near the middle.
    fn keep(&mut self, drawing: &Drawing) {
        if let Some(wanted) = self.settings.still_frame {
            // Up to the wanted one, so that a film that ends early still has a picture.
            if self.frames <= wanted {
                self.kept = vec![(self.frames, drawing.clone())];
            }
        } else if self.frames.is_multiple_of(self.stride) {
            if self.kept.len() == KEPT {
                self.stride *= 2;
                let stride = self.stride;
                self.kept.retain(|(frame, _)| frame.is_multiple_of(stride));
            }
            if self.frames.is_multiple_of(self.stride) {
                self.kept.push((self.frames, drawing.clone()));
            }
        }
    }
}

/// A GIF in the making: each frame holds only what has changed, in colours that are chosen anew when they no longer fit.
struct Strip {
    encoder: gif::Encoder<Vec<u8>>,
    size: [u16; 2],
    rate: f64,
    /// Hundredths of a second that the frames so far take.
    shown: u64,
    frames: u64,
    palette: Option<Palette>,
    /// Mean squared error of the palette when it was made `[levels²]`.
    palette_error: f64,
    /// The true colour of each pixel when it was last drawn.
    last: Vec<[u8; 3]>,
}

/// Pixels that changed by no more than this are left as they are `[levels]`.
const UNSEEN: u8 = 2;
/// Depth of the pattern between colours of the palette `[levels]`.
const DITHER: i16 = 8;
/// A palette is replaced when its squared error exceeds this many times the first one, plus a few levels².
const WORN: f64 = 1.5;

impl Strip {
    fn new(width: u32, height: u32, rate: f64) -> Result<Self, PictureError> {
        let size = [width as u16, height as u16]; // at most 8192
        let mut encoder = gif::Encoder::new(Vec::new(), size[0], size[1], &[])?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        Ok(Strip { encoder, size, rate, shown: 0, frames: 0, palette: None, palette_error: 0.0, last: vec![] })
    }

    fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        let pixels = image.pixels();
        let changed = |a: [u8; 3], b: [u8; 3]| (0..3).any(|k| a[k].abs_diff(b[k]) > UNSEEN);
        let moved: Vec<bool> = match self.last.len() {
            0 => vec![true; pixels.len()],
            _ => pixels.iter().zip(&self.last).map(|(&new, &old)| changed(new, old)).collect(),
        };

        let error = match &mut self.palette {
            Some(palette) => squared_error(palette, pixels, &moved),
            None => f64::INFINITY,
        };
        if error > WORN * self.palette_error + 4.0 {
            let mut palette = Palette::of(pixels.iter().copied());
            self.palette_error = squared_error(&mut palette, pixels, &vec![true; pixels.len()]);
            self.palette = Some(palette);
        }
        let palette = self.palette.as_mut().expect("set above");

        let (corner, size) = changed_part(&moved, usize::from(self.size[0]));
        let mut buffer = Vec::with_capacity(size[0] * size[1]);
        for row in corner[1]..corner[1] + size[1] {
            let first = row * usize::from(self.size[0]) + corner[0];
            for at in first..first + size[0] {
                let place = [at % usize::from(self.size[0]), row];
                buffer.push(if moved[at] { palette.index(dithered(pixels[at], place)) } else { COLOURS as u8 });
            }
        }
        // A transparent index has to be in the palette, whatever its colour.
        let mut colours = palette.colours.clone();
        colours.resize(COLOURS + 1, [0; 3]);

        // Delays are whole hundredths; rounding the sum instead of each keeps the film's length.
        self.frames += 1;
        let until = (100.0 * self.frames as f64 / self.rate).round() as u64;
        let delay = (until - self.shown).min(u64::from(u16::MAX)) as u16;
        self.shown = until;

        self.encoder.write_frame(&gif::Frame {
            delay,
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(COLOURS as u8),
            left: corner[0] as u16,
            top: corner[1] as u16,
            width: size[0] as u16,
            height: size[1] as u16,
            palette: Some(colours.into_flattened()),
            buffer: Cow::Owned(buffer),
            ..gif::Frame::default()
        })?;
        if self.last.is_empty() {
            self.last = pixels.to_vec();
        } else {
            self.last.iter_mut().zip(pixels).zip(&moved).filter(|(_, moved)| **moved).for_each(|((l, p), _)| *l = *p);
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<u8>, PictureError> {
        Ok(self.encoder.into_inner()?)
    }
}

/// Brightens or darkens a pixel by its place, so that what lies between two colours of the palette becomes a fine
/// pattern of both: flat ground then looks the same through every palette.
fn dithered(pixel: [u8; 3], [x, y]: [usize; 2]) -> [u8; 3] {
    const PATTERN: [[i16; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let shift = (2 * PATTERN[y % 4][x % 4] - 15) * DITHER / 30;
    pixel.map(|c| (i16::from(c) + shift).clamp(0, 255) as u8)
}

/// Mean over the pixels that count `[levels²]`.
fn squared_error(palette: &mut Palette, pixels: &[[u8; 3]], counts: &[bool]) -> f64 {
    let (mut sum, mut count) = (0u64, 0u64);
    for (&pixel, _) in pixels.iter().zip(counts).filter(|(_, counts)| **counts) {
        let index = palette.index(pixel);
        let near = palette.colours[usize::from(index)];
        sum += (0..3).map(|k| u64::from(near[k].abs_diff(pixel[k])).pow(2)).sum::<u64>();
        count += 1;
    }
    sum as f64 / count.max(1) as f64
}

/// Left upper corner and size of the smallest rectangle with everything that moved; one pixel if nothing did.
fn changed_part(moved: &[bool], width: usize) -> ([usize; 2], [usize; 2]) {
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for (at, _) in moved.iter().enumerate().filter(|(_, moved)| **moved) {
        for (k, place) in [at % width, at / width].into_iter().enumerate() {
            low[k] = low[k].min(place);
            high[k] = high[k].max(place + 1);
        }
    }
    if low[0] == usize::MAX { ([0; 2], [1; 2]) } else { (low, [high[0] - low[0], high[1] - low[1]]) }
}
