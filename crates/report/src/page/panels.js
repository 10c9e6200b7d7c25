// What stands beside scene and charts: transport, layers, tables, help.

const find = (id) => document.getElementById(id);

/** Buttons, slider and speed, all of which show what the player does. */
function connectTransport(player) {
  const [play, time, clock, speed] = ["play", "time", "clock", "speed"].map(find);
  const last = Math.max(player.times.length - 1, 0);
  // In parts of a frame, so that dragging is smooth.
  Object.assign(time, { min: 0, max: last, step: 0.125, value: 0 });
  play.addEventListener("click", () => player.toggle());
  find("back").addEventListener("click", () => player.step(-1));
  find("forward").addEventListener("click", () => player.step(1));
  time.addEventListener("input", () => {
    const i = Math.min(Math.floor(time.value), last), next = player.times[i + 1] ?? player.times[i];
    player.playing = false;
    player.seekTime(mix(player.times[i], next, time.value - i));
  });
  time.addEventListener("keydown", (event) => {
    const frames = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!frames) return;
    event.preventDefault();
    player.step(frames);
  });
  speed.addEventListener("change", () => player.setSpeed(Number(speed.value)));
  const digits = player.last - player.first < 1 ? 3 : 2;
  player.listen(() => {
    const { i, t } = player.place();
    if (document.activeElement !== time || Number(time.value) !== i + t) time.value = i + t;
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
    play.classList.toggle("playing", player.playing);
    const text = `${player.time.toFixed(digits)} s`;
    clock.textContent = `${text} / ${player.last.toFixed(digits)} s`;
    time.setAttribute("aria-valuetext", `${text}, frame ${player.frame() + 1} of ${last + 1}`);
  });
}

function showLayers(scene, changed) {
  scene.layers.forEach((layer, k) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => { layer.visible = box.checked; changed(); });
    layer.box = box;
    const key = k < 9 ? element("kbd", {}, String(k + 1)) : "";
    const chip = element("span", { class: "chip", style: `background: rgb(${layer.colour.map(Number).join(",")})` });
    find("layers").append(element("label", { class: "switch" }, box, chip, layer.name, key));
  });
}

/** Switches for strain and forces, where there are any, with what their colours and lengths mean. */
function connectShowing(scene, renderer, changed) {
  const [strain, mesh, forces, length] = ["strain", "mesh", "forces", "arrow-length"].map(find);
  find("strain-switch").hidden = !scene.hasStrain();
  find("forces-switch").hidden = find("length-switch").hidden = scene.typicalForce === 0;
  const percent = `${shortNumber(100 * scene.strainScale)} %`;
  find("strain-low").textContent = `−${percent}`;
  find("strain-high").textContent = `+${percent}`;
  const show = () => {
    renderer.strain = strain.checked;
    renderer.mesh = mesh.checked;
    renderer.forces = forces.checked;
    renderer.arrowScale = Number(length.value);
    find("strain-legend").hidden = !strain.checked;
    find("force-legend").hidden = !forces.checked || scene.typicalForce === 0;
    const metres = shortNumber(renderer.arrowLength(), 2);
    find("force-legend").textContent = `arrow of ${metres} m: ${shortNumber(scene.typicalForce, 2)} N`;
    changed();
  };
  [strain, mesh, forces, length].forEach((input) => input.addEventListener("input", show));
  show();
}

