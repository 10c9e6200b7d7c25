// The camera: it circles a target; pointers, wheel and keys move it.

class Orbit {
  /** `camera` is the header's; `origin` is subtracted from its bounds. */
  constructor(camera, origin, fallback) {
    const sound = camera.bounds.flat().every(Number.isFinite) && camera.direction.every(Number.isFinite);
    this.bounds = sound ? camera.bounds.map((corner) => sub(corner, origin)) : fallback ?? [[-1, -1, -1], [1, 1, 1]];
    const back = normalize(sound ? camera.direction : [0.55, 0.35, 1], [0, 0, 1]);
    this.first = { yaw: Math.atan2(back[0], back[2]), pitch: Math.asin(clamp(back[1], -1, 1)) };
    this.fieldOfView = ((camera.field_of_view || 30) * Math.PI) / 180;
    this.margin = camera.margin ?? 0.05;
    this.aspect = 1.6;
    const half = scale(0.5, sub(this.bounds[1], this.bounds[0])).map((h) => Math.max(h, 0.005));
    this.radius = norm(half);
    this.reset();
  }

  reset() {
    Object.assign(this, this.first);
    this.fit(this.bounds);
    this.moved = false;
  }

  setAspect(aspect) {
    this.aspect = aspect;
    // Until someone takes hold of it, the view stays the one that was asked for.
    if (!this.moved) this.reset();
  }

  axes() {
    const { yaw } = this, pitch = clamp(this.pitch, -1.5706, 1.5706);
    const back = [Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch)];
    const right = [Math.cos(yaw), 0, -Math.sin(yaw)];
    return { right, up: cross(back, right), back };
  }

  /** As near as it can with the box inside the picture (camera.rs). */
  fit([low, high]) {
    const { right, up, back } = this.axes();
    const middle = scale(0.5, add(low, high));
    const half = scale(0.5, sub(high, low)).map((h) => Math.max(h, 0.005));
    const corners = Array.from({ length: 8 }, (_, k) => half.map((h, axis) => ((k >> axis) & 1 ? h : -h)));
    const tangent = Math.tan(0.5 * this.fieldOfView) * (1 - 2 * this.margin);
    const along = (axis, t) => {
      const most = (sign) => Math.max(...corners.map((p) => sign * dot(p, axis) + t * dot(p, back)));
      const [a, b] = [most(1), most(-1)];
      return [0.5 * (a - b), (a + b) / (2 * t)];
    };
    const [ex, dx] = along(right, tangent * this.aspect);
    const [ey, dy] = along(up, tangent);
    const nearest = Math.max(...corners.map((p) => dot(p, back)));
    this.target = add(middle, add(scale(ex, right), scale(ey, up)));
    this.distance = Math.max(dx, dy, nearest + 0.01 * norm(half));
    this.moved = true;
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = clamp(this.pitch + pitch, -1.5, 1.5);
    this.moved = true;
  }

  /** Zooms with the place kept that is at `at`, from the middle [halves of width and height], as far away as the target. */
  zoom(factor, [x, y] = [0, 0]) {
    const before = this.distance;
    this.distance = clamp(before * factor, 0.02 * this.radius, 40 * this.radius);
    const { right, up } = this.axes(), size = (before - this.distance) * Math.tan(0.5 * this.fieldOfView);
    this.target = add(this.target, add(scale(x * size * this.aspect, right), scale(y * size, up)));
    this.moved = true;
  }

  /** Turns about `place` from now on, from half as far away. */
  focus(place) {
    this.target = place;
    this.zoom(0.5);
  }

  /** From the eye through a place of the picture [halves of width and height from its middle]. */
  ray([x, y]) {
    const { right, up, back } = this.axes(), tangent = Math.tan(0.5 * this.fieldOfView);
    const way = add(add(scale(x * tangent * this.aspect, right), scale(y * tangent, up)), scale(-1, back));
    return { eye: add(this.target, scale(this.distance, back)), way };
  }

  /** Moves the target across the picture, by parts of its height. */
  pan(x, y) {
    const { right, up } = this.axes();
    const size = 2 * this.distance * Math.tan(0.5 * this.fieldOfView);
    this.target = add(this.target, add(scale(-x * size, right), scale(y * size, up)));
    this.moved = true;
  }

  camera(height) {
    const { right, up, back } = this.axes();
    const eye = add(this.target, scale(this.distance, back));
    const near = 0.02 * Math.min(this.distance, this.radius);
    const tangent = Math.tan(0.5 * this.fieldOfView);
    const projection = perspective(this.fieldOfView, this.aspect, near, this.distance + norm(this.target) + 40 * this.radius);
    return {
      eye, right, up, back, tangent: [tangent * this.aspect, tangent], focal: (0.5 * height) / tangent,
      viewProjection: multiply(projection, viewMatrix(eye, right, up, back)),
    };
  }

  /** Position of the pointer from the centre of the canvas [halves of width and height]. */
  static at(canvas, { x, y }) {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    return [(2 * (x - left)) / width - 1, 1 - (2 * (y - top)) / height];
  }

  /** One finger or the left button turns, two fingers or another button move and zoom, the wheel zooms. */
  listen(canvas, changed) {
    const pointers = new Map();
    const middle = () => {
      const all = [...pointers.values()];
      const spread = all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0;
      const mean = (key) => all.reduce((sum, one) => sum + one[key], 0) / all.length;
      return { x: mean("x"), y: mean("y"), spread };
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pointers.has(event.pointerId)) return;
      const before = middle();
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const now = middle();
      const [x, y] = [now.x - before.x, now.y - before.y].map((d) => d / canvas.clientHeight);
      const panning = pointers.size > 1 || event.shiftKey || event.buttons & 6;
      if (panning) this.pan(x, y);
      else this.turn(-3 * x, 3 * y);
      if (before.spread > 0 && now.spread > 0) this.zoom(before.spread / now.spread, Orbit.at(canvas, now));
      changed();
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, (event) => pointers.delete(event.pointerId));
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(clamp(event.deltaY, -120, 120) * 0.0016), Orbit.at(canvas, event));
      changed();
    }, { passive: false });
  }
}
