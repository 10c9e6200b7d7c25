//! Where a simulator works: in line, or on a thread of its own. Both answer the same requests
//! through the same function, so that they give the same bits.
//!
//! A simulator that does not reply within the scene's timeout has timed out. Requests to it then
//! fail until its reply arrives or it is replaced. The thread of a replaced one is detached.

use std::{
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use partita_simulator::{Guide, HandleId, HandleState, Mobility, Simulator, SimulatorError};

use crate::worker::{Reply, Request, Shared, Worker};

/// Where simulators work.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    InLine,
    /// Each on a thread of its own, with the longest time to wait for a reply.
    Threads(Option<Duration>),
}

/// The executor of a simulator. [`Seat::post`] a request, then [`Seat::wait`] for its reply.
/// Requests posted to several threads run in parallel.
pub(crate) struct Seat {
    mode: Mode,
    shared: Arc<Shared>,
    executor: Executor,
}

enum Executor {
    Here { worker: Box<Worker>, reply: Option<Reply> },
    Thread(Thread),
}

struct Thread {
    requests: Option<Sender<Request>>,
    replies: Receiver<Reply>,
    thread: Option<JoinHandle<()>>,
    timeout: Option<Duration>,
    /// Latest time for the reply to the last request.
    deadline: Option<Instant>,
    /// Whether a reply is overdue.
    is_late: bool,
    /// Whether a reply has been overdue since [`Seat::clear_timeout`].
    has_timed_out: bool,
}

impl Seat {
    /// A seat of a simulator with guides and watched handles.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn new(
        mode: Mode,
        simulator: Box<dyn Simulator>,
        guides: Vec<Guide>,
        watched: Vec<HandleId>,
    ) -> Result<Self, SimulatorError> {
        Self::at(mode, simulator, Shared::new(guides, watched))
    }

    fn at(mode: Mode, simulator: Box<dyn Simulator>, shared: Shared) -> Result<Self, SimulatorError> {
        let (name, shared) = (simulator.name().replace('\0', " "), Arc::new(shared));
        let worker = Worker::new(simulator, shared.clone());
        let executor = match mode {
            Mode::InLine => Executor::Here { worker: Box::new(worker), reply: None },
            Mode::Threads(timeout) => Executor::Thread(Thread::new(name, worker, timeout)?),
        };
        Ok(Self { mode, shared, executor })
    }

    /// A copy of this seat for another simulator, which restores the snapshot of this number.
    ///
    /// # Errors
    /// The simulator refuses the guides or the snapshot, or the system gives no thread.
    pub(crate) fn with_simulator(&self, simulator: Box<dyn Simulator>, number: u64) -> Result<Self, SimulatorError> {
        let mut seat = Self::at(self.mode, simulator, self.shared.copy())?;
        seat.ask(Request::Enter(number))?;
        Ok(seat)
    }

    /// Whether the simulator works on a thread of its own.
    pub(crate) fn is_on_thread(&self) -> bool {
        matches!(self.executor, Executor::Thread(_))
    }

    /// An error of a simulator that has timed out since [`Seat::clear_timeout`].
    pub(crate) fn timeout(&self) -> Option<SimulatorError> {
        match &self.executor {
            Executor::Thread(thread) if thread.has_timed_out => thread.timeout.map(no_reply),
            _ => None,
        }
    }

    /// Forgets that the simulator has timed out, now that it is where it has to be.
    pub(crate) fn clear_timeout(&mut self) {
        if let Executor::Thread(thread) = &mut self.executor {
            thread.has_timed_out = false;
        }
    }

    /// Drops all snapshots but those of these numbers.
    pub(crate) fn retain(&self, numbers: &[u64]) {
        self.shared.retain(numbers);
    }

    pub(crate) fn post(&mut self, request: Request) {
        match &mut self.executor {
            Executor::Here { worker, reply } => *reply = Some(worker.serve(request)),
            Executor::Thread(thread) => {
                thread.discard_late_reply(Duration::ZERO);
                if !thread.is_late {
                    thread.deadline = thread.timeout.map(|timeout| Instant::now() + timeout);
                    // The thread lives until its seat is dropped: `serve` catches every panic.
                    let requests = thread.requests.as_ref().expect("taken only when the seat is dropped");
                    requests.send(request).expect("the worker's thread lives as long as its seat");
                }
            }
        }
    }

    /// The reply to what was posted.
    ///
    /// # Errors
    /// The simulator does not reply within the timeout.
    pub(crate) fn wait(&mut self) -> Result<Reply, SimulatorError> {
        match &mut self.executor {
            Executor::Here { reply, .. } => Ok(reply.take().expect("every wait follows a post")),
            Executor::Thread(thread) => thread.wait(),
        }
    }

    /// Waits once more for the reply of a simulator that has timed out.
    pub(crate) fn wait_for_late_reply(&mut self) {
        if let Executor::Thread(thread) = &mut self.executor {
            thread.discard_late_reply(thread.timeout.unwrap_or_default());
        }
    }

    /// Posts and waits.
    pub(crate) fn ask(&mut self, request: Request) -> Result<(), SimulatorError> {
        self.post(request);
        self.wait()?.done()
    }

    /// Bytes of the snapshot of this number, also of a simulator that has timed out.
    pub(crate) fn bytes(&self, number: u64) -> Result<Vec<u8>, SimulatorError> {
        self.shared.bytes(number)
    }

    /// Mobilities of handles in world axes, as a step of `dt` `[s]` shows them.
    pub(crate) fn mobilities(
        &mut self,
        handles: Vec<HandleId>,
        dt: f64,
    ) -> Result<Vec<(Mobility, bool)>, SimulatorError> {
        self.post(Request::Mobilities { handles, dt });
        match self.wait()? {
            Reply::Mobilities(found) => found,
            _ => unreachable!("mobilities are answered by mobilities"),
        }
    }

    /// States of handles after `n` steps of `dt / n` `[s]` without and with a load on the first `[N]`.
    pub(crate) fn answers(
        &mut self,
        handles: Vec<HandleId>,
        load: [f64; 3],
        dt: f64,
        n: u32,
    ) -> Result<[Vec<HandleState>; 2], SimulatorError> {
        self.post(Request::Answers { handles, load, dt, n });
        match self.wait()? {
            Reply::Answers(found) => found,
            _ => unreachable!("answers are answered by answers"),
        }
    }

    /// Runs a query on the simulator, in its thread, and returns the result.
    pub(crate) fn look<R: Send + 'static>(
        &mut self,
        look: impl FnOnce(&dyn Simulator) -> R + Send + 'static,
    ) -> Result<R, SimulatorError> {
        let (outbox, inbox) = bounded(1);
        self.ask(Request::Inspect(Box::new(move |simulator| {
            let _ = outbox.send(look(simulator));
        })))?;
        inbox.recv().map_err(|_| SimulatorError::failed("inspection", "no reply", "a reply"))
    }
}