function showTables(header) {
  find("name").textContent = header.name;
  document.title = header.name;
  const report = readReport(header.report);
  const failed = report.checks.filter((check) => !check.pass).length;
  const verdict = find("verdict");
  find("seen").textContent = seen(header);
  if (!header.report) verdict.textContent = "the run was cut short";
  else if (report.checks.length > 0) verdict.textContent = `${report.checks.length - failed} of ${report.checks.length} checks passed`;
  verdict.classList.toggle("bad", failed > 0 || !header.report);
  if (report.warnings.length > 0) verdict.textContent += `, ${report.warnings.length} warning${report.warnings.length > 1 ? "s" : ""}`;
  find("warnings").append(...report.warnings.map(({ text }) => element("li", {}, text)));
  find("warnings-section").hidden = report.warnings.length === 0;

  find("checks").append(...report.checks.map(checkRow));
  find("checks-section").hidden = report.checks.length === 0;
  find("figures").append(...Object.entries(report.figures).map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, shortNumber(value)))));
  find("figures-section").hidden = Object.keys(report.figures).length === 0;

  const about = [
    ["Command", element("code", {}, header.command.join(" "))],
    ["Seed", String(header.seed)],
    ...report.times,
    ...header.provenance,
    ["Simulators", header.simulators.join(", ")],
    ["Couplings", header.interfaces.map(([follower, leader]) => `${follower} on ${leader}`).join(", ") || "none"],
    ["Frames", `${header.times.length} shown of ${header.charts.times.length}`],
    ...[...report.notes.map(({ text }) => text), ...header.notes].map((note) => ["Note", note]),
  ];
  const parameters = flat(parsed(header.parameters));
  for (const [name, value] of parameters) {
    find("parameters").append(element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
  }
  find("parameters-section").hidden = parameters.length === 0;
  find("about").append(...about.flatMap(([term, words]) => [element("dt", {}, term), element("dd", {}, words)]));
}

/** Two sentences on what is to be seen. */
function seen({ simulators, interfaces, times }) {
  const list = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0]);
  const span = `${shortNumber((times.at(-1) ?? 0) - (times[0] ?? 0), 3)} s`;
  if (simulators.length === 1) return `A run of one simulator, ${simulators[0]}, over ${span}. Point at a chart to see the scene at that time.`;
  const first = `A run of ${simulators.length} simulators over ${span}, each stepped on its own: ${list(simulators)}.`;
  if (interfaces.length === 0) return `${first} No coupling acts between them.`;
  const pairs = list(interfaces.map(([follower, leader]) => `${follower} on ${leader}`));
  return `${first} Arrows are the forces of their couplings, ${pairs}; the charts show their errors of energy and momentum.`;
}

/** Of a list of parameters, the table has so many. */
const LISTED = 20;

/** Names and values of a nested object, in a flat list. */
function flat(value, name = "") {
  const text = (one) => (Number.isInteger(one) ? String(one) : typeof one === "number" ? shortNumber(one, 6) : String(one ?? "none"));
  if (value === null || typeof value !== "object") return name ? [[name, text(value)]] : [];
  const entries = Object.entries(value), shown = Array.isArray(value) ? entries.slice(0, LISTED) : entries;
  const rest = shown.length < entries.length ? [[name, `and ${entries.length - shown.length} more`]] : [];
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) {
    return [[name, [...shown.map(([, one]) => text(one)), ...rest.map(([, words]) => words)].join(", ") || "none"]];
  }
  return [...shown.flatMap(([key, one]) => flat(one, name ? `${name}.${key}` : key)), ...rest];
}

/** An object in JSON; an empty one if the text is something else. */
function parsed(text) {
  try {
    return Object(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}

/** The report of a run; of somebody else's, what it has of one. */
function readReport(text) {
  const { checks = [], warnings = [], notes = [], figures = {}, stopped, simulated_seconds, wall_seconds } = parsed(text);
  const times = wall_seconds === undefined ? [] : [["Time", `${shortNumber(simulated_seconds, 4)} s simulated in ${shortNumber(wall_seconds, 3)} s`]];
  return { checks, warnings: stopped ? [stopped, ...warnings] : warnings, notes, figures, times };
}

function checkRow({ name, value, bound, unit, pass }) {
  return element("tr", {},
    element("td", {}, element("span", { class: pass ? "pass" : "fail" }, pass ? "PASS" : "FAIL")),
    element("th", { scope: "row" }, name),
    element("td", { class: "number" }, shortNumber(value)),
    element("td", { class: "number" }, boundText(bound)),
    element("td", {}, unit));
}

function boundText(bound) {
  const [kind, limit] = Object.entries(bound ?? {})[0] ?? [];
  if (kind === "within") return `${shortNumber(limit[0])} to ${shortNumber(limit[1])}`;
  return `${{ at_most: "≤", at_least: "≥", equals: "=" }[kind] ?? ""} ${shortNumber(limit)}`;
}

/** Says in a clear line what is missing; the rest of the page goes on. */
function complain(words) {
  const place = find("complaint");
  place.textContent = words;
  place.hidden = words === "";
}
