//! Ctrl-C: the first asks the run to end, the second exits at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::tell;

/// Exit status of a process that Ctrl-C ended: 128 and the number of the signal.
pub(crate) const STATUS: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C has been pressed since [`crate::run`] was called.
///
/// [`crate::Report::record`] and [`crate::Report::record_each`] check it after each window. A loop
/// of your own has to, and calls [`crate::Recorder::interrupted`] before it ends.
pub fn interrupted() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Handles Ctrl-C from now on, unless it is handled or ignored by the program, a shell or `nohup`.
pub(crate) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let asked = || {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(STATUS));
            }
            tell(
                "stopping at the next end of a window; page, pictures and exports are still written; press Ctrl-C again \
                 to exit at once",
            );
        };
        // Whoever handles or ignores it already has a reason.
        let _ = ctrlc::try_set_handler(asked);
    });
}
