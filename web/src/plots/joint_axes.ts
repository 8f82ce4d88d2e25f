// Vectors of the file are in world axes. Here they are turned into the axes of a joint's parent side, as kinode gives loads.

import type { JointData, Quat, RunDocument } from "../data/run_document";
import { IDENTITY, conjugate, multiply, rotate } from "../scene/math/vectors";

export type Vector3Rows = [Float32Array, Float32Array, Float32Array];

/** Rotation of a body at a stored time; the world does not rotate. */
function bodyRotation(run: RunDocument, body: number, k: number): Quat {
  if (body < 0) return IDENTITY;
  const n = run.count;
  const at = (body * 7 + 3) * n + k;
  const p = run.poses;
  return [p[at] ?? 1, p[at + n] ?? 0, p[at + 2 * n] ?? 0, p[at + 3 * n] ?? 0];
}

/** Rotation of one side of a joint at a stored time. */
export function placeRotation(run: RunDocument, place: JointData["parent"], k: number): Quat {
  return multiply(bodyRotation(run, place.body, k), place.quaternion);
}

/** Rows x, y, z in world axes, turned into the axes of the joint's parent side at every stored time. */
export function intoJointAxes(run: RunDocument, joint: JointData, world: Vector3Rows): Vector3Rows {
  const n = run.count;
  const rows: Vector3Rows = [new Float32Array(n), new Float32Array(n), new Float32Array(n)];
  const still = joint.parent.body < 0 ? conjugate(joint.parent.quaternion) : null;
  for (let k = 0; k < n; k++) {
    const back = still ?? conjugate(placeRotation(run, joint.parent, k));
    const v = rotate(back, [world[0][k]!, world[1][k]!, world[2][k]!]);
    rows[0][k] = v[0];
    rows[1][k] = v[1];
    rows[2][k] = v[2];
  }
  return rows;
}

/** Magnitude of a vector over time. */
export function magnitude(rows: ArrayLike<number>[]): Float32Array {
  const n = rows[0]?.length ?? 0;
  const sizes = new Float32Array(n);
  for (let k = 0; k < n; k++) {
    let sum = 0;
    for (const row of rows) sum += row[k]! * row[k]!;
    sizes[k] = Math.sqrt(sum);
  }
  return sizes;
}
