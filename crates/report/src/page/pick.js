// Ray casting: the place of the scene under the pointer.

/** The nearest place of a visible surface or of the ground on a ray, or null. */
function pick(scene, eye, way) {
  let nearest = Infinity;
  for (const item of scene.surfaces) {
    if (!item.layer.visible) continue;
    nearest = Math.min(nearest, nearestHit(item.worldPositions(), item.triangles, eye, way));
  }
  if (scene.ground !== null && way[1] < 0 && eye[1] > scene.ground) nearest = Math.min(nearest, (scene.ground - eye[1]) / way[1]);
  return nearest < Infinity ? add(eye, scale(nearest, way)) : null;
}

/** Ray parameter of the first triangle hit from either side [lengths of `way`]; Infinity if none. */
function nearestHit(x, triangles, [ex, ey, ez], [wx, wy, wz]) {
  let nearest = Infinity;
  for (let f = 0; f < triangles.length; f += 3) {
    const a = 3 * triangles[f], b = 3 * triangles[f + 1], c = 3 * triangles[f + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    // Determinants of the system eye + t way = a + p u + q v.
    const px = wy * vz - wz * vy, py = wz * vx - wx * vz, pz = wx * vy - wy * vx;
    const whole = ux * px + uy * py + uz * pz;
    const sx = ex - x[a], sy = ey - x[a + 1], sz = ez - x[a + 2];
    const p = (sx * px + sy * py + sz * pz) / whole;
    if (!(p >= 0 && p <= 1)) continue;
    const rx = sy * uz - sz * uy, ry = sz * ux - sx * uz, rz = sx * uy - sy * ux;
    const q = (wx * rx + wy * ry + wz * rz) / whole, t = (vx * rx + vy * ry + vz * rz) / whole;
    if (q >= 0 && p + q <= 1 && t > 0 && t < nearest) nearest = t;
  }
  return nearest;
}
