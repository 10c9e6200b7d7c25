//! Zones: what impulses could not keep apart moves as one.
//!
//! \[BFA02\] section 7.4, after X. Provot: Collision and Self-Collision Handling in Cloth Model Dedicated to Design Garments
//! (1997). The vertices of pairs that still collide are joined; pairs that collide then join more, until none does.
//!
//! - A free zone moves as a rigid body with its momentum and angular momentum: u = u_c + ω x r, at first order in ω. That
//!   is an affine map of the zone at each moment, whose stretches are at least 1: nothing in it comes nearer.
//! - A zone with vertices that are held, or that touches obstacles, goes with them: the chord of a rigid motion, again one
//!   affine map for zone and obstacle, which is nearer by cos(θ/2) half-way through a turn θ and never closed below π. Where
//!   they stand still, so does the zone.
//! - Where those it touches move differently, the zone goes with their mean, and its vertices are told of as pinched.
//!
//! Each round joins at least two that were apart, so there are no more rounds than vertices and obstacles.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::{
    Reaction, Report, State,
    broad::Pair,
    contacts::Contacts,
    place::carried,
    torque::{inertia, join, top, turn_of},
};

type V3 = Vector3<f64>;

/// What a zone is bound to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Carrier {
    /// A frame's begin and end.
    Frame(u32, Isometry3<f64>, Isometry3<f64>),
    /// An obstacle's vertex that goes its own way.
    Vertex(u32, u32, V3),
    /// A vertex of the cloth that goes where it is told.
    Pin(u32, V3),
}

impl Carrier {
    /// Where it takes a point `[m]`.
    fn way(&self, x: &V3) -> V3 {
        match self {
            Self::Frame(_, begin, end) => carried(begin, end, x) - x,
            Self::Vertex(_, _, u) | Self::Pin(_, u) => *u,
        }
    }

    fn moves_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Frame(_, a, b), Self::Frame(_, c, d)) => b * a.inverse() == d * c.inverse() || (a, c) == (b, d),
            (Self::Frame(_, a, b), _) => a == b && other.way(&V3::zeros()) == V3::zeros(),
            (_, Self::Frame(..)) => other.moves_as(self),
            _ => self.way(&V3::zeros()) == other.way(&V3::zeros()),
        }
    }
}

#[derive(Default, PartialEq)]
struct Zone {
    free: Vec<u32>,
    carriers: Vec<Carrier>,
}

/// Joins what has been found to collide, until nothing does.
pub(crate) fn move_as_one(all: &mut Contacts, state: &mut State, report: &mut Report, dt: f64) {
    let mut joined: BTreeSet<Pair> = all.colliding().collect();
    let n = all.features.vertices();
    let before = all.work.u[..n].to_vec();
    let mut zones = zones_of(all, &joined);
    // Pairs that nothing keeps apart: told where to go, or between carriers that leave no room.
    let left = loop {
        all.note_changes(|all| {
            all.work.u[..n].copy_from_slice(&before);
            zones.iter().for_each(|zone| zone.go(&all.work.x, &all.work.w, &mut all.work.u));
        });
        if all.is_clear(state) {
            break vec![];
        }
        let colliding: Vec<Pair> = all.colliding().collect();
        joined.extend(&colliding);
        let larger = zones_of(all, &joined);
        if larger == zones {
            break colliding;
        }
        zones = larger;
    };
    for zone in &zones {
        match zone.carriers.as_slice() {
            [] => report.rigid += zone.free.len(),
            carriers => {
                report.held += zone.free.len();
                if carriers.iter().any(|carrier| !carrier.moves_as(&carriers[0])) {
                    report.pinched.extend(&zone.free);
                }
            }
        }
        zone.book(all, &before, dt);
    }
    let vertices = left.iter().flat_map(|pair| pair.vertices);
    report.pinched.extend(vertices.filter(|&v| (v as usize) < n));
    all.note_inside(state, &report.pinched);
    report.pinched.sort_unstable();
    report.pinched.dedup();
}

