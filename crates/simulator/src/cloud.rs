//! Free particles, and who is who among them.

use serde::{Deserialize, Serialize};

use crate::SimulatorError;

/// Free particles: points to show that are no handles ([`Simulator::cloud`](crate::Simulator::cloud)).
///
/// An id is a particle's for its whole life, belongs to no other of its simulator, and is never given again: what
/// reads two clouds of a run knows who was born, who is gone, and who went where.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Cloud {
    /// `[m]`
    pub positions: Vec<[f64; 3]>,
    /// One a position, in the same order.
    pub ids: Vec<u64>,
}

impl Cloud {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is no particle.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty() && self.ids.is_empty()
    }

    /// One more particle, at `position` `[m]`.
    pub fn push(&mut self, id: u64, position: [f64; 3]) {
        self.ids.push(id);
        self.positions.push(position);
    }

    /// The same particles by ascending id.
    ///
    /// # Errors
    /// There are not as many ids as positions, or two particles have the same.
    pub fn by_id(mut self) -> Result<Self, SimulatorError> {
        if self.ids.len() == self.len() && !self.ids.is_sorted() {
            let mut order: Vec<usize> = (0..self.len()).collect();
            order.sort_unstable_by_key(|&i| self.ids[i]);
            self.positions = order.iter().map(|&i| self.positions[i]).collect();
            self.ids.sort_unstable();
        }
        self.check_order()?;
        Ok(self)
    }

    /// Whether ids ascend.
    ///
    /// # Errors
    /// They do not, or there are not as many as positions.
    pub fn check_order(&self) -> Result<(), SimulatorError> {
        if self.ids.len() != self.len() {
            let (found, expected) =
                (format!("{} ids", self.ids.len()), format!("one for each of {} positions", self.len()));
            return Err(SimulatorError::refused("a cloud", found, expected));
        }
        match self.ids.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => {
                let found = format!("id {} after id {}", pair[1], pair[0]);
                Err(SimulatorError::refused("a cloud", found, "ascending ids, each once"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(ids: &[u64]) -> Cloud {
        Cloud { positions: ids.iter().map(|&id| [id as f64, 0.0, 0.0]).collect(), ids: ids.to_vec() }
    }

    #[test]
    fn sorting_keeps_who_is_where() {
        assert_eq!(cloud(&[5, 1, u64::MAX, 3]).by_id(), Ok(cloud(&[1, 3, 5, u64::MAX])));
        assert_eq!(Cloud::default().by_id(), Ok(Cloud::default()));
    }

    #[test]
    fn two_of_one_id_and_ids_too_few_are_refused() {
        let error = cloud(&[5, 1, 5]).by_id().unwrap_err().to_string();
        assert_eq!(error, "a cloud: expected ascending ids, each once, found id 5 after id 5");
        let short = Cloud { ids: vec![2, 1], ..cloud(&[1, 2, 3]) };
        let error = short.by_id().unwrap_err().to_string();
        assert_eq!(error, "a cloud: expected one for each of 3 positions, found 2 ids");
    }
}
