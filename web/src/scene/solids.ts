// The bodies of a run: boxes, cylinders, capsules, spheres, and bars and plates for bodies without a shape.

import {
  BoxGeometry, type BufferGeometry, Color, CylinderGeometry, Float32BufferAttribute, Group, SphereGeometry,
  BufferGeometry as Geometry, type ShaderMaterial,
} from "three";
import type { BodyData, RunHeader, Shape, Vec3 } from "../data/run_document";
import { type Affine, type Item, Instances, affine, between } from "./gl/instances";
import { TINTS, edgeMaterial, litMaterial, uniform } from "./gl/materials";
import { findPlate } from "./math/plate_shape";
import type { PoseReader } from "./math/poses";
import { add, cross, rotate, scale, subtract, unit } from "./math/vectors";

type Primitive = "box" | "cylinder" | "sphere" | "wedge" | "tube" | "dome";
const PRIMITIVES: Primitive[] = ["box", "cylinder", "sphere", "wedge", "tube", "dome"];

/** How many triangles round solids have: software rendering takes a microsecond for each. */
export type Detail = "fine" | "plain" | "few";
const SIDES: Record<Detail, { cylinder: number; sphere: [number, number]; tube: number; dome: [number, number] }> = {
  fine: { cylinder: 32, sphere: [22, 14], tube: 20, dome: [20, 5] },
  plain: { cylinder: 24, sphere: [18, 12], tube: 12, dome: [12, 3] },
  few: { cylinder: 12, sphere: [10, 6], tube: 8, dome: [8, 2] },
};

/** A prism over the triangle (0,0) (1,0) (0,1), from -1/2 to 1/2 along z; the sides that touch the next one are left out. */
function wedgeGeometry(): BufferGeometry {
  const corners: Vec3[] = [[0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.5], [0, 0, -0.5], [1, 0, -0.5], [0, 1, -0.5]];
  const faces: [number[], Vec3][] = [
    [[0, 1, 2], [0, 0, 1]], [[3, 5, 4], [0, 0, -1]], [[1, 4, 5, 1, 5, 2], [1, 1, 0]],
  ];
  const position: number[] = [];
  const normal: number[] = [];
  for (const [indices, n] of faces) {
    for (const k of indices) {
      position.push(...corners[k]!);
      normal.push(...n);
    }
  }
  const geometry = new Geometry();
  geometry.setAttribute("position", new Float32BufferAttribute(position, 3));
  geometry.setAttribute("normal", new Float32BufferAttribute(normal, 3));
  return geometry;
}

export function zCylinder(radius: number, length: number, sides: number, top = radius): BufferGeometry {
  return new CylinderGeometry(top, radius, length, sides).rotateX(Math.PI / 2);
}

/** Unit geometries that all drawings of a stage share. */
export class SolidGeometries {
  readonly of: Record<Primitive, BufferGeometry>;
  readonly detail: Detail;

  constructor(detail: Detail) {
    this.detail = detail;
    const { cylinder, sphere, tube, dome } = SIDES[detail];
    this.of = {
      box: new BoxGeometry(1, 1, 1),
      cylinder: zCylinder(1, 1, cylinder),
      sphere: new SphereGeometry(1, ...sphere),
      wedge: wedgeGeometry(),
      tube: new CylinderGeometry(1, 1, 1, tube, 1, true).rotateX(Math.PI / 2), // without ends
      dome: new SphereGeometry(1, ...dome, 0, 2 * Math.PI, 0, Math.PI / 2).rotateX(Math.PI / 2), // the half above z = 0
    };
  }

  dispose(): void {
    for (const geometry of Object.values(this.of)) geometry.dispose();
  }
}

/** The simple solids that a shape consists of, in the body's axes. */
export function partsOf(shape: Shape, row = 0): [Primitive, Affine][] {
  const [size = 0, b = 0, c = 0] = shape.sizes;
  // bars of neighbors on one line would flicker if they were equally thick
  const a = shape.points ? size * (1 + 0.08 * ((row % 3) - 1)) : size;
  const at = (kind: Primitive, sizes: Vec3): [Primitive, Affine] => [kind, affine(shape.at, shape.quaternion, sizes)];
  const dome = (point: Vec3, sizes: Vec3): [Primitive, Affine] => ["dome", affine(point, shape.quaternion, sizes)];
  if (shape.kind === "mesh") return []; // has a geometry of its own
  if (shape.kind === "box") return [at("box", [a, b, c])];
  if (shape.kind === "sphere") return [at("sphere", [a, a, a])];
  if (shape.kind === "cylinder") return [at("cylinder", [a, a, b])];
  if (shape.kind === "capsule") {
    const half = rotate(shape.quaternion, [0, 0, b / 2]);
    return [at("tube", [a, a, b]), dome(add(shape.at, half), [a, a, a]), dome(add(shape.at, half, -1), [a, -a, -a])];
  }
  const { bars, triangles } = findPlate(shape.points ?? []);
  const parts: [Primitive, Affine][] = [];
  for (const [p, q] of bars) {
    const [x, y, along, middle] = between(p, q, a);
    const z = scale(unit(along), a);
    parts.push(["tube", [x, y, along, middle]], ["dome", [x, y, z, q]], ["dome", [x, scale(y, -1), scale(z, -1), p]]);
  }
  for (const [p, q, r] of triangles) {
    const [u, v] = [subtract(q, p), subtract(r, p)];
    parts.push(["wedge", [u, v, scale(unit(cross(u, v)), a), p]]);
  }
  return parts;
}

