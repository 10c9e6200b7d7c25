// Time: which moment is shown, and how it goes on.

class Player {
  constructor(times) {
    this.times = times;
    this.first = times[0] ?? 0;
    this.last = times.at(-1) ?? 0;
    Object.assign(this, { time: this.first, playing: false, speed: 1, listeners: [] });
  }

  /** Calls `listener` whenever time, speed or playing has changed. */
  listen(listener) {
    this.listeners.push(listener);
  }

  changed() {
    this.listeners.forEach((listener) => listener(this));
  }

  /** Number of the frame at or before the time, and how far it is to the next [0 .. 1). */
  place() {
    let [low, high] = [0, this.times.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= this.time) low = middle;
      else high = middle - 1;
    }
    const span = (this.times[low + 1] ?? Infinity) - this.times[low];
    return { i: Math.max(low, 0), t: Number.isFinite(span) && span > 0 ? clamp((this.time - this.times[low]) / span, 0, 1) : 0 };
  }

  /** The nearest frame. */
  frame() {
    const { i, t } = this.place();
    return t >= 0.5 ? i + 1 : i;
  }

  seekTime(time) {
    this.time = clamp(time, this.first, this.last);
    this.changed();
  }

  seek(frame) {
    this.seekTime(this.times[clamp(Math.round(frame), 0, this.times.length - 1)] ?? 0);
  }

  /** So many frames on, or back where it is negative; between two frames the first step is to the nearer end. */
  step(frames) {
    this.playing = false;
    const { i, t } = this.place();
    this.seek((frames > 0 ? Math.floor(i + t + 1e-6) : Math.ceil(i + t - 1e-6)) + frames);
  }

  play() {
    if (this.times.length < 2) return;
    if (this.time >= this.last) this.time = this.first;
    this.playing = true;
    this.changed();
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.changed();
  }

  /** Goes on by this much of the reader's time [s]; from the end again to the begin. */
  advance(seconds) {
    if (!this.playing) return;
    // After a pause of the machine it goes on from where it was.
    const next = this.time + this.speed * Math.min(seconds, 0.25);
    this.seekTime(this.time >= this.last ? this.first : next);
  }
}
