//! Wavefront OBJ: positions and faces. Texture coordinates, normals, materials, lines and curves are passed over, and
//! all objects and groups become one mesh (of several islands, if they do not touch).
//!
//! `tobj` reads numbers and cuts polygons, but drops line numbers and takes vertices of different objects apart. So
//! each line is looked at here first, and only what matters is handed on.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::mesh::{LARGEST, check_counts};
use crate::{Mesh, MeshError, Repair};

/// Largest file that is read `[bytes]`.
const LARGEST_FILE: u64 = 1 << 30;

/// Triangles as a file has them, with or without the makings of a [`Mesh`].
#[derive(Debug, Clone, PartialEq)]
pub struct Soup {
    /// Positions `[m]`, in the order in which faces name them; those that no face names are left out.
    pub vertices: Vec<[f64; 3]>,
    /// Corners. A polygon has become a fan around its first corner, which suits convex ones.
    pub triangles: Vec<[u32; 3]>,
    /// The file's name, for messages.
    file: String,
    /// Line of each triangle's face, from 1.
    lines: Vec<usize>,
}

impl Soup {
    /// The mesh, if it is one.
    ///
    /// # Errors
    ///
    /// As [`Mesh::new`], with file and line.
    pub fn mesh(&self) -> Result<Mesh, MeshError> {
        Mesh::new(&self.vertices, &self.triangles).map_err(|source| self.with_line(source))
    }

    /// The mesh that can be made of it.
    ///
    /// # Errors
    ///
    /// As [`Mesh::repaired`], with file and line.
    pub fn repaired(&self) -> Result<(Mesh, Vec<Repair>), MeshError> {
        Mesh::repaired(&self.vertices, &self.triangles).map_err(|source| self.with_line(source))
    }

    fn with_line(&self, source: MeshError) -> MeshError {
        let line = source.triangle().and_then(|t| self.lines.get(t)).copied().unwrap_or(1);
        MeshError::ObjMesh { file: self.file.clone(), line, source: source.into() }
    }
}

/// Reads an OBJ file.
///
/// # Errors
///
/// A file that cannot be read, is longer than 1 GiB, or holds no faces; a line that is no position or face; an index
/// that names no position.
pub fn read_obj(path: impl AsRef<Path>) -> Result<Soup, MeshError> {
    let path = path.as_ref();
    let io = |source| MeshError::Io { path: path.into(), source };
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LARGEST_FILE {
        let problem = format!("longer than {LARGEST_FILE} bytes");
        return Err(MeshError::Obj { file: path.display().to_string(), problem });
    }
    read_obj_bytes(&path.display().to_string(), &bytes)
}

/// Reads an OBJ file that is in memory; `file` is what messages call it.
///
/// # Errors
///
/// As [`read_obj`].
pub fn read_obj_bytes(file: &str, bytes: &[u8]) -> Result<Soup, MeshError> {
    let whole = |problem: String| MeshError::Obj { file: file.into(), problem };
    let lines = logical_lines(bytes);
    let (essence, triangle_lines) = essence(file, &lines)?;
    if triangle_lines.is_empty() {
        return Err(whole("no faces".into()));
    }
    check_counts(0, triangle_lines.len())?;

    let triangulate = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
    let no_materials = |_: &Path| Err(tobj::LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut essence.as_bytes(), &triangulate, no_materials)
        .map_err(|error| whole(error.to_string()))?;
    // No objects, groups or materials were handed on, so there is one model.
    let [model] = models.as_slice() else {
        return Err(whole(format!("{} objects where one was expected", models.len())));
    };
    let vertices: Vec<[f64; 3]> = model.mesh.positions.as_chunks().0.to_vec();
    let triangles: Vec<[u32; 3]> = model.mesh.indices.as_chunks().0.to_vec();
    assert_eq!(triangles.len(), triangle_lines.len(), "a polygon of k corners is k - 2 triangles");
    Ok(Soup { vertices, triangles, file: file.into(), lines: triangle_lines })
}

