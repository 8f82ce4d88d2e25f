// A place that is being moved or turned: where it would be, as a gesture and in words.

import type { PlaceData } from "../../messages";
import type { Vec3 } from "../../data/run_document";
import type { Gesture } from "../studio_types";
import { axisWords } from "./gizmo_math";

export interface Placing {
  place: PlaceData;
  at: Vec3 | null;
  rpy: Vec3 | null;
  /** Of a joint, in its own axes. */
  axis: Vec3 | null;
  step: number;
  angleStep: number;
}

export function placeGesture({ place, at, rpy, axis, step, angleStep }: Placing, parameters: boolean): Gesture {
  const what = (place.kind === "frame" ? { frame: place.name } : place.kind === "center" ? { center: place.name } : { joint: place.name }) as { frame: string };
  const moved = { ...(at === null ? {} : { at: [...at], step }), ...(rpy === null ? {} : { rpy: [...rpy], angle_step: angleStep }), ...(axis === null ? {} : { axis: [...axis] }) };
  return { do: "place", what, ...moved, ...(parameters ? { parameters } : {}) } as Gesture;
}

export function placingWords({ place, at, rpy, axis }: Placing): string {
  const round = (values: Vec3, factor: number, unit: string): string => `${values.map((value) => Number((value * factor).toPrecision(4))).join(", ")} ${unit}`;
  if (axis !== null) return `axis of ${place.name}: ${axisWords(axis)}`;
  return at !== null ? `${place.name}: ${round(at, 1, "m")}` : `${place.name}: ${round(rpy!, 180 / Math.PI, "deg")}`;
}

/** The parameters that change when a place is moved: those by which its numbers follow. */
export function parametersOf({ place, at, step }: Placing): string[] {
  if (at === null) return [];
  return [...new Set(place.entries.filter((entry, k) => entry.parameter !== "" && Math.abs(at[k]! - (entry.value ?? 0)) >= step / 2).map((entry) => entry.parameter))];
}
