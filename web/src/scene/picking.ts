// What is under the pointer: joints and arrows by their distance on the screen, bodies by a ray.

import { Raycaster, Vector2 } from "three";
import type { JointData, RunHeader, Vec3 } from "../data/run_document";
import type { DrawnArrow } from "./arrows";
import type { CameraRig } from "./camera_rig";
import type { PoseReader } from "./math/poses";
import type { SolidSet } from "./solids";
import { symbolOf } from "./symbols";

const NEAR_JOINT = 12; // pixels
const NEAR_ARROW = 6;
const COINCIDE = 7;

export interface Pick {
  kind: "joint" | "load" | "body" | "center" | "none";
  name: string; // of the joint or body
  /** All joints at this place, the nearest first. */
  joints: string[];
  arrow: DrawnArrow | null;
}

/** A point of a body's surface, in the world. */
export interface Surface {
  body: string;
  point: Vec3;
  normal: Vec3;
}

/** A line of sight. */
export interface Sight {
  from: Vec3;
  along: Vec3;
}

export const NOTHING: Pick = { kind: "none", name: "", joints: [], arrow: null };

/** The distance of a point from a segment in the plane. */
export function segmentDistance(x: number, y: number, a: { x: number; y: number }, b: { x: number; y: number }): number {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const size = dx * dx + dy * dy;
  const s = size > 0 ? Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / size)) : 0;
  return Math.hypot(x - a.x - s * dx, y - a.y - s * dy);
}

/** Joints within reach, nearest first, with all that coincide with the nearest one. */
export function nearJoints(places: { name: string; x: number; y: number }[], x: number, y: number): string[] {
  const byDistance = places
    .map((place) => ({ ...place, d: Math.hypot(place.x - x, place.y - y) }))
    .sort((a, b) => a.d - b.d);
  const first = byDistance[0];
  if (!first || first.d > NEAR_JOINT) return [];
  return byDistance.filter((p) => Math.hypot(p.x - first.x, p.y - first.y) <= COINCIDE).map((p) => p.name);
}

export class Picker {
  private readonly ray = new Raycaster();
  private readonly pointer = new Vector2();

  pick(x: number, y: number, header: RunHeader, poses: PoseReader, rig: CameraRig, solids: SolidSet, arrows: readonly DrawnArrow[]): Pick {
    const places = header.joints.filter(isShown).map((joint) => ({ name: joint.name, ...rig.project(jointPoint(joint, poses)) }));
    const joints = nearJoints(places.filter((place) => place.visible), x, y);
    if (joints.length > 0) return { kind: "joint", name: joints[0]!, joints, arrow: null };
    let best: DrawnArrow | null = null;
    let least = NEAR_ARROW;
    for (const arrow of arrows) {
      const d = segmentDistance(x, y, rig.project(arrow.start), rig.project(arrow.tip));
      if (d < least) {
        least = d;
        best = arrow;
      }
    }
    if (best) return { kind: "load", name: best.joint.name, joints: [best.joint.name], arrow: best };
    const body = this.body(x, y, rig, solids);
    return body === "" ? NOTHING : { kind: "body", name: body, joints: [], arrow: null };
  }

  /** The body in front at a place on the screen. */
  private body(x: number, y: number, rig: CameraRig, solids: SolidSet): string {
    return this.surface(x, y, rig, solids)?.body ?? "";
  }

  /** The surface in front at a place on the screen: of which body, where, and which way it faces, in the world. */
  surface(x: number, y: number, rig: CameraRig, solids: SolidSet): Surface | null {
    this.aim(x, y, rig);
    let found: Surface | null = null;
    let nearest = Infinity;
    for (const target of solids.targets) {
      const hit = target.instances.hit(this.ray);
      if (hit === null || hit.distance >= nearest) continue;
      nearest = hit.distance;
      found = { body: target.name(hit.copy), point: hit.point, normal: hit.normal };
    }
    return found;
  }

  /** The line of sight through a place on the screen. */
  sight(x: number, y: number, rig: CameraRig): Sight {
    this.aim(x, y, rig);
    return { from: this.ray.ray.origin.toArray() as Vec3, along: this.ray.ray.direction.toArray() as Vec3 };
  }

  private aim(x: number, y: number, rig: CameraRig): void {
    this.pointer.set((2 * x) / rig.width - 1, 1 - (2 * y) / rig.heightPixels);
    this.ray.setFromCamera(this.pointer, rig.camera);
  }
}

function isShown(joint: JointData): boolean {
  return symbolOf(joint) !== "";
}

export function jointPoint(joint: JointData, poses: PoseReader): Vec3 {
  return poses.place(joint.child);
}
