// Many copies of one geometry in one call, each fixed to a body or placed by hand.

import { type BufferGeometry, type Color, EdgesGeometry, Group, LineSegments, Matrix3, Mesh, type Raycaster, type ShaderMaterial } from "three";
import type { Quat, Vec3 } from "../../data/run_document";
import type { PoseReader } from "../math/poses";
import { across, cross, rotate, scale, subtract, unit } from "../math/vectors";
import { SlotTexture, drawnCount, repeatGeometry, withSlots } from "./slots";

/** A place on a body: three columns and an origin, in the body's axes. */
export type Affine = [Vec3, Vec3, Vec3, Vec3];

export function affine(at: Vec3, quaternion: Quat, sizes: Vec3): Affine {
  const column = (k: number): Vec3 => {
    const axis: Vec3 = [0, 0, 0];
    axis[k] = sizes[k]!;
    return rotate(quaternion, axis);
  };
  return [column(0), column(1), column(2), at];
}

/** The place of a unit cylinder along z, from -1/2 to 1/2, between two points. */
export function between(a: Vec3, b: Vec3, radius: number): Affine {
  const along = subtract(b, a);
  const z = unit(along);
  const x = across(z);
  return [scale(x, radius), scale(cross(z, x), radius), along, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2]];
}

export interface Item {
  row: number; // of the pose; -1 is the world
  local: Affine;
  color: Color;
}

export interface Hit {
  copy: number;
  distance: number;
  point: Vec3;
  normal: Vec3;
}

export interface InstancesOptions {
  edges?: { material: ShaderMaterial; angle: number };
  order?: number;
  lines?: boolean; // the geometry is one of lines
}

/** Copies of a geometry; the number of copies may change, memory grows when it must. */
export class Instances {
  readonly group = new Group();
  readonly geometry: BufferGeometry;
  rows = new Int32Array(0);
  private slots!: SlotTexture;
  private locals = new Float64Array(0);
  private parts: (Mesh | LineSegments)[] = [];
  private perCopy: number[] = [];
  private capacity = 0;
  private shown = 0;
  private readonly material: ShaderMaterial;
  private readonly options: InstancesOptions;

  constructor(geometry: BufferGeometry, material: ShaderMaterial, options: InstancesOptions = {}) {
    this.geometry = geometry;
    this.material = material;
    this.options = options;
  }

  get count(): number {
    return this.shown;
  }

  set count(count: number) {
    this.reserve(count);
    this.shown = count;
    this.parts.forEach((part, k) => {
      part.visible = count > 0;
      part.geometry.setDrawRange(0, count * this.perCopy[k]!);
    });
  }

  /** What is drawn from now on. */
  setItems(items: readonly Item[]): void {
    this.count = items.length;
    if (this.rows.length !== items.length) {
      this.rows = new Int32Array(items.length);
      this.locals = new Float64Array(12 * items.length);
    }
    items.forEach((item, k) => {
      this.rows[k] = item.row;
      for (let c = 0; c < 4; c++) for (let r = 0; r < 3; r++) this.locals[12 * k + 3 * c + r] = item.local[c]![r]!;
      this.tint(k, item.color);
    });
  }

