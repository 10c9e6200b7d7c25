//! Where a simulator works: in line, or on a thread of its own. Both answer the same requests
//! through the same function, so that they give the same bits.
//!
//! A simulator on a thread that does not answer within the scene's patience is late. What is asked
//! of it then fails, until its answer comes or it is replaced. Its thread is left to itself.

use std::{sync::Arc, thread::JoinHandle, time::Duration};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use partita_simulator::{Guide, HandleId, HandleState, Mobility, Simulator, SimulatorError};

use crate::worker::{Post, Reply, Request, Worker};

/// Where simulators work.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    InLine,
    /// Each on a thread, with the longest time to wait for an answer.
    Threads(Option<Duration>),
}

/// A place of a simulator. [`Seat::post`] a request, then [`Seat::wait`] for its reply;
/// what is posted to several threads at once runs at once.
pub(crate) struct Seat {
    mode: Mode,
    post: Arc<Post>,
    place: Place,
}

enum Place {
    Here { worker: Box<Worker>, reply: Option<Reply> },
    Thread(Thread),
}

struct Thread {
    requests: Option<Sender<Request>>,
    replies: Receiver<Reply>,
    thread: Option<JoinHandle<()>>,
    /// Whether an answer is overdue.
    is_late: bool,
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
        Self::at(mode, simulator, Post::new(guides, watched))
    }

    fn at(mode: Mode, simulator: Box<dyn Simulator>, post: Post) -> Result<Self, SimulatorError> {
        let (name, post) = (simulator.name().replace('\0', " "), Arc::new(post));
        let worker = Worker::new(simulator, post.clone());
        let place = match mode {
            Mode::InLine => Place::Here { worker: Box::new(worker), reply: None },
            Mode::Threads(_) => Place::Thread(Thread::new(name, worker)?),
        };
        Ok(Self { mode, post, place })
    }

    /// A seat like this one for another simulator, which goes to the snapshot of this number.
    ///
    /// # Errors
    /// The simulator refuses the guides or the snapshot, or the system gives no thread.
    pub(crate) fn taken_by(&self, simulator: Box<dyn Simulator>, number: u64) -> Result<Self, SimulatorError> {
        let mut seat = Self::at(self.mode, simulator, self.post.copy())?;
        seat.ask(Request::Enter(number))?;
        Ok(seat)
    }

    /// Whether the simulator works on a thread of its own.
    pub(crate) fn is_on_thread(&self) -> bool {
        matches!(self.place, Place::Thread(_))
    }

    /// Longest time to wait for an answer.
    fn patience(&self) -> Option<Duration> {
        match self.mode {
            Mode::InLine => None,
            Mode::Threads(patience) => patience,
        }
    }

    pub(crate) fn post(&mut self, request: Request) {
        match &mut self.place {
            Place::Here { worker, reply } => *reply = Some(worker.serve(request)),
            Place::Thread(thread) => {
                thread.look_for_late_reply(Duration::ZERO);
                if !thread.is_late {
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
    /// The simulator does not answer.
    pub(crate) fn wait(&mut self) -> Result<Reply, SimulatorError> {
        let patience = self.patience();
        match &mut self.place {
            Place::Here { reply, .. } => Ok(reply.take().expect("every wait follows a post")),
            Place::Thread(thread) => thread.wait(patience),
        }
    }

    /// Gives a simulator that is late the time to answer once more.
    pub(crate) fn wait_for_late_reply(&mut self) {
        let patience = self.patience().unwrap_or_default();
        if let Place::Thread(thread) = &mut self.place {
            thread.look_for_late_reply(patience);
        }
    }

    /// Posts and waits.
    pub(crate) fn ask(&mut self, request: Request) -> Result<(), SimulatorError> {
        self.post(request);
        self.wait()?.done()
    }

    /// Bytes of the snapshot of this number, also where the simulator does not answer.
    pub(crate) fn bytes(&self, number: u64) -> Result<Vec<u8>, SimulatorError> {
        self.post.bytes(number)
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

    /// Looks at the simulator where it lives and brings back what was seen.
    pub(crate) fn look<R: Send + 'static>(
        &mut self,
        look: impl FnOnce(&dyn Simulator) -> R + Send + 'static,
    ) -> Result<R, SimulatorError> {
        let (outbox, inbox) = bounded(1);
        self.ask(Request::Inspect(Box::new(move |simulator| {
            let _ = outbox.send(look(simulator));
        })))?;
        inbox.recv().map_err(|_| SimulatorError::failed("inspection", "no answer", "an answer"))
    }
}

impl Thread {
    fn new(name: String, mut worker: Worker) -> Result<Self, SimulatorError> {
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
        Ok(Self { requests: Some(requests), replies, thread: Some(thread), is_late: false })
    }

    fn wait(&mut self, patience: Option<Duration>) -> Result<Reply, SimulatorError> {
        const LIVES: &str = "the worker's thread lives as long as its seat";
        let Some(patience) = patience else { return Ok(self.replies.recv().expect(LIVES)) };
        let reply = if self.is_late { Err(RecvTimeoutError::Timeout) } else { self.replies.recv_timeout(patience) };
        match reply {
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Timeout) => {
                self.is_late = true;
                let expected = format!("an answer within {} s (`Scene::patience`)", patience.as_secs_f64());
                Err(SimulatorError::failed("simulator", "no answer", expected))
            }
            Err(RecvTimeoutError::Disconnected) => unreachable!("{LIVES}"),
        }
    }

    /// Takes in an overdue answer, which is of no use any more, if it comes within this time.
    fn look_for_late_reply(&mut self, patience: Duration) {
        if self.is_late && self.replies.recv_timeout(patience).is_ok() {
            self.is_late = false;
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        drop(self.requests.take());
        // Nobody knows when a thread that is late will end.
        if let Some(thread) = self.thread.take().filter(|_| !self.is_late) {
            let _ = thread.join();
        }
    }
}
