//! Pairs of cloth with solids of revolution: nearest points and impacts, as [`mod@crate::distance`] and [`crate::ccd`] have
//! them for flat features.

use crate::{
    Contacts,
    broad::Pair,
    ccd::{ADVANCES, Impact, LEFT, impact_from},
    contacts::Meeting,
    distance::{Kind, Nearest, nearest, rounding},
    near::ASKEW,
};

use super::{FLAT, Feature, Measured, Posed, Revolved, V3, place};

impl Feature {
    fn of(pair: &Pair, first: u32) -> Self {
        match pair.kind {
            Kind::EdgeEdge => Self::Edge,
            Kind::PointTriangle if pair.vertices[0] < first => Self::Vertex,
            Kind::PointTriangle => Self::Triangle { rim: (pair.vertices[0] - first) as usize },
        }
    }

    /// The cloth's vertices of four.
    pub(super) fn cloth(&self, x: &[V3; 4]) -> [V3; 3] {
        match self {
            Self::Vertex => [x[0]; 3],
            Self::Edge => [x[0], x[1], x[1]],
            Self::Triangle { .. } => [x[1], x[2], x[3]],
        }
    }

    /// Core vertices 0 and 1 among the four of a pair, if both are.
    fn ends(&self, x: &[V3; 4]) -> Option<[V3; 2]> {
        match self {
            Self::Vertex => Some([x[1], x[2]]),
            Self::Edge => Some([x[2], x[3]]),
            Self::Triangle { .. } => None,
        }
    }

    /// A pair's nearest points, of which those of cloth are `apart` from the surface along the normal.
    fn nearest(&self, posed: &Posed, q: &V3, measured: &Measured, apart: f64) -> Nearest {
        let radius = posed.radii[0];
        let offset = (apart + radius).max(0.5 * f64::EPSILON * radius) * measured.n;
        let ([a, b, c], [d, e]) = (measured.weights, posed.core_weights(q));
        match self {
            Self::Vertex => Nearest { offset, weights: [1.0, -d, -e, 0.0] },
            Self::Edge => Nearest { offset, weights: [a, b, -d, -e] },
            Self::Triangle { .. } => Nearest { offset: -offset, weights: [1.0, -a, -b, -c] },
        }
    }
}

/// A pair with a solid of revolution.
pub(crate) struct Round<'a> {
    pub(super) solid: &'a Revolved,
    pub(super) feature: Feature,
}

impl Round<'_> {
    /// Nearest points of the pair with cloth and core at these positions.
    pub fn nearest(&self, x: &[V3; 4], ends: &[V3; 2]) -> Nearest {
        let (posed, x) = (self.solid.at(ends), self.feature.cloth(x));
        let measured = posed.measure(&self.feature, &x);
        let q = place(&x, &measured.weights) - measured.gap * measured.n;
        self.feature.nearest(&posed, &q, &measured, measured.gap)
    }

    /// Whether the pair is of a triangle without a rim point of the solid under its inside.
    fn is_beside_rim(&self, near: &Nearest) -> bool {
        matches!(self.feature, Feature::Triangle { .. }) && near.weights[1..].contains(&0.0)
    }

    /// First impact within `separation` of the surface, as [`crate::impact`]. The nearest points are those at the impact, taken
    /// back to the start of the motion along with what they are fixed to.
    pub fn impact(
        &self,
        [x, u]: [&[V3; 4]; 2],
        [ends, ways]: [&[V3; 2]; 2],
        separation: f64,
        slack: f64,
    ) -> Option<Impact> {
        let (x, u) = (self.feature.cloth(x), self.feature.cloth(u));
        let reach = x.iter().zip(&u).fold(0.0_f64, |r, (x, u)| r.max(x.amax() + u.amax()));
        let bound = separation + 1.5 * rounding(reach + self.solid.extent());
        let common = 0.5 * (ways[0] + ways[1]);
        // The axis turns by no more than the ends part relative to each other, at their least distance.
        let (apart, parts) = ((ends[1] - ends[0]).norm(), (ways[1] - ways[0]).norm());
        let turning = self.solid.extent() * parts / (apart - parts).max(0.1 * apart);
        let own = u.map(|u| u - common);
        let speed = own.iter().fold(0.0_f64, |most, u| most.max(u.norm())) + turning;
        let at = |time: f64| {
            let posed = self.solid.at(&[0, 1].map(|k| ends[k] + time * ways[k]));
            let now = [0, 1, 2].map(|k| x[k] + time * u[k]);
            (posed.measure(&self.feature, &now), posed, now)
        };
        let mut time = 0.0;
        let (mut found, mut posed, mut now) = at(time);
        let enough = if found.gap > bound { slack.min(LEFT * (found.gap - bound)) } else { slack };
        // Edges keep half of their own gap at least, or as much as this pair.
        let beside = || 0.9 * bound.min(0.5 * self.solid.at(ends).edges(&x).gap);
        let mut kept_by_edges = None;
        for _ in 0..ADVANCES {
            if !found.touches && found.gap <= bound {
                found = posed.edges(&now);
            }
            let least = if found.touches { bound } else { *kept_by_edges.get_or_insert_with(beside) };
            let gap = found.gap - least;
            match found.touches {
                true if gap <= enough => break,
                // So near, its edge has the impact.
                false if gap <= 0.1 * least => return None,
                _ => {}
            }
            // For so long no vertex comes nearer than that to the slab that the solid fills along the normal.
            let slab = now.iter().zip(&own).fold(f64::INFINITY, |time, (x, u)| {
                let height = found.n.dot(x) - found.top - least;
                if height > 0.0 { time.min(height / (turning - found.n.dot(u)).max(0.0)) } else { 0.0 }
            });
            let advance = (gap / speed).max(slab);
            // All the way while nothing has been found, else short of touching.
            if advance >= 1.0 - time {
                return None;
            }
            time += (1.0 - LEFT) * advance;
            (found, posed, now) = at(time);
        }
        if !found.touches {
            found = posed.edges(&now);
        }
        let p = place(&now, &found.weights);
        let then = self.solid.at(ends);
        let q = posed.carried(&then, &(p - found.gap * found.n));
        let apart = found.n.dot(&(place(&x, &found.weights) - q));
        Some(Impact { time, nearest: self.feature.nearest(&then, &q, &found, apart) })
    }
}

