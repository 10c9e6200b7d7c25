//! Snapshots: all that a step reads or changes, typed, cheap to keep, bytes on demand.

use std::{any::Any, sync::Arc};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{HandleTable, SimulatorError};

/// Whose a snapshot is, and what it takes for granted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// [`HandleTable::owner`].
    pub owner: u64,
    /// [`layout_of`] what the state takes for granted: parameters, topology, guides.
    pub layout: u64,
}

impl Identity {
    /// Of the simulator with these handles and this configuration.
    pub fn new(table: &HandleTable, configuration: &impl Serialize) -> Self {
        Self { owner: table.owner(), layout: layout_of(configuration) }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "owner {:x}, layout {:x}", self.owner, self.layout)
    }
}

/// All that a step of one simulator reads or changes, at one time.
///
/// Cloning is cheap: the state is shared and never changed.
#[derive(Clone)]
pub struct Snapshot {
    of: Identity,
    time: f64,
    state: Arc<dyn AnyState>,
}

/// What precedes the state in bytes.
#[derive(Serialize, Deserialize)]
struct Header {
    of: Identity,
    /// [`format_of`] the state.
    format: u64,
    time: f64,
}

/// Of the bytes of a state: its type, in this version of the program.
fn format_of<T>() -> u64 {
    layout_of(&(env!("CARGO_PKG_VERSION"), std::any::type_name::<T>()))
}

trait AnyState: Any + Send + Sync {
    fn format(&self) -> u64;
    fn bytes(&self) -> Vec<u8>;
    fn fields(&self) -> Vec<(String, String)>;
}

impl<T: Serialize + Any + Send + Sync> AnyState for T {
    fn format(&self) -> u64 {
        format_of::<T>()
    }

    fn bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a state is plain data, which postcard can always write")
    }

    fn fields(&self) -> Vec<(String, String)> {
        crate::fields::fields(self)
    }
}

impl Snapshot {
    /// Wraps `state`, taken at `time` `[s]`.
    pub fn new<T: Serialize + Send + Sync + 'static>(of: Identity, time: f64, state: T) -> Self {
        Self { of, time, state: Arc::new(state) }
    }

    /// As [`Snapshot::new`] with a clone of `state`, in the memory of `reuse` if nobody else holds
    /// that. It pays only where `T::clone_from` reuses its memory; the derived one does not.
    pub fn renew<T: Serialize + Clone + Send + Sync + 'static>(
        reuse: Option<Self>,
        of: Identity,
        time: f64,
        state: &T,
    ) -> Self {
        if let Some(mut old) = reuse
            && let Some(shared) = Arc::get_mut(&mut old.state)
            && let Some(kept) = (shared as &mut dyn Any).downcast_mut::<T>()
        {
            kept.clone_from(state);
            return Self { of, time, ..old };
        }
        Self::new(of, time, state.clone())
    }

    /// The state, if this is a snapshot of `of`.
    ///
    /// # Errors
    /// It is of another simulator, or of the same one before it was changed.
    pub fn get<T: 'static>(&self, of: Identity) -> Result<&T, SimulatorError> {
        let state = (&*self.state as &dyn Any).downcast_ref().filter(|_| self.of == of);
        state.ok_or_else(|| SimulatorError::refused("snapshot", self.of, of))
    }

    /// The inverse of [`Snapshot::to_bytes`].
    ///
    /// # Errors
    /// The bytes were cut or changed, are a snapshot of another simulator or layout, or a state of
    /// another type or version.
    pub fn from_bytes<T: Serialize + DeserializeOwned + Send + Sync + 'static>(
        of: Identity,
        bytes: &[u8],
    ) -> Result<Self, SimulatorError> {
        let refused = |found: String| SimulatorError::refused("snapshot", found, "bytes of `to_bytes`");
        let Some((seal, sealed)) = bytes.split_first_chunk() else {
            return Err(refused(format!("{} bytes", bytes.len())));
        };
        if u64::from_le_bytes(*seal) != hash_bytes(sealed) {
            return Err(refused(format!("{} bytes that were changed", bytes.len())));
        }
        let (header, state) =
            postcard::take_from_bytes::<Header>(sealed).map_err(|error| refused(error.to_string()))?;
        if header.of != of {
            return Err(SimulatorError::refused("snapshot", header.of, of));
        }
        if header.format != format_of::<T>() {
            let expected = format!("format {:x}: the same type and version", format_of::<T>());
            return Err(SimulatorError::refused("snapshot", format!("format {:x}", header.format), expected));
        }
        match postcard::take_from_bytes::<T>(state) {
            Ok((state, [])) => Ok(Self::new(of, header.time, state)),
            Ok((_, rest)) => Err(refused(format!("{} bytes too many", rest.len()))),
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// Every bit of the state, whose it is, its format and when it was taken, sealed with a hash: eight
    /// bytes of [`hash_bytes`] of the rest, then that in `postcard`. Equal bytes are equal snapshots.
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = Header { of: self.of, format: self.state.format(), time: self.time };
        let mut bytes = postcard::to_extend(&header, vec![0; 8]).expect("a header is plain data");
        bytes.extend(self.state.bytes());
        let seal = hash_bytes(&bytes[8..]).to_le_bytes();
        bytes[..8].copy_from_slice(&seal);
        bytes
    }

    /// The first field that differs between two snapshots: `.positions[3][1]: 0.5 (bits …) / 0.7 (bits …)`.
    /// `None` where every bit is the same.
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        if self.of != other.of {
            return Some(format!(" of {} / of {}", self.of, other.of));
        }
        if self.state.bytes() == other.state.bytes() {
            let same = self.time.to_bits() == other.time.to_bits();
            return (!same).then(|| format!(" taken at {} s / at {} s", self.time, other.time));
        }
        let difference = crate::fields::first_difference(&self.state.fields(), &other.state.fields());
        Some(difference.unwrap_or_else(|| " has other bytes in the same fields".into()))
    }

    /// Whose it is, and what it takes for granted.
    pub fn identity(&self) -> Identity {
        self.of
    }

    /// When it was taken `[s]`.
    pub fn time(&self) -> f64 {
        self.time
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({}, at {} s)", self.of, self.time)
    }
}

/// A 64-bit FNV-1a hash of the bytes that serde writes of `value`, the same in every process.
pub fn layout_of(value: &impl Serialize) -> u64 {
    let bytes = postcard::to_allocvec(value).expect("configuration is plain data, which postcard can always write");
    hash_bytes(&bytes)
}

/// 64-bit FNV-1a.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
