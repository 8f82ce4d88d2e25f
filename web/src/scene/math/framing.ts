// What the camera must show. The size comes from shapes, frames, joints and mass centers, never from body origins.
// The picture is framed by the poses of the whole run as long as they stay near; a model that travels is framed
// by its first pose, and the camera follows it.

import type { Quat, RunDocument, RunHeader, Shape, Vec3 } from "../../data/run_document";
import type { PoseReader } from "./poses";
import { add, conjugate, cross, dot, length, lookAgainst, rotate, scale, subtract, unit } from "./vectors";

export const TRAVELS = 1.5; // sizes of the model that its mass center moves before the camera follows
const SAMPLES = 24; // poses that are framed
const WIDEST = 3; // sizes of the model that one picture may show

export interface Framing {
  points: Vec3[];
  travels: boolean;
  /** Points of the model at the pose last read. */
  pointsAt(poses: PoseReader): Vec3[];
}

/** The corners of the box around a shape, in the body's axes. */
export function shapeCorners(shape: Shape): Vec3[] {
  if (shape.points && shape.points.length > 0) return shape.points;
  const [a = 0, b = 0, c = 0] = shape.sizes;
  const half: Vec3 =
    shape.kind === "box" || shape.kind === "mesh" ? [a / 2, b / 2, c / 2]
    : shape.kind === "sphere" ? [a, a, a]
    : [a, a, b / 2 + (shape.kind === "capsule" ? a : 0)];
  const corners: Vec3[] = [];
  for (let k = 0; k < 8; k++) {
    const local: Vec3 = [k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]];
    corners.push(add(shape.at, rotate(shape.quaternion, local)));
  }
  return corners;
}

/** Points of the model in the world at the pose last read. */
export function modelPoints(header: RunHeader, poses: PoseReader): Vec3[] {
  const points: Vec3[] = [];
  header.bodies.forEach((body, row) => {
    if (row >= poses.rows) return;
    points.push(poses.point(row, body.com));
    for (const shape of body.shapes) for (const corner of shapeCorners(shape)) points.push(poses.point(row, corner));
  });
  // Frames that move by laws of their own may be anywhere: only those of the world and of bodies count.
  for (const frame of header.frames) if (frame.body < header.bodies.length) points.push(poses.point(frame.body, frame.at));
  for (const joint of header.joints) {
    if (joint.symbol !== "none") points.push(poses.place(joint.parent), poses.place(joint.child));
  }
  for (const element of header.elements) {
    points.push(poses.place(element.a));
    if (element.b) points.push(poses.place(element.b));
  }
  return points.filter((p) => p.every(Number.isFinite));
}

/** The mass center of all bodies, or their middle where nothing has mass. */
export function massCenter(header: RunHeader, poses: PoseReader): Vec3 {
  let sum: Vec3 = [0, 0, 0];
  let mass = 0;
  const massless = header.bodies.every((body) => !(body.mass > 0));
  header.bodies.forEach((body, row) => {
    const weight = massless ? 1 : Math.max(0, body.mass);
    const p = poses.point(row, body.com);
    if (row >= poses.rows || !p.every(Number.isFinite)) return;
    sum = add(sum, p, weight);
    mass += weight;
  });
  return mass > 0 ? scale(sum, 1 / mass) : header.center;
}

export function findFraming(document: RunDocument, poses: PoseReader): Framing {
  const { header } = document;
  const { from, to } = { from: document.t[0] ?? 0, to: document.t[document.count - 1] ?? 0 };
  poses.read(from);
  const first = modelPoints(header, poses);
  const start = massCenter(header, poses);
  const all = [...first];
  let travel = 0;
  for (let k = 1; k <= SAMPLES && to > from; k++) {
    poses.read(from + ((to - from) * k) / SAMPLES);
    travel = Math.max(travel, length(subtract(massCenter(header, poses), start)) || 0);
    all.push(...modelPoints(header, poses));
  }
  const travels = travel > TRAVELS * header.size;
  const wide = extent(all) > WIDEST * Math.max(header.size, extent(first));
  return { points: travels || wide ? first : all, travels, pointsAt: (now) => modelPoints(header, now) };
}

/** The diagonal of the box around points. */
export function extent(points: readonly Vec3[]): number {
  if (points.length === 0) return 0;
  const low: Vec3 = [...points[0]!];
  const high: Vec3 = [...points[0]!];
  for (const p of points) {
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k]!, p[k]!);
      high[k] = Math.max(high[k]!, p[k]!);
    }
  }
  return length(subtract(high, low));
}

export interface Fit {
  target: Vec3;
  height: number; // of the picture at the target, m
}

/** Target and height of a picture that shows all points, seen with a camera's axes; `tangent` 0 is orthographic. */
export function fitView(points: readonly Vec3[], camera: Quat, aspect: number, least: number, tangent = 0): Fit {
  const back = conjugate(camera);
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (const p of points) {
    const seen = rotate(back, p);
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k]!, seen[k]!);
      high[k] = Math.max(high[k]!, seen[k]!);
    }
  }
  if (points.length === 0) return { target: [0, 0, 0], height: Math.max(least, 1e-9) };
  const middle = scale(add(low, high), 0.5);
  const flat = Math.max(high[1] - low[1], (high[0] - low[0]) / aspect, least / Math.max(1, aspect), 1e-9);
  return { target: rotate(camera, middle), height: flat + tangent * (high[2] - low[2]) };
}

export type ViewName = "iso" | "plane" | "+x" | "-x" | "+y" | "-y" | "+z" | "-z";

/** The axes of a camera that looks at the model from a side; "+x" stands where x is positive. */
export function viewAxes(name: ViewName, up: Vec3, plane: RunHeader["plane"]): Quat {
  if (name === "plane" && plane) return lookAgainst(plane.toward, plane.up);
  const rise = unit(up);
  if (name === "iso" || name === "plane") {
    const aside: Vec3 = Math.abs(rise[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const right = unit(subtract(aside, scale(rise, dot(aside, rise))));
    const front = cross(right, rise); // toward the viewer, for z up it is -y
    return lookAgainst(add(add(scale(front, 1), right, 0.8), rise, 0.62), rise);
  }
  const axis = "xyz".indexOf(name[1]!);
  const toward: Vec3 = [0, 0, 0];
  toward[axis] = name[0] === "+" ? 1 : -1;
  const upright: Vec3 = Math.abs(dot(toward, rise)) > 0.99 ? (plane?.up ?? (axis === 1 ? [0, 0, -toward[1]] : [0, 1, 0])) : rise;
  return lookAgainst(toward, upright);
}

/** A round length of 1, 2 or 5 times a power of ten that is not longer, and its words. */
export function roundLength(most: number): { length: number; words: string } {
  const power = 10 ** Math.floor(Math.log10(most));
  const length = power * ([5, 2, 1].find((factor) => factor * power <= most * 1.0001) ?? 1);
  const plain = (value: number): string => String(Number(value.toPrecision(6)));
  const words =
    length >= 1000 ? `${plain(length / 1000)} km`
    : length >= 0.1 ? `${plain(length)} m`
    : length >= 1e-4 ? `${plain(length * 1000)} mm` : `${plain(length * 1e6)} µm`;
  return { length, words };
}
