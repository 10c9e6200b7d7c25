//! Frames of a run, encoded to GIF as they come.

use std::borrow::Cow;
use std::io::Write;

use crate::palette::{COLOURS, Palette};
use crate::{Image, PictureError};

/// A GIF in the making: each frame holds only what has changed, in colours that are chosen anew when they no longer fit.
pub(crate) struct Gif<W: Write> {
    encoder: gif::Encoder<W>,
    size: [u16; 2],
    /// Hundredths of a second that the frames so far take.
    shown: u64,
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

impl<W: Write> Gif<W> {
    /// Without frames yet; written to `to` as they come.
    pub fn new(to: W, size: [u32; 2]) -> Result<Self, PictureError> {
        let size = size.map(|side| side as u16); // at most 8192
        let mut encoder = gif::Encoder::new(to, size[0], size[1], &[])?;
        encoder.set_repeat(gif::Repeat::Infinite)?;
        Ok(Gif { encoder, size, shown: 0, palette: None, palette_error: 0.0, last: vec![] })
    }

    /// Adds a frame that is shown until `until`, from the film's begin `[s]`.
    pub fn add(&mut self, image: &Image, until: f64) -> Result<(), PictureError> {
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
        // Viewers take less than two for ten.
        let until = ((100.0 * until).round() as u64).max(self.shown + 2);
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

    /// Writes the end.
    pub fn finish(self) -> Result<(), PictureError> {
        self.encoder.into_inner()?;
        Ok(())
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
