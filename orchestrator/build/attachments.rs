//! Which handle of a follower goes where a leader's handle goes.

use std::collections::BTreeSet;

use nalgebra::{UnitQuaternion, Vector3};
use partita_simulator::{Guide, HandleId, Kind};

use super::{Builder, Found};
use crate::{
    plan::{Carriers, GuidePlan, orientation_of},
    scene::Attach,
};

/// Attached Points may start this far apart `[m]`; further, and the follower would jump.
const TOUCHING: f64 = 1e-6;

impl Builder {
    pub(super) fn plan_attachments(&mut self) {
        let mut attached = BTreeSet::new();
        for (number, Attach { own, to }) in std::mem::take(&mut self.scene.attachments).into_iter().enumerate() {
            let names =
                [&own, &to].map(|side| side.first().map_or("no handle".into(), |&first| self.handle_name(first)));
            let coupling = format!("attachment {number} of {} to {}", names[0], names[1]);
            if own.is_empty() {
                self.bad_coupling(&coupling, "no handle", "at least one");
            }
            if to.len() != 1 && to.len() != own.len() {
                self.bad_coupling(
                    &coupling,
                    format!("{} handles to {}", own.len(), to.len()),
                    "one to attach to, or one for each",
                );
                continue;
            }
            for (i, &handle) in own.iter().enumerate() {
                let carrier = if to.len() == 1 { to[0] } else { to[i] };
                if !attached.insert(handle) {
                    self.bad_coupling(&coupling, format!("handle {i} is attached twice"), "once");
                    continue;
                }
                let (own, carrier) = (self.find(&coupling, handle), self.find(&coupling, carrier));
                if let (Some(own), Some(carrier)) = (own, carrier) {
                    self.plan_attachment(&coupling, handle, own, carrier);
                }
            }
        }
    }

    fn plan_attachment(&mut self, coupling: &str, handle: HandleId, own: Found, carrier: Found) {
        let (follower, leader) = (own.member, carrier.member);
        if follower == leader {
            return self.bad_coupling(coupling, "both handles of one simulator", "handles of two");
        }
        let follows = self.scene.simulators[follower].follows();
        let (what, can) = follows.attachment(own.kind);
        if !can {
            return self.cannot_follow(coupling, follower, what);
        }
        let distance = (Vector3::from(own.state.position) - Vector3::from(carrier.state.position)).norm();
        if carrier.kind == Kind::Point && own.kind == Kind::Frame {
            return self.bad_coupling(
                coupling,
                "a Frame attached to a Point",
                "a Point to a Point, or either to a Frame",
            );
        }
        if carrier.kind == Kind::Point && distance > TOUCHING {
            return self.bad_coupling(coupling, format!("Points {distance} m apart"), format!("within {TOUCHING} m"));
        }
        let leader_handle = self.members[leader].watched[carrier.watched];
        let interface = self.interface(follower, leader);
        let slot = self.slot(interface, leader_handle, carrier.watched);
        let carriers = match carrier.kind {
            Kind::Point => Carriers::Handles { watched: vec![carrier.watched], slots: vec![slot] },
            Kind::Frame => {
                let back = orientation_of(&carrier.state).inverse();
                let arm = Vector3::from(own.state.position) - Vector3::from(carrier.state.position);
                let turn = if own.kind == Kind::Frame {
                    back * orientation_of(&own.state)
                } else {
                    UnitQuaternion::identity()
                };
                Carriers::Fixed {
                    watched: carrier.watched,
                    slot,
                    kind: own.kind,
                    position: back * arm,
                    orientation: turn,
                }
            }
        };
        self.members[follower].guides.push(GuidePlan { interface, leader, carriers, own: Some(own.watched) });
        self.guides[follower].push(Guide::Attachment { own: handle });
    }
}
