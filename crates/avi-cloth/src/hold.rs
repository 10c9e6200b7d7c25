//! Who is held and loaded in a step, and the books of that.
//!
//! Gravity's torque on free vertices over an interval of T is (∫ Σ m x dt) × g. Impulses between vertices do not change Σ m x, so that
//!
//!   ∫ Σ m x dt = Σ m (T x₀ + ½ T² v₀ + T³ a/6) + Σ_k ½ (T - t_k)² J_k
//!
//! of what is free, with impulses J_k from outside of it, of who is held and of obstacles, at t_k: nothing to add up in events.

use nalgebra::Vector3;
use partita_cloth::Support;
use partita_simulator::{HandleState, Inputs, Reaction, SimulatorError, Wrench};

use crate::{AviCloth, flight::Way, state::Node, step::Interval};

type V3 = Vector3<f64>;

impl AviCloth {
    /// Who is held, and what acts on the rest. Whoever something new acts on comes to the begin of the step first.
    pub(crate) fn hold(&mut self, begin: f64, dt: f64, inputs: &Inputs) -> Result<(), SimulatorError> {
        let Self { work, sheet, holds, guides, parameters, .. } = self;
        let gravity = V3::from(parameters.gravity);
        let nodes = &mut work.next.nodes;
        work.begin.clear();
        work.begin.extend(nodes.iter().map(|node| node.at(begin, gravity).0));
        holds.ask(begin + dt, guides, &inputs.motions, &work.begin, &mut work.held)?;

        work.loads.clear();
        work.loads.resize(nodes.len(), V3::zeros());
        work.accelerations.clear();
        if !inputs.loads.is_empty() {
            work.accelerations.resize(nodes.len(), gravity);
        }
        for (handle, load) in &inputs.loads {
            let (k, force) = (handle.index as usize, V3::from(load.linear));
            nodes[k].fly(begin, gravity);
            work.loads[k] += force;
            work.accelerations[k] += force / sheet.masses[k];
        }
        for (node, m) in nodes.iter_mut().zip(&sheet.masses) {
            node.w = 1.0 / m;
        }
        for (handle, impulse) in &inputs.impulses {
            let (k, impulse) = (handle.index as usize, V3::from(impulse.linear));
            nodes[k].fly(begin, *work.accelerations.get(k).unwrap_or(&gravity));
            match holds.support(handle.index, guides, &inputs.motions) {
                Support::None => nodes[k].v += impulse / sheet.masses[k],
                support => support.take(impulse, work.begin[k], &mut work.reactions, &mut work.next.external),
            }
        }
        work.ways.clear();
        for held in &work.held {
            let node = &mut nodes[held.vertex];
            node.fly(begin, gravity);
            node.w = 0.0;
            let to = HandleState::point(held.position, held.velocity);
            // What stays where it is does not set out with the velocity that it had when it was taken hold of.
            let stays = node.x == held.position && held.velocity == V3::zeros();
            let from = HandleState::point(node.x, if stays { V3::zeros() } else { node.v });
            work.ways.push(Way::new(held.vertex, [from, to], node.v, held.guide));
        }
        work.ways.sort_by_key(|way| way.vertex);
        work.inverse_masses.clear();
        work.inverse_masses.extend(nodes.iter().map(|node| node.w));
        Ok(())
    }

    /// ∫ Σ m x dt of the free vertices over an interval, if nobody outside gave them an impulse `[kg m s]`.
    pub(crate) fn free_moment(&self, interval: Interval) -> V3 {
        let gravity = V3::from(self.parameters.gravity);
        let (begin, t) = (interval.begin, interval.duration());
        let nodes = self.work.next.nodes.iter().zip(&self.sheet.masses).enumerate();
        let of = |(k, (node, m)): (usize, (&Node, &f64))| {
            let a = *self.work.accelerations.get(k).unwrap_or(&gravity);
            let (x, v) = node.at(begin, a);
            *m * (t * x + 0.5 * t * t * v + t * t * t / 6.0 * a)
        };
        nodes.filter(|(_, (node, _))| node.w > 0.0).map(of).sum()
    }

    /// Whoever was held or loaded comes to the end of the step, and what that took is booked: for what is held, its change of momentum less
    /// what gravity, loads, elements and contacts gave.
    pub(crate) fn book(&mut self, dt: f64, inputs: &Inputs) {
        let Self { work, sheet, parameters, state, .. } = self;
        let end = state.time + dt;
        let gravity = V3::from(parameters.gravity);
        let nodes = &mut work.next.nodes;
        for (handle, _) in &inputs.loads {
            let k = handle.index as usize;
            nodes[k].fly(end, work.accelerations[k]);
        }
        let mut linear = dt * sheet.masses.iter().sum::<f64>() * gravity;
        let mut angular = V3::zeros();
        for way in &work.ways {
            let node = &mut nodes[way.vertex];
            let ([from, to], m) = (&way.states, sheet.masses[way.vertex]);
            (node.x, node.v, node.time) = (to.position.into(), to.velocity.into(), end);
            let (x0, v0) = (V3::from(from.position), way.before);
            let load = dt * work.loads[way.vertex];
            // Of Hermite's cubic the mean, ∫ x dt/T = (x₀ + x₁)/2 + T (v₀ - v₁)/12.
            let middle = 0.5 * (x0 + node.x) + dt / 12.0 * (V3::from(from.velocity) - node.v);
            let weight = dt * m * gravity;
            let impulse = m * (node.v - v0) - way.taken - load - weight;
            match way.guide {
                None => {
                    linear += impulse;
                    angular += m * (node.x.cross(&node.v) - x0.cross(&v0)) - way.turned - middle.cross(&load);
                }
                Some(guide) => {
                    angular += middle.cross(&weight);
                    work.reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(-impulse) });
                }
            }
        }
        work.next.external += Wrench { linear: linear.into(), angular: angular.into() };
    }
}
