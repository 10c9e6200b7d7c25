// Programs of the renderer. Where shade.rs and boards.rs compute the same, names are the same.

const glsl = (numbers) => numbers.map((x) => x.toFixed(6)).join(", ");

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2DShadow;
`;

const CAMERA = `
uniform mat4 viewProjection;
uniform vec3 eye;
`;

/** Background, tone, light: for all fragments that are seen. */
const LIGHT = `
uniform vec3 sunDirection;
uniform vec3 horizon;
uniform vec3 zenith;
uniform float brightness;
uniform mat4 sunMatrix;
uniform mat4 skyMatrix;
uniform mat4 floorMatrix;
uniform float reach, sceneRadius;
uniform sampler2DShadow sunMap;
uniform sampler2DShadow skyMap;
uniform sampler2DShadow floorMap;

const vec3 SUN = vec3(${glsl(SUN)});
const vec3 SKY = vec3(${glsl(SKY)});
const vec3 GLOW = vec3(${glsl(GLOW)});

vec3 background(vec3 ray) {
  return mix(horizon, zenith, smoothstep(0.0, 0.7, normalize(ray).y));
}

/** Linear light to sRGB; what is brighter than the shoulder bends towards white. */
vec4 encode(vec3 light) {
  vec3 bent = mix(light, 1.0 - 0.3 * exp(-(light - 0.7) / 0.3), step(0.7, light));
  vec3 c = max(bent, 0.0);
  return vec4(mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c, step(c, vec3(0.0031308))), 1.0);
}

