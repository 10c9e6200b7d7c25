//! Particles, and links that keep the distance between two of them.

use nalgebra::Vector3;
use partita_cloth::Islands;
use partita_mesh::Mesh;
use partita_simulator::{SimulatorError, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::paths::paths;

type V3 = Vector3<f64>;

/// What a link allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LinkKind {
    /// Its rest length and nothing else (\[BDB09\] section 3.3).
    Bar,
    /// No more than its rest length (\[BDB09\] section 3.4).
    Rope,
    /// Its rest length, between two particles that a third one joins: resists bending there. Nobody meets it, and it is not drawn.
    Brace,
}

/// Two particles that keep their distance.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// Numbers of the particles.
    pub particles: [u32; 2],
    /// `[m]`
    pub rest_length: f64,
    /// What it allows.
    pub kind: LinkKind,
    /// By how much longer it gets with each newton of tension `[m/N]`. 0 is inextensible.
    pub compliance: f64,
}

/// Two particles that a spring and a damper draw together or push apart, by a force that is constant over a step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Spring {
    /// Numbers of the particles.
    pub particles: [u32; 2],
    /// `[m]`
    pub rest_length: f64,
    /// `[N/m]`
    pub stiffness: f64,
    /// `[N s/m]`
    pub damping: f64,
}

/// Two particles that come no nearer to each other than a distance (\[BDB09\] section 3.4).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Strut {
    /// Numbers of the particles.
    pub particles: [u32; 2],
    /// `[m]`
    pub distance: f64,
}

/// Particles and links: a sheet, a net, ropes, any graph. Links keep the distance that their particles are given with.
///
/// ```
/// use partita_ibds_cloth::Net;
///
/// # fn main() -> Result<(), partita_simulator::SimulatorError> {
/// // A pendulum.
/// let net = Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0, 1.0])?.bars([[0, 1]])?;
/// assert_eq!(net.links()[0].rest_length, 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Net {
    pub(crate) positions: Vec<V3>,
    pub(crate) masses: Vec<f64>,
    pub(crate) links: Vec<Link>,
    pub(crate) struts: Vec<Strut>,
    pub(crate) springs: Vec<Spring>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

