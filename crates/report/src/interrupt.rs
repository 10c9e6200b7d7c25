//! Ctrl-C: the first asks the run to end, the second leaves at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::tell;

/// Exit status of a process that Ctrl-C ended: 128 and the number of the signal.
pub(crate) const STATUS: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C, or a signal to terminate, has asked the run to end since [`crate::run`] was called.
///
/// [`crate::Report::record`] and [`crate::Report::record_each`] look after each window; a loop of
/// your own does it by this.
pub fn interrupted() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Listens from now on, unless the program has a handler of its own.
pub(crate) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let asked = || {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(STATUS));
            }
            tell("stopping after this window, then writing page, pictures and exports; Ctrl-C again leaves at once");
        };
        if let Err(error) = ctrlc::try_set_handler(asked) {
            tell(format_args!("note: Ctrl-C leaves at once: {error}"));
        }
    });
}
