// Triangles ready to be drawn: normals, what is a box.

/** Edges of bodies with a smaller angle between their faces are shaded as one smooth surface. */
const CREASE = (35 * Math.PI) / 180;

const corner = (positions, i) => [positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]];

/** Corners of a rigid shape, three a triangle, with the normals of those faces around that are not across a crease. */
function creased(vertices, triangles) {
  const faces = triangles.length / 3;
  const flat = [], weighted = [];
  const around = Array.from({ length: vertices.length / 3 }, () => []);
  for (let f = 0; f < faces; f++) {
    const points = [0, 1, 2].map((k) => corner(vertices, triangles[3 * f + k]));
    const normal = normalize(cross(sub(points[1], points[0]), sub(points[2], points[0])), [0, 0, 0]);
    flat.push(normal);
    for (let k = 0; k < 3; k++) {
      const [u, v] = [sub(points[(k + 1) % 3], points[k]), sub(points[(k + 2) % 3], points[k])];
      weighted.push(scale(Math.acos(clamp(dot(normalize(u), normalize(v)), -1, 1)), normal));
      around[triangles[3 * f + k]].push(3 * f + k);
    }
  }
  const positions = new Float32Array(9 * faces), normals = new Float32Array(9 * faces);
  const limit = Math.cos(CREASE);
  for (let c = 0; c < 3 * faces; c++) {
    const own = flat[Math.floor(c / 3)];
    let sum = [0, 0, 0];
    for (const other of around[triangles[c]]) {
      if (dot(flat[Math.floor(other / 3)], own) >= limit) sum = add(sum, weighted[other]);
    }
    positions.set(corner(vertices, triangles[c]), 3 * c);
    normals.set(normalize(sum, own), 3 * c);
  }
  return { positions, normals };
}

/** Smooth normals of a deforming surface, weighted by area, into `normals`. */
function smoothNormals(positions, triangles, normals) {
  normals.fill(0);
  for (let f = 0; f < triangles.length; f += 3) {
    const a = 3 * triangles[f], b = 3 * triangles[f + 1], c = 3 * triangles[f + 2];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    // A vertex that is not shown leaves its neighbours the normals of the rest.
    if (!(x * x + y * y + z * z >= 0)) continue;
    normals[a] += x; normals[a + 1] += y; normals[a + 2] += z;
    normals[b] += x; normals[b + 1] += y; normals[b + 2] += z;
    normals[c] += x; normals[c + 1] += y; normals[c + 2] += z;
  }
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.sqrt(normals[i] ** 2 + normals[i + 1] ** 2 + normals[i + 2] ** 2) || 1;
    normals[i] /= length; normals[i + 1] /= length; normals[i + 2] /= length;
  }
}

/** Edges of triangles, each once, as pairs of corners. */
function edgesOf(triangles) {
  const seen = new Set(), edges = [];
  for (let c = 0; c < triangles.length; c++) {
    const a = triangles[c], b = triangles[c % 3 === 2 ? c - 2 : c + 1];
    const key = Math.min(a, b) * 4294967296 + Math.max(a, b);
    if (seen.has(key)) continue;
    seen.add(key);
    edges.push(a, b);
  }
  return new Uint32Array(edges);
}

/** Lowest and highest coordinates. */
function bounds(positions) {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    if (positions[i] < low[i % 3]) low[i % 3] = positions[i];
    if (positions[i] > high[i % 3]) high[i % 3] = positions[i];
  }
  return [low, high];
}

/** The same without the outermost fiftieth at each side. */
function mostBounds(positions) {
  const along = (axis, part) => quantile(positions.filter((x, i) => i % 3 === axis && !Number.isNaN(x)), part);
  if (positions.length === 0) return bounds(positions);
  return [0.02, 0.98].map((part) => [0, 1, 2].map((axis) => along(axis, part)));
}

/** Middle and half size, if all vertices are at the corners of a box along the axes and each corner has one. */
function boxOf(vertices) {
  const [low, high] = bounds(vertices);
  const half = scale(0.5, sub(high, low)), middle = scale(0.5, add(low, high));
  const corners = new Set();
  for (let i = 0; i < vertices.length; i++) {
    const k = i % 3;
    if (half[k] - Math.abs(vertices[i] - middle[k]) > 1e-4 * half[k]) return null;
  }
  for (let i = 0; i < vertices.length; i += 3) {
    corners.add([0, 1, 2].map((k) => (vertices[i + k] > middle[k] ? 1 : 0)).join(""));
  }
  return corners.size === 8 ? { half, middle } : null;
}

/** An arrow of length 1 along Z: a shaft and a head, whose `w` tells how far to stretch and how to keep the head's shape. */
function arrowMesh(sides = 12) {
  const positions = [], normals = [];
  // Radius and place along the arrow, of the shaft [0 .. 1) and the head (2 .. 3].
  const ring = (k) => [Math.cos((2 * Math.PI * k) / sides), Math.sin((2 * Math.PI * k) / sides)];
  const band = (r0, z0, r1, z1, slope) => {
    for (let k = 0; k < sides; k++) {
      const [a, b] = [ring(k), ring(k + 1)];
      const at = (p, r, z) => { positions.push(r * p[0], r * p[1], z); normals.push(...normalize([p[0], p[1], slope])); };
      at(a, r0, z0); at(b, r0, z0); at(b, r1, z1);
      at(a, r0, z0); at(b, r1, z1); at(a, r1, z1);
    }
  };
  band(0.35, 0, 0.35, 1, 0);
  band(0.35, 1, 1, 1, -20);
  band(1, 1, 0, 2, 0.4);
  return { positions: new Float32Array(positions), normals: new Float32Array(normals) };
}
