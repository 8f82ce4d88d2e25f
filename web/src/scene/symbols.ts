// Joints by the symbol of their kind, with their axes, and hatched supports where they stand on the ground.

import {
  BoxGeometry, type BufferGeometry, Color, Float32BufferAttribute, Group, BufferGeometry as Geometry, OctahedronGeometry,
  type ShaderMaterial, SphereGeometry, TorusGeometry,
} from "three";
import type { JointData, RunHeader, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { type Affine, Instances } from "./gl/instances";
import { edgeMaterial, litMaterial, uniform } from "./gl/materials";
import type { PoseReader } from "./math/poses";
import { across, cross, dot, rotate, scale, subtract, unit } from "./math/vectors";
import { joinGeometries } from "./gl/slots";
import { zCylinder } from "./solids";

const PIXELS = 9; // half the size of a symbol on the screen
export const MANY = 40; // joints or bodies that are drawn with fewer triangles and marks
const SHARE = 0.03; // of the model's size, at the most

/** Geometries put together, each in its own shade of gray. */
function merge(parts: [BufferGeometry, number][]): BufferGeometry {
  return joinGeometries(parts, "shade");
}

const DARK = 0.25;

/** Symbols with their axis along z, about two units wide. */
const SHAPES: Record<string, () => BufferGeometry> = {
  revolute: () => merge([
    [zCylinder(0.98, 0.98, 12), DARK], [zCylinder(0.86, 1.04, 12), 1], [zCylinder(0.34, 1.5, 6), DARK],
  ]),
  lean: () => merge([[zCylinder(0.92, 1, 8), 1], [zCylinder(0.36, 1.3, 4), DARK]]), // a revolute joint among many
  prismatic: () => merge([[new BoxGeometry(1.5, 1.5, 1.7), 1], [new BoxGeometry(0.5, 0.5, 3.6), DARK]]),
  cylindrical: () => merge([[zCylinder(0.8, 1.8, 14), 1], [zCylinder(0.36, 3.6, 8), DARK]]),
  screw: () => merge([
    [zCylinder(0.95, 1.1, 6), 1], [zCylinder(0.4, 3.6, 12), DARK],
    ...[-1.5, -1.15, -0.8, 0.8, 1.15, 1.5].map((z): [BufferGeometry, number] =>
      [new TorusGeometry(0.42, 0.11, 4, 10).rotateX(0.12).translate(0, 0, z), DARK]),
  ]),
  spherical: () => merge([[new SphereGeometry(0.85, 12, 8), 1], [new TorusGeometry(0.9, 0.13, 4, 14), DARK]]),
  universal: () => merge([
    [zCylinder(0.3, 2.2, 8), 1], [zCylinder(0.3, 2.2, 8).rotateX(Math.PI / 2), DARK], [new SphereGeometry(0.5, 8, 6), 1],
  ]),
  planar: () => merge([[new BoxGeometry(2.2, 2.2, 0.25), 1], [new BoxGeometry(1, 1, 0.8).translate(0, 0, 0.5), DARK]]),
  fixed: () => merge([[new BoxGeometry(1, 1, 1), DARK]]),
  other: () => merge([[new OctahedronGeometry(0.9), 1]]),
};

const AS: Record<string, string> = { disc: "revolute", square: "prismatic", ball: "spherical", cross: "universal", ring: "cylindrical" };

/** Which symbol a joint has; "" if it is not drawn. */
export function symbolOf(joint: JointData): string {
  if (joint.symbol === "none" || joint.kind === "free") return "";
  if (joint.kind in SHAPES) return joint.kind;
  const named = AS[joint.symbol] ?? joint.symbol;
  return named in SHAPES ? named : "other";
}

/** A pedestal from the joint down to hatched ground; up is z. */
function supportGeometry(): BufferGeometry {
  const ticks = [-1.6, -0.95, -0.3, 0.35, 1, 1.65].map((x): [BufferGeometry, number] =>
    [new BoxGeometry(0.1, 1.1, 0.62).rotateY(-0.7).translate(x - 0.2, 0, -2.35), 0.55]);
  return merge([
    [zCylinder(1.25, 2, 4, 0.3).rotateZ(Math.PI / 4).translate(0, 0, -1), 1],
    [new BoxGeometry(3.6, 1.5, 0.16).translate(0, 0, -2.05), DARK], ...ticks,
  ]);
}

/** Dash-dotted from -1 to 1 along z. */
function dashDot(): BufferGeometry {
  const points: number[] = [];
  for (let k = 0; k < 5; k++) {
    const z = -1 + 0.42 * k;
    points.push(0, 0, z, 0, 0, z + 0.26);
    if (k < 4) points.push(0, 0, z + 0.32, 0, 0, z + 0.36);
  }
  const geometry = new Geometry();
  geometry.setAttribute("position", new Float32BufferAttribute(points, 3));
  return geometry;
}

/** The places of a symbol: z along the joint's axis, a given length for each unit. */
function axesAlong(at: Vec3, axis: Vec3, side: Vec3, size: number): Affine {
  const z = unit(axis);
  let x = subtract(side, scale(z, dot(side, z)));
  x = unit(x, across(z));
  return [scale(x, size), scale(cross(z, x), size), scale(z, size), at];
}

/** A joint, and the axes of its symbol in those of its parent body. */
interface Seated {
  joint: JointData;
  axes: Float64Array; // x, y, z along the joint's axis
}

function seat(joint: JointData): Seated {
  const { quaternion } = joint.parent;
  const z = unit(rotate(quaternion, joint.axis ?? [0, 0, 1]));
  const side = rotate(quaternion, joint.axis && Math.abs(joint.axis[0]) > 0.9 ? [0, 1, 0] : [1, 0, 0]);
  const [x, y] = axesAlong([0, 0, 0], z, side, 1);
  return { joint, axes: Float64Array.from([...x, ...y, ...z]) };
}

export class JointSymbols {
  readonly group = new Group();
  readonly lines = new Group();
  readonly supports = new Group();
  private readonly sets = new Map<string, Instances>();
  private readonly members = new Map<string, Seated[]>();
  private readonly material = litMaterial({ opacity: 0.9, shaded: true });
  private readonly ground = litMaterial({ shaded: true });
  private readonly axisMaterial: ShaderMaterial = edgeMaterial(0.75, false);
  private readonly support = new Instances(supportGeometry(), this.ground);
  private readonly axes = new Instances(dashDot(), this.axisMaterial, { lines: true, order: 9 });
  private withAxis: Seated[] = [];
  private grounded: { joint: JointData; up: Vec3; side: Vec3; row: number }[] = [];
  private header!: RunHeader;
  private chosen = "";
  private readonly paint = { plain: new Color(), chosen: new Color(), ground: new Color() };

  constructor() {
    this.supports.add(this.support.group);
    this.lines.add(this.axes.group);
  }

  setHeader(header: RunHeader, poses: PoseReader): void {
    this.header = header;
    this.members.clear();
    for (const joint of header.joints) {
      const symbol = symbolOf(joint);
      if (symbol === "") continue;
      if (!this.members.has(symbol)) this.members.set(symbol, []);
      this.members.get(symbol)!.push(seat(joint));
      if (!this.sets.has(symbol)) {
        const lean = symbol === "revolute" && header.joints.length > MANY;
        const set = new Instances(SHAPES[lean ? "lean" : symbol]!(), this.material, { order: 10 });
        this.sets.set(symbol, set);
        this.group.add(set.group);
      }
    }
    for (const [symbol, set] of this.sets) set.count = this.members.get(symbol)?.length ?? 0;
    const drawn = [...this.members.values()].flat();
    this.withAxis = drawn.filter(({ joint }) => joint.axis !== null && joint.freedoms > 0);
    this.axes.count = this.withAxis.length;
    this.grounded = drawn.filter(({ joint }) => joint.grounded && joint.kind !== "free").map(({ joint }) => this.supportOf(joint, poses));
    this.support.count = this.grounded.length;
    this.paintAll();
  }

  /** Which joint is chosen. */
  choose(name: string): void {
    this.chosen = name;
    this.paintAll();
  }

  setTheme(dark: boolean): void {
    this.paint.plain.set(dark ? "#dfe5ec" : "#f4f6f8");
    this.paint.chosen.set(dark ? "#64b0f0" : "#3b97e0");
    this.paint.ground.set(dark ? "#7d8894" : "#c9d0d8");
    uniform<Color>(this.axisMaterial, "tint").value.set(dark ? "#c3ccd6" : "#1d2733");
    uniform<number>(this.material, "ambient").value = dark ? 0.34 : 0.45;
    if (this.header) this.paintAll();
  }

  sizeAt(point: Vec3, rig: CameraRig): number {
    return Math.min(SHARE * this.header.size, PIXELS * rig.pixelAt(point));
  }

  place(poses: PoseReader, rig: CameraRig): void {
    for (const [symbol, set] of this.sets) {
      const joints = this.members.get(symbol) ?? [];
      joints.forEach(({ joint, axes }, k) => {
        const at = poses.place(joint.child);
        const size = this.sizeAt(at, rig) * (joint.name === this.chosen ? 1.3 : 1);
        set.putTurned(k, poses, joint.parent.body, axes, size, at);
      });
    }
    if (this.lines.visible) {
      this.withAxis.forEach(({ joint, axes }, k) => {
        const at = poses.place(joint.child);
        this.axes.putTurned(k, poses, joint.parent.body, axes, 2.9 * this.sizeAt(at, rig), at);
      });
    }
    this.grounded.forEach(({ joint, up, side, row }, k) => {
      const at = poses.place(row === 0 ? joint.parent : joint.child);
      const size = 0.95 * this.sizeAt(at, rig);
      this.support.put(k, axesAlong(at, up, side, size));
    });
  }

  dispose(): void {
    for (const set of [...this.sets.values(), this.support, this.axes]) set.dispose();
    for (const material of [this.material, this.ground, this.axisMaterial]) material.dispose();
  }

  /** A support stands below its joint, or above where the body hangs. */
  private supportOf(joint: JointData, poses: PoseReader): { joint: JointData; up: Vec3; side: Vec3; row: number } {
    const row = joint.parent.body < 0 ? 0 : 1;
    const [foot, carried] = row === 0 ? [joint.parent, joint.child] : [joint.child, joint.parent];
    const rise = unit(this.header.plane?.up ?? this.header.up);
    const body = this.header.bodies[carried.body];
    const away = body ? subtract(poses.point(carried.body, body.com), poses.place(foot)) : rise;
    const middle = dot(subtract(this.header.center, poses.place(foot)), rise);
    const hangs = dot(away, rise) < -0.5 * Math.hypot(...away) && middle < -0.1 * this.header.size;
    const side = this.header.plane?.right ?? across(rise);
    return { joint, up: hangs ? scale(rise, -1) : rise, side, row };
  }

  private paintAll(): void {
    for (const [symbol, set] of this.sets) {
      (this.members.get(symbol) ?? []).forEach(({ joint }, k) => set.tint(k, joint.name === this.chosen ? this.paint.chosen : this.paint.plain));
    }
    this.grounded.forEach((_, k) => this.support.tint(k, this.paint.ground));
  }
}
