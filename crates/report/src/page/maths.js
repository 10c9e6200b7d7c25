// Vectors are arrays [x, y, z], quaternions [x, y, z, w], matrices 16 numbers by column as WebGL takes them.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.sqrt(dot(a, a));
const mix = (a, b, t) => a + t * (b - a);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** The direction of `a`, or `otherwise` where it has none. */
function normalize(a, otherwise = [0, 1, 0]) {
  const length = norm(a);
  return length > 1e-12 && length < Infinity ? scale(1 / length, a) : otherwise;
}

function multiply(a, b) {
  const c = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      c[4 * column + row] = sum;
    }
  }
  return c;
}

/** World to camera, whose axes are given. */
function viewMatrix(eye, right, up, back) {
  return new Float32Array([
    right[0], up[0], back[0], 0,
    right[1], up[1], back[1], 0,
    right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
  ]);
}

function perspective(fieldOfView, aspect, near, far) {
  const f = 1 / Math.tan(0.5 * fieldOfView);
  const depth = 1 / (near - far);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) * depth, -1, 0, 0, 2 * near * far * depth, 0]);
}

/** Sees a cube of this half width around the camera's origin. */
function orthographic(half) {
  const s = 1 / half;
  return new Float32Array([s, 0, 0, 0, 0, s, 0, 0, 0, 0, -s, 0, 0, 0, 0, 1]);
}

/** Turns by a unit quaternion, then moves. */
function poseMatrix([x, y, z], [i, j, k, w]) {
  return new Float32Array([
    1 - 2 * (j * j + k * k), 2 * (i * j + k * w), 2 * (i * k - j * w), 0,
    2 * (i * j - k * w), 1 - 2 * (i * i + k * k), 2 * (j * k + i * w), 0,
    2 * (i * k + j * w), 2 * (j * k - i * w), 1 - 2 * (i * i + j * j), 0,
    x, y, z, 1,
  ]);
}

/** The shorter way from one orientation to another, at constant speed. */
function slerp(a, b, t) {
  let cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const sign = cosine < 0 ? -1 : 1;
  cosine *= sign;
  let [s, r] = [1 - t, t];
  if (cosine < 0.9995) {
    const angle = Math.acos(cosine);
    [s, r] = [Math.sin((1 - t) * angle) / Math.sin(angle), Math.sin(t * angle) / Math.sin(angle)];
  }
  const q = a.map((x, k) => s * x + sign * r * b[k]);
  const length = Math.hypot(...q) || 1;
  return q.map((x) => x / length);
}

/** 1, 2 or 5 times a power of ten: the largest that is not above `x`. */
function niceBelow(x) {
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  const lead = x / power + 1e-9;
  return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

/** The value below which this part of the numbers lies; 0 where there are none. */
function quantile(numbers, part) {
  if (numbers.length === 0) return 0;
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** Four significant digits; powers of ten where plain digits would be long. */
function shortNumber(x, digits = 4) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e6) return Number(x.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits, useGrouping: false }).replace("-", "−");
  const [lead, power] = x.toExponential(digits - 2).split("e");
  return `${lead.replace("-", "−")} × 10${superscript(Number(power))}`;
}

const superscript = (n) => String(n).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
