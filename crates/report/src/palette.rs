//! 255 colours for a frame: boxes of similar colours, cut where they vary most.

/// Bits by channel to which colours are grouped before they are counted.
const BITS: u32 = 6;
const GROUPS: usize = 1 << (3 * BITS);
/// One less than a GIF can hold: the last one means "as before".
pub(crate) const COLOURS: usize = 255;

/// At most 255 colours, and the nearest of them for each group of colours.
pub(crate) struct Palette {
    pub colours: Vec<[u8; 3]>,
    /// Index of the nearest colour, where it has been asked for.
    nearest: Vec<Option<u8>>,
}

/// A group of colours that occur: its mean and its number of pixels.
#[derive(Clone, Copy)]
struct Group {
    mean: [f32; 3],
    count: f32,
}

impl Palette {
    /// Colours for these pixels. Not fewer than one.
    pub fn of(pixels: impl Iterator<Item = [u8; 3]>) -> Self {
        let mut groups = groups(pixels);
        let colours = cut(&mut groups).into_iter().map(|mean| mean.map(|c| (c + 0.5) as u8)).collect();
        Palette { colours, nearest: vec![None; GROUPS] }
    }

    /// Index of the colour nearest to `colour`.
    pub fn index(&mut self, colour: [u8; 3]) -> u8 {
        let group = group_of(colour);
        if let Some(index) = self.nearest[group] {
            return index;
        }
        let away = |other: &[u8; 3]| (0..3).map(|k| (i32::from(other[k]) - i32::from(colour[k])).pow(2)).sum::<i32>();
        let index = (0..self.colours.len()).min_by_key(|&i| away(&self.colours[i])).unwrap_or(0) as u8;
        self.nearest[group] = Some(index);
        index
    }
}

fn group_of([r, g, b]: [u8; 3]) -> usize {
    let shift = 8 - BITS;
    (usize::from(r >> shift) << (2 * BITS)) | (usize::from(g >> shift) << BITS) | usize::from(b >> shift)
}

fn groups(pixels: impl Iterator<Item = [u8; 3]>) -> Vec<Group> {
    let mut sums = vec![[0u32; 4]; GROUPS];
    for pixel in pixels {
        let sum = &mut sums[group_of(pixel)];
        (0..3).for_each(|k| sum[k] += u32::from(pixel[k]));
        sum[3] += 1;
    }
    let group = |sum: [u32; 4]| Group { mean: [0, 1, 2].map(|k| sum[k] as f32 / sum[3] as f32), count: sum[3] as f32 };
    sums.into_iter().filter(|sum| sum[3] > 0).map(group).collect()
}

/// Cuts the box with the greatest scatter at its mean, again and again; returns the boxes' means.
fn cut(groups: &mut [Group]) -> Vec<[f32; 3]> {
    let mut boxes = vec![Box::of(groups, 0)];
    while boxes.len() < COLOURS {
        let scatter = |b: &Box| b.scatter;
        let Some(widest) = (0..boxes.len()).max_by(|&a, &b| scatter(&boxes[a]).total_cmp(&scatter(&boxes[b]))) else {
            break;
        };
        if boxes[widest].scatter <= 0.0 {
            break;
        }
        let Box { begin, end, axis, mean, .. } = boxes.swap_remove(widest);
        let part = &mut groups[begin..end];
        part.sort_unstable_by(|a, b| a.mean[axis].total_cmp(&b.mean[axis]));
        let middle = part.partition_point(|group| group.mean[axis] <= mean[axis]).clamp(1, part.len() - 1);
        boxes.push(Box::of(&groups[begin..begin + middle], begin));
        boxes.push(Box::of(&groups[begin + middle..end], begin + middle));
    }
    boxes.into_iter().map(|b| b.mean).collect()
}

/// A run of groups.
struct Box {
    begin: usize,
    end: usize,
    mean: [f32; 3],
    /// Axis of the greatest scatter, and the scatter of all of them; 0 for a single group.
    axis: usize,
    scatter: f32,
}

impl Box {
    fn of(groups: &[Group], begin: usize) -> Self {
        let count: f32 = groups.iter().map(|g| g.count).sum::<f32>().max(1.0);
        let mean = [0, 1, 2].map(|k| groups.iter().map(|g| g.mean[k] * g.count).sum::<f32>() / count);
        // A power of the count: small but colourful things get their colours too.
        let by_axis =
            [0, 1, 2].map(|k| groups.iter().map(|g| g.count.powf(0.75) * (g.mean[k] - mean[k]).powi(2)).sum::<f32>());
        let axis = (0..3).max_by(|&a, &b| by_axis[a].total_cmp(&by_axis[b])).unwrap_or(0);
        let scatter = if groups.len() > 1 { by_axis.iter().sum() } else { 0.0 };
        Box { begin, end: begin + groups.len(), mean, axis, scatter }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_exactly() {
        let few = [[0, 0, 0], [255, 255, 255], [200, 10, 10], [10, 200, 10]];
        let mut palette = Palette::of(few.into_iter().cycle().take(1000));
        for colour in few {
            let index = palette.index(colour);
            assert_eq!(palette.colours[usize::from(index)], colour);
        }
    }

    /// A cube of 40^3 colours in 255 boxes: a box's edge is some 255 / 255^(1/3) = 40 levels, so the mean error along
    /// an axis is about 40 / 4.
    #[test]
    fn many_colours_find_a_near_one() {
        let all = || (0..64000u32).map(|i| [i % 40, i / 40 % 40, i / 1600].map(|c| (c * 255 / 39) as u8));
        let mut palette = Palette::of(all());
        assert_eq!(palette.colours.len(), COLOURS);
        let mut error = 0.0;
        for colour in all() {
            let index = palette.index(colour);
            let near = palette.colours[usize::from(index)];
            error += (0..3).map(|k| f64::from(near[k].abs_diff(colour[k]))).sum::<f64>();
        }
        assert!(error / (3.0 * 64000.0) < 12.0, "{}", error / (3.0 * 64000.0));
    }

    #[test]
    fn no_pixels_are_no_panic() {
        let mut palette = Palette::of(std::iter::empty());
        assert_eq!(palette.index([1, 2, 3]), 0);
    }
}