impl Thread {
    fn new(name: String, mut worker: Worker, timeout: Option<Duration>) -> Result<Self, SimulatorError> {
        let (requests, inbox) = bounded::<Request>(1);
        let (outbox, replies) = bounded(1);
        let serve = move || {
            for request in inbox {
                if outbox.send(worker.serve(request)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(serve);
        let thread = thread.map_err(|error| SimulatorError::failed("thread", error, "a thread for each simulator"))?;
        Ok(Self {
            requests: Some(requests),
            replies,
            thread: Some(thread),
            timeout,
            deadline: None,
            is_late: false,
            has_timed_out: false,
        })
    }

    fn wait(&mut self) -> Result<Reply, SimulatorError> {
        const LIVES: &str = "the worker's thread lives as long as its seat";
        let (Some(timeout), Some(deadline)) = (self.timeout, self.deadline) else {
            return Ok(self.replies.recv().expect(LIVES));
        };
        let reply = if self.is_late { Err(RecvTimeoutError::Timeout) } else { self.replies.recv_deadline(deadline) };
        match reply {
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Timeout) => {
                (self.is_late, self.has_timed_out) = (true, true);
                Err(no_reply(timeout))
            }
            Err(RecvTimeoutError::Disconnected) => unreachable!("{LIVES}"),
        }
    }

    /// Discards an overdue reply if it arrives within this time.
    fn discard_late_reply(&mut self, time: Duration) {
        if self.is_late && self.replies.recv_timeout(time).is_ok() {
            self.is_late = false;
        }
    }
}

fn no_reply(timeout: Duration) -> SimulatorError {
    let expected = format!("a reply within {} s (`Scene::timeout`)", timeout.as_secs_f64());
    SimulatorError::failed("simulator", "no reply", expected)
}

impl Drop for Thread {
    fn drop(&mut self) {
        drop(self.requests.take());
        // With a timeout nothing waits for ever, not even for the simulator to be dropped.
        if let Some(thread) = self.thread.take().filter(|_| self.timeout.is_none()) {
            let _ = thread.join();
        }
    }
}
