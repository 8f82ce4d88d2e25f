// Vectors and quaternions as plain numbers: w, x, y, z; v_W = R_WB v_B.

import type { Quat, Vec3 } from "../../data/run_document";

export const IDENTITY: Quat = [1, 0, 0, 0];

export function add(a: Vec3, b: Vec3, factor = 1): Vec3 {
  return [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
}

export function subtract(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

export function scale(a: Vec3, factor: number): Vec3 {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

export function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function length(a: Vec3): number {
  return Math.hypot(a[0], a[1], a[2]);
}

/** A vector of length one; `otherwise` where there is no direction. */
export function unit(a: Vec3, otherwise: Vec3 = [0, 0, 1]): Vec3 {
  const size = length(a);
  return size > 0 && Number.isFinite(size) ? scale(a, 1 / size) : otherwise;
}

/** Some unit vector across another one. */
export function across(a: Vec3): Vec3 {
  return unit(cross(a, Math.abs(a[0]) < 0.8 * length(a) ? [1, 0, 0] : [0, 1, 0]), [1, 0, 0]);
}

export function multiply(a: Quat, b: Quat): Quat {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

export function conjugate(q: Quat): Quat {
  return [q[0], -q[1], -q[2], -q[3]];
}

export function normalized(q: Quat): Quat {
  const size = Math.hypot(...q);
  return size > 0 ? [q[0] / size, q[1] / size, q[2] / size, q[3] / size] : IDENTITY;
}

export function rotate(q: Quat, v: Vec3): Vec3 {
  const [w, x, y, z] = q;
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
}

export function turnAbout(axis: Vec3, angle: number): Quat {
  const s = Math.sin(angle / 2);
  return [Math.cos(angle / 2), axis[0] * s, axis[1] * s, axis[2] * s];
}

/** The rotation whose columns are three perpendicular unit vectors. */
export function fromColumns(x: Vec3, y: Vec3, z: Vec3): Quat {
  const trace = x[0] + y[1] + z[2];
  if (trace > 0) {
    const s = 2 * Math.sqrt(trace + 1);
    return normalized([s / 4, (y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s]);
  }
  if (x[0] > y[1] && x[0] > z[2]) {
    const s = 2 * Math.sqrt(1 + x[0] - y[1] - z[2]);
    return normalized([(y[2] - z[1]) / s, s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s]);
  }
  if (y[1] > z[2]) {
    const s = 2 * Math.sqrt(1 + y[1] - x[0] - z[2]);
    return normalized([(z[0] - x[2]) / s, (y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s]);
  }
  const s = 2 * Math.sqrt(1 + z[2] - x[0] - y[1]);
  return normalized([(x[1] - y[0]) / s, (z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4]);
}

/** A camera's axes: it looks against `toward`, `up` is upwards on the screen as far as it can be. */
export function lookAgainst(toward: Vec3, up: Vec3): Quat {
  const z = unit(toward);
  let x = cross(up, z);
  if (length(x) < 1e-6) x = across(z);
  x = unit(x);
  return fromColumns(x, cross(z, x), z);
}
