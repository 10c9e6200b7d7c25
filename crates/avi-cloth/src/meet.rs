//! Asynchronous collisions in three stages (\[TPS08\] section 4).
//!
//! | stage                                                                       | here                            |
//! |-----------------------------------------------------------------------------|---------------------------------|
//! | pairs that may meet within the interval, and which of these would, going on | [`Meetings::find`]              |
//! | with each event, impulses that keep its pairs apart until the next          | [`Meetings::settle`]            |
//! | what was missed, from where all was to where all would be                   | [`Contacts::resolve_deflected`] |
//!
//! The last stage stops impacts only. Were it to repel what is nearer than the thickness, as steps do, it would
//! move vertices without their elements: cloth that slid over a bar gained 10 % of m g L as stretch.
//!
//! Different from the paper, whose lists hold pairs of triangles: pairs are of a vertex and a triangle or of two edges, each in the lists
//! of one triangle on either side, so that nothing is looked at nine or six times. And stopping impulses are found going on from an event,
//! in place of going back to before it.

use std::{collections::BTreeMap, time::Instant};

use nalgebra::Vector3;
use partita_cloth::Obstacles;
use partita_contact::{Contacts, Kind, Pair, Pressing};
use partita_mesh::Mesh;
use partita_simulator::{Carrier, Guide, Motion, Reaction, Wrench};

use crate::{elements::Elements, flight::Flights, lists::Lists, queue::Event, state::State, step::Interval};

type V3 = Vector3<f64>;

/// Which triangle looks after what.
#[derive(Default)]
pub(crate) struct Owners {
    vertices: Vec<u32>,
    edges: BTreeMap<[u32; 2], u32>,
    triangles: BTreeMap<[u32; 3], u32>,
}

impl Owners {
    pub fn new(mesh: &Mesh) -> Self {
        let mut owners = Self { vertices: vec![0; mesh.vertices().len()], ..Self::default() };
        for (number, triangle) in (0..).zip(mesh.triangles()) {
            triangle.iter().for_each(|&v| owners.vertices[v as usize] = number);
            owners.triangles.insert(sorted(*triangle), number);
        }
        owners.edges.extend(mesh.edges().iter().map(|edge| (sorted(edge.vertices), edge.left)));
        owners
    }

    /// Of the cloth's features in a pair; none of an obstacle's.
    fn of(&self, pair: &Pair) -> [Option<u32>; 2] {
        let [a, b, c, d] = pair.vertices;
        match pair.kind {
            Kind::PointTriangle => {
                [self.vertices.get(a as usize).copied(), self.triangles.get(&sorted([b, c, d])).copied()]
            }
            Kind::EdgeEdge => [[a, b], [c, d]].map(|edge| self.edges.get(&sorted(edge)).copied()),
        }
    }
}

fn sorted<const N: usize>(mut vertices: [u32; N]) -> [u32; N] {
    vertices.sort_unstable();
    vertices
}

/// The pairs of an interval, and who looks after them.
#[derive(Default)]
pub(crate) struct Meetings {
    pairs: Vec<Pair>,
    handled: Vec<bool>,
    /// Whether each due pair would stay apart, going on.
    stay_apart: Vec<bool>,
    /// Obstacles with a pair that would not.
    met: Vec<u32>,
    /// Numbers of those that each triangle looks after, and with that triangle's number.
    listed: Lists<u32>,
    entries: Vec<(u32, u32)>,
    /// Vertices that obstacles press between them, and the time up to which each has its friction `[s]`.
    pressed: Vec<(Pressing, f64)>,
    /// Their numbers by all triangles around them.
    pressed_by: Lists<u32>,
    /// Vertices that are not of obstacles.
    cloth: u32,
    /// Its begin and duration `[s]`.
    begin: f64,
    duration: f64,
    /// Visits of its events, see [`Contacts::budget_of_events`] [-].
    pub budget_used: f64,
}

impl Meetings {
    /// None.
    pub fn clear(&mut self) {
        self.listed.clear();
        self.handled.clear();
        self.pressed_by.clear();
        self.budget_used = 0.0;
    }