/** The triangles of a mesh, flat, about the middle of its box. */
export function meshGeometry(shape: Shape): BufferGeometry {
  const [corners, triangles] = [shape.corners ?? [], shape.triangles ?? []];
  const position = new Float32Array(3 * triangles.length);
  triangles.forEach((corner, k) => {
    for (let i = 0; i < 3; i++) position[3 * k + i] = corners[3 * corner + i] ?? 0;
  });
  const geometry = new Geometry();
  geometry.setAttribute("position", new Float32BufferAttribute(position, 3));
  geometry.computeVertexNormals();
  return geometry;
}

const SEEN_THROUGH = 0.42; // opacity

export type Style = "solid" | "ghost";

/** All bodies of one run at one time. */
export class SolidSet {
  readonly group = new Group();
  private readonly sets = {} as Record<Primitive, Instances>;
  private readonly material: ShaderMaterial;
  private readonly edges: ShaderMaterial;
  private readonly color: Color | null;
  private readonly order: number;
  private meshes = new Map<string, Instances>();
  private bodies: readonly BodyData[] = [];

  constructor(geometries: SolidGeometries, style: Style, color: Color | null = null, opacity = 0.3) {
    const ghost = style === "ghost";
    this.color = color;
    this.order = ghost ? 4 : 0;
    this.material = litMaterial({ opacity: ghost ? opacity : 1 });
    this.edges = edgeMaterial(ghost ? 0.25 : 0.5);
    for (const kind of PRIMITIVES) {
      const edges = kind === "box" || (kind === "cylinder" && geometries.detail !== "few") ? { edges: { material: this.edges, angle: 40 } } : {};
      this.sets[kind] = new Instances(geometries.of[kind], this.material, { ...edges, order: ghost ? 4 : 0 });
      this.group.add(this.sets[kind].group);
    }
  }

  /** New shapes, or new numbers of the same ones. */
  setHeader(header: RunHeader, chosen: string): void {
    this.bodies = header.bodies;
    const items: Record<Primitive, Item[]> = { box: [], cylinder: [], sphere: [], wedge: [], tube: [], dome: [] };
    header.bodies.forEach((body, row) => {
      const color = this.colorOf(body, chosen);
      for (const shape of body.shapes) for (const [kind, local] of partsOf(shape, row)) items[kind].push({ row, local, color });
    });
    for (const kind of PRIMITIVES) this.sets[kind].setItems(items[kind]);
    this.setMeshes(header, chosen);
  }

  /** Each mesh once, for all bodies that have it; those that are not needed any more go. */
  private setMeshes(header: RunHeader, chosen: string): void {
    const wanted = new Map<string, { shape: Shape; items: Item[] }>();
    header.bodies.forEach((body, row) => {
      for (const shape of body.shapes) {
        if (shape.kind !== "mesh") continue;
        const entry = wanted.get(shape.mesh ?? "") ?? { shape, items: [] };
        entry.items.push({ row, local: affine(shape.at, shape.quaternion, [1, 1, 1]), color: this.colorOf(body, chosen) });
        wanted.set(shape.mesh ?? "", entry);
      }
    });
    for (const [name, drawn] of this.meshes) if (!wanted.has(name)) this.dropMesh(name, drawn);
    for (const [name, { shape, items }] of wanted) {
      let drawn = this.meshes.get(name);
      if (!drawn) {
        drawn = new Instances(meshGeometry(shape), this.material, { edges: { material: this.edges, angle: 40 }, order: this.order });
        this.meshes.set(name, drawn);
        this.group.add(drawn.group);
      }
      drawn.setItems(items);
    }
  }

  private dropMesh(name: string, drawn: Instances): void {
    this.group.remove(drawn.group);
    drawn.dispose();
    drawn.geometry.dispose();
    this.meshes.delete(name);
  }

  private get all(): Instances[] {
    return [...PRIMITIVES.map((kind) => this.sets[kind]), ...this.meshes.values()];
  }

  place(poses: PoseReader): void {
    for (const drawn of this.all) drawn.place(poses);
  }

  /** The bodies' names of the meshes that a ray may hit. */
  get targets(): { instances: Instances; name(instance: number): string }[] {
    return this.all.map((instances) => ({
      instances,
      name: (instance) => this.bodies[instances.rows[instance] ?? -1]?.name ?? "",
    }));
  }

  /** Bodies through which those behind them are seen. */
  setSeeThrough(on: boolean): void {
    uniform<number>(this.material, "opacity").value = on ? SEEN_THROUGH : 1;
    for (const drawn of this.all) drawn.setTransparent(on);
  }

  setTheme(dark: boolean): void {
    uniform<Color>(this.edges, "tint").value.set(dark ? "#05080b" : "#1d2733");
    uniform<number>(this.material, "ambient").value = dark ? 0.34 : 0.42;
  }

  dispose(): void {
    for (const [name, drawn] of this.meshes) this.dropMesh(name, drawn);
    for (const kind of PRIMITIVES) this.sets[kind].dispose();
    this.material.dispose();
    this.edges.dispose();
  }

  private colorOf(body: BodyData, chosen: string): Color {
    if (this.color) return this.color;
    const color = new Color(body.tint ?? TINTS[body.color % TINTS.length]!);
    return body.name === chosen ? color.lerp(new Color("#ffffff"), 0.45) : color;
  }
}
