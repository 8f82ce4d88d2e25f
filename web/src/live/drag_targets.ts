// What can be dragged in 3D: joints set the start, mass centers and places of joints set numbers of the model.

import type { JointData, Place, RunDocument, RunHeader, Vec3 } from "../data/run_document";
import type { PoseReader } from "../scene/math/poses";
import { rotate } from "../scene/math/vectors";
import { type PointOf, axesOf, screwingPoint, slidingPoint, turningPoint } from "./drag_math";
import { valueNow } from "./state_values";

/** Numbers that a drag changes, and the point that follows the pointer. */
export interface DragTarget {
  kind: "start" | "number";
  label: string;
  names: string[];
  values: number[];
  steps: number[]; // small changes, for slopes
  point: PointOf;
}

const AXES = ["x", "y", "z"] as const;

/** The joint that a body hangs on: the last declared one whose coordinates may be set; walks up over fixed and driven ones. */
export function jointOfBody(header: RunHeader, row: number, settable: (name: string) => boolean): JointData | null {
  const visited = new Set<number>();
  for (let at = row; at >= 0 && !visited.has(at); ) {
    visited.add(at);
    const joint = header.joints.find((each) => each.child.body === at && isJoint(each));
    if (joint === undefined) return null;
    if (startNames(joint).some(settable)) return joint;
    at = joint.parent.body;
  }
  return null;
}

function isJoint(joint: JointData): boolean {
  return joint.freedoms > 0 || joint.kind === "fixed";
}

/** The initial values that dragging a joint sets; none where its kind has no simple picture. */
export function startNames(joint: JointData): string[] {
  const q = joint.coordinates[0] ?? "";
  if (q === "") return [];
  if (joint.kind === "revolute" || joint.kind === "prismatic" || joint.kind === "screw") return joint.axis === null ? [] : [q];
  if (joint.kind === "cylindrical") return joint.axis === null ? [] : [`${q}.travel`, `${q}.angle`];
  if (joint.kind === "planar") return [`${q}.x`, `${q}.y`];
  if (joint.kind === "free") return [`${q}.x`, `${q}.y`, `${q}.z`];
  return [];
}

/** A joint grabbed at a point of the world. */
export function startTarget(joint: JointData, grabbed: Vec3, run: RunDocument, poses: PoseReader, known: (name: string) => number | undefined): DragTarget | null {
  const names = startNames(joint);
  const from = run.t[0] ?? 0;
  const values = names.map((name) => known(name) ?? valueNow(run, name, from));
  if (names.length === 0 || !values.every(Number.isFinite)) return null;
  const turn = poses.turn(joint.parent);
  const center = poses.place(joint.child);
  const axis = rotate(turn, joint.axis ?? [0, 0, 1]);
  const small = 1e-3 * (run.header.size || 1);
  const base = { kind: "start" as const, label: joint.name, names, values };
  if (joint.kind === "prismatic") return { ...base, steps: [small], point: slidingPoint(grabbed, [axis], values) };
  if (joint.kind === "revolute" || joint.kind === "screw") return { ...base, steps: [1e-3], point: turningPoint(grabbed, center, axis, values[0]!) };
  if (joint.kind === "cylindrical") return { ...base, steps: [small, 1e-3], point: screwingPoint(grabbed, center, axis, [values[0]!, values[1]!]) };
  return { ...base, steps: names.map(() => small), point: slidingPoint(grabbed, axesOf(turn).slice(0, names.length), values) };
}

export interface NumberSource {
  /** Value of a number that can be dragged, or undefined. */
  (name: string): number | undefined;
}

/** Numbers `prefix.x`, `.y`, `.z` of a point that is fixed to a body, as far as they can be dragged. */
export function numberTarget(label: string, prefix: string, place: Pick<Place, "body" | "at">, poses: PoseReader, number: NumberSource, size: number): DragTarget | null {
  const found = AXES.map((axis, k) => ({ name: `${prefix}.${axis}`, k, value: number(`${prefix}.${axis}`) })).filter((each) => each.value !== undefined);
  if (found.length === 0) return null;
  const axes = axesOf(poses.quaternion(place.body));
  const values = found.map((each) => each.value!);
  const point = poses.point(place.body, place.at);
  return {
    kind: "number", label, names: found.map((each) => each.name), values, steps: found.map(() => 1e-3 * (size || 1)),
    point: slidingPoint(point, found.map((each) => axes[each.k]!), values),
  };
}

export interface Handle {
  kind: "center" | "place";
  label: string;
  prefix: string;
  place: Pick<Place, "body" | "at">;
}

const near = (a: Vec3, b: Vec3): boolean => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < 1e-9;

/** Mass centers and places of joints that are numbers of the model. */
export function findHandles(header: RunHeader, number: NumberSource): Handle[] {
  const moves = (prefix: string): boolean => AXES.some((axis) => number(`${prefix}.${axis}`) !== undefined);
  const handles: Handle[] = [];
  header.bodies.forEach((body, row) => {
    if (body.mass > 0 && moves(`${body.name}.com`)) handles.push({ kind: "center", label: `mass center of ${body.name}`, prefix: `${body.name}.com`, place: { body: row, at: body.com } });
  });
  for (const joint of header.joints) {
    const { parent } = joint;
    const frame = header.frames.find((each) => each.body === parent.body && near(each.at, parent.at));
    const prefix = [`${joint.name}.a.at`, `${joint.name}.at`, ...(frame ? [`${frame.name}.at`] : [])].find(moves);
    if (prefix !== undefined && !handles.some((each) => each.prefix === prefix)) handles.push({ kind: "place", label: `place of ${joint.name}`, prefix, place: parent });
  }
  return handles;
}
