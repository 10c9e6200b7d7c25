//! Guides as obstacles on a device: half-spaces, balls, capsules and boxes by formula, other closed surfaces as volumes of signed distances
//! (the distance maps of \[BBD09\] section 4.2).

use bytemuck::{Pod, Zeroable};
use nalgebra::{Isometry3, Vector3};
use parry3d_f64::{
    math::Vector,
    query::PointQuery,
    shape::{TriMesh, TriMeshFlags},
};
use partita_cloth::pose;
use partita_mesh::Mesh;
use partita_simulator::{Guide, Motion, PrimitiveShape, SimulatorError, Surface};

type V3 = Vector3<f64>;

/// Samples of a volume beyond the surface on each side, at least; and at most, where the distance that is kept asks for more.
const MARGIN: [f64; 2] = [2.0, 10.0];

/// Cells along a side, at least.
const FEWEST: f64 = 8.0;

/// Farther than anything is from anything, with squares that 32 bits hold `[m]`.
const EVERYWHERE: f32 = 1e18;

/// Obstacles, at most: each is a workgroup of a dispatch.
const MOST: usize = 65_535;

/// Numbers of samples and bits of all obstacles, at most.
const MOST_WORDS: u64 = 1 << 30;

/// No particle goes without meeting it.
const NONE: u32 = u32::MAX;

/// See `distances.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Obstacle {
    begin: [f32; 3],
    bound: f32,
    begin_turn: [f32; 4],
    end: [f32; 4],
    end_turn: [f32; 4],
    size: [f32; 4],
    corner: [f32; 4],
    origin: [f32; 4],
    end_origin: [f32; 4],
    shape: u32,
    distance: f32,
    friction: f32,
    restitution: f32,
    samples: [u32; 3],
    first_sample: u32,
    spacing: [f32; 3],
    except: u32,
}

/// Which guides are obstacles, and what never changes of them.
pub(crate) struct Obstacles {
    fixed: Vec<Fixed>,
    /// Samples of volumes, and bits of particles that do not meet an obstacle.
    pub words: Vec<u32>,
}

struct Fixed {
    guide: usize,
    /// Where its axes are in those of the frame that carries it.
    own: Isometry3<f64>,
    record: Obstacle,
}

/// Obstacles over a part of a step, and the guides that they are.
#[derive(Default)]
pub(crate) struct Placed {
    pub obstacles: Vec<Obstacle>,
    pub guides: Vec<usize>,
}

impl Obstacles {
    /// None at all.
    pub const NONE: Self = Self { fixed: vec![], words: vec![] };

    /// Of guides, for so many particles that keep `apart` on top of what obstacles ask for `[m]`; volumes have so many cells along the
    /// longest side of what they are of.
    ///
    /// # Errors
    /// Names a surface that is neither a primitive nor closed with its faces outwards, or says that there are too many of them.
    pub fn new(guides: &[Guide], particles: usize, apart: f64, cells: u32) -> Result<Self, SimulatorError> {
        let mut obstacles = Self::NONE;
        for (guide, of) in guides.iter().enumerate() {
            let Guide::Obstacle { surface, friction, restitution, thickness, except } = of else { continue };
            let distance = apart + thickness;
            let exact = surface.primitive.and_then(|primitive| {
                Some((pose(primitive.position, primitive.orientation), of_primitive(primitive.shape)?))
            });
            let (own, mut record) = match exact {
                Some(exact) => exact,
                None => obstacles.add_volume(surface, distance, cells)?,
            };
            record.distance = distance as f32;
            // More than any number holds as well.
            [record.friction, record.restitution] = [*friction, *restitution].map(|x| (x as f32).min(f32::MAX));
            record.except = NONE;
            if !except.is_empty() {
                record.except = obstacles.words.len() as u32;
                let mut bits = vec![0_u32; particles.div_ceil(32)];
                except.iter().for_each(|handle| bits[handle.index as usize / 32] |= 1 << (handle.index % 32));
                obstacles.words.extend(bits);
            }
            obstacles.fixed.push(Fixed { guide, own, record });
        }
        if obstacles.fixed.len() > MOST {
            let expected = format!("at most {MOST} obstacles");
            return Err(SimulatorError::refused("guides", obstacles.fixed.len(), expected));
        }
        Ok(obstacles)
    }

    /// The least distance that is kept from one, with the guide that it is `[m]`.
    pub fn nearest(&self) -> Option<(usize, f64)> {
        let distances = self.fixed.iter().map(|fixed| (fixed.guide, f64::from(fixed.record.distance)));
        distances.reduce(|least, other| if other.1 < least.1 { other } else { least })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.fixed.len()
    }

    /// Those that are there in a part of a step.
    ///
    /// # Errors
    /// Names one whose place is nothing that 32 bits can hold.
    pub fn place(&self, motions: &[Option<Motion>]) -> Result<Placed, SimulatorError> {
        let mut placed = Placed::default();
        for Fixed { guide, own, record } in &self.fixed {
            let Some(Some(motion)) = motions.get(*guide) else { continue };
            let [(begin, begin_turn), (end, end_turn)] = [&motion.begin[0], &motion.end[0]].map(|state| {
                let pose = pose(state.position, state.orientation) * own;
                (pose.translation.vector.map(|x| x as f32), <[f64; 4]>::from(pose.rotation.coords).map(|x| x as f32))
            });
            let origins = [&motion.begin[0], &motion.end[0]].map(|state| state.position.map(|x| x as f32));
            if let Some(wrong) = origins.iter().flatten().chain(&begin).chain(&end).find(|x| x.abs() >= EVERYWHERE) {
                let thing = format!("place of guide {guide} [m]");
                let expected = format!("within {EVERYWHERE:e}, what 32 bits can compute with");
                return Err(SimulatorError::refused(thing, wrong, expected));
            }
            let [origin, end_origin] = origins.map(|[x, y, z]| [x, y, z, 0.0]);
            let end = [end.x, end.y, end.z, 0.0];
            placed.obstacles.push(Obstacle {
                begin: begin.into(),
                begin_turn,
                end,
                end_turn,
                origin,
                end_origin,
                ..*record
            });
            placed.guides.push(*guide);
        }
        Ok(placed)
    }

