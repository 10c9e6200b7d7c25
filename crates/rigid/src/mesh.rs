//! Triangle meshes from anywhere: joined, turned the right way round, or told what is wrong.

use std::collections::HashMap;

use nalgebra::Vector3;
use partita_simulator::SimulatorError;

/// A mesh that every later stage can rely on: indices in range, no doubles, no triangle without area.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    pub vertices: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// Why it encloses no volume, if it does not: in the numbers of the user's vertices.
    pub open: Option<String>,
}

/// Joins vertices at one place (to a billionth of the extent), drops triangles without area and
/// second copies, and turns the triangles of a piece to agree, outwards where it is closed.
///
/// # Errors
/// An index is out of range, or no triangle is left.
pub(crate) fn repaired(of: &str, vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Mesh, SimulatorError> {
    let n = vertices.len();
    if let Some(i) = triangles.iter().position(|t| t.iter().any(|&v| v as usize >= n)) {
        let found = format!("{:?}", triangles[i]);
        return Err(SimulatorError::refused(format!("{of}, triangle {i}"), found, format!("indices below {n}")));
    }
    let extent = extent(vertices);
    let mut join = Join::new(1.0e-9 * extent);
    let mut seen = std::collections::HashSet::new();
    let mut kept = Vec::new();
    for triangle in triangles {
        let joined = triangle.map(|v| join.vertex(v, vertices[v as usize]));
        let mut sorted = joined;
        sorted.sort_unstable();
        let area = normal_of(&join.vertices, joined).norm();
        if area > 1.0e-14 * extent * extent && seen.insert(sorted) {
            kept.push(joined);
        }
    }
    if kept.is_empty() {
        let found = format!("{} triangles, none with an area", triangles.len());
        return Err(SimulatorError::refused(format!("{of}, mesh"), found, "at least one triangle with an area"));
    }
    let mut mesh = Mesh { vertices: join.vertices, triangles: kept, open: None };
    mesh.open = orient(&mut mesh).map(|fault| fault.describe(&join.original));
    Ok(mesh)
}

/// What keeps a mesh from enclosing a volume.
enum Fault {
    Edge { ends: (u32, u32), triangles: usize },
    Twisted { ends: (u32, u32) },
    Hollow,
}

impl Fault {
    fn describe(&self, original: &[u32]) -> String {
        let of = |ends: &(u32, u32)| (original[ends.0 as usize], original[ends.1 as usize]);
        match self {
            Self::Edge { ends, triangles } => {
                let (a, b) = of(ends);
                format!("{triangles} triangle(s) at the edge between vertices {a} and {b}")
            }
            Self::Twisted { ends } => {
                let (a, b) = of(ends);
                format!("a one-sided surface (a twist at the edge between vertices {a} and {b})")
            }
            Self::Hollow => "no volume inside".into(),
        }
    }
}

/// Makes neighbours agree, piece by piece, and closed pieces that disagreed point outwards. Tells
/// the first thing that keeps the whole from being closed.
fn orient(mesh: &mut Mesh) -> Option<Fault> {
    let mut fault = None;
    let mut edges: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
    let mut order = Vec::new();
    for (i, triangle) in mesh.triangles.iter().enumerate() {
        for edge in edges_of(*triangle) {
            let of_edge = edges.entry(sorted(edge)).or_insert_with(|| {
                order.push(sorted(edge));
                Vec::new()
            });
            of_edge.push(i as u32);
        }
    }
    for edge in &order {
        if edges[edge].len() != 2 {
            fault.get_or_insert(Fault::Edge { ends: *edge, triangles: edges[edge].len() });
        }
    }
    // Walk over edges that exactly two triangles share; those two must run along it in opposite ways.
    let mut visited = vec![false; mesh.triangles.len()];
    for seed in 0..mesh.triangles.len() {
        if std::mem::replace(&mut visited[seed], true) {
            continue;
        }
        let (mut piece, mut turned) = (vec![seed], false);
        let mut next = 0;
        while next < piece.len() {
            let i = piece[next];
            next += 1;
            for edge in edges_of(mesh.triangles[i]) {
                let [first, second] = edges[&sorted(edge)][..] else { continue };
                let other = if first as usize == i { second } else { first } as usize;
                let agrees = !edges_of(mesh.triangles[other]).contains(&edge);
                if !visited[other] {
                    visited[other] = true;
                    piece.push(other);
                    if !agrees {
                        mesh.triangles[other].swap(1, 2);
                        turned = true;
                    }
                } else if !agrees {
                    fault.get_or_insert(Fault::Twisted { ends: edge });
                }
            }
        }
        if turned && volume(mesh, &piece) < 0.0 {
            piece.iter().for_each(|&i| mesh.triangles[i].swap(1, 2));
        }
    }
    let all: Vec<usize> = (0..mesh.triangles.len()).collect();
    if fault.is_none() && volume(mesh, &all) < 0.0 {
        mesh.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    if fault.is_none() && volume(mesh, &all) <= 1.0e-12 * extent(&mesh.vertices).powi(3) {
        fault = Some(Fault::Hollow);
    }
    fault
}

fn volume(mesh: &Mesh, piece: &[usize]) -> f64 {
    let corner = |v: u32| Vector3::from(mesh.vertices[v as usize]) - Vector3::from(mesh.vertices[0]);
    piece.iter().map(|&i| mesh.triangles[i].map(corner)).map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0).sum()
}

fn edges_of([a, b, c]: [u32; 3]) -> [(u32, u32); 3] {
    [(a, b), (b, c), (c, a)]
}

fn sorted((a, b): (u32, u32)) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// Normal of a triangle, twice its area long.
fn normal_of(vertices: &[[f64; 3]], triangle: [u32; 3]) -> Vector3<f64> {
    let [a, b, c] = triangle.map(|v| Vector3::from(vertices[v as usize]));
    (b - a).cross(&(c - a))
}

/// Longest edge of the axis-aligned box around the points.
pub(crate) fn extent(points: &[[f64; 3]]) -> f64 {
    let span = |axis: usize| {
        let (low, high) =
            points.iter().fold((f64::MAX, f64::MIN), |(low, high), p| (low.min(p[axis]), high.max(p[axis])));
        high - low
    };
    if points.is_empty() { 0.0 } else { span(0).max(span(1)).max(span(2)) }
}

/// Whether a closed, outward mesh is convex: every vertex behind every face, to a millionth.
pub(crate) fn is_convex(mesh: &Mesh) -> bool {
    let slack = 1.0e-6 * extent(&mesh.vertices);
    mesh.open.is_none()
        && mesh.triangles.iter().all(|&triangle| {
            let normal = normal_of(&mesh.vertices, triangle).normalize();
            let height = normal.dot(&Vector3::from(mesh.vertices[triangle[0] as usize]));
            mesh.vertices.iter().all(|&v| normal.dot(&Vector3::from(v)) <= height + slack)
        })
}

/// Joins vertices that lie in one cell of a fine grid.
struct Join {
    cell: f64,
    found: HashMap<[i64; 3], u32>,
    vertices: Vec<[f64; 3]>,
    original: Vec<u32>,
}

impl Join {
    fn new(cell: f64) -> Self {
        Self { cell: cell.max(f64::MIN_POSITIVE), found: HashMap::new(), vertices: Vec::new(), original: Vec::new() }
    }

    fn vertex(&mut self, number: u32, position: [f64; 3]) -> u32 {
        let key = position.map(|x| (x / self.cell).round() as i64);
        *self.found.entry(key).or_insert_with(|| {
            self.vertices.push(position);
            self.original.push(number);
            (self.vertices.len() - 1) as u32
        })
    }
}