impl Mesh {
    /// Reads a mesh from an OBJ file. For files that are not quite meshes, see [`read_obj`] and [`Soup::repaired`].
    ///
    /// # Errors
    ///
    /// As [`read_obj`] and [`Mesh::new`], with file and line.
    pub fn from_obj(path: impl AsRef<Path>) -> Result<Self, MeshError> {
        read_obj(path)?.mesh()
    }

    /// Reads a mesh from an OBJ file in memory; `file` is what messages call it.
    ///
    /// # Errors
    ///
    /// As [`Mesh::from_obj`].
    pub fn from_obj_bytes(file: &str, bytes: &[u8]) -> Result<Self, MeshError> {
        read_obj_bytes(file, bytes)?.mesh()
    }
}

/// Numbered lines without comments; a line that ends with a backslash goes on in the next.
fn logical_lines(bytes: &[u8]) -> Vec<(usize, String)> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut lines: Vec<(usize, String)> = vec![];
    let mut goes_on = false;
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
        // Names of objects may be in any encoding; numbers are ASCII in all of them.
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let text = line.strip_suffix('\\').unwrap_or(line);
        match lines.last_mut() {
            Some((_, last)) if goes_on => {
                last.push(' ');
                last.push_str(text);
            }
            _ if text.is_empty() => {}
            _ => lines.push((number, text.to_string())),
        }
        goes_on = line.ends_with('\\') && !lines.is_empty();
    }
    lines
}

/// The positions and faces alone, with plain indices, and for each triangle to come its line.
fn essence(file: &str, lines: &[(usize, String)]) -> Result<(String, Vec<usize>), MeshError> {
    let words = |line: &'static str| move |(_, text): &&(usize, String)| text.split_whitespace().next() == Some(line);
    let total = lines.iter().filter(words("v")).count() as i64;

    let (mut essence, mut triangle_lines) = (String::new(), vec![]);
    let mut positions = 0i64;
    for (line, text) in lines {
        let refused = |problem: String| MeshError::ObjLine { file: file.into(), line: *line, problem };
        let mut words = text.split_whitespace();
        match words.next() {
            Some("v") => {
                positions += 1;
                essence.push('v');
                for axis in ["x", "y", "z"] {
                    let word = words.next().ok_or_else(|| refused(format!("position without {axis}")))?;
                    let coordinate: f64 = word.parse().unwrap_or(f64::NAN);
                    if coordinate.is_nan() || coordinate.abs() > LARGEST {
                        let word = shortened(word);
                        return Err(refused(format!("{axis} must be a number up to 1e100, got {word:?}")));
                    }
                    // Writing to a string cannot fail.
                    let _ = write!(essence, " {word}");
                }
                essence.push('\n');
            }
            Some("f") => {
                essence.push('f');
                let mut corners = 0;
                for word in words {
                    let index = word.split('/').next().and_then(|index| index.parse::<i64>().ok());
                    let index = index.ok_or_else(|| {
                        refused(format!("face corner must begin with a whole number, got {:?}", shortened(word)))
                    })?;
                    // 1 is the first position, -1 the last one so far.
                    let position = if index < 0 { index.saturating_add(positions + 1) } else { index };
                    if !(1..=total).contains(&position) {
                        return Err(refused(format!("face names position {index}, but the file has {total}")));
                    }
                    let _ = write!(essence, " {position}");
                    corners += 1;
                }
                if corners < 3 {
                    return Err(refused(format!("a face needs 3 corners, got {corners}")));
                }
                essence.push('\n');
                triangle_lines.extend(std::iter::repeat_n(*line, corners - 2));
            }
            _ => {}
        }
    }
    Ok((essence, triangle_lines))
}

/// For messages: a file may hold words of a gigabyte.
fn shortened(word: &str) -> String {
    if word.chars().count() <= 40 { word.into() } else { word.chars().take(40).chain("...".chars()).collect() }
}
