// The arrow of a joint's axis: its tip is dragged on a sphere around the joint, and snaps to the axes that the joint has.

import type { PlaceData } from "../../messages";
import type { Quat, Vec3 } from "../../data/run_document";
import { draw } from "../../live/svg";
import { add, conjugate, dot, rotate, scale, subtract, turnAbout, unit } from "../../scene/math/vectors";
import { axisWords, type ScreenPoint } from "./gizmo_math";

/** The number of its handle; those of the three axes come before. */
export const AXIS_HANDLE = 3;
const SNAP = Math.cos((8 * Math.PI) / 180);
const DEGREE = Math.PI / 180;
const LETTERS: Vec3[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

/** A direction along one of the axes, either way, where it is nearly so. */
export function snapDirection(direction: Vec3): Vec3 {
  for (const axis of LETTERS) {
    const along = dot(axis, direction);
    if (Math.abs(along) >= SNAP) return scale(axis, Math.sign(along)).map((x) => x + 0) as Vec3;
  }
  return direction;
}

/** Where a line of sight points on a sphere: the side that is nearer to `before`; beside the sphere, on its edge. */
export function directionOnSphere(from: Vec3, along: Vec3, center: Vec3, radius: number, before: Vec3): Vec3 {
  const way = unit(along);
  const to = subtract(center, from);
  const middle = dot(to, way);
  const foot = subtract(add(from, way, middle), center); // the point of the line that is nearest to the center
  const left = radius ** 2 - dot(foot, foot);
  if (left <= 0) return unit(foot);
  const depth = Math.sqrt(left);
  const [near, far] = [unit(add(foot, way, -depth)), unit(add(foot, way, depth))];
  return dot(far, before) > dot(near, before) ? far : near;
}

/** The axis of a joint in its own axes, which are turned in the world, after its tip was dragged to a line of sight. */
export function turnAxis(before: Vec3, turn: Quat, sight: { from: Vec3; along: Vec3 }, center: Vec3, radius: number): Vec3 {
  const way = directionOnSphere(sight.from, sight.along, center, radius, rotate(turn, before));
  return snapDirection(unit(rotate(conjugate(turn), way)));
}

/** The axis that a key leads to; null if the key means nothing here. */
export function axisKeys({ axis }: Pick<PlaceData, "axis">, key: string, coarse: boolean): Vec3 | null {
  const value = axis?.value ?? null;
  if (value === null) return null;
  const letter = "xyz".indexOf(key);
  if (key.length === 1 && letter >= 0) return [...LETTERS[letter]!];
  if (key === "-") return value.map((x) => -x + 0) as Vec3;
  const step = (coarse ? 15 : 1) * DEGREE;
  const about = { ArrowLeft: [2, 1], ArrowRight: [2, -1], ArrowUp: [1, -1], ArrowDown: [1, 1] }[key];
  if (about === undefined) return null;
  // Where the axis is the one that it would be turned about, another one turns it.
  const k = Math.abs(dot(LETTERS[about[0]!]!, value)) > 0.999 ? (about[0]! + 1) % 3 : about[0]!;
  return unit(rotate(turnAbout(LETTERS[k]!, about[1]! * step), value));
}

/** The handle of an axis that can be turned. */
export function axisHandle({ axis, name }: PlaceData): SVGElement[] {
  if (axis === undefined || axis.value === null || axis.off !== "") return [];
  const words = `Axis of ${name}: drag the tip; x, y, z set it, - turns it round, arrow keys by a degree, with Shift by 15`;
  return [draw("g", { class: "gizmo joint-axis", "data-handle": String(AXIS_HANDLE), "data-id": `handle ${AXIS_HANDLE}`, tabindex: "0", role: "slider", "aria-label": words, "aria-valuetext": axisWords(axis.value) },
    draw("title", {}, words), draw("line", { class: "stem" }), draw("circle", { class: "hit", r: 14 }), draw("circle", { class: "tip", r: 8 }), draw("text", {}, axisWords(axis.value)))];
}

export function putAxis(element: SVGGElement, place: PlaceData, from: ScreenPoint, tip: ScreenPoint): void {
  const stem = element.querySelector("line")!;
  for (const [name, value] of Object.entries({ x1: from.x, y1: from.y, x2: tip.x, y2: tip.y })) stem.setAttribute(name, value.toFixed(1));
  for (const circle of element.querySelectorAll("circle")) {
    circle.setAttribute("cx", tip.x.toFixed(1));
    circle.setAttribute("cy", tip.y.toFixed(1));
  }
  const text = element.querySelector("text")!;
  text.setAttribute("x", (tip.x + 14).toFixed(1));
  text.setAttribute("y", (tip.y - 14).toFixed(1));
  text.textContent = axisWords(place.axis!.value!);
}