  /** Moves every item with its body. */
  place(poses: PoseReader): void {
    const { rows, locals } = this;
    if (rows.length === 0) return;
    const out = this.slots.data;
    const { p, r } = poses;
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k]!;
      const from = 12 * k;
      const to = 16 * k;
      for (let c = 0; c < 4; c++) {
        const x = locals[from + 3 * c]!, y = locals[from + 3 * c + 1]!, z = locals[from + 3 * c + 2]!;
        const at = to + 4 * c;
        if (row < 0) {
          out[at] = x;
          out[at + 1] = y;
          out[at + 2] = z;
          continue;
        }
        const m = 9 * row;
        const shift = c === 3 ? 1 : 0;
        out[at] = r[m]! * x + r[m + 3]! * y + r[m + 6]! * z + shift * p[3 * row]!;
        out[at + 1] = r[m + 1]! * x + r[m + 4]! * y + r[m + 7]! * z + shift * p[3 * row + 1]!;
        out[at + 2] = r[m + 2]! * x + r[m + 5]! * y + r[m + 8]! * z + shift * p[3 * row + 2]!;
      }
    }
    this.slots.texture.needsUpdate = true;
  }

  /** Places one copy by hand, in the world. */
  put(k: number, local: Affine): void {
    const out = this.slots.data;
    for (let c = 0; c < 4; c++) for (let r = 0; r < 3; r++) out[16 * k + 4 * c + r] = local[c]![r]!;
    this.slots.texture.needsUpdate = true;
  }

  /** Places one copy by hand: axes in those of a body (-1 is the world), one after the other, times a size. */
  putTurned(k: number, poses: PoseReader, row: number, axes: Float64Array, size: number, at: Vec3): void {
    const out = this.slots.data;
    const { r } = poses;
    const m = 9 * row;
    for (let c = 0; c < 3; c++) {
      const x = size * axes[3 * c]!, y = size * axes[3 * c + 1]!, z = size * axes[3 * c + 2]!;
      for (let d = 0; d < 3; d++) {
        out[16 * k + 4 * c + d] = row < 0 ? (d === 0 ? x : d === 1 ? y : z) : r[m + d]! * x + r[m + 3 + d]! * y + r[m + 6 + d]! * z;
      }
    }
    for (let d = 0; d < 3; d++) out[16 * k + 12 + d] = at[d]!;
    this.slots.texture.needsUpdate = true;
  }

  tint(k: number, color: Color): void {
    const out = this.slots.data;
    out[16 * k + 3] = color.r;
    out[16 * k + 7] = color.g;
    out[16 * k + 11] = color.b;
    this.slots.texture.needsUpdate = true;
  }

  /** The nearest copy that a ray hits, how far away, where, and across which surface, in the world. */
  hit(ray: Raycaster): Hit | null {
    const probe = new Mesh(this.geometry);
    probe.matrixAutoUpdate = false;
    let nearest: Hit | null = null;
    for (let k = 0; k < this.shown; k++) {
      const m = this.slots.data.subarray(16 * k, 16 * k + 16);
      probe.matrixWorld.set(m[0]!, m[4]!, m[8]!, m[12]!, m[1]!, m[5]!, m[9]!, m[13]!, m[2]!, m[6]!, m[10]!, m[14]!, 0, 0, 0, 1);
      const found = ray.intersectObject(probe, false)[0];
      if (!found || found.distance >= (nearest?.distance ?? Infinity)) continue;
      const normal = (found.face?.normal ?? probe.up).clone().applyNormalMatrix(new Matrix3().getNormalMatrix(probe.matrixWorld));
      nearest = { copy: k, distance: found.distance, point: found.point.toArray() as Vec3, normal: normal.toArray() as Vec3 };
    }
    return nearest;
  }

  /** Whether what lies behind shows through; how much is the material's "opacity". */
  setTransparent(on: boolean): void {
    for (const material of [this.material, this.parts[0]?.material as ShaderMaterial | undefined]) {
      if (material === undefined) continue;
      material.transparent = on;
      material.depthWrite = !on;
    }
  }

  dispose(): void {
    for (const part of this.parts) {
      part.geometry.dispose();
      (part.material as ShaderMaterial).dispose();
    }
    this.slots?.texture.dispose();
  }

  private reserve(count: number): void {
    if (count <= this.capacity) return;
    this.dispose();
    this.group.clear();
    this.capacity = this.capacity === 0 ? count : Math.max(count, 2 * this.capacity);
    this.slots = new SlotTexture(this.capacity);
    this.parts = [];
    this.perCopy = [];
    this.addPart(this.geometry, this.material, this.options.lines === true, 0);
    const { edges } = this.options;
    if (edges) this.addPart(new EdgesGeometry(this.geometry, edges.angle), edges.material, true, 0.5);
  }

  private addPart(geometry: BufferGeometry, material: ShaderMaterial, lines: boolean, later: number): void {
    const all = repeatGeometry(geometry, this.capacity);
    const own = withSlots(material, this.slots);
    const part = lines ? new LineSegments(all, own) : new Mesh(all, own);
    part.frustumCulled = false;
    part.renderOrder = (this.options.order ?? 0) + later;
    part.raycast = () => {};
    this.parts.push(part);
    this.perCopy.push(drawnCount(geometry));
    this.group.add(part);
  }
}
