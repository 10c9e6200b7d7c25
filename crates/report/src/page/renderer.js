// Draws the scene: maps of sun and sky first, then what the eye sees.

const SUN_TEXELS = 2048, SKY_TEXELS = 512;
/** Shadows fall within so many radii of what the camera frames at first: as far as bodies go, between these. */
const LIT = [1.7, 3];

class Renderer {
  constructor(canvas, scene, header, { radius, right, back }) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL2");
    Object.assign(this, { canvas, gl, scene, radius, theme: THEMES.light, strain: false, mesh: false, forces: true, arrowScale: 1 });
    this.sun = sunDirection(right, back);
    this.reach = clamp(scene.extent() + 0.3 * radius, LIT[0] * radius, LIT[1] * radius);
    this.sunMatrix = lightMatrix(this.sun, this.reach);
    this.skyMatrix = lightMatrix([0, 1, 0], this.reach);
    this.floorMatrix = lightMatrix([0, -1, 0], this.reach);
    /** Pixels of the canvas by pixel of the page, at most; less where that is too much for the machine. */
    this.finest = 2;
    this.slabOrigin = [header.origin[0], header.origin[2]].map((x) => x % 1000);
    this.build();
  }

  /** Everything that lives on the graphics card; again after it was lost. */
  build() {
    const { gl } = this;
    const sources = { SURFACE, ARROW, POINTS, GROUND, BACKGROUND, SHADOW, EDGES };
    this.programs = Object.fromEntries(Object.entries(sources).map(([name, one]) => [name, compile(gl, one)]));
    this.sunMap = depthMap(gl, SUN_TEXELS);
    this.skyMap = depthMap(gl, SKY_TEXELS);
    this.floorMap = depthMap(gl, SKY_TEXELS);
    this.quad = vertexArray(gl, [{ place: 0, size: 2, data: new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]) }]);
    this.surfaces = this.scene.surfaces.map((item) => ({ item, ...this.surfaceArray(item) }));
    this.clouds = this.scene.clouds.map((item) =>
      ({ item, ...vertexArray(gl, [{ place: 0, size: 3, data: item.positions }], "dynamic") }));
    const { positions, normals } = arrowMesh();
    this.arrow = vertexArray(gl, [
      { place: 0, size: 3, data: positions }, { place: 1, size: 3, data: normals },
      ...[3, 4, 5].map((place) => ({ place, size: 3, data: new Float32Array(3), each: true })),
    ]);
    this.arrow.corners = positions.length / 3;
  }

  surfaceArray(item) {
    const { positions, normals } = item.mesh ?? item;
    const attributes = [{ place: 0, size: 3, data: positions }, { place: 1, size: 3, data: normals }];
    if (!item.track) return { ...vertexArray(this.gl, attributes), corners: positions.length / 3 };
    attributes.push({ place: 2, size: 1, data: item.strain });
    return { ...vertexArray(this.gl, attributes, item.triangles), corners: item.triangles.length };
  }

  edgeArray(item, buffers) {
    const ends = edgesOf(item.triangles), data = item.track ? buffers[0] : item.vertices;
    return { ...vertexArray(this.gl, [{ place: 0, size: 3, data }], ends), ends: ends.length };
  }

  draw(camera) {
    const { gl } = this;
    if (gl.isContextLost()) return;
    this.upload();
    gl.enable(gl.DEPTH_TEST);
    this.drawMap(this.sunMap, this.sunMatrix, true);
    this.drawMap(this.skyMap, this.skyMatrix, false);
    this.drawMap(this.floorMap, this.floorMatrix, false);

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.bindMaps();
    const common = this.commonUniforms(camera);
    this.drawBackground(camera, common);
    if (this.scene.ground !== null) this.drawGround(common);
    this.drawSurfaces(common);
    if (this.mesh) this.drawEdges(common);
    this.drawPoints(camera, common);
    if (this.forces) this.drawArrows(common);
  }

  /** What has moved since the last frame. */
  upload() {
    const { gl } = this;
    for (const { item, buffers } of this.surfaces) {
      if (!item.track) continue;
      [item.positions, item.normals, item.strain].forEach((data, k) => refill(gl, buffers[k], data));
    }
    for (const { item, buffers } of this.clouds) refill(gl, buffers[0], item.worldPositions());
  }

  visible(list) {
    return list.filter(({ item }) => item.layer.visible);
  }

  /** Sun is kept off by everything; the sky by what is thick, as its maps take what is between them for filled. */
  drawMap(map, lightMatrix, withAll) {
    const { gl } = this, program = this.programs.SHADOW;
    gl.bindFramebuffer(gl.FRAMEBUFFER, map.target);
    gl.viewport(0, 0, map.size, map.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(program.program);
    setUniforms(gl, program, { lightMatrix, round: false, pointSize: 1 });
    for (const { item, array, corners } of this.visible(this.surfaces)) {
      if (item.twoSided && !withAll) continue;
      setUniforms(gl, program, { model: item.matrix ?? IDENTITY });
      gl.bindVertexArray(array);
      this.drawTriangles(item, corners);
    }
    if (!withAll) return;
    for (const { item, array } of this.visible(this.clouds)) {
      setUniforms(gl, program, { model: IDENTITY, round: true, pointSize: Math.max((item.radius / this.reach) * map.size, 1.5) });
      gl.bindVertexArray(array);
      gl.drawArrays(gl.POINTS, 0, item.count);
    }
  }

  drawTriangles(item, corners) {
    const { gl } = this;
    if (item.track) gl.drawElements(gl.TRIANGLES, corners, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.TRIANGLES, 0, corners);
  }

  bindMaps() {
    const { gl } = this;
    [this.sunMap, this.skyMap, this.floorMap].forEach(({ texture }, unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
    });
  }

  commonUniforms({ viewProjection, eye }) {
    const { horizon, zenith, light } = this.theme;
    const { sun: sunDirection, sunMatrix, skyMatrix, floorMatrix, reach } = this;
    const maps = { sunMap: 0, skyMap: 1, floorMap: 2, sunMatrix, skyMatrix, floorMatrix, reach, sceneRadius: this.radius };
    return { ...maps, viewProjection, eye, sunDirection, horizon, zenith, brightness: light };
  }

  use(name, ...values) {
    const program = this.programs[name];
    this.gl.useProgram(program.program);
    values.forEach((one) => setUniforms(this.gl, program, one));
    return program;
  }

  drawBackground({ right, up, back, tangent }, common) {
    const { gl } = this;
    this.use("BACKGROUND", common, { right, up, back, tangent });
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.quad.array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.enable(gl.DEPTH_TEST);
  }

  drawGround(common) {
    const { gl, radius } = this;
    const own = { height: this.scene.ground, extent: 5.3 * radius, radius, slabEdge: niceBelow(radius / 4) };
    this.use("GROUND", common, own, { groundColour: this.theme.ground, slabOrigin: this.slabOrigin });
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.FRONT);
    // A floor at the height of the ground hides it.
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 16);
    gl.bindVertexArray(this.quad.array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.disable(gl.CULL_FACE);
  }

  drawSurfaces(common) {
    const { gl } = this;
    const scale = { shrunk: linear(SHRUNK), unstrained: linear(UNSTRAINED), stretched: linear(STRETCHED) };
    const program = this.use("SURFACE", common, scale);
    for (const { item, array, corners } of this.visible(this.surfaces)) {
      const { colour, otherSide, paint: { gloss, seed } } = item;
      setUniforms(gl, program, {
        model: item.matrix ?? IDENTITY, gloss, seed, colour, otherSide,
        boarded: item.box ? 1 : 0, boxMiddle: item.box?.middle ?? [0, 0, 0], boxHalf: item.box?.half ?? [1, 1, 1],
        strainScale: this.strain && item.track ? this.scene.strainScale : 0,
      });
      gl.bindVertexArray(array);
      this.drawTriangles(item, corners);
    }
  }

  /** Edges of all triangles, made when they are first asked for. */
  drawEdges(common) {
    const { gl } = this;
    const program = this.use("EDGES", common);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    for (const surface of this.visible(this.surfaces)) {
      const { item, buffers } = surface;
      surface.edges ??= this.edgeArray(item, buffers);
      setUniforms(gl, program, { model: item.matrix ?? IDENTITY });
      gl.bindVertexArray(surface.edges.array);
      gl.drawElements(gl.LINES, surface.edges.ends, gl.UNSIGNED_INT, 0);
    }
    gl.disable(gl.BLEND);
  }

  drawPoints({ right, up, focal }, common) {
    const { gl } = this;
    const program = this.use("POINTS", common, { right, up, focal, smallest: 1.6 * this.density() });
    gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    for (const { item, array } of this.visible(this.clouds)) {
      setUniforms(gl, program, { colour: item.colour, gloss: item.paint.gloss, radius: item.radius });
      gl.bindVertexArray(array);
      gl.drawArrays(gl.POINTS, 0, item.count);
    }
    gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
  }

  /** Arrows in full where they are seen, faintly where they are inside of something. */
  drawArrows(common) {
    const { gl, arrow } = this;
    const arrows = this.scene.shown.filter(({ force }) => norm(force) > 0.02 * this.scene.typicalForce);
    if (arrows.length === 0) return;
    const longest = this.arrowLength();
    const fill = (k, of) => refill(gl, arrow.buffers[2 + k], new Float32Array(arrows.flatMap(of)));
    fill(0, (one) => one.position);
    fill(1, ({ force }) => {
      // The few that are far above the rest are not as long as they are strong.
      const length = Math.min(norm(force) / this.scene.typicalForce, 2.5) * longest;
      return scale(length / norm(force), force);
    });
    fill(2, (one) => linear(FORCE_COLOURS[one.interface % FORCE_COLOURS.length]));
    const program = this.use("ARROW", common, { width: 0.011 * this.radius, opacity: 1 });
    gl.bindVertexArray(arrow.array);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, arrow.corners, arrows.length);

    setUniforms(gl, program, { opacity: 0.4 });
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.GREATER);
    gl.depthMask(false);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, arrow.corners, arrows.length);
    gl.depthMask(true);
    gl.depthFunc(gl.LESS);
    gl.disable(gl.BLEND);
  }

  /** Of the typical force [m]. */
  arrowLength() {
    return 0.28 * this.radius * this.arrowScale;
  }

  /** Takes note of how long a frame took while it played [ms]: too long ones in a row cost fineness, not smoothness. */
  pace(milliseconds) {
    this.slow = milliseconds > 22 ? (this.slow ?? 0) + 1 : 0;
    if (this.slow < 12 || this.finest <= 1) return;
    this.finest = Math.max(1, 0.8 * this.finest);
    this.slow = 0;
  }

  density() {
    return this.canvas.width / Math.max(this.canvas.clientWidth, 1);
  }

  /** Fits the canvas to its place on the page; whether that changed it. */
  resize() {
    const density = Math.min(window.devicePixelRatio || 1, this.finest);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map((x) => Math.max(1, Math.round(x * density)));
    if (width === this.canvas.width && height === this.canvas.height) return false;
    [this.canvas.width, this.canvas.height] = [width, height];
    return true;
  }
}

const IDENTITY = poseMatrix([0, 0, 0], [0, 0, 0, 1]);
