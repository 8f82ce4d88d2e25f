// Many copies of one geometry in one call, each fixed to a body or placed by hand.

import {
  type BufferGeometry, Color, DynamicDrawUsage, EdgesGeometry, Group, InstancedBufferGeometry, InstancedMesh,
  LineSegments, type Material,
} from "three";
import type { Quat, Vec3 } from "../data/run_document";
import type { PoseReader } from "./math/poses";
import { across, cross, rotate, scale, subtract, unit } from "./math/vectors";

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

export interface InstancesOptions {
  edges?: { material: Material; angle: number };
  order?: number;
}

/** Copies of a geometry; the number of copies may change, memory grows when it must. */
export class Instances {
  readonly group = new Group();
  mesh!: InstancedMesh;
  rows = new Int32Array(0);
  private locals = new Float64Array(0);
  private lines: LineSegments | null = null;
  private capacity = 0;
  private readonly geometry: BufferGeometry;
  private readonly material: Material;
  private readonly options: InstancesOptions;

  constructor(geometry: BufferGeometry, material: Material, options: InstancesOptions = {}) {
    this.geometry = geometry;
    this.material = material;
    this.options = options;
    this.reserve(1);
    this.count = 0;
  }

  get count(): number {
    return this.mesh.count;
  }

  set count(count: number) {
    this.reserve(count);
    this.mesh.count = count;
    this.mesh.visible = count > 0;
    if (this.lines) {
      this.lines.visible = count > 0;
      (this.lines.geometry as InstancedBufferGeometry).instanceCount = count;
    }
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
      this.mesh.setColorAt(k, item.color);
    });
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  /** Moves every item with its body. */
  place(poses: PoseReader): void {
    const out = this.mesh.instanceMatrix.array as Float32Array;
    const { rows, locals } = this;
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
        } else {
          const m = 9 * row;
          const shift = c === 3 ? 1 : 0;
          out[at] = r[m]! * x + r[m + 3]! * y + r[m + 6]! * z + shift * p[3 * row]!;
          out[at + 1] = r[m + 1]! * x + r[m + 4]! * y + r[m + 7]! * z + shift * p[3 * row + 1]!;
          out[at + 2] = r[m + 2]! * x + r[m + 5]! * y + r[m + 8]! * z + shift * p[3 * row + 2]!;
        }
        out[at + 3] = c === 3 ? 1 : 0;
      }
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  /** Places one copy by hand, in the world. */
  put(k: number, local: Affine): void {
    const out = this.mesh.instanceMatrix.array as Float32Array;
    for (let c = 0; c < 4; c++) {
      for (let r = 0; r < 3; r++) out[16 * k + 4 * c + r] = local[c]![r]!;
      out[16 * k + 4 * c + 3] = c === 3 ? 1 : 0;
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  tint(k: number, color: Color): void {
    this.mesh.setColorAt(k, color);
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.dispose();
    this.lines?.geometry.dispose();
  }

  private reserve(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = Math.max(count, 2 * this.capacity);
    if (this.mesh) this.dispose();
    this.group.clear();
    this.mesh = new InstancedMesh(this.geometry, this.material, this.capacity);
    this.mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = this.options.order ?? 0;
    this.mesh.setColorAt(0, new Color(1, 1, 1));
    this.group.add(this.mesh);
    const edges = this.options.edges;
    if (!edges) return;
    const outline = new EdgesGeometry(this.geometry, edges.angle);
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("position", outline.getAttribute("position"));
    geometry.setAttribute("instanceMatrix", this.mesh.instanceMatrix);
    this.lines = new LineSegments(geometry, edges.material);
    this.lines.frustumCulled = false;
    this.lines.renderOrder = (this.options.order ?? 0) + 0.5;
    this.lines.raycast = () => {};
    this.group.add(this.lines);
  }
}
