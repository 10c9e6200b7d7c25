// One chart: lines or stacked areas over time, with a cursor that is the scene's time.

const CHART_HEIGHT = 170;
const SERIES_COLOURS = 8;

/** An element with attributes and children; text is always text. */
function element(tag, attributes = {}, ...children) {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) one.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) one.setAttribute(name, value);
  }
  one.append(...children);
  return one;
}

class Chart {
  /** `series` are { name, values }; values may be null. `log` where they span decades; `stacked` for parts of a whole. */
  constructor(player, { title, unit, times, series, log = false, stacked = false }) {
    Object.assign(this, { player, title, unit, times, series, stacked });
    this.hasData = times.length > 0 && series.some(({ values }) => values.some((y) => y !== null));
    this.log = log && this.spansDecades();
    this.scale = this.valueScale();
    this.build();
  }

  get data() {
    return this.series.map(({ name, values }) => ({ name, values }));
  }

  spansDecades() {
    const sizes = this.series.flatMap(({ values }) => values).filter((y) => y > 0);
    return sizes.length > 1 && quantile(sizes, 0.99) > 20 * quantile(sizes, 0.02);
  }

  build() {
    this.canvas = element("canvas", { tabindex: 0, role: "slider", "aria-label": `${this.title}: time`, "aria-describedby": `${this.id()}-words` });
    this.values = this.series.map(() => element("output"));
    const keys = this.series.map(({ name }, k) =>
      element("li", { style: `--series: var(--series-${k % SERIES_COLOURS})` }, element("span", { class: "key" }), name, " ", this.values[k]));
    const unit = this.unit ? element("span", { class: "unit" }, ` [${this.unit}]`) : "";
    this.figure = element("figure", { class: "chart" },
      element("figcaption", {}, element("h3", {}, this.title, unit), element("ul", { class: "keys" }, ...keys)),
      this.canvas,
      element("p", { class: "unseen", id: `${this.id()}-words` }, this.summary()));
    if (!this.hasData) {
      this.canvas.replaceWith(element("p", { class: "none" }, "This run has no such numbers."));
      return;
    }
    this.listen();
  }

