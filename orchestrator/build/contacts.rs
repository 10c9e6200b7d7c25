//! Which surfaces of a leader a follower must not cross.

use std::{collections::BTreeSet, sync::Arc};

use partita_simulator::{Guide, HandleId, Surface, check_pair};

use super::Builder;
use crate::{
    Mistake,
    plan::{Carriers, GuidePlan},
    scene::Contact,
};

impl Builder {
    pub(super) fn plan_contacts(&mut self) {
        let mut seen = BTreeSet::new();
        for contact in std::mem::take(&mut self.scene.contacts) {
            let coupling = format!("contact of `{}` with `{}`", contact.follower, contact.leader);
            let (friction, restitution) = (contact.friction.unwrap_or(0.0), contact.restitution.unwrap_or(0.0));
            let pair = check_pair(&coupling, friction, restitution, contact.thickness.unwrap_or(0.0));
            let (follower, leader) = (self.named(&coupling, &contact.follower), self.named(&coupling, &contact.leader));
            if let Err(error) = pair {
                self.mistakes.push(Mistake::Handle { coupling, error });
                continue;
            }
            let (Some(follower), Some(leader)) = (follower, leader) else { continue };
            if follower == leader {
                self.bad_coupling(&coupling, "one simulator", "two");
                continue;
            }
            let surfaces: Vec<_> = self.scene.simulators[leader].surfaces().to_vec();
            if surfaces.is_empty() {
                self.bad_coupling(&coupling, format!("no surface of `{}`", contact.leader), "at least one");
            }
            if let Some(only) = &contact.only {
                let unknown: Vec<_> = only
                    .iter()
                    .filter(|name| !surfaces.iter().any(|surface| surface.name == **name))
                    .cloned()
                    .collect();
                for name in unknown {
                    self.bad_coupling(
                        &coupling,
                        format!("no surface `{name}` of `{}`", contact.leader),
                        "the name of a surface",
                    );
                }
            }
            for surface in surfaces {
                if contact.only.as_ref().is_some_and(|only| !only.contains(&surface.name)) {
                    continue;
                }
                if !seen.insert((follower, leader, surface.name.clone())) {
                    self.bad_coupling(&coupling, format!("surface `{}` twice", surface.name), "each surface once");
                    continue;
                }
                self.plan_contact(&coupling, &contact, follower, leader, surface);
            }
        }
    }

    fn plan_contact(
        &mut self,
        coupling: &str,
        contact: &Contact,
        follower: usize,
        leader: usize,
        surface: Arc<Surface>,
    ) {
        let friction = contact.friction.unwrap_or(surface.friction);
        let restitution = contact.restitution.unwrap_or(surface.restitution);
        let thickness = contact.thickness.unwrap_or(surface.thickness);
        let follows = self.scene.simulators[follower].follows();
        let (what, can) = follows.obstacle(&surface);
        if !can {
            let other_way = self.scene.simulators[leader].follows();
            let surfaces = self.scene.simulators[follower].surfaces();
            let can_other_way = !surfaces.is_empty() && surfaces.iter().all(|surface| other_way.obstacle(surface).1);
            let remedy =
                format!("; it can the other way round: contact(\"{}\", \"{}\")", contact.leader, contact.follower);
            return self.cannot_follow(
                coupling,
                follower,
                &format!("{what}{}", if can_other_way { &remedy } else { "" }),
            );
        }
        let mut carriers: Vec<(usize, usize)> = Vec::new();
        let interface = self.interface(follower, leader);
        for &handle in surface.carrier.handles() {
            let Some(found) = self.find(coupling, handle) else { return };
            carriers.push((found.watched, self.slot(interface, handle, found.watched)));
        }
        let except = match contact.attached {
            true => vec![],
            false => self.attached_to(follower, interface, carriers.iter().map(|&(_, slot)| slot).collect()),
        };
        let (watched, slots) = carriers.into_iter().unzip();
        self.members[follower].guides.push(GuidePlan {
            interface,
            leader,
            carriers: Carriers::Handles { watched, slots },
            own: None,
        });
        self.guides[follower].push(Guide::Obstacle { surface, friction, restitution, thickness, except });
    }

    /// The follower's handles that are attached to what carries a surface.
    fn attached_to(&self, follower: usize, interface: usize, carriers: BTreeSet<usize>) -> Vec<HandleId> {
        let plans = self.members[follower].guides.iter().zip(&self.guides[follower]);
        plans
            .filter_map(|(plan, guide)| {
                let Guide::Attachment { own } = guide else { return None };
                let slot = match &plan.carriers {
                    Carriers::Fixed { slot, .. } => *slot,
                    Carriers::Handles { slots, .. } => slots[0],
                };
                (plan.interface == interface && carriers.contains(&slot)).then_some(*own)
            })
            .collect()
    }
}
