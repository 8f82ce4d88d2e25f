// Small marks over the bodies: mass centers as quartered balls, frames as triads, and the place where a run failed.

import {
  BufferGeometry, Color, Float32BufferAttribute, Group, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, SphereGeometry,
  type ShaderMaterial, TorusGeometry,
} from "three";
import type { RunDocument, RunHeader, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { Instances } from "./gl/instances";
import { TINTS, litMaterial, pathMaterial, uniform } from "./gl/materials";
import type { PoseReader } from "./math/poses";
import { add, rotate } from "./math/vectors";

const BALL = 5.5; // pixels
const TRIAD = 26; // pixels
const AXIS_COLORS = ["#d4483b", "#3d9a50", "#3f7fd0"];

/** Eight parts of a ball, dark and light by turns. */
function quarteredBall(): BufferGeometry {
  const ball = new SphereGeometry(1, 12, 6).rotateX(Math.PI / 2).toNonIndexed();
  const p = ball.getAttribute("position");
  const shade = new Float32Array(p.count);
  for (let k = 0; k < p.count; k += 3) {
    const middle = [0, 1, 2].map((c) => p.getComponent(k, c) + p.getComponent(k + 1, c) + p.getComponent(k + 2, c));
    const dark = middle[0]! * middle[1]! * middle[2]! > 0;
    shade.fill(dark ? 0.08 : 1, k, k + 3);
  }
  ball.setAttribute("shade", new Float32BufferAttribute(shade, 1));
  return ball;
}

export class CenterMarks {
  readonly balls: Instances;
  private readonly material = litMaterial({ opacity: 0.95, shaded: true });
  private rows: { row: number; at: Vec3 }[] = [];

  constructor() {
    uniform<number>(this.material, "ambient").value = 0.5;
    this.balls = new Instances(quarteredBall(), this.material, { order: 11 });
  }

  setHeader(header: RunHeader): void {
    this.rows = header.bodies.flatMap((body, row) => (body.mass > 0 ? [{ row, at: body.com }] : []));
    this.balls.count = this.rows.length;
    const white = new Color("#ffffff");
    for (let k = 0; k < this.rows.length; k++) this.balls.tint(k, white);
  }

  place(poses: PoseReader, rig: CameraRig, size: number): void {
    this.rows.forEach(({ row, at }, k) => {
      const point = poses.point(row, at);
      const r = Math.min(0.018 * size, BALL * rig.pixelAt(point));
      const q = poses.quaternion(row);
      this.balls.put(k, [rotate(q, [r, 0, 0]), rotate(q, [0, r, 0]), rotate(q, [0, 0, r]), point]);
    });
  }

  dispose(): void {
    this.balls.dispose();
    this.material.dispose();
  }
}

/** A mesh of segments with a width in pixels. */
function segmentMesh(positions: Float32Array<ArrayBuffer>, ends: Float32Array<ArrayBuffer>, material: ShaderMaterial, order: number): Mesh {
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, -1, 0, 1, 1, 0, 0, 1, 0], 3));
  geometry.setAttribute("start", new InstancedBufferAttribute(positions, 3));
  geometry.setAttribute("end", new InstancedBufferAttribute(ends, 3));
  geometry.instanceCount = positions.length / 3;
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  mesh.raycast = () => {};
  return mesh;
}

/** Three colored axes at each frame: x red, y green, z blue. */
export class FrameTriads {
  readonly group = new Group();
  private readonly materials = AXIS_COLORS.map((color) => {
    const material = pathMaterial(1.4);
    uniform<Color>(material, "tint").value.set(color);
    return material;
  });
  private meshes: Mesh[] = [];
  private count = -1;
  private frames: RunHeader["frames"] = [];

  setHeader(header: RunHeader): void {
    const bodies = header.bodies.map((body, row) => ({ name: body.name, body: row, at: [0, 0, 0] as Vec3, quaternion: [1, 0, 0, 0] as [number, number, number, number] }));
    this.frames = [...header.frames, ...(header.frames.length > 0 ? [] : bodies)];
    if (this.count === this.frames.length) return;
    this.count = this.frames.length;
    this.clear();
    this.meshes = this.materials.map((material) =>
      segmentMesh(new Float32Array(3 * this.count), new Float32Array(3 * this.count), material, 12));
    if (this.count > 0) this.group.add(...this.meshes);
  }

  place(poses: PoseReader, rig: CameraRig, size: number): void {
    this.frames.forEach((frame, k) => {
      const at = poses.point(frame.body, frame.at);
      const reach = Math.min(0.08 * size, TRIAD * rig.pixelAt(at));
      this.meshes.forEach((mesh, c) => {
        const axis: Vec3 = [0, 0, 0];
        axis[c] = reach;
        const tip = add(at, rotate(poses.turn(frame), axis));
        (mesh.geometry.getAttribute("start") as InstancedBufferAttribute).setXYZ(k, ...at);
        (mesh.geometry.getAttribute("end") as InstancedBufferAttribute).setXYZ(k, ...tip);
      });
    });
    for (const [c, mesh] of this.meshes.entries()) {
      mesh.geometry.getAttribute("start").needsUpdate = true;
      mesh.geometry.getAttribute("end").needsUpdate = true;
      uniform<[number, number]>(this.materials[c]!, "screen").value = [rig.width / 2, rig.heightPixels / 2];
    }
  }

  dispose(): void {
    this.clear();
    for (const material of this.materials) material.dispose();
  }

  private clear(): void {
    for (const mesh of this.meshes) mesh.geometry.dispose();
    this.group.clear();
    this.meshes = [];
  }
}

/** A ring around the component where a run failed, at the end of the run. */
export class FailureMark {
  readonly ring: Instances;
  private readonly material = litMaterial({ opacity: 0.95 });

  constructor() {
    this.ring = new Instances(new TorusGeometry(1, 0.16, 8, 28), this.material, { order: 30 });
    this.ring.count = 1;
    this.ring.tint(0, new Color("#d3261c"));
  }

  place(document: RunDocument, poses: PoseReader, rig: CameraRig, t: number): void {
    const at = failurePoint(document.header, poses);
    this.ring.group.visible = at !== null && t >= document.header.run.to - 1e-9 * Math.abs(document.header.run.to);
    if (at === null || !this.ring.group.visible) return;
    const r = 15 * rig.pixelAt(at);
    const q = rig.quaternion;
    this.ring.put(0, [rotate(q, [r, 0, 0]), rotate(q, [0, r, 0]), rotate(q, [0, 0, r]), at]);
  }

  dispose(): void {
    this.ring.dispose();
    this.material.dispose();
  }
}

/** Whether a run ended before its time. */
export function hasFailed(header: RunHeader): boolean {
  return !["", "done", "condition"].includes(header.run.status);
}

/** Where a run failed: at the joint, body or element that the message names. */
export function failurePoint(header: RunHeader, poses: PoseReader): Vec3 | null {
  if (!hasFailed(header)) return null;
  const name = header.run.component;
  const joint = header.joints.find((each) => each.name === name);
  if (joint) return poses.place(joint.child);
  const row = header.bodies.findIndex((body) => body.name === name);
  if (row >= 0) return poses.point(row, header.bodies[row]!.com);
  const element = header.elements.find((each) => each.name === name);
  return element ? poses.place(element.a) : null;
}

export function tintOf(header: RunHeader, row: number): string {
  return TINTS[(header.bodies[row]?.color ?? 0) % TINTS.length]!;
}