fn zones_of(all: &Contacts, joined: &BTreeSet<Pair>) -> Vec<Zone> {
    let n = all.features.vertices();
    let mut above: Vec<u32> = (0..n as u32).collect();
    let is_free = |v: u32| (v as usize) < n && all.work.w[v as usize] > 0.0;
    let free_of = |pair: &Pair| pair.vertices.into_iter().filter(|&v| is_free(v));
    for pair in joined {
        let Some(one) = free_of(pair).next() else { continue };
        free_of(pair).for_each(|other| join(&mut above, one, other));
    }
    let mut zones: BTreeMap<u32, Zone> = BTreeMap::new();
    let members: BTreeSet<u32> = joined.iter().flat_map(free_of).collect();
    for v in members {
        zones.entry(top(&above, v)).or_default().free.push(v);
    }
    for pair in joined {
        let Some(one) = free_of(pair).next() else { continue };
        let zone = zones.entry(top(&above, one)).or_default();
        for v in pair.vertices.into_iter().filter(|&v| !is_free(v)) {
            let u = all.work.u[v as usize];
            let carrier = match all.obstacle(pair) {
                Some(k) if v as usize >= n => match &all.work.poses[k as usize] {
                    Some([begin, end]) => Carrier::Frame(k, *begin, *end),
                    None => Carrier::Vertex(k, v - all.work.first[k as usize], u),
                },
                _ => Carrier::Pin(v, u),
            };
            if !zone.carriers.contains(&carrier) {
                zone.carriers.push(carrier);
            }
        }
    }
    zones.into_values().collect()
}

impl Zone {
    /// Sets the ways of its vertices.
    fn go(&self, x: &[V3], w: &[f64], u: &mut [V3]) {
        if self.carriers.is_empty() {
            return self.go_rigidly(x, w, u);
        }
        for &v in &self.free {
            let v = v as usize;
            let sum: V3 = self.carriers.iter().map(|carrier| carrier.way(&x[v])).sum();
            u[v] = sum / self.carriers.len() as f64;
        }
    }

    /// With the momentum and the angular momentum that its vertices have.
    fn go_rigidly(&self, x: &[V3], w: &[f64], u: &mut [V3]) {
        let members = || self.free.iter().map(|&v| (v as usize, 1.0 / w[v as usize]));
        let mass: f64 = members().map(|(_, m)| m).sum();
        let centre: V3 = members().map(|(v, m)| m / mass * x[v]).sum();
        let way: V3 = members().map(|(v, m)| m / mass * u[v]).sum();
        let (mut moment, mut angular) = (Matrix3::zeros(), V3::zeros());
        for (v, m) in members() {
            let r = x[v] - centre;
            moment += inertia(m, &r);
            angular += m * r.cross(&(u[v] - way));
        }
        let turn = turn_of(moment, &angular);
        for (v, _) in members() {
            u[v] = way + turn.cross(&(x[v] - centre));
        }
    }

    /// What the change of ways took: from the zone itself if it is free, else from its carriers in equal parts.
    fn book(&self, all: &mut Contacts, before: &[V3], dt: f64) {
        let share = 1.0 / self.carriers.len().max(1) as f64;
        let (mut whole, mut torque) = (V3::zeros(), V3::zeros());
        for &v in &self.free {
            let v = v as usize;
            let impulse = (all.work.u[v] - before[v]) / (all.work.w[v] * dt);
            all.add_impulse(v, &impulse);
            whole += impulse;
            torque += all.work.x[v].cross(&impulse);
        }
        for carrier in &self.carriers {
            let linear = -share * whole;
            match *carrier {
                Carrier::Frame(obstacle, begin, _) => {
                    all.work.reactions.push(Reaction::on_frame(obstacle, &begin, &(share * whole), &(share * torque)));
                }
                Carrier::Vertex(obstacle, carrier, _) => {
                    all.work.reactions.push(Reaction { obstacle, carrier, linear, angular: V3::zeros() });
                }
                Carrier::Pin(v, _) => all.add_impulse(v as usize, &linear),
            }
        }
    }
}
