//! Particles of a cloud in an order that tells who is who: those that stay keep theirs, newcomers come last, by id. With
//! the places that were given up since the frame before, that is all that the viewer needs to follow each of them.

use super::tracks::Point;

/// Who has which place, from frame to frame.
#[derive(Default)]
pub(super) struct Order {
    /// In the last frame, ascending.
    ids: Vec<u64>,
    /// The place of each of them.
    places: Vec<usize>,
}

impl Order {
    /// Goes on to a frame with these ids, which ascend. Returns the places of the frame before whose particles are gone,
    /// in their order: those behind move up.
    pub fn next(&mut self, ids: &[u64]) -> Vec<u32> {
        let mut stays = vec![false; self.ids.len()];
        let mut earlier = self.ids.iter().zip(&self.places).peekable();
        let mut place_of = |id: &u64| {
            while earlier.next_if(|(other, _)| *other < id).is_some() {}
            let (_, &place) = earlier.next_if(|(other, _)| *other == id)?;
            stays[place] = true;
            Some(place)
        };
        let before: Vec<Option<usize>> = ids.iter().map(&mut place_of).collect();

        let (mut taken, mut gone) = (0, Vec::new());
        let mut moved = Vec::with_capacity(stays.len());
        for (place, stays) in stays.into_iter().enumerate() {
            moved.push(taken);
            if stays { taken += 1 } else { gone.push(place as u32) }
        }
        let mut newcomer = || {
            taken += 1;
            taken - 1
        };
        self.places = before.into_iter().map(|place| place.map_or_else(&mut newcomer, |place| moved[place])).collect();
        self.ids = ids.to_vec();
        gone
    }

    /// Points of the last frame, which come by ascending id, each at its place.
    pub fn placed(&self, points: &[Point]) -> Vec<Point> {
        let mut placed = vec![[0.0; 3]; points.len()];
        self.places.iter().zip(points).for_each(|(&place, point)| placed[place] = *point);
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_stay_keep_their_order_and_newcomers_come_last() {
        let mut order = Order::default();
        let mut frame = |ids: &[u64]| {
            let points: Vec<Point> = ids.iter().map(|&id| [id as f32; 3]).collect();
            let gone = order.next(ids);
            (gone, order.placed(&points).iter().map(|point| point[0] as u64).collect::<Vec<_>>())
        };
        assert_eq!(frame(&[3, 5, 8]), (vec![], vec![3, 5, 8]));
        assert_eq!(frame(&[1, 3, 6, 8]), (vec![1], vec![3, 8, 1, 6]));
        assert_eq!(frame(&[1, 2, 8, 9]), (vec![0, 3], vec![8, 1, 2, 9]));
        assert_eq!(frame(&[]), (vec![0, 1, 2, 3], vec![]));
        assert_eq!(frame(&[4]), (vec![], vec![4]));
    }
}
