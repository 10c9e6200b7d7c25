//! The laws of the contract as a suite that every simulator passes.
//!
//! ```
//! use partita_simulator::{reference::*, simulator_laws};
//!
//! fn hanging() -> Chain {
//!     Chain::new("hanging", &[[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], ChainParameters::default()).unwrap()
//! }
//! fn free() -> MassOnSpring {
//!     MassOnSpring::new("free", SpringParameters::default()).unwrap()
//! }
//! simulator_laws!(hanging(), dt = 1.0 / 1024.0, load = 0.1, free = free());
//! ```
//!
//! The macro makes one test a law; put two uses in one file into modules of their own. `dt` is the
//! step `[s]` (a power of two shows that time advances to the last bit), `load` the size of the
//! forces `[N]`, and `free` a simulator, usually of the same kind, whose ledger knows its momentum
//! and whose first handles nothing holds, pulls or meets.
//!
//! | law | | tried by |
//! |---|---|---|
//! | 1 | retract restores every bit | going on from marks near and far, again and again, through bytes, after trial steps; snapshots, readings, ledger, cloud and reports compared bit by bit |
//! | 2 | a repeated step gives the same bits | a second run, and fresh processes with 1, 2, 3 and 7 threads |
//! | 3 | a refused or failed call changes nothing | bad steps, readings, snapshots, bytes and guides; then three steps beside a twin that refused nothing |
//! | 4 | loads act once | loaded, retracted and free steps; momentum of `free` after one load |
//! | 5 | loads are impulses | momentum and angular momentum of `free` with and without a load, or an impulse of that size |
//! | 6 | reading changes nothing; time advances by dt | runs that are read after each step, twice, and not before their end |
//! | 7 | non-finite values never leave a step | loads up to 1e300 N, steps from 1e-300 s to 1e3 s |
//! | 8 | a follower keeps its attachments, and momentum is accounted for | a handle held on a swing and a box pushed up from below, of each kind that `follows` names; then steps without motions; momentum at each step, angular momentum over the trace |
//! | 9 | free particles keep their ids | as many ids as positions, none twice, none again; each step again in 16 parts, in which nobody goes far |
//! | 10 | stated mobility is what an impulse does | velocities and spins of `free` after a step with an impulse along, and a torque about each axis |
//!
//! Every trace is 72 steps with changing loads and impulses on four of the handles. A follower has its first Point
//! (or Frame) held on a path of 2 % of the simulator's size, and a box comes up from 2 % below it to
//! 8 % within. It must be met: let what is lowest be loose.
//!
//! Where a law needs a ledger and there is none, law 5 is broken, and laws 4 and 8 check what is left.

mod calls;
mod identity;
mod physics;
mod rising_box;
mod scenario;
mod states;

use std::fmt;

pub use calls::{law_3, law_4, law_7};
pub use identity::law_9;
pub use physics::{law_5, law_8, law_10};
pub use states::{law_1, law_2, law_6};

use crate::Simulator;

/// Makes the simulator of a suite; called again whenever a law needs a fresh one.
pub type Make<'a> = &'a dyn Fn() -> Box<dyn Simulator>;

/// What a suite is run with.
pub struct Suite<'a> {
    /// The simulator.
    pub make: Make<'a>,
    /// Step `[s]`.
    pub dt: f64,
    /// Size of the forces `[N]`.
    pub load: f64,
    /// A simulator whose first handles move freely.
    pub free: Make<'a>,
}

impl Suite<'_> {
    /// Fails where `dt` or `load` would leave a law nothing to see.
    fn check(&self) -> Result<(), Broken> {
        crate::check_positive("dt [s]", self.dt)
            .and_then(|()| crate::check_positive("load [N]", self.load))
            .map_err(|error| Broken::new("0 (the suite can be run)", 0, error))
    }
}

/// A law that does not hold: which, where, and what was found.
#[derive(Debug)]
pub struct Broken {
    law: &'static str,
    step: usize,
    found: String,
}

impl Broken {
    fn new(law: &'static str, step: usize, found: impl fmt::Display) -> Self {
        Self { law, step, found: found.to_string() }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {} is broken at step {}: {}", self.law, self.step, self.found)
    }
}

/// One test for each law of [`laws`](crate::laws), for a simulator given as an expression. With `when = there()` they do nothing where that
/// is false: who needs a device that is not everywhere says so there.
#[macro_export]
macro_rules! simulator_laws {
    ($make:expr, dt = $dt:expr, load = $load:expr, free = $free:expr $(,)?) => {
        $crate::simulator_laws!($make, dt = $dt, load = $load, free = $free, when = true);
    };
    ($make:expr, dt = $dt:expr, load = $load:expr, free = $free:expr, when = $when:expr $(,)?) => {
        $crate::simulator_laws!(@tests [$make] [$dt] [$load] [$free] [$when]
            law_1_retract_restores_every_bit: law_1,
            law_3_a_refused_or_failed_call_changes_nothing: law_3,
            law_4_loads_act_once: law_4,
            law_5_loads_are_impulses: law_5,
            law_6_reading_changes_nothing_and_time_advances_by_dt: law_6,
            law_7_non_finite_values_never_leave_a_step: law_7,
            law_8_a_follower_keeps_attachments_and_momentum_is_accounted_for: law_8,
            law_9_free_particles_keep_their_ids: law_9,
            law_10_stated_mobility_is_what_an_impulse_does: law_10,
        );

        #[test]
        fn law_2_a_repeated_step_gives_the_same_bits() {
            let name = concat!(module_path!(), "::law_2_a_repeated_step_gives_the_same_bits");
            let is_there: bool = $when;
            if is_there {
                let suite = $crate::simulator_laws!(@suite [$make] [$dt] [$load] [$free]);
                $crate::laws::law_2(&suite, name).unwrap_or_else(|broken| panic!("{broken}"));
            }
        }
    };
    (@tests $make:tt $dt:tt $load:tt $free:tt $when:tt $($name:ident: $law:ident,)*) => { $(
        $crate::simulator_laws!(@test $make $dt $load $free $when $name $law);
    )* };
    (@test $make:tt $dt:tt $load:tt $free:tt [$when:expr] $name:ident $law:ident) => {
        #[test]
        fn $name() {
            let is_there: bool = $when;
            if is_there {
                let suite = $crate::simulator_laws!(@suite $make $dt $load $free);
                $crate::laws::$law(&suite).unwrap_or_else(|broken| panic!("{broken}"));
            }
        }
    };
    (@suite [$make:expr] [$dt:expr] [$load:expr] [$free:expr]) => {
        $crate::laws::Suite { make: &|| Box::new($make), dt: $dt, load: $load, free: &|| Box::new($free) }
    };
}
