// Whether a solid hides what moves inside it: a flywheel around a crank, a rotor around its gimbals.

import type { RunHeader, Shape, Vec3 } from "../../data/run_document";
import type { PoseReader } from "./poses";
import { conjugate, rotate, subtract } from "./vectors";

/** Whether a point in the axes of a body is inside a solid of it. */
export function isInside(shape: Shape, point: Vec3): boolean {
  const [a = 0, b = 0, c = 0] = shape.sizes;
  const [x, y, z] = rotate(conjugate(shape.quaternion), subtract(point, shape.at));
  if (shape.kind === "box") return 2 * Math.abs(x) <= a && 2 * Math.abs(y) <= b && 2 * Math.abs(z) <= c;
  if (shape.kind === "sphere") return Math.hypot(x, y, z) <= a;
  if (shape.kind === "cylinder" || shape.kind === "capsule") return Math.hypot(x, y) <= a && 2 * Math.abs(z) <= b;
  return false; // bars and plates are thin
}

/** Whether a joint between other bodies that are drawn lies inside a solid, at the pose last read. */
export function hidesJoints(header: RunHeader, poses: PoseReader): boolean {
  const drawn = (row: number): boolean => (header.bodies[row]?.shapes.length ?? 0) > 0;
  return header.bodies.some((body, row) => {
    if (row >= poses.rows || body.shapes.length === 0) return false;
    const back = conjugate(poses.turn({ body: row, at: [0, 0, 0], quaternion: [1, 0, 0, 0] }));
    const origin = poses.point(row, [0, 0, 0]);
    return header.joints.some(({ parent, child, symbol }) => {
      if (symbol === "none" || parent.body === row || child.body === row || !(drawn(parent.body) || drawn(child.body))) return false;
      const point = rotate(back, subtract(poses.place(child), origin));
      return body.shapes.some((shape) => isInside(shape, point));
    });
  });
}
