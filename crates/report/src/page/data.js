// The data of the page: the header (see header.rs) and the sections of the blob (blob.rs, tracks.rs).

const HIDDEN = 65535;
/** Code of a strain at the end of the scale (shades.rs). */
const STRAIN_END = 63;

const readHeader = () => JSON.parse(document.getElementById("header").textContent);

/** All sections of the blob, inflated. */
async function readSections() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot inflate data (DecompressionStream, in all browsers since 2023)");
  }
  const lines = document.getElementById("blob").textContent.trim().split("\n");
  document.getElementById("blob").remove();
  return Promise.all(lines.map((line) => inflate(fromBase64(line))));
}

function fromBase64(line) {
  const letters = atob(line), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers of four bytes, whose first bytes come first, then all second bytes, and so on. */
function words(bytes) {
  const n = bytes.length / 4;
  const numbers = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    numbers[i] = bytes[i] | (bytes[n + i] << 8) | (bytes[2 * n + i] << 16) | (bytes[3 * n + i] << 24);
  }
  return numbers;
}

const floats = (bytes) => new Float32Array(words(bytes).buffer);

/** Poses of a body: seven numbers a frame, each written as its bits' difference from the frame before. */
function readPoses(bytes) {
  const bits = words(bytes);
  for (let i = 7; i < bits.length; i++) bits[i] ^= bits[i - 7];
  return new Float32Array(bits.buffer);
}

/** Strains of a surface: a byte a vertex and frame, written as its difference from the frame before (shades.rs). */
function readStrains(bytes, vertices) {
  // Surfaces with the same strains share the section.
  const codes = Int8Array.from(bytes);
  for (let i = vertices; i < codes.length; i++) codes[i] += codes[i - vertices];
  return codes;
}

/** Positions over time of a cloud or deforming surface. */
class Track {
  constructor({ low, step, counts, section }, sections) {
    Object.assign(this, { low, step, counts });
    this.frames = [];
    let at = 0;
    for (const count of counts) {
      this.frames.push(this.decode(sections[section], at, count));
      at += 6 * count;
    }
    this.most = counts.reduce((a, b) => Math.max(a, b), 0);
    // Points that jump farther between two frames are others that took their place.
    this.jump = 0.25 * Math.hypot(...step) * 65534;
  }

  /** Codes of a frame by axis. Each is foretold from the two frames before, or one, or the point before. */
  decode(bytes, at, count) {
    const codes = new Uint16Array(3 * count);
    const [last, before] = [this.frames.at(-1), this.frames.at(-2)];
    const one = last ? Math.min(count, last.length / 3) : 0;
    const both = before ? Math.min(one, before.length / 3) : 0;
    for (let axis = 0; axis < 3; axis++) {
      const first = axis * count;
      const a = last ? (axis * last.length) / 3 : 0;
      const b = before ? (axis * before.length) / 3 : 0;
      let previous = 0;
      for (let i = 0; i < count; i++) {
        const folded = bytes[at + i] | (bytes[at + count + i] << 8);
        const rest = (folded >> 1) ^ -(folded & 1);
        const foretold = i < both ? 2 * last[a + i] - before[b + i] : i < one ? last[a + i] : previous;
        codes[first + i] = foretold + rest;
        previous = i < one ? 0 : codes[first + i];
      }
      at += 2 * count;
    }
    return codes;
  }

  /**
   * Positions between frames `i` and `i + 1` into `out`, three numbers a point; NaN for what is not shown.
   * Returns the number of points: those of frame `i`, of which those that are no longer there stand still.
   */
  positions(i, t, out) {
    const [a, count] = [this.frames[i], this.counts[i]];
    const next = this.counts[i + 1] ?? 0;
    // Where points have gone, the others may have taken over their numbers.
    const moving = t > 0 && next >= count;
    const b = moving ? this.frames[i + 1] : a;
    for (let axis = 0; axis < 3; axis++) {
      const [low, step] = [this.low[axis], this.step[axis]];
      const [p, q] = [axis * count, axis * (moving ? next : count)];
      for (let k = 0; k < count; k++) {
        const from = a[p + k];
        out[3 * k + axis] = low + step * (moving ? from + t * (b[q + k] - from) : from);
      }
    }
    this.settle(i, moving ? next : 0, out);
    return count;
  }

  /** Leaves out what is hidden; lets what jumps stand where it was. */
  settle(i, next, out) {
    const [a, count] = [this.frames[i], this.counts[i]];
    const b = next > 0 ? this.frames[i + 1] : a;
    const limit = this.jump * this.jump;
    const [sx, sy, sz] = this.step;
    for (let k = 0; k < count; k++) {
      if (a[k] === HIDDEN) {
        out[3 * k] = out[3 * k + 1] = out[3 * k + 2] = NaN;
      } else if (next > 0) {
        const x = sx * (b[k] - a[k]), y = sy * (b[next + k] - a[count + k]), z = sz * (b[2 * next + k] - a[2 * count + k]);
        if (b[k] === HIDDEN || x * x + y * y + z * z > limit) {
          for (let axis = 0; axis < 3; axis++) out[3 * k + axis] = this.low[axis] + this.step[axis] * a[axis * count + k];
        }
      }
    }
  }
}

/** Forces by frame: { interface, position, force }. */
function readForces({ counts, section }, sections) {
  const numbers = floats(sections[section]);
  let at = 0;
  return counts.map((count) =>
    Array.from({ length: count }, () => {
      const [number, ...rest] = numbers.subarray(7 * at, 7 * ++at);
      return { interface: number, position: rest.slice(0, 3), force: rest.slice(3) };
    }));
}
