//! A picture in memory: pixels, PNG, and whether there is anything to see.

use crate::PictureError;

/// Pixels in rows from the top, sRGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
}

/// Levels (of 255) by which a pixel has to differ from a neighbour to count as detail. Ground tiles, gradients and
/// fades of an empty scene stay below.
const DETAIL_LEVELS: u8 = 16;

/// An image with a smaller fraction of detail is blank `[-]`: 64 pixels of 640 x 400.
pub(crate) const BLANK_BELOW: f64 = 1.0 / 4000.0;

impl Image {
    /// Refuses sizes that no picture has.
    ///
    /// # Errors
    ///
    /// [`PictureError::Size`] unless 1 to 8192 pixels wide and high, with one pixel for each place.
    pub fn new(width: u32, height: u32, pixels: Vec<[u8; 3]>) -> Result<Self, PictureError> {
        check_size(width, height)?;
        if pixels.len() != width as usize * height as usize {
            return Err(PictureError::Size { width, height });
        }
        Ok(Image { width, height, pixels })
    }

    /// Pixels across.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels, in rows from the top.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// The pixel at column `x`, row `y` from the top.
    ///
    /// # Panics
    ///
    /// Outside the image.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        assert!(x < self.width && y < self.height, "pixel {x}, {y} of {} x {}", self.width, self.height);
        self.pixels[(y * self.width + x) as usize]
    }

    /// Fraction of pixels that differ from the pixel left of them or above by more than 16 of 255 levels `[-]`.
    pub fn detail(&self) -> f64 {
        let stands_out = |a: [u8; 3], b: [u8; 3]| (0..3).any(|k| a[k].abs_diff(b[k]) > DETAIL_LEVELS);
        let width = self.width as usize;
        let detailed = (0..self.pixels.len())
            .filter(|&i| {
                i % width > 0 && stands_out(self.pixels[i], self.pixels[i - 1])
                    || i >= width && stands_out(self.pixels[i], self.pixels[i - width])
            })
            .count();
        detailed as f64 / self.pixels.len() as f64
    }

    /// Whether there is nothing to see: background, empty ground, or one colour.
    pub fn is_blank(&self) -> bool {
        self.detail() < BLANK_BELOW
    }

    /// The image as a PNG file.
    ///
    /// # Errors
    ///
    /// When encoding fails.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }

    /// Reads back what [`Image::png`] made (8-bit RGB only).
    ///
    /// # Errors
    ///
    /// A broken file, another kind of PNG, or a size that [`Image::new`] refuses.
    pub fn from_png(bytes: &[u8]) -> Result<Self, PictureError> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
        let (width, height) = reader.info().size();
        check_size(width, height)?;
        let kind = reader.output_color_type();
        if kind != (png::ColorType::Rgb, png::BitDepth::Eight) {
            return Err(PictureError::PngKind { colour: format!("{kind:?}") });
        }
        let mut pixels = vec![[0; 3]; width as usize * height as usize];
        reader.next_frame(pixels.as_flattened_mut())?;
        Image::new(width, height, pixels)
    }
}

pub(crate) fn check_size(width: u32, height: u32) -> Result<(), PictureError> {
    let fit = 1..=8192;
    if fit.contains(&width) && fit.contains(&height) { Ok(()) } else { Err(PictureError::Size { width, height }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient() -> Image {
        let pixels = (0..60 * 40).map(|i| [(i % 60) as u8 * 4, (i / 60) as u8 * 3, 77]).collect();
        Image::new(60, 40, pixels).unwrap()
    }

    #[test]
    fn png_keeps_every_pixel() {
        let image = gradient();
        assert_eq!(Image::from_png(&image.png().unwrap()).unwrap(), image);
    }

    #[test]
    fn a_gradient_is_blank_and_a_dot_of_nine_pixels_is_not() {
        let mut image = gradient();
        assert!(image.is_blank());
        for (x, y) in [(10, 10), (11, 10), (12, 10), (10, 11), (11, 11), (12, 11), (10, 12), (11, 12), (12, 12)] {
            image.pixels[y * 60 + x] = [255, 255, 255];
        }
        assert!(!image.is_blank());
    }

    #[test]
    fn broken_png_files_are_errors_at_every_length() {
        let bytes = gradient().png().unwrap();
        for length in 0..bytes.len() - 20 {
            assert!(Image::from_png(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn sizes_of_zero_or_beyond_the_limit_are_errors() {
        for (width, height) in [(0, 0), (0, 5), (5, 0), (9000, 1), (u32::MAX, u32::MAX), (2, 2)] {
            assert!(matches!(Image::new(width, height, vec![[0; 3]]), Err(PictureError::Size { .. })));
        }
    }
}