impl Contacts {
    /// The solid of revolution that a pair is with.
    pub(crate) fn round(&self, pair: &Pair, obstacle: Option<u32>) -> Option<Round<'_>> {
        let solid = self.obstacles[obstacle? as usize].1.revolved.as_ref()?;
        Some(Round { solid, feature: Feature::of(pair, self.work.first[obstacle? as usize]) })
    }

    /// Core vertices 0 and 1 of an obstacle, in positions or displacements of all vertices.
    pub(crate) fn ends(&self, of: &[V3], obstacle: u32) -> [V3; 2] {
        let first = self.work.first[obstacle as usize] as usize;
        [of[first], of[first + 1]]
    }

    /// Nearest points of a pair at the start of the interval.
    pub(crate) fn nearest_of(&self, pair: &Pair) -> Nearest {
        self.nearest_at(pair, &pair.vertices.map(|v| self.work.x[v as usize]))
    }

    /// Nearest points of a pair with its vertices at `x`. Of rims one core vertex is known: the axis is that at the start of the interval.
    pub(crate) fn nearest_at(&self, pair: &Pair, x: &[V3; 4]) -> Nearest {
        let obstacle = self.obstacle(pair);
        let Some(round) = self.round(pair, obstacle) else { return nearest(pair.kind, x) };
        let ends = round.feature.ends(x).unwrap_or_else(|| {
            let moved = x[0] - self.work.x[pair.vertices[0] as usize];
            self.ends(&self.work.x, obstacle.unwrap_or_default()).map(|end| end + moved)
        });
        round.nearest(x, &ends)
    }

    /// Nearest points of a pair at the end of the interval.
    pub(crate) fn nearest_then(&self, pair: &Pair) -> Nearest {
        let x = pair.vertices.map(|v| self.work.x[v as usize] + self.work.u[v as usize]);
        let obstacle = self.obstacle(pair);
        let Some(round) = self.round(pair, obstacle) else { return nearest(pair.kind, &x) };
        let ends = round.feature.ends(&x).unwrap_or_else(|| {
            let [from, way] = [&self.work.x, &self.work.u].map(|of| self.ends(of, obstacle.unwrap_or_default()));
            [from[0] + way[0], from[1] + way[1]]
        });
        round.nearest(&x, &ends)
    }

    /// First impact of a pair in the interval, as [`crate::impact`].
    pub(crate) fn impact_of(&self, pair: &Pair, begin: Nearest, separation: f64, slack: f64) -> Option<Impact> {
        let [x, u] = [&self.work.x, &self.work.u].map(|of| pair.vertices.map(|v| of[v as usize]));
        self.impact_at(pair, [&x, &u], begin, separation, slack)
    }

    /// First impact of a pair with its vertices at x moving by u. Rims are where they are in the interval.
    pub(crate) fn impact_at(
        &self,
        pair: &Pair,
        [x, u]: [&[V3; 4]; 2],
        begin: Nearest,
        separation: f64,
        slack: f64,
    ) -> Option<Impact> {
        let obstacle = self.obstacle(pair);
        let Some(round) = self.round(pair, obstacle) else {
            return impact_from(pair.kind, x, u, begin, separation, slack);
        };
        let ends = [(x, &self.work.x), (u, &self.work.u)]
            .map(|(own, of)| round.feature.ends(own).unwrap_or_else(|| self.ends(of, obstacle.unwrap_or_default())));
        round.impact([x, u], [&ends[0], &ends[1]], separation - round.solid.radii[0], slack)
    }

    /// Whether edges keep a pair's cloth apart as well: of vertices that have some, which only share their weight, and of rims, which
    /// only their pairs in the interval tell.
    pub(crate) fn is_covered(&self, pair: &Pair) -> bool {
        self.round(pair, self.obstacle(pair)).is_some_and(|round| match round.feature {
            Feature::Vertex => !self.features.neighbours(pair.vertices[0]).is_empty(),
            Feature::Edge => false,
            Feature::Triangle { .. } => true,
        })
    }

    /// Whether a pair is of a vertex whose edges have its impacts.
    pub(crate) fn is_stopped_by_edges(&self, pair: &Pair) -> bool {
        pair.vertices[0] < self.features.vertices() as u32 && self.is_covered(pair)
    }

    /// Whether a pair with a solid of revolution has no contact, since cloth beside its nearest point is nearer: triangles without a
    /// rim point under their inside, and vertices from which an edge leads towards the surface.
    pub(crate) fn is_beside(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> bool {
        let Some(round) = self.round(pair, obstacle) else { return false };
        match round.feature {
            Feature::Edge => false,
            Feature::Triangle { .. } => round.is_beside_rim(near),
            Feature::Vertex => {
                let (x, v) = (&self.work.x, pair.vertices[0]);
                let leads = |way: V3| way.dot(&near.offset) < -ASKEW * way.norm() * near.distance();
                self.features.neighbours(v).iter().any(|&other| leads(x[other as usize] - x[v as usize]))
            }
        }
    }

    /// Whether a pair is of a triangle without a rim point of the solid under its inside.
    pub(crate) fn is_beside_rim(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> bool {
        self.round(pair, obstacle).is_some_and(|round| round.is_beside_rim(near))
    }

    /// Whether a pair is of the centre of a level cap under which an edge of the triangle lies. That has contacts along the cap, whose
    /// friction has an arm; one at the centre would bear all by itself.
    pub(crate) fn is_centre_of_cap(&self, pair: &Pair, near: &Nearest, x: &[V3; 4]) -> bool {
        let Some(Round { solid, feature: Feature::Triangle { rim } }) = self.round(pair, self.obstacle(pair)) else {
            return false;
        };
        let [from, to] = self.ends(&self.work.x, self.obstacle(pair).unwrap_or_default());
        let is_level = (to - from).normalize().cross(&near.offset).norm() <= FLAT * near.distance();
        let area = (x[2] - x[1]).cross(&(x[3] - x[1])).norm();
        let height = |k: usize, edge: V3| near.weights[k].abs() * area / edge.norm();
        let nearest = height(1, x[3] - x[2]).min(height(2, x[1] - x[3])).min(height(3, x[2] - x[1]));
        is_level && nearest < solid.radii[rim]
    }

    /// Point of the core that a contact is with, with the vertices at `x`: the contact's radius below the surface.
    pub(crate) fn core_point(&self, pair: &Pair, near: &Nearest, x: &[V3; 4], obstacle: Option<u32>) -> V3 {
        let cloth = self.features.vertices();
        let x = |k: usize| x[k];
        let is_cloth = |k: &usize| (pair.vertices[*k] as usize) < cloth;
        let sign: f64 = (0..4).filter(|k| !is_cloth(k)).map(|k| near.weights[k]).sum::<f64>().signum();
        match self.round(pair, obstacle) {
            Some(_) => sign * (near.offset - (0..4).filter(is_cloth).map(|k| near.weights[k] * x(k)).sum::<V3>()),
            None => (0..4).filter(|k| !is_cloth(k)).map(|k| sign * near.weights[k] * x(k)).sum(),
        }
    }

    /// Distance of a contact's points along `n` at the start of the interval, where the vertices are at `x`.
    pub(crate) fn apart(&self, pair: &Pair, near: &Nearest, x: &[V3; 4], n: &V3, meeting: &Meeting) -> f64 {
        match self.round(pair, self.obstacle(pair)) {
            Some(_) => near.distance() - meeting.radius,
            None => (0..4).map(|k| near.weights[k] * x[k].dot(n)).sum::<f64>() - meeting.radius,
        }
    }

    /// Displacement over the interval of a round solid's surface along its outward normal `n`, at a point of it.
    pub(crate) fn surface_way(&self, obstacle: u32, place: &V3, n: &V3) -> f64 {
        let Some(solid) = &self.obstacles[obstacle as usize].1.revolved else { return 0.0 };
        let [ends, ways] = [&self.work.x, &self.work.u].map(|of| self.ends(of, obstacle));
        let (begin, end) = (solid.at(&ends), solid.at(&[ends[0] + ways[0], ends[1] + ways[1]]));
        n.dot(&(begin.carried(&end, place) - place))
    }
}