    /// Samples distances from a closed surface.
    fn add_volume(
        &mut self,
        surface: &Surface,
        distance: f64,
        cells: u32,
    ) -> Result<(Isometry3<f64>, Obstacle), SimulatorError> {
        let refused = |found: String| {
            let thing = format!("surface `{}`", surface.name);
            SimulatorError::refused(thing, found, "a primitive, or closed with its faces outwards")
        };
        let mesh = Mesh::new(&surface.vertices, &surface.triangles).map_err(|error| refused(error.to_string()))?;
        match mesh.volume() {
            Some(volume) if volume > 0.0 => {}
            Some(_) => return Err(refused("its faces inwards".into())),
            None => return Err(refused("one with a rim".into())),
        }
        let [low, high] = mesh.bounds().map(V3::from);
        let centre = 0.5 * (low + high);
        let islands = islands(&mesh, &centre).ok_or_else(|| refused("triangles that make no solid".into()))?;
        let side = high - low;
        let spacing = side.map(|along| along / (f64::from(cells) * along / side.max()).ceil().max(FEWEST));
        let [least, most] = MARGIN;
        let margin = spacing.map(|spacing| least * spacing + (2.0 * distance).min((most - least) * spacing));
        let half = 0.5 * side + margin;
        let samples = half.zip_map(&spacing, |half, spacing| (2.0 * half / spacing).ceil() as u32 + 1);
        let needed = self.words.len() as u64 + samples.iter().map(|n| u64::from(*n)).product::<u64>();
        if needed > MOST_WORDS {
            return Err(SimulatorError::refused("volume_cells", cells, "fewer, for so many volumes"));
        }
        let first_sample = self.words.len() as u32;
        for (z, y) in (0..samples.z).flat_map(|z| (0..samples.y).map(move |y| (z, y))) {
            self.words.extend((0..samples.x).map(|x| {
                let place = V3::new(x.into(), y.into(), z.into()).component_mul(&spacing) - half;
                (distance_from(&islands, &place) as f32).to_bits()
            }));
        }
        let [size, corner] = [0.5 * side, -half].map(|v| v.map(|x| x as f32));
        let record = Obstacle {
            bound: (high - centre).norm() as f32,
            size: [size.x, size.y, size.z, 0.0],
            corner: [corner.x, corner.y, corner.z, 0.0],
            shape: 4,
            samples: samples.into(),
            first_sample,
            spacing: spacing.map(|x| x as f32).into(),
            ..Obstacle::zeroed()
        };
        Ok((Isometry3::translation(centre.x, centre.y, centre.z), record))
    }
}

/// Each island by itself, about a place, with whether its faces are outwards: where solids overlap, triangles of one are inside another.
fn islands(mesh: &Mesh, centre: &V3) -> Option<Vec<(TriMesh, bool)>> {
    let points = || mesh.vertices().iter().map(|x| x - centre).map(|x| Vector::new(x.x, x.y, x.z)).collect::<Vec<_>>();
    let of = |island: Vec<u32>| {
        let triangles: Vec<[u32; 3]> = island.iter().map(|t| mesh.triangles()[*t as usize]).collect();
        let corner = |v: u32| mesh.vertices()[v as usize] - centre;
        let volume: f64 = triangles.iter().map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c)))).sum();
        Some((TriMesh::with_flags(points(), triangles, TriMeshFlags::ORIENTED).ok()?, volume > 0.0))
    };
    mesh.islands().into_iter().map(of).collect()
}

/// From what is in one of the solids and in none of the hollows.
fn distance_from(islands: &[(TriMesh, bool)], place: &V3) -> f64 {
    let place = Vector::new(place.x, place.y, place.z);
    let of = |(surface, is_solid): &(TriMesh, bool)| {
        let found = surface.project_local_point(place, false);
        let distance = (place - found.point).length();
        (if found.is_inside { -distance } else { distance }, *is_solid)
    };
    let solids = islands.iter().map(of).filter(|(_, is_solid)| *is_solid).map(|(distance, _)| distance);
    let hollows = islands.iter().map(of).filter(|(_, is_solid)| !is_solid).map(|(distance, _)| distance);
    hollows.fold(solids.fold(f64::INFINITY, f64::min), f64::max)
}

/// None for cylinders and cones, which are volumes of their triangles.
fn of_primitive(shape: PrimitiveShape) -> Option<Obstacle> {
    let (shape, bound, size) = match shape {
        PrimitiveShape::HalfSpace => (0, f64::from(EVERYWHERE), [0.0; 3]),
        PrimitiveShape::Ball { radius } => (1, radius, [radius, 0.0, 0.0]),
        PrimitiveShape::Capsule { half_length, radius } => (2, half_length + radius, [radius, half_length, 0.0]),
        PrimitiveShape::Cuboid { half_extents } => (3, V3::from(half_extents).norm(), half_extents),
        PrimitiveShape::Cylinder { .. } | PrimitiveShape::Cone { .. } => return None,
    };
    let [x, y, z] = size.map(|x| x as f32);
    Some(Obstacle { shape, bound: bound as f32, size: [x, y, z, 0.0], ..Obstacle::zeroed() })
}
