// The page: reads the data, shows the scene, and goes on while it plays.

function showCharts(header, player) {
  const charts = plots(header).map((one) => new Chart(player, one));
  find("charts").append(...charts.map(({ figure }) => figure));
  const resize = () => charts.forEach((chart) => chart.resize());
  new ResizeObserver(resize).observe(find("charts"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
  player.listen(() => charts.forEach((chart) => chart.update()));
  return charts;
}

/** Keys that act wherever the focus is, unless a control there has its own use for them. */
function listenToKeys({ player, orbit, layers, frameAll, changed }) {
  const actions = {
    " ": () => player.toggle(), ".": () => player.step(1), ",": () => player.step(-1),
    r: () => orbit.reset(), f: frameAll, h: () => find("help-toggle").click(),
    "+": () => orbit.zoom(0.85), "=": () => orbit.zoom(0.85), "-": () => orbit.zoom(1 / 0.85),
    s: () => find("strain").click(), v: () => find("forces").click(), w: () => find("mesh").click(),
    Home: () => player.seek(0), End: () => player.seek(Infinity),
  };
  const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08] };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const tag = event.target.tagName;
    const own = tag === "SELECT" || (tag === "BUTTON" && event.key === " ") || (tag === "INPUT" && (event.target.type !== "checkbox" || event.key === " "));
    const onScene = event.target === find("scene") || event.target === document.body;
    if (own && !/^[.,rfhsvw]$/i.test(event.key)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key in turns && onScene) {
      const [yaw, pitch] = turns[key];
      if (event.shiftKey) orbit.pan(-yaw, pitch);
      else orbit.turn(yaw, pitch);
    } else if (/^[1-9]$/.test(key)) layers[key - 1]?.box.click();
    else if (key in actions && (onScene || key.length === 1)) actions[key]();
    else return;
    event.preventDefault();
    changed();
  });
}

function connectHelp() {
  const [toggle, help] = [find("help-toggle"), find("help")];
  toggle.addEventListener("click", () => {
    help.hidden = !help.hidden;
    toggle.setAttribute("aria-expanded", String(!help.hidden));
  });
}

function showScene(header, sections, player) {
  const canvas = find("scene");
  const scene = new Scene(header, sections);
  const orbit = new Orbit(header.camera, header.origin, scene.visibleBounds());
  const renderer = new Renderer(canvas, scene, header, { radius: orbit.radius, ...orbit.axes() });
  let stale = true, frames = 0, posed = "";
  const changed = () => { stale = true; };

  const pose = () => {
    const { i, t } = player.place();
    const place = `${i} ${t}`;
    if (place !== posed) scene.pose(i, t);
    posed = place;
  };
  const draw = () => {
    if (renderer.resize() || stale) {
      orbit.setAspect(canvas.width / canvas.height);
      pose();
      renderer.draw(orbit.camera(canvas.height));
      frames++;
      stale = false;
    }
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => { renderer.theme = dark.matches ? THEMES.dark : THEMES.light; changed(); };
  dark.addEventListener("change", dress);
  dress();
  const frameAll = () => { const box = scene.visibleBounds(); if (box) orbit.fit(box); changed(); };
  find("reset").addEventListener("click", () => { orbit.reset(); changed(); });
  find("frame").addEventListener("click", frameAll);
  showLayers(scene, changed);
  connectShowing(scene, renderer, changed);
  orbit.listen(canvas, changed);
  canvas.addEventListener("dblclick", (event) => {
    pose();
    const { eye, way } = orbit.ray(Orbit.at(canvas, event));
    const place = pick(scene, eye, way);
    if (place) orbit.focus(place);
    changed();
  });
  player.listen(changed);
  listenToKeys({ player, orbit, layers: scene.layers, frameAll, changed });
  new ResizeObserver(changed).observe(canvas);
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    complain("The graphics card was taken away; charts and tables still work. The scene comes back when the card does.");
  });
  canvas.addEventListener("webglcontextrestored", () => { renderer.build(); complain(""); changed(); });

  return {
    tick(milliseconds) {
      if (player.playing) renderer.pace(milliseconds);
      draw();
    },
    layers: scene.layers,
    /** The place that the view turns about, how far from it the eye is [m], and the directions of the picture. */
    view: () => ({ target: orbit.target, distance: orbit.distance, ...orbit.axes() }),
    drawn: () => frames,
    positionsOf(name) {
      pose();
      return [...scene.surfaces, ...scene.clouds].find((one) => one.name === name)?.worldPositions().slice();
    },
    /** Where on the canvas a place of the scene is seen, from its lower left corner. */
    pixelOf([x, y, z]) {
      const m = orbit.camera(canvas.height).viewProjection;
      const [u, v, w] = [0, 1, 3].map((k) => m[k] * x + m[4 + k] * y + m[8 + k] * z + m[12 + k]);
      return [(0.5 + (0.5 * u) / w) * canvas.width, (0.5 + (0.5 * v) / w) * canvas.height].map(Math.floor);
    },
    strainOf(name) {
      pose();
      return scene.surfaces.find((one) => one.name === name)?.strain?.slice();
    },
    /** Which free particle of a simulator is which of its positions: the same number in every frame. */
    numbersOf: (name) => scene.clouds.find((one) => one.name === name)?.track.numbers(player.place().i),
    pixels() {
      stale = true;
      draw();
      const { gl } = renderer, bytes = new Uint8Array(4 * canvas.width * canvas.height);
      gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
      return bytes;
    },
    names: [...scene.surfaces, ...scene.clouds].map(({ name }) => name),
  };
}

/** Time goes on, and what shows it follows: also without a scene. */
function start(player, handle) {
  let before = performance.now();
  const next = (now) => {
    player.advance((now - before) / 1000);
    handle.tick?.(now - before);
    before = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

async function main() {
  const header = readHeader();
  const player = new Player(header.times);
  showTables(header);
  connectHelp();
  connectTransport(player);
  const charts = showCharts(header, player);
  const handle = {
    frames: header.times.length, charts, get frame() { return player.frame(); }, get time() { return player.time; },
    get playing() { return player.playing; },
    seek: (frame) => player.seek(frame), play: () => player.play(), pause: () => player.pause(),
  };
  try {
    Object.assign(handle, showScene(header, await readSections(), player));
    // Who asked for less motion starts it.
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  } catch (error) {
    find("viewer").classList.add("without-scene");
    complain(`The scene is not shown: ${error.message}. Charts and tables still work.`);
  }
  player.changed();
  start(player, handle);
  /** For tests, and for those who want to look closer. */
  window.partita = handle;
}

main();
