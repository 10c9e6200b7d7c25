//! A list for each of many owners, all in one.

/// Lists of owners that are numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    /// Where each owner's list begins, and one more; empty while nobody has one.
    first: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { first: vec![], items: vec![] }
    }
}

impl<T: Copy> Lists<T> {
    /// Each entry in the list of its owner, in their order, in the memory that is there.
    pub fn fill(&mut self, owners: usize, entries: &[(u32, T)]) {
        let Self { first, items } = self;
        first.clear();
        first.resize(owners + 1, 0);
        entries.iter().for_each(|(owner, _)| first[*owner as usize] += 1);
        let mut sum = 0;
        for count in first.iter_mut() {
            sum += *count;
            *count = sum;
        }
        items.clear();
        items.extend(entries.iter().map(|(_, item)| *item));
        // From behind, as each list is filled from its end.
        for (owner, item) in entries.iter().rev() {
            let place = &mut first[*owner as usize];
            *place -= 1;
            items[*place as usize] = *item;
        }
    }

    /// Nobody has anything.
    pub fn clear(&mut self) {
        self.first.clear();
    }

    /// What an owner has.
    #[inline(always)]
    pub fn of(&self, owner: u32) -> &[T] {
        let owner = owner as usize;
        match self.first.get(owner..owner + 2) {
            Some(&[begin, end]) => &self.items[begin as usize..end as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_with_their_owners_in_order() {
        let mut lists = Lists::default();
        for round in 0..2 {
            assert!((0..5).all(|owner| lists.of(owner).is_empty()), "round {round}");
            lists.fill(4, &[(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (2, 'e')]);
            assert_eq!(
                [0, 1, 2, 3, 4].map(|owner| lists.of(owner).iter().collect::<String>()),
                ["b", "", "ace", "d", ""]
            );
            lists.clear();
        }
    }
}
