//! Contacts of obstacles with kinematic vertices that are inside them, for `stops.rs`.
//!
//! Features of cloth that is led out of a solid pass through that solid's (`inside.rs`,
//! `regions.rs`). A kinematic vertex cannot be led. There the solid goes back: each such vertex has
//! a contact with the surface along the direction in which it would be led.

use nalgebra::Vector3;

use crate::{
    Ahead, Carriers, Contacts, State, anchored::Anchored, bodies::Bodies, broad::Pair, distance::Kind, inside::local,
    regions::LED,
};

type V3 = Vector3<f64>;

impl Contacts {
    /// Contacts at kinematic vertices inside obstacles that are `near`, one each.
    pub(crate) fn entered(&self, state: &State, ahead: &Ahead<'_>, bodies: &Bodies, near: &[bool]) -> Vec<Anchored> {
        let mut found = vec![];
        let mut add = |pair: Pair, weights: [f64; 4], obstacle: u32, n: V3, depth: f64| {
            let vertex = pair.vertices[0];
            let is_held = ahead.inverse_masses[vertex as usize] == 0.0 && near[obstacle as usize];
            let is_known = |known: &Anchored| (known.obstacle, known.pair.vertices[0]) == (obstacle, vertex);
            let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] else { return };
            if !is_held || found.iter().any(is_known) {
                return;
            }
            let meeting = self.meeting(Some(obstacle));
            let arm = ahead.positions[vertex as usize] - frame.pose.translation.vector;
            let mut contact =
                Anchored { weights, arm, friction: meeting.friction, ..Anchored::unloaded(pair, obstacle, n, -1.0) };
            let Some(motion) = self.motion_at(&mut contact, ahead, bodies) else { return };
            self.ask(&mut contact, &motion, -depth - meeting.thickness, 0.0, &meeting, (ahead.dt, false));
            found.push(contact);
        };
        for region in &state.regions {
            let (obstacle, core) = &self.obstacles[region.obstacle as usize];
            let Some([begin, _]) = &self.work.poses[region.obstacle as usize] else { continue };
            // Regions have vertices beside what they cross as well.
            let is_inside = |v: u32| core.depth(&obstacle.shape, &local(begin, &ahead.positions[v as usize])) > 0.0;
            let inside =
                self.planes_of(region).into_iter().flatten().filter(|(led, ..)| is_inside(led.pair.vertices[0]));
            for (led, depth, _) in inside {
                add(led.pair, LED, region.obstacle, led.n, depth);
            }
        }
        for &[vertex, number] in &state.inside {
            let (obstacle, core) = &self.obstacles[number as usize];
            let Some([begin, _]) = &self.work.poses[number as usize] else { continue };
            let x = local(begin, &ahead.positions[vertex as usize]);
            let Some([out, way]) = core.way_out(&obstacle.shape, &x) else { continue };
            let pair = Pair { kind: Kind::PointTriangle, vertices: [vertex; 4] };
            add(pair, [1.0, 0.0, 0.0, 0.0], number, begin * way, (out - x).norm());
        }
        found
    }
}