/** Part of the sun that is seen: the mean of nine places of its map, each filtered. */
float sunSeen(vec3 point, vec3 flatNormal) {
  float texel = 2.0 * reach / float(textureSize(sunMap, 0).x);
  float slant = 1.0 - abs(dot(flatNormal, sunDirection));
  vec3 p = (sunMatrix * vec4(point + (0.8 + 2.2 * slant) * texel * flatNormal, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  vec2 step = 1.0 / vec2(textureSize(sunMap, 0));
  float seen = 0.0;
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++)
      seen += texture(sunMap, vec3(p.xy + 1.2 * vec2(i, j) * step, p.z));
  return seen / 9.0;
}

/** Whether a point is above all that is seen from above, or below all that is seen from below: outside, as far as these know. */
float outside(vec3 point) {
  vec3 p = (skyMatrix * vec4(point, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  vec3 q = (floorMatrix * vec4(point, 1.0)).xyz * 0.5 + 0.5;
  return max(texture(skyMap, p), texture(floorMap, q));
}

/** Part of the sky that is seen, by its cosine: walks up from the point in eight directions through the maps. */
float skySeen(vec3 point, vec3 normal, vec3 flatNormal) {
  vec3 start = point + 0.02 * sceneRadius * flatNormal;
  float seen = 0.0, open = 0.0;
  // A turn of its own for each pixel makes grain of what were steps.
  float turn = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  for (int k = 0; k < 8; k++) {
    float height = 0.15 + 0.8 * (float(k) + 0.5) / 8.0;
    float angle = 2.3999632 * (float(k) + turn);
    vec3 direction = vec3(sqrt(1.0 - height * height) * vec2(cos(angle), sin(angle)), height).xzy;
    open += height;
    float facing = dot(normal, direction);
    if (facing <= 0.0) continue;
    float clear = outside(start + 0.035 * sceneRadius * direction);
    clear = min(clear, outside(start + 0.1 * sceneRadius * direction));
    clear = min(clear, outside(start + 0.25 * sceneRadius * direction));
    seen += facing * clear;
  }
  // What lies between, and light from other things, is not known: some always gets in.
  return 0.8 * seen / open + 0.2 * (0.5 + 0.5 * normal.y);
}

/** Matt colour under all lights, with the sun's highlight on top. */
vec3 lit(vec3 point, vec3 normal, vec3 flatNormal, vec3 toEye, vec3 colour, float gloss, float sky) {
  float facing = dot(normal, sunDirection);
  float sun = facing > 0.0 && dot(flatNormal, sunDirection) > 0.0 ? facing * sunSeen(point, flatNormal) : 0.0;
  vec3 around = sky * SKY + (0.5 - 0.5 * normal.y) * GLOW;
  float highlight = sun > 0.0 ? gloss * pow(max(dot(normal, normalize(sunDirection + normalize(toEye))), 0.0), 48.0) : 0.0;
  return brightness * (colour * (sun * SUN + around) + highlight * SUN);
}

/** How much of a pixel of this footprint a line of this half width covers. */
float line(float distance, float width, float footprint) {
  float reach = 0.5 * max(footprint, 1e-9);
  return clamp((min(distance + reach, width) - max(distance - reach, -width)) / (2.0 * reach), 0.0, 1.0);
}
`;

const BOARDS = `
float unitHash(uint a, uint b) {
  uint c = b * 0x85EBCA6Bu;
  uint h = (a * 0x9E3779B9u) ^ ((c << 13) | (c >> 19));
  h = (h ^ (h >> 16)) * 0x7FEB352Du;
  h = (h ^ (h >> 15)) * 0x846CA68Bu;
  return float((h ^ (h >> 16)) >> 8) / 16777216.0;
}

float valueNoise(float x, float y, uint seed) {
  float i = floor(x), j = floor(y);
  vec2 s = smoothstep(0.0, 1.0, vec2(x - i, y - j));
  uint a = seed * 0x2545F491u;
  uint u = uint(int(i)), v = uint(int(j));
  float upper = mix(unitHash(u ^ a, v), unitHash((u + 1u) ^ a, v), s.x);
  float lower = mix(unitHash(u ^ a, v + 1u), unitHash((u + 1u) ^ a, v + 1u), s.x);
  return mix(upper, lower, s.y);
}

float streaks(float across, float along, uint board, float footprint, float fineness, float length) {
  float fade = clamp(1.0 - footprint * fineness, 0.0, 1.0);
  return fade * (2.0 * valueNoise(across * fineness, along / length, board) - 1.0);
}

/** Planks with grain, held by a frame of boards. */
vec3 boards(vec3 wood, vec2 at, vec2 size, uint crateAndFace, float footprint) {
  float s = min(size.x, size.y), frame = 0.15 * s, gap = 0.009 * s;
  float fromSide = min(at.x, size.x - at.x), fromEnd = min(at.y, size.y - at.y);
  float planks = max(round((size.x - 2.0 * frame) / (0.19 * s)), 1.0);
  bool upright = fromSide < frame, framed = upright || fromEnd < frame;
  uint board = upright ? (at.x > 0.5 * size.x ? 1u : 0u)
    : framed ? (at.y > 0.5 * size.y ? 3u : 2u)
    : 4u + uint((at.x - frame) / (size.x - 2.0 * frame) * planks);
  vec2 way = framed && !upright ? at.yx : at;
  float tint = 1.0 + 0.16 * (unitHash(crateAndFace, board) - 0.5);
  uint seed = crateAndFace * 16u + board;
  float grain = 0.6 * streaks(way.x / s, way.y / s, seed, footprint / s, 22.0, 0.45)
    + 0.4 * streaks(way.x / s, way.y / s, seed, footprint / s, 60.0, 0.3);
  float shade;
  if (framed) {
    float seam = upright ? 0.0 : line(fromSide - frame, gap, footprint);
    float rim = line(min(fromSide, fromEnd), gap, footprint);
    shade = (1.0 - 0.45 * seam) * (1.0 - 0.30 * rim);
  } else {
    float plank = (size.x - 2.0 * frame) / planks;
    float within = mod(at.x - frame, plank);
    float joint = line(min(within, plank - within), gap, footprint);
    // The frame stands proud and shades the planks beside it.
    float beside = 1.0 - clamp(min(fromSide - frame, fromEnd - frame) / (0.05 * s), 0.0, 1.0);
    shade = 0.80 * (1.0 - 0.55 * joint) * (1.0 - 0.42 * beside * beside);
  }
  return wood * tint * (1.0 + 0.10 * grain) * shade;
}
`;

const SURFACE = {
  vertex: `${HEAD}${CAMERA}
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float strain;
uniform mat4 model;
out vec3 point, turned, own, ownNormal;
out float stretch;
void main() {
  own = position;
  ownNormal = normal;
  stretch = strain;
  point = (model * vec4(position, 1.0)).xyz;
  turned = mat3(model) * normal;
  gl_Position = viewProjection * vec4(point, 1.0);
}`,
  fragment: `${HEAD}${CAMERA}${LIGHT}${BOARDS}
in vec3 point, turned, own, ownNormal;
in float stretch;
uniform vec3 colour, otherSide, shrunk, unstrained, stretched;
uniform vec3 boxMiddle, boxHalf;
uniform float gloss, strainScale;
uniform bool boarded;
uniform uint seed;
out vec4 pixel;

vec3 painted(float footprint) {
  vec3 n = abs(ownNormal);
  int axis = n.x > n.y && n.x > n.z ? 0 : n.y > n.z ? 1 : 2;
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  vec3 at = own - boxMiddle + boxHalf;
  uint face = seed * 6u + uint(2 * axis) + (ownNormal[axis] > 0.0 ? 1u : 0u);
  return boards(colour, vec2(at[u], at[v]), 2.0 * vec2(boxHalf[u], boxHalf[v]), face, footprint);
}

void main() {
  vec3 toEye = eye - point;
  vec3 across = cross(dFdx(point), dFdy(point));
  vec3 flatNormal = normalize(dot(across, toEye) < 0.0 ? -across : across);
  float side = gl_FrontFacing ? 1.0 : -1.0;
  vec3 normal = side * normalize(turned);
  if (dot(normal, flatNormal) < 0.0) normal = flatNormal;
  vec3 base = gl_FrontFacing ? colour : otherSide;
  if (boarded) base = painted(length(fwidth(own)));
  if (strainScale > 0.0) {
    float s = clamp(stretch / strainScale, -1.0, 1.0);
    base = mix(unstrained, s > 0.0 ? stretched : shrunk, abs(s));
  }
  pixel = encode(lit(point, normal, flatNormal, toEye, base, gloss, skySeen(point, normal, flatNormal)));
}`,
};

const ARROW = {
  vertex: `${HEAD}${CAMERA}
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 3) in vec3 foot;
layout(location = 4) in vec3 reachOut;
layout(location = 5) in vec3 tint;
uniform float width;
out vec3 point, turned, paint;
void main() {
  float l = length(reachOut), head = min(3.2 * width, 0.6 * l), thick = min(width, 0.35 * l);
  vec3 z = reachOut / max(l, 1e-9);
  vec3 x = normalize(cross(abs(z.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), z));
  mat3 turn = mat3(x, cross(z, x), z);
  float along = min(position.z, 1.0) * (l - head) + max(position.z - 1.0, 0.0) * head;
  point = foot + turn * vec3(thick * position.xy, along);
  turned = turn * normal;
  paint = tint;
  gl_Position = viewProjection * vec4(point, 1.0);
}`,
  fragment: `${HEAD}${CAMERA}${LIGHT}
in vec3 point, turned, paint;
uniform float opacity;
out vec4 pixel;
void main() {
  vec3 normal = normalize(turned);
  // Signs are to be seen, not lit: half of their colour is in no shadow.
  float facing = 0.75 + 0.35 * dot(normal, normalize(sunDirection + normalize(eye - point)));
  pixel = vec4(encode(paint * facing).rgb, opacity);
}`,
};

const POINTS = {
  vertex: `${HEAD}${CAMERA}
layout(location = 0) in vec3 position;
uniform float radius, focal, smallest;
out vec3 centre;
out float size, tint;
void main() {
  centre = position;
  gl_Position = viewProjection * vec4(position, 1.0);
  // Never thinner than what the eye can see: far drops keep their number.
  float across = 2.0 * radius * focal / max(gl_Position.w, 1e-6);
  gl_PointSize = max(across, smallest);
  size = radius * gl_PointSize / max(across, 1e-6);
  uint h = uint(gl_VertexID) * 0x9E3779B9u;
  tint = float(h >> 24) / 255.0;
  if (isnan(position.x)) { gl_Position = vec4(0.0, 0.0, 2.0, 1.0); gl_PointSize = 0.0; }
}`,
  fragment: `${HEAD}${CAMERA}${LIGHT}
in vec3 centre;
in float size, tint;
uniform vec3 colour, right, up;
uniform float gloss;
out vec4 pixel;
void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float off = dot(at, at);
  float blur = fwidth(off);
  float cover = 1.0 - smoothstep(1.0 - blur, 1.0 + 0.3 * blur, off);
  if (cover <= 0.0) discard;
  vec3 toEye = normalize(eye - centre);
  vec3 normal = normalize(at.x * right - at.y * up + sqrt(max(1.0 - off, 0.0)) * toEye);
  vec3 point = centre + size * normal;
  vec4 clip = viewProjection * vec4(point, 1.0);
  gl_FragDepth = clamp(0.5 + 0.5 * clip.z / clip.w, 0.0, 1.0);
  vec3 base = colour * (0.85 + 0.4 * tint);
  pixel = vec4(encode(lit(point, normal, normal, toEye, base, gloss, 0.5 + 0.5 * normal.y)).rgb, cover);
}`,
};

const GROUND = {
  vertex: `${HEAD}${CAMERA}
layout(location = 0) in vec2 corner;
uniform float height, extent;
out vec3 point;
void main() {
  point = vec3(extent * corner.x, height, extent * corner.y);
  gl_Position = viewProjection * vec4(point, 1.0);
}`,
  fragment: `${HEAD}${CAMERA}${LIGHT}
in vec3 point;
uniform vec3 groundColour;
uniform vec2 slabOrigin;
uniform float slabEdge, radius;
out vec4 pixel;

float slabs(vec2 place, vec2 footprint) {
  vec2 toJoint = abs(fract(place / slabEdge + 0.5) - 0.5) * slabEdge;
  float joint = max(line(toJoint.x, 0.006 * slabEdge, footprint.x), line(toJoint.y, 0.006 * slabEdge, footprint.y));
  return 1.0 - 0.12 * joint;
}

void main() {
  vec3 toEye = eye - point;
  float haze = smoothstep(0.0, 1.0, (length(point.xz) / radius - 1.2) / 4.0);
  vec3 colour = groundColour * slabs(point.xz + slabOrigin, fwidth(point.xz));
  vec3 up = vec3(0.0, 1.0, 0.0);
  pixel = encode(mix(lit(point, up, up, toEye, colour, 0.0, skySeen(point, up, up)), background(-toEye), haze));
}`,
};

const BACKGROUND = {
  vertex: `${HEAD}
layout(location = 0) in vec2 corner;
uniform vec3 right, up, back;
uniform vec2 tangent;
out vec3 ray;
void main() {
  ray = corner.x * tangent.x * right + corner.y * tangent.y * up - back;
  gl_Position = vec4(corner, 1.0, 1.0);
}`,
  fragment: `${HEAD}${LIGHT}
in vec3 ray;
out vec4 pixel;
void main() { pixel = encode(background(ray)); }`,
};

/** Edges of triangles, in front of them. */
const EDGES = {
  vertex: `${HEAD}${CAMERA}
layout(location = 0) in vec3 position;
uniform mat4 model;
void main() {
  gl_Position = viewProjection * model * vec4(position, 1.0);
  gl_Position.z -= 1e-4 * gl_Position.w;
  if (isnan(position.x)) gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
}`,
  fragment: `${HEAD}
out vec4 pixel;
void main() { pixel = vec4(0.03, 0.03, 0.04, 0.45); }`,
};

/** Depth only, for the maps of sun and sky. */
const SHADOW = {
  vertex: `${HEAD}
layout(location = 0) in vec3 position;
uniform mat4 lightMatrix, model;
uniform float pointSize;
void main() {
  gl_Position = lightMatrix * model * vec4(position, 1.0);
  gl_PointSize = pointSize;
  if (isnan(position.x)) gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
}`,
  fragment: `${HEAD}
uniform bool round;
void main() { if (round && length(gl_PointCoord - 0.5) > 0.5) discard; }`,
};
