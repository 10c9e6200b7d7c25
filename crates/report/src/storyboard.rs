//! Five moments of a run side by side.

use crate::{Image, PictureError};

/// Between two frames `[pixels]`, and its colour.
const GAP: usize = 6;
const GAP_COLOUR: [u8; 3] = [255; 3];

/// Images of one size in a row, each with its time `[s]`.
pub(crate) fn storyboard(frames: &[(f64, Image)]) -> Result<Image, PictureError> {
    let Some((_, first)) = frames.first() else { return Err(PictureError::NoFrame) };
    let [width, height] = [first.width(), first.height()].map(|side| side as usize);
    let total = frames.len() * (width + GAP) - GAP;
    let mut pixels = vec![GAP_COLOUR; total * height];
    for (number, (time, image)) in frames.iter().enumerate() {
        let mut own = image.pixels().to_vec();
        write(&mut own, width, &format!("{time:.2} s"));
        for (row, own) in own.chunks_exact(width).enumerate() {
            pixels[row * total + number * (width + GAP)..][..width].copy_from_slice(own);
        }
    }
    Image::new(total as u32, height as u32, pixels)
}

/// Five columns and seven rows a letter, the leftmost column in the highest bit.
const LETTERS: [(char, [u8; 7]); 12] = [
    ('0', [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110]),
    ('1', [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110]),
    ('2', [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111]),
    ('3', [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110]),
    ('4', [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010]),
    ('5', [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110]),
    ('6', [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110]),
    ('7', [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000]),
    ('8', [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110]),
    ('9', [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100]),
    ('.', [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100]),
    ('s', [0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110]),
];

/// Writes into the left upper corner, each point of a letter 2 x 2 pixels; what there is no letter for stays free.
fn write(pixels: &mut [[u8; 3]], width: usize, words: &str) {
    for (number, word) in words.chars().enumerate() {
        let Some((_, rows)) = LETTERS.iter().find(|(letter, _)| *letter == word) else { continue };
        for (row, column) in (0..14).flat_map(|row| (0..10).map(move |column| (row, column))) {
            let (x, y) = (12 + 12 * number + column, 12 + row);
            if rows[row / 2] >> (4 - column / 2) & 1 == 1 && x < width && y < pixels.len() / width {
                pixels[y * width + x] = [52, 56, 64];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames keep their pixels below the label; gaps lie between them and not at the ends.
    #[test]
    fn frames_lie_side_by_side() {
        let grey = |level: u8| (0.25, Image::new(100, 40, vec![[level; 3]; 4000]).unwrap());
        let board = storyboard(&[grey(90), grey(120), grey(150)]).unwrap();
        assert_eq!((board.width(), board.height()), (312, 40));
        let levels: Vec<u8> = [0, 99, 100, 105, 106, 205, 206, 211, 212, 311].map(|x| board.pixel(x, 39)[0]).into();
        assert_eq!(levels, [90, 90, 255, 255, 120, 120, 255, 255, 150, 150]);
        assert!(storyboard(&[]).is_err());
    }

    /// A label has four dark pixels for each point of its letters: 1 has 10 of them, 0 has 19, the full stop 4, s 13.
    #[test]
    fn labels_tell_the_time() {
        let dark = |time: f64, side: u32| {
            let board = storyboard(&[(time, Image::new(side, side, vec![[255; 3]; (side * side) as usize]).unwrap())]);
            board.unwrap().pixels().iter().filter(|pixel| pixel[0] < 100).count()
        };
        assert_eq!(dark(10.0, 120), 4 * (10 + 19 + 4 + 19 + 19 + 13));
        assert_eq!(dark(1e300, 1), 0);
        assert!(dark(f64::NAN, 120) < 200);
    }
}
