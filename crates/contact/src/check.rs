//! What a step is refused for.

use nalgebra::Vector3;

use crate::{ContactError, Contacts, Kind, Nearest, Pair, Path, Shape, Step};

type V3 = Vector3<f64>;

impl Contacts {
    pub(crate) fn check(&self, step: &Step<'_>, straight_begins: &[V3], end: &[V3]) -> Result<(), ContactError> {
        let n = self.features.vertices();
        let count = |thing, count, expected, of| {
            if count == expected { Ok(()) } else { Err(ContactError::Count { thing, count, expected, of }) }
        };
        count("positions at the begin", step.begin.len(), n, "vertices")?;
        count("begins of straight ways", straight_begins.len(), n, "vertices")?;
        count("positions at the end", end.len(), n, "vertices")?;
        for (thing, velocities) in
            ["velocities at the start", "velocities at the end"].into_iter().zip(step.velocities.iter().flatten())
        {
            count(thing, velocities.len(), n, "vertices")?;
        }
        count("inverse masses", step.inverse_masses.len(), n, "vertices")?;
        count("paths", step.paths.len(), self.obstacles.len(), "obstacles")?;
        let number = |good: bool, thing: &dyn Fn() -> String, found: f64, expected| {
            if good { Ok(()) } else { Err(ContactError::Number { thing: thing(), found, expected }) }
        };
        let dt = step.dt;
        number((1e-12..=1e3).contains(&dt), &|| "time step".into(), dt, "from 1e-12 to 1e3 s")?;
        let near = |x: &V3, thing: &dyn Fn() -> String| {
            let far = x.iter().copied().find(|c| !(-1e9..=1e9).contains(c));
            number(far.is_none(), thing, far.unwrap_or(0.0), "within 1e9 m")
        };
        for (when, positions) in [("begin", step.begin), ("begin of its straight way", straight_begins), ("end", end)] {
            for (k, x) in positions.iter().enumerate() {
                near(x, &|| format!("vertex {k} at the {when}"))?;
            }
        }
        for (k, &w) in step.inverse_masses.iter().enumerate() {
            number(
                w == 0.0 || (1e-30..=1e30).contains(&w),
                &|| format!("inverse mass {k}"),
                w,
                "0, or from 1e-30 to 1e30 1/kg",
            )?;
        }
        for (k, (path, (obstacle, core))) in step.paths.iter().zip(&self.obstacles).enumerate() {
            match path {
                Path::Absent => {}
                Path::Frame { begin, end } => {
                    for pose in [begin, end] {
                        near(&pose.translation.vector, &|| format!("pose of obstacle {k}"))?;
                        let norm = pose.rotation.coords.norm();
                        if !(1.0 - 1e-6..1.0 + 1e-6).contains(&norm) {
                            return Err(ContactError::Rotation { obstacle: k, norm });
                        }
                    }
                }
                Path::Points { begin, end } => {
                    if !matches!(obstacle.shape, Shape::Mesh { .. }) {
                        return Err(ContactError::NotMesh { obstacle: k, found: "moved by its points" });
                    }
                    for (when, points) in [("begin", begin), ("end", end)] {
                        count("points", points.len(), core.vertices.len(), "vertices of an obstacle")?;
                        for (v, x) in points.iter().enumerate() {
                            near(x, &|| format!("vertex {v} of obstacle {k} at the {when}"))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Parts of the cloth at one place that do not cross already have no side on which they could be kept.
    pub(crate) fn check_apart(&self) -> Result<(), ContactError> {
        let found = self.work.pairs.iter().zip(&self.work.nearest);
        let touches = |near: &Nearest, pair: &Pair| near.offset == V3::zeros() && self.obstacle(pair).is_none();
        let mut touching = found.filter(|(pair, near)| touches(near, pair) && !self.is_tangled(pair));
        touching.next().map_or(Ok(()), |(pair, _)| {
            let kind = match pair.kind {
                Kind::PointTriangle => "point and triangle",
                Kind::EdgeEdge => "edges",
            };
            Err(ContactError::Touching { kind, vertices: pair.vertices })
        })
    }
}
