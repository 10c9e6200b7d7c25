// Sun, sky and colours, as the crate's own pictures have them (shade.rs).

const SUN = [1.02, 0.94, 0.8];
const SKY = [0.36, 0.4, 0.46];
const GLOW = [0.15, 0.135, 0.115];

const THEMES = {
  light: { horizon: [0.74, 0.765, 0.79], zenith: [0.3, 0.42, 0.58], ground: [0.6, 0.595, 0.585], light: 1 },
  dark: { horizon: [0.018, 0.021, 0.027], zenith: [0.006, 0.008, 0.013], ground: [0.05, 0.052, 0.056], light: 0.92 },
};

/** Colours of forces by interface, and ends of the scale of strain. */
const FORCE_COLOURS = [[214, 48, 92], [240, 130, 0], [124, 77, 219], [0, 140, 120]];
const SHRUNK = [38, 92, 190], UNSTRAINED = [236, 236, 232], STRETCHED = [196, 40, 32];

/** sRGB, 0 to 255, to linear light. */
const linear = (colour) => colour.map((c) => (c <= 10.3 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));

/** The other side of a sheet: paler, so that both sides are told apart also without colours. */
const otherSide = (colour) => linear(colour).map((c) => mix(c, 0.85, 0.25));

/** Over the left shoulder of the first view, so that shadows fall to the right and away. */
function sunDirection(right, back) {
  const level = normalize(cross([0, 1, 0], right), [0, 0, 1]);
  const towardEye = dot(level, back) < 0 ? scale(-1, level) : level;
  return normalize(add(add(scale(0.34, towardEye), scale(-0.62, right)), [0, 0.86, 0]));
}

/** What is seen along `-back` of a cube of this half width around the origin of the page. */
function lightMatrix(back, half) {
  const right = normalize(cross(Math.abs(back[1]) > 0.99 ? [0, 0, -1] : [0, 1, 0], back), [1, 0, 0]);
  return multiply(orthographic(half), viewMatrix([0, 0, 0], right, cross(back, right), back));
}