  id() {
    return `chart-${this.title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  }

  summary() {
    const told = this.series.map(({ name, values }) => {
      const known = values.filter((y) => y !== null);
      if (known.length === 0) return `${name}: unknown`;
      const [least, most] = known.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)], [Infinity, -Infinity]);
      return `${name} from ${shortNumber(least)} to ${shortNumber(most)}, at the end ${shortNumber(known.at(-1))}`;
    });
    return `${this.title}${this.unit ? ` in ${this.unit}` : ""}: ${told.join("; ")}.`;
  }

  listen() {
    const seek = (event) => {
      const { left } = this.canvas.getBoundingClientRect();
      const { x0, x1 } = this.area();
      const [first, last] = this.timeRange();
      this.player.playing = false;
      this.player.seekTime(first + clamp((event.clientX - left - x0) / (x1 - x0), 0, 1) * (last - first));
    };
    // A mouse moves time by being there, a finger by being drawn across; up and down it still scrolls the page.
    this.canvas.addEventListener("pointermove", seek);
    this.canvas.addEventListener("pointerdown", seek);
    const moves = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
    this.canvas.addEventListener("keydown", (event) => {
      if (!(event.key in moves)) return;
      event.preventDefault();
      event.stopPropagation();
      this.player.step(clamp(moves[event.key], -1e9, 1e9));
    });
  }

  timeRange() {
    const [first, last] = [this.times[0] ?? 0, this.times.at(-1) ?? 1];
    return last > first ? [first, last] : [first, first + 1];
  }

  /** Sums of the series below and with each, where they are stacked. */
  levels() {
    let below = this.times.map(() => 0);
    return this.series.map(({ values }) => (below = below.map((sum, i) => sum + (values[i] ?? 0))));
  }

  /** Lowest and highest value, and the lines between at round numbers. */
  valueScale() {
    const all = (this.stacked ? this.levels() : this.series.map(({ values }) => values)).flat();
    const known = all.filter((y) => y !== null && Number.isFinite(y) && (!this.log || y > 0));
    let [low, high] = known.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)], [Infinity, -Infinity]);
    if (!(low <= high)) [low, high] = [0, 1];
    if (this.log) {
      const [a, b] = [Math.floor(Math.log10(low) + 1e-9), Math.ceil(Math.log10(high) - 1e-9)];
      const step = Math.max(1, Math.ceil((b - a) / 5));
      const ticks = [];
      for (let power = a; power <= Math.max(b, a + 1); power += step) ticks.push(10 ** power);
      return { low: a, high: Math.max(b, a + 1), ticks };
    }
    // A spike of one window would flatten all else where parts of a whole are shown.
    if (this.stacked) high = Math.min(high, 3 * quantile(this.levels().at(-1) ?? [], 0.95)) || high;
    this.zero = low === 0 && high === 0;
    [low, high] = [Math.min(low, 0), Math.max(high, 0)];
    if (high - low < 1e-300) high = low + 1;
    const step = niceStep((high - low) / 5);
    [low, high] = [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
    const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, k) => low + k * step);
    return { low, high, ticks: ticks.map((y) => (Math.abs(y) < 1e-9 * step ? 0 : y)) };
  }

  area() {
    return { x0: 64, x1: Math.max(this.width - 12, 80), y0: 8, y1: CHART_HEIGHT - 26 };
  }

  x(time) {
    const { x0, x1 } = this.area(), [first, last] = this.timeRange();
    return x0 + ((time - first) / (last - first)) * (x1 - x0);
  }

  y(value) {
    const { y0, y1 } = this.area(), { low, high } = this.scale;
    const part = ((this.log ? Math.log10(Math.max(value, 1e-300)) : value) - low) / (high - low);
    return y1 - clamp(part, -0.02, 1.02) * (y1 - y0);
  }

  /** Draws what does not change with time onto a picture of its own, and then the cursor. */
  resize() {
    if (!this.hasData || this.canvas.clientWidth === 0) return;
    const density = Math.min(window.devicePixelRatio || 1, 3);
    this.width = this.canvas.clientWidth;
    this.density = density;
    [this.canvas.width, this.canvas.height] = [this.width, CHART_HEIGHT].map((size) => Math.round(size * density));
    this.still = element("canvas", { width: this.canvas.width, height: this.canvas.height });
    const ink = this.still.getContext("2d");
    ink.scale(density, density);
    this.colours = themeColours();
    this.drawAxes(ink);
    if (this.stacked) this.drawStack(ink);
    else this.drawLines(ink);
    this.update();
  }

  drawAxes(ink) {
    const { x0, x1, y0, y1 } = this.area(), [first, last] = this.timeRange();
    Object.assign(ink, { font: `12px ${this.colours.font}`, lineWidth: 1, strokeStyle: this.colours.grid, fillStyle: this.colours.quiet });
    Object.assign(ink, { textAlign: "right", textBaseline: "middle" });
    for (const tick of this.scale.ticks) {
      const y = Math.round(this.y(tick)) + 0.5;
      ink.beginPath();
      ink.moveTo(x0, y);
      ink.lineTo(x1, y);
      ink.stroke();
      ink.fillText(this.log ? `10${superscript(Math.round(Math.log10(tick)))}` : tickText(tick, this.scale.ticks), x0 - 8, y);
    }
    Object.assign(ink, { textAlign: "center", textBaseline: "top" });
    const step = niceStep((last - first) / Math.max(2, Math.floor((x1 - x0) / 60)));
    for (let k = Math.ceil(first / step - 1e-9); k * step <= last + 1e-9 * step; k++) {
      const final = (k + 1) * step > last + 1e-9 * step;
      const label = shortNumber(Number((k * step).toPrecision(10))) + (final ? " s" : "");
      ink.fillRect(Math.round(this.x(k * step)), y1, 1, 4);
      ink.fillText(label, Math.min(this.x(k * step), this.width - 0.5 * ink.measureText(label).width - 1), y1 + 8);
    }
    if (this.zero) {
      ink.textAlign = "center";
      ink.fillText("0 throughout", 0.5 * (x0 + x1), 0.5 * (y0 + y1));
    }
    ink.save();
    ink.beginPath();
    ink.rect(x0, y0 - 2, x1 - x0, y1 - y0 + 4);
    ink.clip();
  }

  drawLines(ink) {
    this.series.forEach(({ values }, k) => {
      ink.beginPath();
      let drawn = 0;
      values.forEach((value, i) => {
        const missing = value === null || (this.log && !(value > 0));
        if (missing) drawn = 0;
        else if (drawn++) ink.lineTo(this.x(this.times[i]), this.y(value));
        else ink.moveTo(this.x(this.times[i]), this.y(value));
      });
      Object.assign(ink, { strokeStyle: this.colours.series[k % SERIES_COLOURS], lineWidth: 1.8, lineJoin: "round" });
      ink.stroke();
    });
  }

  drawStack(ink) {
    const levels = this.levels();
    for (let k = levels.length - 1; k >= 0; k--) {
      const below = levels[k - 1] ?? this.times.map(() => 0);
      ink.beginPath();
      this.times.forEach((time, i) => ink.lineTo(this.x(time), this.y(levels[k][i])));
      for (let i = this.times.length - 1; i >= 0; i--) ink.lineTo(this.x(this.times[i]), this.y(below[i]));
      ink.closePath();
      ink.fillStyle = this.colours.series[k % SERIES_COLOURS];
      ink.fill();
    }
  }

  /** The cursor, and what the series are there. */
  update() {
    if (!this.still) return;
    const { time } = this.player, ink = this.canvas.getContext("2d");
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.clearRect(0, 0, this.canvas.width, this.canvas.height);
    ink.drawImage(this.still, 0, 0);
    ink.scale(this.density, this.density);
    const { y0, y1 } = this.area(), x = this.x(clamp(time, ...this.timeRange()));
    ink.fillStyle = this.colours.ink;
    ink.fillRect(x - 0.75, y0 - 4, 1.5, y1 - y0 + 4);
    const i = nearestIndex(this.times, time);
    const levels = this.stacked ? this.levelsCache ??= this.levels() : null;
    this.series.forEach(({ values }, k) => {
      const value = values[i], shown = levels ? levels[k][i] : value;
      this.values[k].textContent = shortNumber(value, 3);
      if (value === null || (this.log && !(value > 0))) return;
      ink.beginPath();
      ink.arc(x, this.y(shown), 3, 0, 7);
      Object.assign(ink, { fillStyle: this.colours.series[k % SERIES_COLOURS], strokeStyle: this.colours.paper, lineWidth: 1.5 });
      ink.fill();
      ink.stroke();
    });
    this.tell(time);
  }

  tell(time) {
    const [first, last] = this.timeRange();
    const now = this.series.map(({ name }, k) => `${name} ${this.values[k].textContent}`).join(", ");
    for (const [name, value] of Object.entries({ min: first, max: last, now: time, text: `${shortNumber(time)} s: ${now}` })) {
      this.canvas.setAttribute(`aria-value${name}`, value);
    }
  }
}

/** The smallest of 1, 2 or 5 times a power of ten that is not below `x`. */
function niceStep(x) {
  const below = niceBelow(x);
  if (below >= x * (1 - 1e-9)) return below;
  const lead = Math.round(below / 10 ** Math.floor(Math.log10(below) + 1e-9));
  return lead === 2 ? 2.5 * below : 2 * below;
}

/** All ticks of an axis in one form. */
function tickText(tick, ticks) {
  const size = Math.max(...ticks.map(Math.abs)), step = Math.abs(ticks[1] - ticks[0]) || 1;
  if (tick === 0) return "0";
  if (size >= 1e5 || size < 1e-3) {
    const power = Math.floor(Math.log10(size) + 1e-9);
    return `${Number((tick / 10 ** power).toPrecision(3))}·10${superscript(power)}`.replace("-", "−");
  }
  return tick.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "−");
}

function nearestIndex(times, time) {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low > 0 && time - times[low - 1] < times[low] - time ? low - 1 : low;
}

function themeColours() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const series = Array.from({ length: SERIES_COLOURS }, (_, k) => colour(`series-${k}`));
  return { ink: colour("ink"), quiet: colour("quiet"), grid: colour("grid"), paper: colour("paper"), series, font: "system-ui, sans-serif" };
}
