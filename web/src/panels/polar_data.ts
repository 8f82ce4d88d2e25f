// The force of a shaft on its bearings, across the axis: in axes fixed to the parent and in axes that rotate with the child.

import type { JointData, RunDocument, Vec3 } from "../data/run_document";
import type { LoadPart } from "../panel";
import { placeRotation } from "../plots/joint_axes";
import { conjugate, multiply, rotate } from "../scene/math/vectors";
import { jointLoad } from "../plots/quantities";

export interface PolarData {
  fixed: [Float32Array, Float32Array];
  turning: [Float32Array, Float32Array];
  angle: Float32Array; // of the shaft, rad, never wrapped
  peak: number;
}

/** Two directions across an axis, as kinode takes them: for a coordinate axis the next one, else away from the largest. */
export function acrossAxis(axis: Vec3): [Vec3, Vec3] {
  const sizes = axis.map(Math.abs);
  const along = sizes.indexOf(Math.max(...sizes));
  const plain = sizes.filter((size) => size > 0).length === 1;
  if (plain) {
    const x: Vec3 = [0, 0, 0];
    x[(along + 1) % 3] = 1;
    return [x, cross(unit(axis), x)];
  }
  const helper: Vec3 = [0, 0, 0];
  helper[sizes.indexOf(Math.min(...sizes))] = 1;
  const z = unit(axis);
  const y = unit(cross(z, helper));
  return [cross(y, z), y];
}

function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(a: Vec3): Vec3 {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
}

export function polarData(run: RunDocument, joint: JointData, share: LoadPart): PolarData {
  const axis = unit(joint.axis ?? [0, 0, 1]);
  const [e1, e2] = acrossAxis(axis);
  const load = jointLoad(run, joint, "force", share);
  const n = run.count;
  const rows = (): [Float32Array, Float32Array] => [new Float32Array(n), new Float32Array(n)];
  const fixed = rows();
  const turning = rows();
  const angle = new Float32Array(n);
  let peak = 0;
  let before = 0;
  for (let k = 0; k < n; k++) {
    const relative = multiply(conjugate(placeRotation(run, joint.parent, k)), placeRotation(run, joint.child, k));
    const wrapped = 2 * Math.atan2(relative[1] * axis[0] + relative[2] * axis[1] + relative[3] * axis[2], relative[0]);
    before = k === 0 ? wrapped : before + shortest(wrapped - before);
    angle[k] = before;
    // The force of the child on the parent is minus the reaction.
    const x = -load[0][k]!;
    const y = -load[1][k]!;
    const z = -load[2][k]!;
    const v = rotate(conjugate(relative), [x, y, z]);
    fixed[0][k] = x * e1[0] + y * e1[1] + z * e1[2];
    fixed[1][k] = x * e2[0] + y * e2[1] + z * e2[2];
    turning[0][k] = v[0] * e1[0] + v[1] * e1[1] + v[2] * e1[2];
    turning[1][k] = v[0] * e2[0] + v[1] * e2[1] + v[2] * e2[2];
    peak = Math.max(peak, Math.hypot(fixed[0][k]!, fixed[1][k]!));
  }
  return { fixed, turning, angle, peak };
}

function shortest(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/** The first index of the last turn before k; of a shaft that does not turn on, of the last eighth of the run. */
export function tailStart(angle: Float32Array, k: number): number {
  let first = k;
  while (first > 0 && Math.abs(angle[k]! - angle[first - 1]!) <= 2 * Math.PI) first--;
  return first > 0 ? first : Math.max(0, k - Math.round(angle.length / 8));
}

/** Round circles below a peak: at most four. */
export function circles(peak: number): number[] {
  if (!(peak > 0)) return [];
  const rough = peak / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough) ?? rough;
  const radii: number[] = [];
  for (let r = step; r <= 1.0001 * peak; r += step) radii.push(r);
  return radii;
}