    /// Takes over what [`Contacts::find_pairs`] found for an interval, but for what is culled. Where events would take more visits
    /// than the interval may, more is culled, or all: the last stage has every pair. How many there were, and were left to that.
    pub fn find(
        &mut self,
        contacts: &Contacts,
        owners: &Owners,
        state: &State,
        interval: Interval,
        culling: bool,
    ) -> [usize; 2] {
        (self.begin, self.duration) = (interval.begin, interval.duration());
        self.cloth = owners.vertices.len() as u32;
        let due = contacts.due_pairs();
        self.stay_apart.clear();
        self.stay_apart.extend(due.iter().map(|pair| culling && contacts.stays_apart(pair)));
        let near = due.iter().zip(&self.stay_apart).filter(|(_, stays_apart)| !**stays_apart);
        let mut met = std::mem::take(&mut self.met);
        met.clear();
        met.extend(near.filter_map(|(pair, _)| contacts.obstacle(pair)));
        met.sort_unstable();
        met.dedup();
        let mut choose = |keep: &dyn Fn(&Pair, bool) -> bool| {
            self.choose(due, owners, keep);
            // Each event of an element visits all its pairs.
            let events = |&(owner, _): &(u32, u32)| (self.duration / state.clocks[owner as usize].usual).ceil();
            self.budget_used = contacts.budget_of_events(self.entries.iter().map(events).sum());
            self.budget_used <= interval.share
        };
        // Elements draw vertices to an obstacle within the interval, which going on would stay apart
        // from it. To stop these at the end strains them: free cloth gained 6 % of a cylinder's energy.
        let is_met = |pair: &Pair| contacts.obstacle(pair).is_some_and(|obstacle| met.binary_search(&obstacle).is_ok());
        let _ = choose(&|pair, stays_apart| !stays_apart || contacts.obstacle(pair).is_some())
            || choose(&|pair, stays_apart| !stays_apart || is_met(pair))
            || choose(&|_, stays_apart| !stays_apart)
            || choose(&|_, _| false);
        self.met = met;
        self.handled.clear();
        self.handled.resize(self.pairs.len(), false);
        self.listed.fill(owners.triangles.len(), &self.entries);
        [due.len(), due.len() - self.pairs.len()]
    }

    /// Takes over pairs that are to be kept, by whether they would stay apart, and who looks after them.
    fn choose(&mut self, due: &[Pair], owners: &Owners, keep: impl Fn(&Pair, bool) -> bool) {
        self.pairs.clear();
        let kept = due.iter().zip(&self.stay_apart).filter(|(pair, stays_apart)| keep(pair, **stays_apart));
        self.pairs.extend(kept.map(|(pair, _)| *pair));
        self.entries.clear();
        for (number, pair) in (0..).zip(&self.pairs) {
            let [one, two] = owners.of(pair);
            self.entries.extend(one.map(|owner| (owner, number)));
            self.entries.extend(two.filter(|_| one != two).map(|owner| (owner, number)));
        }
    }

    /// Takes over vertices that obstacles press between them in the interval of [`Meetings::find`].
    pub fn press(&mut self, contacts: &Contacts, elements: &Elements, state: &State) {
        self.pressed.clear();
        self.pressed.extend(contacts.pressings(&state.contact, self.duration).map(|pressing| (pressing, self.begin)));
        self.entries.clear();
        for (number, (pressing, _)) in (0..).zip(&self.pressed) {
            self.entries.extend(elements.around(pressing.vertex).iter().map(|corner| (corner.patch, number)));
        }
        self.pressed_by.fill(elements.patches.len(), &self.entries);
    }

    /// Whether an element has pairs to look after.
    #[inline(always)]
    pub fn concern(&self, element: u32) -> bool {
        !self.listed.of(element).is_empty() || !self.pressed_by.of(element).is_empty()
    }

    /// How many pairs got impulses.
    pub fn handled(&self) -> usize {
        self.handled.iter().filter(|handled| **handled).count()
    }

    /// Keeps the pairs of an element apart for a span from an event on `[s]`, others brought to its time first. What obstacles get is
    /// added to `given`, with the numbers of their vertices, where these are then, and the time. `places`: where vertices are in `flights`,
    /// if not in the order of their numbers.
    fn settle(
        &mut self,
        event: Event,
        span: f64,
        contacts: &Contacts,
        flights: &mut Flights<'_>,
        places: &[u32],
        given: &mut Vec<Given>,
    ) {
        let Event { time, element, .. } = event;
        let cloth = self.cloth as usize;
        let place = |k: usize| places.get(k).map_or(k, |&place| place as usize);
        let (at, way) = contacts.vertices();
        let (fallen, speed) = flights.frame.fallen(time);
        let per_second = self.duration.recip();
        let done = per_second * (time - self.begin);
        for &number in self.listed.of(element) {
            let pair = &self.pairs[number as usize];
            let mut states = [(V3::zeros(), V3::zeros(), 0.0); 4];
            for (state, k) in states.iter_mut().zip(pair.vertices.map(|v| v as usize)) {
                *state = if k < cloth {
                    flights.reach(place(k), time);
                    let node = &flights.nodes[place(k)];
                    (node.x, node.v, node.w)
                } else {
                    (at[k] + done * way[k] - fallen, per_second * way[k] - speed, 0.0)
                };
            }
            let [x, v] = [states.map(|(x, ..)| x), states.map(|(_, v, _)| v)];
            let Some(impulses) = contacts.push_apart(pair, &x, &v, &states.map(|(.., w)| w), span) else { continue };
            self.handled[number as usize] = true;
            let mut turn = -x.iter().zip(&impulses).map(|(x, impulse)| x.cross(impulse)).sum::<V3>();
            let ends = pair.vertices.into_iter().zip(x).zip(impulses);
            for ((k, at), impulse) in ends.filter(|(_, impulse)| *impulse != V3::zeros()) {
                if (k as usize) < cloth {
                    flights.push(place(k as usize), impulse);
                } else {
                    let Some([obstacle, vertex]) = contacts.owner_of(k) else { continue };
                    let turn = std::mem::take(&mut turn);
                    given.push(Given { obstacle, vertex, time, at: at + fallen, impulse, turn });
                    flights.leave(time, impulse);
                }
            }
        }
    }