impl Net {
    /// Islands of particles joined by links, springs, struts and triangles.
    pub(crate) fn islands(&self) -> Islands {
        let links = self.links.iter().map(|link| link.particles);
        let springs = self.springs.iter().map(|spring| spring.particles);
        let struts = self.struts.iter().map(|strut| strut.particles);
        let sides = self.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c]]);
        let pairs = links.chain(springs).chain(struts).chain(sides);
        Islands::new(partita_mesh::islands(self.positions.len(), pairs))
    }

    /// Particles at these places `[m]`, with these masses `[kg]`, without links.
    ///
    /// # Errors
    /// There are more or fewer masses than places, a number is not finite, or a mass not positive.
    pub fn new(positions: &[[f64; 3]], masses: &[f64]) -> Result<Self, SimulatorError> {
        let n = positions.len();
        if masses.len() != n || u32::try_from(n).is_err() {
            return Err(SimulatorError::refused("masses [kg]", masses.len(), format!("one for each of {n} particles")));
        }
        for (k, (x, m)) in positions.iter().zip(masses).enumerate() {
            check_vector(&format!("position of particle {k} [m]"), *x)?;
            check_positive(&format!("mass of particle {k} [kg]"), *m)?;
            check_positive(&format!("inverse mass of particle {k} [1/kg]"), 1.0 / m)?;
        }
        let positions = positions.iter().map(|&x| x.into()).collect();
        Ok(Self {
            positions,
            masses: masses.to_vec(),
            links: vec![],
            struts: vec![],
            springs: vec![],
            triangles: vec![],
        })
    }

    /// The vertices of a mesh, each with a third of its triangles' masses, and bars along the edges. `density` is mass by area
    /// `[kg/m²]`.
    ///
    /// # Errors
    /// The density is not positive, or a vertex has no triangle.
    pub fn sheet(mesh: &Mesh, density: f64) -> Result<Self, SimulatorError> {
        check_positive("density [kg/m²]", density)?;
        let x = mesh.vertices();
        let mut masses = vec![0.0; x.len()];
        for t in mesh.triangles() {
            let [a, b, c] = t.map(|k| x[k as usize]);
            let third = density * (b - a).cross(&(c - a)).norm() / 6.0;
            t.iter().for_each(|&k| masses[k as usize] += third);
        }
        let net = Self::new(&mesh.positions(), &masses)?.bars(mesh.edges().iter().map(|edge| edge.vertices))?;
        net.triangles(mesh.triangles())
    }

    /// A straight chain of so many bars, its `mass` `[kg]` shared evenly by its particles, numbered from the begin to the end `[m]`.
    ///
    /// # Errors
    /// There are no links, a number is not finite, or the mass not positive.
    pub fn chain(begin: [f64; 3], end: [f64; 3], links: u32, mass: f64) -> Result<Self, SimulatorError> {
        check_positive("links of a chain", f64::from(links))?;
        let [from, to]: [V3; 2] = [begin.into(), end.into()];
        let place = |k: u32| from.lerp(&to, f64::from(k) / f64::from(links)).into();
        let positions: Vec<[f64; 3]> = (0..=links).map(place).collect();
        Self::new(&positions, &vec![mass / (f64::from(links) + 1.0); positions.len()])?
            .bars((0..links).map(|k| [k, k + 1]))
    }

    /// With bars between these particles too.
    ///
    /// # Errors
    /// Names a link with a particle that does not exist, or with one at both ends.
    pub fn bars(self, between: impl IntoIterator<Item = [u32; 2]>) -> Result<Self, SimulatorError> {
        self.with(between, LinkKind::Bar)
    }

    /// With ropes between these particles too.
    ///
    /// # Errors
    /// As [`Net::bars`].
    pub fn ropes(self, between: impl IntoIterator<Item = [u32; 2]>) -> Result<Self, SimulatorError> {
        self.with(between, LinkKind::Rope)
    }

    fn with(mut self, between: impl IntoIterator<Item = [u32; 2]>, kind: LinkKind) -> Result<Self, SimulatorError> {
        for particles in between {
            let [i, j] = self.check_ends(&format!("link {}", self.links.len()), particles)?;
            self.links.push(Link { particles, rest_length: (j - i).norm(), kind, compliance: 0.0 });
        }
        Ok(self)
    }

    /// All bars and ropes so far give way: they get longer by so much with each newton of tension `[m/N]`; what
    /// [`Parameters::extensibility`](crate::Parameters::extensibility) allows is on top of that. 0 is inextensible: what hangs from such links
    /// or falls on them is stopped at once, which a body that others move cannot be (see the crate's page). Braces keep their stiffness.
    ///
    /// # Errors
    /// It is negative or not finite.
    pub fn compliance(mut self, compliance: f64) -> Result<Self, SimulatorError> {
        check_not_negative("compliance of links [m/N]", compliance)?;
        let links = self.links.iter_mut().filter(|link| link.kind != LinkKind::Brace);
        links.for_each(|link| link.compliance = compliance);
        Ok(self)
    }

    /// With braces between these particles too, each as stiff as a spring `[N/m]` but stable however stiff and light: solved together with
    /// links, not before them. Between [`Net::interlaced`] particles they resist bending: links of length l that are θ away from straight
    /// store k l² θ⁴/32, so nearly straight ones hardly resist.
    ///
    /// # Errors
    /// As [`Net::bars`], or the stiffness is not positive.
    pub fn braces(self, between: impl IntoIterator<Item = [u32; 2]>, stiffness: f64) -> Result<Self, SimulatorError> {
        check_positive("stiffness of braces [N/m]", stiffness)?;
        check_positive("compliance of braces [m/N]", 1.0 / stiffness)?;
        let known = self.links.len();
        let mut net = self.with(between, LinkKind::Brace)?;
        net.links[known..].iter_mut().for_each(|link| link.compliance = 1.0 / stiffness);
        Ok(net)
    }

    /// With springs of such a stiffness `[N/m]` and dampers `[N s/m]` between these particles too, at rest where they are now: explicit,
    /// their forces are taken where a step begins and are constant over it (\[BBD09\] sections 4.1 and 4.3). They explode unless, of two at a
    /// particle of mass m, h² k + 2 h d < m, and with [`Integrator::Parabola`](crate::Integrator) also unless d ≥ h k/2.
    ///
    /// # Errors
    /// As [`Net::bars`], or a number is negative or not finite.
    pub fn springs(
        mut self,
        between: impl IntoIterator<Item = [u32; 2]>,
        stiffness: f64,
        damping: f64,
    ) -> Result<Self, SimulatorError> {
        check_not_negative("stiffness of springs [N/m]", stiffness)?;
        check_not_negative("damping of springs [N s/m]", damping)?;
        for particles in between {
            let [i, j] = self.check_ends(&format!("spring {}", self.springs.len()), particles)?;
            self.springs.push(Spring { particles, rest_length: (j - i).norm(), stiffness, damping });
        }
        Ok(self)
    }

    /// Particles with one between them along bars and ropes that go straight on, for [`Net::braces`] and [`Net::springs`] that resist bending.
    pub fn interlaced(&self) -> Vec<[u32; 2]> {
        let paths = paths(&self.clone().retain_links(|link| link.kind != LinkKind::Brace));
        paths.iter().flat_map(|path| path.particles.windows(3).map(|row| [row[0], row[2]])).collect()
    }

    /// With struts between these particles too, which come no nearer to each other than `distance` `[m]`: balls whose radii sum to that
    /// (\[BDB09\] section 3.4). Where they are at the end of a step, or of a part, is what counts: what is so fast that it
    /// passes in one is for obstacles to meet.
    ///
    /// # Errors
    /// As [`Net::bars`], or the distance is not positive.
    pub fn struts(
        mut self,
        between: impl IntoIterator<Item = [u32; 2]>,
        distance: f64,
    ) -> Result<Self, SimulatorError> {
        check_positive("distance that struts keep [m]", distance)?;
        for particles in between {
            self.check_ends(&format!("strut {}", self.struts.len()), particles)?;
            self.struts.push(Strut { particles, distance });
        }
        Ok(self)
    }

    /// Where two particles are.
    fn check_ends(&self, thing: &str, particles: [u32; 2]) -> Result<[V3; 2], SimulatorError> {
        let [i, j] = particles.map(|k| self.positions.get(k as usize));
        let (Some(i), Some(j), true) = (i, j, particles[0] != particles[1]) else {
            let expected = format!("two of {} particles", self.positions.len());
            return Err(SimulatorError::refused(thing, format!("{particles:?}"), expected));
        };
        Ok([*i, *j])
    }

    /// With a skin of these triangles between particles, which others meet and pictures show, corners counter-clockwise seen from outside.
    ///
    /// # Errors
    /// Names a triangle with a particle that does not exist, or with one at two corners.
    pub fn triangles(mut self, triangles: &[[u32; 3]]) -> Result<Self, SimulatorError> {
        for &[a, b, c] in triangles {
            let n = self.positions.len();
            if [a, b, c].iter().any(|&k| k as usize >= n) || a == b || b == c || c == a {
                let (thing, expected) =
                    (format!("triangle {}", self.triangles.len()), format!("three of {n} particles"));
                return Err(SimulatorError::refused(thing, format!("{:?}", [a, b, c]), expected));
            }
            self.triangles.push([a, b, c]);
        }
        Ok(self)
    }

    /// Only with links that `keep` says so of.
    pub fn retain_links(mut self, keep: impl FnMut(&Link) -> bool) -> Self {
        self.links.retain(keep);
        self
    }

    /// All links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// All struts.
    pub fn all_struts(&self) -> &[Strut] {
        &self.struts
    }

    /// All springs.
    pub fn all_springs(&self) -> &[Spring] {
        &self.springs
    }

    /// Places at first `[m]`, one a particle.
    pub fn positions(&self) -> &[V3] {
        &self.positions
    }

    /// `[kg]`, one a particle.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Mean rest length of links, or a metre if none has one: by this are errors measured of those that have none `[m]`.
    pub fn mean_rest(&self) -> f64 {
        let mean = self.links.iter().map(|link| link.rest_length).sum::<f64>() / self.links.len() as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// Energy that springs and links that give way store where particles are at these places `[m]`, one a particle `[J]`.
    ///
    /// # Panics
    /// There are fewer places than particles.
    pub fn stored(&self, positions: &[V3]) -> f64 {
        let springs =
            self.springs.iter().map(|s| s.stiffness * elongation(positions, s.particles, s.rest_length).powi(2));
        0.5 * springs.sum::<f64>() + self.stored_in_links(positions)
    }

    /// Energy that compliant links store where particles are at these positions `[m]`, one a
    /// particle `[J]`.
    pub(crate) fn stored_in_links(&self, positions: &[V3]) -> f64 {
        let links = self.links.iter().filter(|link| link.compliance > 0.0).map(|link| {
            let e = elongation(positions, link.particles, link.rest_length);
            if link.kind == LinkKind::Rope && e < 0.0 { 0.0 } else { e * e / link.compliance }
        });
        0.5 * links.sum::<f64>()
    }

    /// Triangles that others meet and pictures show.
    pub fn skin(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Links that can meet others: those of ropes and nets, not what lies in a sheet, from one of its vertices to another.
    pub fn lone_edges(&self) -> Vec<[u32; 2]> {
        // Vertices of one sheet lead to the same one of them.
        let mut sheet: Vec<u32> = (0..self.positions.len() as u32).collect();
        let first_of = |mut k: u32, sheet: &mut Vec<u32>| {
            while sheet[k as usize] != k {
                sheet[k as usize] = sheet[sheet[k as usize] as usize];
                k = sheet[k as usize];
            }
            k
        };
        for &[a, b, c] in &self.triangles {
            let first = first_of(a, &mut sheet);
            for other in [b, c] {
                let other = first_of(other, &mut sheet);
                sheet[other as usize] = first;
            }
        }
        let mut is_lone = |[i, j]: &[u32; 2]| first_of(*i, &mut sheet) != first_of(*j, &mut sheet);
        let met = self.links.iter().filter(|link| link.kind != LinkKind::Brace);
        let mut edges: Vec<[u32; 2]> = met.map(|link| link.particles).filter(|ends| is_lone(ends)).collect();
        edges.iter_mut().for_each(|ends| ends.sort_unstable());
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

/// Distance of two particles at these positions `[m]` above a rest length `[m]`.
fn elongation(positions: &[V3], [i, j]: [u32; 2], rest: f64) -> f64 {
    (positions[j as usize] - positions[i as usize]).norm() - rest
}
