// A place in 3D that was clicked: an existing frame near the pointer, a point of a body's surface, or a point of the ground.

import type { Vec3 } from "../../data/run_document";
import { conjugate, rotate, subtract, unit } from "../../scene/math/vectors";
import { axisWords, meetPlane, roundStep, snap } from "./gizmo_math";
import type { PickedPlace, StillHeader } from "./place_types";
import type { StillStage } from "./still_stage";

const NEAR = 12; // pixels

interface Candidate {
  words: string;
  body: string;
  side: PickedPlace["side"];
  point: Vec3;
}

/** Frames, and the origins of bodies and of the world, where a joint can stand without a new frame. */
export function knownPlaces(stage: StillStage, header: StillHeader): Candidate[] {
  const bodyOf = (row: number): string => (row < 0 ? "world" : header.bodies[row]?.name ?? "");
  const frames = header.frames.filter((frame) => frame.body < header.bodies.length && frame.name.includes("."))
    .map((frame): Candidate => ({ words: `frame ${frame.name}`, body: bodyOf(frame.body), side: { frame: frame.name }, point: stage.pointOf(frame.body, frame.at) }));
  const origins = header.bodies.map((body, row): Candidate => ({ words: `origin of ${body.name}`, body: body.name, side: { body: body.name }, point: stage.pointOf(row, [0, 0, 0]) }));
  return [...frames, ...origins, { words: "origin of the world", body: "world", side: { body: "world" }, point: [0, 0, 0] }];
}

/** The place at a point of the screen; `other` is a body that it must not be on, `only` the one that it must. Null where there is none. */
export function pickPlace(stage: StillStage, x: number, y: number, other = "", only = ""): PickedPlace | null {
  const { view, header } = stage;
  if (view === null || header === null) return null;
  const fits = (body: string): boolean => body !== other && (only === "" || body === only);
  const seen = view.surfaceAt(x, y);
  const surface = seen !== null && (only === "" || seen.body === only) ? seen : null;
  const near = knownPlaces(stage, header).filter((each) => fits(each.body))
    .map((each) => ({ each, d: distance(view.projectPoint(each.point), { x, y }) })).filter(({ d }) => d <= NEAR).sort((a, b) => a.d - b.d)[0];
  const row = surface === null ? -1 : header.bodies.findIndex((body) => body.name === surface.body);
  const local = (direction: Vec3, at: number): Vec3 => unit(rotate(conjugate(view.drawing.poses.quaternion(at)), direction));
  if (near !== undefined) {
    const facing = surface !== null && surface.body === near.each.body ? local(surface.normal, row) : null;
    return { ...near.each, normal: facing };
  }
  const step = Math.min(1e-3, roundStep(view.rig.pixelAt(view.rig.target)));
  if (surface !== null && surface.body !== other) {
    const { poses } = view.drawing;
    const at = rotate(conjugate(poses.quaternion(row)), subtract(surface.point, poses.position(row))).map((value) => snap(value, step)) as Vec3;
    return { side: { body: surface.body, at }, body: surface.body, words: `${surface.body} at ${numbers(at)}, facing ${axisWords(local(surface.normal, row))}`, point: stage.pointOf(row, at), normal: local(surface.normal, row) };
  }
  if (!fits("world")) return null;
  return groundPlace(stage, header, x, y, step);
}

/** Where the line of sight meets the plane of a plane mechanism, or the level through the world's origin. */
function groundPlace(stage: StillStage, header: StillHeader, x: number, y: number, step: number): PickedPlace | null {
  const { from, along } = stage.view!.sightAt(x, y);
  const normal = header.plane?.toward ?? header.up;
  const met = meetPlane(from, along, [0, 0, 0], normal);
  if (met === null || Math.hypot(...met) > 20 * header.size) return null;
  const at = met.map((value) => snap(value, step)) as Vec3;
  return { side: { body: "world", at }, body: "world", words: `the world at ${numbers(at)}`, point: at, normal };
}

export function numbers(values: readonly number[]): string {
  return `(${values.map((value) => Number(value.toPrecision(4))).join(", ")})`;
}

function distance(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
