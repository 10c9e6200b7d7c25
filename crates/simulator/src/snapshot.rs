//! Snapshots: all that a step reads or changes, typed, cheap to keep, bytes on demand.

use std::{any::Any, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use crate::SimulatorError;

/// All that a step of one simulator reads or changes, at one time.
///
/// Cloning is cheap: the state is shared and never changed.
#[derive(Clone)]
pub struct Snapshot {
    owner: u64,
    layout: u64,
    time: f64,
    state: Arc<dyn AnyState>,
}

trait AnyState: Any + Send + Sync {
    fn bytes(&self) -> Vec<u8>;
    fn fields(&self) -> Vec<(String, String)>;
}

impl<T: Serialize + Any + Send + Sync> AnyState for T {
    fn bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a state is plain data, which postcard can always write")
    }

    fn fields(&self) -> Vec<(String, String)> {
        crate::fields::fields(self)
    }
}

impl Snapshot {
    /// Wraps `state`. `owner` is [`crate::HandleTable::owner`]; `layout` is [`layout_of`] what the
    /// state takes for granted: parameters, topology, guides.
    pub fn new<T: Serialize + Send + Sync + 'static>((owner, layout): (u64, u64), time: f64, state: T) -> Self {
        Self { owner, layout, time, state: Arc::new(state) }
    }

    /// As [`Snapshot::new`] with a clone of `state`, in the memory of `reuse` if nobody else holds
    /// that. It pays only where `T::clone_from` reuses its memory; the derived one does not.
    pub fn renew<T: Serialize + Clone + Send + Sync + 'static>(
        reuse: Option<Self>,
        of: (u64, u64),
        time: f64,
        state: &T,
    ) -> Self {
        if let Some(mut old) = reuse
            && let Some(shared) = Arc::get_mut(&mut old.state)
            && let Some(kept) = (shared as &mut dyn Any).downcast_mut::<T>()
        {
            kept.clone_from(state);
            return Self { owner: of.0, layout: of.1, time, ..old };
        }
        Self::new(of, time, state.clone())
    }

    /// The state, if this is a snapshot of the simulator `(owner, layout)`.
    ///
    /// # Errors
    /// It is of another simulator, or of the same one before it was changed.
    pub fn get<T: 'static>(&self, of: (u64, u64)) -> Result<&T, SimulatorError> {
        let state = (&*self.state as &dyn Any).downcast_ref().filter(|_| (self.owner, self.layout) == of);
        state.ok_or_else(|| {
            let found = format!("{:x}/{:x}", self.owner, self.layout);
            SimulatorError::refused("snapshot", found, format!("owner/layout {:x}/{:x}", of.0, of.1))
        })
    }

    /// The inverse of [`Snapshot::to_bytes`].
    ///
    /// # Errors
    /// The bytes are not a state of this type.
    pub fn from_bytes<T: Serialize + DeserializeOwned + Send + Sync + 'static>(
        of: (u64, u64),
        time: f64,
        bytes: &[u8],
    ) -> Result<Self, SimulatorError> {
        match postcard::take_from_bytes::<T>(bytes) {
            Ok((state, [])) => Ok(Self::new(of, time, state)),
            Ok((_, rest)) => Err(SimulatorError::refused(
                "snapshot",
                format!("{} bytes too many", rest.len()),
                "bytes of `to_bytes`",
            )),
            Err(error) => Err(SimulatorError::refused("snapshot", error, "bytes of `to_bytes`")),
        }
    }

    /// Every bit of the state. Equal bytes are equal states.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.state.bytes()
    }

    /// The first field that differs between two snapshots: `.positions[3][1]: 0.5 (bits …) / 0.7 (bits …)`.
    /// `None` where every bit is the same.
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        if self.to_bytes() == other.to_bytes() {
            return None;
        }
        let difference = crate::fields::first_difference(&self.state.fields(), &other.state.fields());
        Some(difference.unwrap_or_else(|| " has other bytes in the same fields".into()))
    }

    /// When it was taken `[s]`.
    pub fn time(&self) -> f64 {
        self.time
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({:x}/{:x} at {} s)", self.owner, self.layout, self.time)
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
