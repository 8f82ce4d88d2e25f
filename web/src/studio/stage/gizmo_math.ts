// The geometry of handles: how far the pointer moves a point along an axis, turns it about one, and round numbers.

import type { Quat, Vec3 } from "../../data/run_document";
import { across, add, dot, multiply, normalized, rotate, scale, turnAbout } from "../../scene/math/vectors";

export interface ScreenPoint {
  x: number;
  y: number;
}

export type Project = (world: Vec3) => ScreenPoint;

const AXES: Vec3[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const LEAST_PIXELS = 0.15; // of an axis' full length on the screen: a shorter one points at the viewer and is not pulled

/** Pixels on the screen for a meter along an axis, at a point. */
export function axisOnScreen(project: Project, at: Vec3, axis: Vec3, reach: number): ScreenPoint {
  const a = project(at);
  const b = project(add(at, axis, reach));
  return { x: (b.x - a.x) / reach, y: (b.y - a.y) / reach };
}

/** How far along an axis the pointer moved; 0 where the axis points at the viewer. `full` is what a meter across the sight has in pixels. */
export function axisTravel(direction: ScreenPoint, from: ScreenPoint, to: ScreenPoint, full: number): number {
  const size = direction.x ** 2 + direction.y ** 2;
  if (Math.sqrt(size) < LEAST_PIXELS * full) return 0;
  return ((to.x - from.x) * direction.x + (to.y - from.y) * direction.y) / size;
}

/** How far along two axes: the pointer moves a point in their plane. */
export function planeTravel(u: ScreenPoint, v: ScreenPoint, from: ScreenPoint, to: ScreenPoint): [number, number] {
  const det = u.x * v.y - u.y * v.x;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  if (Math.abs(det) < 1e-6 * (Math.hypot(u.x, u.y) * Math.hypot(v.x, v.y) || 1)) return [0, 0];
  return [(dx * v.y - dy * v.x) / det, (u.x * dy - u.y * dx) / det];
}

/** The two of three axes whose plane faces the viewer most. */
export function facingPair(axes: readonly Vec3[], toward: Vec3): [number, number] {
  const away = axes.map((axis) => Math.abs(dot(axis, toward)));
  const last = away.indexOf(Math.max(...away));
  return last === 0 ? [1, 2] : last === 1 ? [0, 2] : [0, 1];
}

/** The angle by which the pointer turned around a center, positive about an axis that points `toward` the viewer. */
export function ringTurn(center: ScreenPoint, from: ScreenPoint, to: ScreenPoint, toward: number): number {
  const angle = (p: ScreenPoint): number => Math.atan2(center.y - p.y, p.x - center.x);
  let turned = angle(to) - angle(from);
  if (turned > Math.PI) turned -= 2 * Math.PI;
  if (turned < -Math.PI) turned += 2 * Math.PI;
  return toward < 0 ? -turned : turned;
}

/** To the nearest multiple of a step; 0 leaves it. */
export function snap(value: number, step: number): number {
  return step > 0 ? Math.round(value / step) * step : value;
}

/** The power of ten at or below a size. */
export function roundStep(size: number): number {
  return size > 0 && Number.isFinite(size) ? 10 ** Math.floor(Math.log10(size) + 1e-9) : 1e-3;
}

export function quaternionOfRpy([roll, pitch, yaw]: readonly [number, number, number]): Quat {
  return multiply(turnAbout([0, 0, 1], yaw), multiply(turnAbout([0, 1, 0], pitch), turnAbout([1, 0, 0], roll)));
}

/** Angles about the fixed axes x, y, z; at a pitch of 90 degrees the roll is zero. */
export function rpyOfQuaternion(given: Quat): [number, number, number] {
  const q = normalized(given);
  const x = rotate(q, AXES[0]!);
  const y = rotate(q, AXES[1]!);
  const z = rotate(q, AXES[2]!);
  const pitch = Math.asin(Math.max(-1, Math.min(1, -x[2])));
  if (Math.abs(x[2]) > 1 - 1e-9) return [0, pitch, Math.atan2(-y[0], y[1])];
  return [Math.atan2(y[2], z[2]), pitch, Math.atan2(x[1], x[0])];
}

/** Angles after a turn about one of the body's axes. */
export function turnedRpy(rpy: readonly [number, number, number], axis: number, angle: number): [number, number, number] {
  return rpyOfQuaternion(multiply(turnAbout(AXES[axis]!, angle), quaternionOfRpy(rpy)));
}

/** Where a line of sight meets a plane; null where it runs along it. */
export function meetPlane(from: Vec3, along: Vec3, at: Vec3, normal: Vec3): Vec3 | null {
  const slope = dot(along, normal);
  if (Math.abs(slope) < 1e-6) return null;
  const s = dot([at[0] - from[0], at[1] - from[1], at[2] - from[2]], normal) / slope;
  return add(from, along, s);
}

/** A direction as a letter where it is along an axis. */
export function axisWords(axis: Vec3): string {
  for (const [k, letter] of ["x", "y", "z"].entries()) {
    if (Math.abs(Math.abs(axis[k]!) - 1) < 1e-4) return axis[k]! > 0 ? letter : `-${letter}`;
  }
  return `[${axis.map((value) => Number(value.toFixed(3))).join(", ")}]`;
}

/** Points of a circle about an axis, in the world. */
export function circle(center: Vec3, axis: Vec3, radius: number, count = 48): Vec3[] {
  const start = scale(across(axis), radius);
  return Array.from({ length: count + 1 }, (_, k) => add(center, rotate(turnAbout(axis, (2 * Math.PI * k) / count), start)));
}
