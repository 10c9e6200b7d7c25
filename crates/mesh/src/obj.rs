//! Wavefront OBJ: positions and faces. Texture coordinates, normals, materials, lines and curves are passed over, and
//! all objects and groups become one mesh (of several islands, if they do not touch).
//!
//! `tobj` reads numbers, but drops line numbers and takes vertices of different objects apart. So each line is looked at
//! here first, and only what matters is handed on.

use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use nalgebra::Vector3;

use crate::mesh::{LARGEST, check_counts};
use crate::polygon::cut;
use crate::{Mesh, MeshError, Repair};

/// Largest file that is read `[bytes]`.
const LARGEST_FILE: u64 = 1 << 30;

/// Triangles as a file has them, with or without the makings of a [`Mesh`].
#[derive(Debug, Clone, PartialEq)]
pub struct Soup {
    /// Positions `[m]`, in the order in which faces name them; those that no face names are left out.
    pub vertices: Vec<[f64; 3]>,
    /// Corners. A polygon has become a fan around its first corner if it is convex, else the triangles of its projection
    /// along its normal.
    pub triangles: Vec<[u32; 3]>,
    /// The file's name, for messages.
    file: String,
    /// Line of each triangle's face, from 1.
    lines: Vec<usize>,
}

impl Soup {
    /// The mesh, without repair. For intentional seams, such as between two layers that are not
    /// sewn, pass vertices and triangles to [`Mesh::new`].
    ///
    /// # Errors
    ///
    /// As [`Mesh::new`], with file and line; or the mesh has seams.
    pub fn mesh(&self) -> Result<Mesh, MeshError> {
        let mesh = Mesh::new(&self.vertices, &self.triangles).map_err(|source| self.with_line(source))?;
        let seams = mesh.seams();
        match seams.first() {
            None => Ok(mesh),
            Some(&first) => Err(MeshError::Seams { file: self.file.clone(), seams: seams.len(), first }),
        }
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
    let bytes = text_of(bytes).map_err(&whole)?;
    let lines = logical_lines(&bytes);
    let (essence, face_lines, triangles) = essence(file, &lines)?;
    if face_lines.is_empty() {
        return Err(whole("no faces: no line that begins with `f`".into()));
    }
    check_counts(0, triangles)?;

    let no_materials = |_: &Path| Err(tobj::LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut essence.as_bytes(), &tobj::LoadOptions::default(), no_materials)
        .map_err(|error| whole(error.to_string()))?;
    // No objects, groups or materials were handed on, so there is one model.
    let [model] = models.as_slice() else {
        return Err(whole(format!("{} objects where one was expected", models.len())));
    };
    let vertices: Vec<[f64; 3]> = model.mesh.positions.as_chunks().0.to_vec();
    let (mut rest, mut triangles, mut triangle_lines) = (model.mesh.indices.as_slice(), vec![], vec![]);
    for (number, &line) in face_lines.iter().enumerate() {
        // `tobj` lists no arities if all faces are triangles.
        let (corners, others) = rest.split_at(model.mesh.face_arities.get(number).map_or(3, |&arity| arity as usize));
        rest = others;
        let places: Vec<Vector3<f64>> = corners.iter().map(|&corner| vertices[corner as usize].into()).collect();
        let cut = cut(&places).map_err(|why| MeshError::ObjLine {
            file: file.into(),
            line,
            problem: format!("face of {} corners {why}", corners.len()),
        })?;
        triangle_lines.extend(std::iter::repeat_n(line, cut.len()));
        triangles.extend(cut.into_iter().map(|triangle| triangle.map(|k| corners[k as usize])));
    }
    Ok(Soup { vertices, triangles, file: file.into(), lines: triangle_lines })
}

/// Converts UTF-16 to UTF-8, removes the byte order mark, and makes each line end with a line feed.
///
/// # Errors
///
/// The file has another format; the message names it.
fn text_of(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let kinds: [(&[u8], &str); 7] = [
        (b"\x1f\x8b", "compressed by gzip; unpack it first"),
        (b"PK\x03\x04", "a zip archive; unpack it first"),
        (b"glTF", "a glTF file; export it as OBJ"),
        (b"ply", "a PLY file; export it as OBJ"),
        (b"solid", "an STL file; export it as OBJ"),
        (b"Kaydara FBX", "an FBX file; export it as OBJ"),
        (b"BLENDER", "a Blender file; export it as OBJ"),
    ];
    if let Some((_, kind)) = kinds.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err((*kind).into());
    }
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks().0.iter().map(|pair| unit(*pair));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [a, 0, b, 0, ..] if *a > 0 && *b > 0 => utf16(bytes, u16::from_le_bytes),
        [0, a, 0, b, ..] if *a > 0 && *b > 0 => utf16(bytes, u16::from_be_bytes),
        _ => bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).to_vec(),
    };
    if text.contains(&0) {
        return Err("a binary file, not OBJ".into());
    }
    // A lone carriage return becomes a line feed. One before a line feed is white space.
    let is_end = |k: usize| text[k] == b'\r' && text.get(k + 1) != Some(&b'\n');
    Ok((0..text.len()).map(|k| if is_end(k) { b'\n' } else { text[k] }).collect())
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

/// The positions and faces alone, with plain indices, the line of each face, and how many triangles they will be.
fn essence(file: &str, lines: &[(usize, String)]) -> Result<(String, Vec<usize>, usize), MeshError> {
    let words = |line: &'static str| move |(_, text): &&(usize, String)| text.split_whitespace().next() == Some(line);
    let total = lines.iter().filter(words("v")).count() as i64;

    let (mut essence, mut face_lines, mut triangles) = (String::new(), vec![], 0);
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
                face_lines.push(*line);
                triangles += corners - 2;
            }
            _ => {}
        }
    }
    Ok((essence, face_lines, triangles))
}

/// For messages: a file may hold words of a gigabyte.
fn shortened(word: &str) -> String {
    if word.chars().count() <= 40 { word.into() } else { word.chars().take(40).chain("...".chars()).collect() }
}
