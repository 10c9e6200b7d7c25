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

/** By frame, the places in the frame before whose points are no longer there; written as the gaps between them. */
function readGone({ counts, section }, sections) {
  const gaps = words(sections[section]);
  let at = 0;
  return counts.map((count) => {
    const places = gaps.subarray(at, at += count);
    for (let k = 1; k < count; k++) places[k] += places[k - 1] + 1;
    return places;
  });
}

/** The codes of a frame, by axis, but for the points at these places. */
function without(codes, gone) {
  if (gone.length === 0) return codes;
  const count = codes.length / 3, places = new Uint32Array(count);
  let kept = 0;
  for (let k = 0, g = 0; k < count; k++) {
    if (gone[g] === k) g++;
    else places[kept++] = k;
  }
  const rest = new Uint16Array(3 * kept);
  for (let axis = 0; axis < 3; axis++) {
    for (let k = 0; k < kept; k++) rest[axis * kept + k] = codes[axis * count + places[k]];
  }
  return rest;
}

/**
 * Positions over time of a cloud or deforming surface. From a frame to the next, points that stay keep their order; some
 * may be gone, so that those behind move up, and newcomers come last.
 */
class Track {
  constructor({ low, step, counts, section, gone }, sections) {
    Object.assign(this, { low, step, counts, frames: [] });
    this.gone = gone === null ? counts.map(() => []) : readGone(gone, sections);
    let at = 0, last = new Uint16Array(0), before = last;
    counts.forEach((count, i) => {
      [last, before] = [without(last, this.gone[i]), without(before, this.gone[i])];
      const codes = this.decode(sections[section], at, count, last, before);
      this.frames.push(codes);
      [last, before] = [codes, last];
      at += 6 * count;
    });
    this.most = counts.reduce((a, b) => Math.max(a, b), 0);
  }

  /** Codes of a frame by axis. Each is foretold from the two frames before, or one, or the point before. */
  decode(bytes, at, count, last, before) {
    const codes = new Uint16Array(3 * count);
    const [one, both] = [last.length / 3, before.length / 3];
    for (let axis = 0; axis < 3; axis++) {
      const [first, a, b] = [axis * count, axis * one, axis * both];
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
   * Positions between frames `i` and `i + 1` into `out`, three numbers a point; NaN for what is not shown. Returns the
   * number of points: those of frame `i`. What is in the next one too goes there straight, the rest stands still.
   */
  positions(i, t, out) {
    const [a, count] = [this.frames[i], this.counts[i]];
    const moving = t > 0 && i + 1 < this.frames.length;
    const [b, next, gone] = moving ? [this.frames[i + 1], this.counts[i + 1], this.gone[i + 1]] : [a, count, []];
    for (let axis = 0; axis < 3; axis++) {
      const [low, step] = [this.low[axis], this.step[axis]];
      for (let k = 0, g = 0; k < count; k++) {
        const from = a[axis * count + k];
        let to = from;
        if (gone[g] === k) g++;
        else if (b[k - g] !== HIDDEN) to = b[axis * next + k - g];
        out[3 * k + axis] = a[k] === HIDDEN ? NaN : low + step * (from + t * (to - from));
      }
    }
    return count;
  }

  /** Which point is which in frame `i`: numbered in the order in which they come. */
  numbers(i) {
    let numbers = [], next = 0;
    for (let f = 0; f <= i; f++) {
      const gone = new Set(this.gone[f]);
      numbers = numbers.filter((_, k) => !gone.has(k));
      while (numbers.length < this.counts[f]) numbers.push(next++);
    }
    return numbers;
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
