// What is where at a time: the state that the renderer draws.

/** A body, or a deforming surface. */
class SurfaceItem {
  constructor(header, sections, layer, strainScale) {
    Object.assign(this, { name: header.name, paint: header.paint, twoSided: header.two_sided, layer, strainScale });
    this.colour = linear(header.paint.colour);
    this.otherSide = this.twoSided ? otherSide(header.paint.colour) : this.colour;
    this.vertices = floats(sections[header.vertices]);
    this.triangles = words(sections[header.triangles]);
    if (header.poses !== null) {
      this.poses = readPoses(sections[header.poses]);
      this.mesh = creased(this.vertices, this.triangles);
      this.box = header.paint.boards ? boxOf(this.vertices) : null;
      this.matrix = poseMatrix([0, 0, 0], [0, 0, 0, 1]);
    } else {
      this.track = new Track(header.track, sections);
      this.positions = new Float32Array(this.vertices.length);
      this.normals = new Float32Array(this.vertices.length);
      this.strain = new Float32Array(this.vertices.length / 3);
      this.strains = readStrains(sections[header.strains], this.strain.length);
    }
  }

  pose(i, t) {
    if (this.track) {
      this.track.positions(i, t, this.positions);
      smoothNormals(this.positions, this.triangles, this.normals);
      this.poseStrain(i, t);
      return;
    }
    const a = this.poses.subarray(7 * i, 7 * i + 7), b = t > 0 ? this.poses.subarray(7 * i + 7, 7 * i + 14) : a;
    const position = [0, 1, 2].map((k) => mix(a[k], b[k], t));
    this.matrix = poseMatrix(position, slerp(Array.from(a.subarray(3)), Array.from(b.subarray(3)), t));
  }

  poseStrain(i, t) {
    const { strains, strain } = this, a = i * strain.length, b = t > 0 ? a + strain.length : a;
    for (let v = 0; v < strain.length; v++) strain[v] = (this.strainScale * mix(strains[a + v], strains[b + v], t)) / STRAIN_END;
  }

  /** Vertices where they are now. */
  worldPositions() {
    if (this.track) return this.positions;
    const m = this.matrix, out = new Float32Array(this.vertices.length);
    for (let v = 0; v < out.length; v += 3) {
      for (let k = 0; k < 3; k++) {
        out[v + k] = m[k] * this.vertices[v] + m[4 + k] * this.vertices[v + 1] + m[8 + k] * this.vertices[v + 2] + m[12 + k];
      }
    }
    return out;
  }
}

/** The free particles of a simulator. */
class CloudItem {
  constructor(header, sections, layer) {
    Object.assign(this, { name: header.name, paint: header.paint, radius: header.radius, layer });
    this.colour = linear(header.paint.colour);
    this.track = new Track(header.track, sections);
    this.positions = new Float32Array(3 * this.track.most);
    this.count = 0;
  }

  pose(i, t) {
    this.count = this.track.positions(i, t, this.positions);
  }

  worldPositions() {
    return this.positions.subarray(0, 3 * this.count);
  }
}

class Scene {
  constructor(header, sections) {
    this.times = header.times;
    this.ground = header.ground === null ? null : header.ground - header.origin[1];
    this.layers = layersOf(header);
    const layer = (simulator) => this.layers.find((one) => one.simulator === simulator);
    this.surfaces = header.surfaces.map((one) => new SurfaceItem(one, sections, layer(one.simulator), header.strain_scale));
    this.clouds = header.clouds.map((one) =>
      new CloudItem({ name: header.simulators[one.simulator], ...one }, sections, layer(one.simulator)));
    // A floor that the ground shows has its handle below: an arrow there would tell nothing.
    const above = ({ position }) => this.ground === null || position[1] >= this.ground;
    this.forces = readForces(header.forces, sections).map((frame) => frame.filter(above));
    // The arrow of a force that nearly all others stay below.
    const sizes = this.forces.flat().map((one) => norm(one.force)).filter((size) => size > 0);
    this.typicalForce = quantile(sizes, 0.95);
    this.shown = [];
    this.strainScale = header.strain_scale;
    this.pose(0, 0);
  }

  hasStrain() {
    return this.surfaces.some((one) => one.track);
  }

  /** Brings everything to between frames `i` and `i + 1`. */
  pose(i, t) {
    if (this.times.length === 0) return;
    for (const one of this.surfaces) one.pose(i, t);
    for (const one of this.clouds) one.pose(i, t);
    // A force is a mean over the windows up to a frame: between two frames the later one's acts.
    this.shown = this.forces[t > 0 ? i + 1 : i];
  }

  /** How far from the origin bodies get. */
  extent() {
    const poses = this.surfaces.flatMap((one) => (one.poses ? Array.from({ length: this.times.length }, (_, i) => one.poses.subarray(7 * i, 7 * i + 3)) : []));
    return quantile(poses.map(norm), 0.98);
  }

  /** Corners of all that is visible now, but for a few stray particles; or null. */
  visibleBounds() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const one of [...this.surfaces, ...this.clouds]) {
      if (!one.layer.visible) continue;
      const [a, b] = (one.radius ? mostBounds : bounds)(one.worldPositions());
      for (let k = 0; k < 3; k++) [low[k], high[k]] = [Math.min(low[k], a[k]), Math.max(high[k], b[k])];
    }
    return low[0] <= high[0] ? [low, high] : null;
  }
}

/** A layer for each simulator that shows anything. */
function layersOf(header) {
  const used = new Set([...header.surfaces, ...header.clouds].map((one) => one.simulator));
  return header.simulators.flatMap((name, simulator) => {
    const paint = [...header.surfaces, ...header.clouds].find((one) => one.simulator === simulator)?.paint;
    return used.has(simulator) ? [{ name, simulator, visible: true, colour: paint.colour }] : [];
  });
}
