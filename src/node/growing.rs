//! A short table that grows while others hold references into it.
use std::sync::OnceLock;

/// What is added stays to the end. Lookups are linear, up to the last entry.
pub(super) struct Growing<T>(Box<[OnceLock<(u16, T)>]>);

/// Most entries.
const CAPACITY: usize = 1000;

impl<T> Growing<T> {
    pub(super) fn get(&self, key: &u16) -> Option<&T> {
        self.entries().find(|(own, _)| own == key).map(|(_, v)| v)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries().map(|(_, value)| value)
    }

    /// Adds an entry; false if the table is full.
    pub(super) fn add(&self, key: u16, value: T) -> bool {
        let mut entry = (key, value);
        for place in &self.0 {
            match place.set(entry) {
                Ok(()) => return true,
                Err(back) => entry = back,
            }
        }
        false
    }

    fn entries(&self) -> impl Iterator<Item = &(u16, T)> {
        self.0.iter().map_while(OnceLock::get)
    }
}

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Self((0..CAPACITY).map(|_| OnceLock::new()).collect())
    }
}

impl<T> FromIterator<(u16, T)> for Growing<T> {
    fn from_iter<I: IntoIterator<Item = (u16, T)>>(entries: I) -> Self {
        let table = Self::default();
        for (key, value) in entries {
            table.add(key, value);
        }
        table
    }
}
