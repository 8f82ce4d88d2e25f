// Numbers that follow the pointer: those that bring a point of the model nearest to it on the screen.

import type { Quat, Vec3 } from "../data/run_document";
import { add, rotate, subtract, turnAbout } from "../scene/math/vectors";

export interface ScreenPoint {
  x: number;
  y: number;
}

/** A point of the model as a function of the dragged numbers. */
export type PointOf = (values: readonly number[]) => Vec3;

const ROUNDS = 16;
const HALVINGS = 8;
const DAMPING = 1e-3; // of the largest slope: numbers whose axis points at the viewer stay

/**
 * Gauss-Newton steps of least size, dx = J' (J J' + e I)^-1 r: with more numbers than screen directions a point moves in
 * the plane of the screen, with one it moves along its path.  `steps` are changes for the slopes, and limit a round to
 * `most` times them.
 */
export function followPointer(point: PointOf, project: (world: Vec3) => ScreenPoint, start: readonly number[], pointer: ScreenPoint, steps: readonly number[], most = 400): number[] {
  let values = [...start];
  for (let round = 0; round < ROUNDS; round++) {
    const here = project(point(values));
    const r = [pointer.x - here.x, pointer.y - here.y] as const;
    if (Math.hypot(...r) < 0.05) break;
    const slopes = values.map((value, k) => {
      const moved = [...values];
      moved[k] = value + steps[k]!;
      const there = project(point(moved));
      return [(there.x - here.x) as number, (there.y - here.y) as number] as const; // pixels for a step
    });
    const a = sum(slopes.map(([x]) => x * x));
    const b = sum(slopes.map(([x, y]) => x * y));
    const c = sum(slopes.map(([, y]) => y * y));
    const e = DAMPING * Math.max(a, c) + 1e-12;
    const det = (a + e) * (c + e) - b * b;
    if (!(det > 0)) break;
    const u = ((c + e) * r[0] - b * r[1]) / det;
    const v = ((a + e) * r[1] - b * r[0]) / det;
    const change = slopes.map(([x, y]) => x * u + y * v); // in steps
    const largest = Math.max(...change.map(Math.abs));
    if (!Number.isFinite(largest)) break;
    const away = Math.hypot(...r);
    let share = largest > most ? most / largest : 1;
    let next = values;
    for (let halving = 0; halving < HALVINGS; halving++, share /= 2) { // a pointer off the path makes whole steps too long
      next = values.map((value, k) => value + share * change[k]! * steps[k]!);
      if (distance(project(point(next)), pointer) < away) break;
      next = values;
    }
    if (next === values) break;
    values = next;
    if (largest < 1e-3) break;
  }
  return values;
}

function distance(a: ScreenPoint, b: ScreenPoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function sum(all: number[]): number {
  return all.reduce((total, each) => total + each, 0);
}

/** A point that turns about an axis, from where it is at `angle0`. */
export function turningPoint(point: Vec3, center: Vec3, axis: Vec3, angle0: number): PointOf {
  const arm = subtract(point, center);
  return ([angle]) => add(center, rotate(turnAbout(axis, angle! - angle0), arm));
}

/** A point that moves along directions, from where it is at `values0`. */
export function slidingPoint(point: Vec3, directions: readonly Vec3[], values0: readonly number[]): PointOf {
  return (values) => values.reduce((at, value, k) => add(at, directions[k]!, value - values0[k]!), point);
}

/** A point that turns about and moves along one axis: travel first. */
export function screwingPoint(point: Vec3, center: Vec3, axis: Vec3, values0: readonly [number, number]): PointOf {
  const turn = turningPoint(point, center, axis, values0[1]);
  return ([travel, angle]) => add(turn([angle!]), axis, travel! - values0[0]);
}

/** The world's directions of the axes of a body that is turned. */
export function axesOf(turn: Quat): [Vec3, Vec3, Vec3] {
  return [rotate(turn, [1, 0, 0]), rotate(turn, [0, 1, 0]), rotate(turn, [0, 0, 1])];
}