    /// Friction on the pressed vertices of an element up to an event, after the element has pulled at them. Each event around a
    /// vertex brings the friction of the time since the one before.
    fn rub(&mut self, event: Event, flights: &mut Flights<'_>, places: &[u32], given: &mut Vec<Given>) {
        let Event { time, element, .. } = event;
        let (fallen, speed) = flights.frame.fallen(time);
        for &number in self.pressed_by.of(element) {
            let (pressing, last) = &mut self.pressed[number as usize];
            let k = places.get(pressing.vertex as usize).map_or(pressing.vertex as usize, |&place| place as usize);
            let dt = time - *last;
            flights.reach(k, time);
            let node = &flights.nodes[k];
            if dt <= 0.0 || node.w == 0.0 {
                continue;
            }
            *last = time;
            let (at, impulses) = (node.x + fallen, pressing.friction(&(node.v + speed), node.w, dt));
            for (side, impulse) in pressing.sides.iter().zip(impulses) {
                flights.push(k, impulse);
                let impulse = -impulse;
                given.push(Given { obstacle: side.obstacle, vertex: 0, time, at, impulse, turn: V3::zeros() });
                flights.leave(time, impulse);
            }
        }
    }
}

/// Who meets in an interval, and what comes of it.
pub(crate) struct Encounters<'a> {
    /// None where nothing can be met.
    pub contacts: Option<&'a Contacts>,
    pub meetings: &'a mut Meetings,
    pub given: &'a mut Vec<Given>,
    /// How many events had pairs to look after, one of [`CLOCKED`] of which is clocked, and seconds that these took.
    pub events: u64,
    pub clocked: f64,
}

/// Of so many events with pairs one is clocked: clocks cost as much as a pair does.
const CLOCKED: u64 = 16;

impl Encounters<'_> {
    /// Whether an element has pairs to look after.
    #[inline(always)]
    pub fn concern(&self, element: u32) -> bool {
        self.contacts.is_some() && self.meetings.concern(element)
    }

    /// Vertices of the cloth in an element's pairs.
    pub fn vertices(&self, element: u32) -> impl Iterator<Item = u32> {
        let Meetings { pairs, listed, pressed, pressed_by, cloth, .. } = &*self.meetings;
        let list = if self.contacts.is_some() { listed.of(element) } else { &[] };
        let of_pairs = list.iter().flat_map(|&pair| pairs[pair as usize].vertices).filter(|v| v < cloth);
        let pressed_by = if self.contacts.is_some() { pressed_by.of(element) } else { &[] };
        of_pairs.chain(pressed_by.iter().map(|&number| pressed[number as usize].0.vertex))
    }

    /// That all of them took, by those that were clocked.
    pub fn seconds(&self) -> f64 {
        self.clocked * self.events as f64 / self.events.div_ceil(CLOCKED).max(1) as f64
    }

    /// Keeps the pairs of an event's element apart for a span `[s]`.
    #[inline(always)]
    pub fn keep_apart(&mut self, event: Event, span: f64, flights: &mut Flights<'_>, places: &[u32]) {
        if let Some(contacts) = self.contacts
            && self.meetings.concern(event.element)
        {
            let start = self.events.is_multiple_of(CLOCKED).then(Instant::now);
            self.meetings.rub(event, flights, places, self.given);
            self.meetings.settle(event, span, contacts, flights, places, self.given);
            self.events += 1;
            self.clocked += start.map_or(0.0, |start| start.elapsed().as_secs_f64());
        }
    }
}

/// What a vertex of an obstacle got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    obstacle: u32,
    vertex: u32,
    /// `[s]`
    time: f64,
    /// Where the vertex was then `[m]`.
    at: V3,
    /// `[N s]`
    impulse: V3,
    /// What cloth a thickness away turns less or more by than impulses at the obstacle's vertices do; of one of them, for all `[N m s]`.
    turn: V3,
}

impl Given {
    /// As a reaction: of a frame about where it was at that moment of the interval `[s]`.
    pub fn reaction(
        &self,
        guides: &[Guide],
        obstacles: &Obstacles,
        motions: &[Option<Motion>],
        interval: Interval,
    ) -> Option<Reaction> {
        let number = obstacles.guide(self.obstacle);
        let (Guide::Obstacle { surface, .. }, Some(Some(motion))) = (&guides[number], motions.get(number)) else {
            return None;
        };
        let (carrier, turned) = match surface.carrier {
            // A point does not turn.
            Carrier::Points(_) => (self.vertex, V3::zeros()),
            Carrier::Frame(_) => {
                let [from, to] = [&motion.begin, &motion.end].map(|states| V3::from(states[0].position));
                let arm = self.at - from.lerp(&to, (self.time - interval.begin) / interval.duration());
                (0, arm.cross(&self.impulse) + self.turn)
            }
        };
        let impulse = Wrench { linear: self.impulse.into(), angular: turned.into() };
        Some(Reaction { guide: number as u32, carrier, impulse })
    }
}
