// The moving model as binary glTF 2.0: a node for each body with all its poses, solids as on the stage, y upward.

import type { BufferGeometry } from "three";
import type { Quat, RunDocument, Vec3 } from "../data/run_document";
import { TINTS } from "../scene/gl/materials";
import { SolidGeometries, meshGeometry, partsOf } from "../scene/solids";

const FLOAT = 5126;
const UINT = 5125;
const MAGIC = 0x46546c67;

type Json = Record<string, unknown>;

/** The bytes of the .glb file. */
export function writeGlb(run: RunDocument): Uint8Array<ArrayBuffer> {
  const writer = new GlbWriter();
  const { header } = run;
  const geometries = new SolidGeometries("fine");
  const rows = usableRows(run);
  const times = writer.times(Float32Array.from(rows, (k) => run.t[k]! - run.t[0]!));
  const bodies = header.bodies.map((body, index) => {
    const children = body.shapes.flatMap((shape) => partsOf(shape, index)).map(([kind, place]) => {
      const mesh = writer.mesh(kind, body.color % TINTS.length, geometries.of[kind]);
      const [x, y, z, at] = place;
      return writer.node({ mesh, matrix: [...x, 0, ...y, 0, ...z, 0, ...at, 1] });
    });
    for (const shape of body.shapes) {
      if (shape.kind !== "mesh") continue;
      const geometry = meshGeometry(shape);
      const mesh = writer.mesh(`mesh ${shape.mesh ?? ""}`, body.color % TINTS.length, geometry);
      const [w, ...turned] = shape.quaternion;
      children.push(writer.node({ mesh, translation: shape.at, rotation: [...turned, w] }));
      geometry.dispose();
    }
    const { place, turn } = posesOf(run, index, rows);
    const node = writer.node({
      name: body.name, translation: [...place.subarray(0, 3)], rotation: [...turn.subarray(0, 4)],
      ...(children.length > 0 ? { children } : {}), extras: { mass: body.mass },
    });
    if (rows.length > 1) writer.move(node, times, place, turn);
    return node;
  });
  for (const geometry of Object.values(geometries.of)) geometry.dispose();
  const root = writer.node({ name: header.name, rotation: upright(header.up), ...(bodies.length > 0 ? { children: bodies } : {}) });
  return writer.finish(root, header.name, header.written);
}

/** Pictures whose poses are all numbers, in strictly growing time (of float32, in which glTF keeps it). */
export function usableRows(run: RunDocument): number[] {
  const rows: number[] = [];
  const columns = run.header.bodies.length * 7;
  let last = -Infinity;
  for (let k = 0; k < run.count; k++) {
    const t = Math.fround(run.t[k]! - run.t[0]!);
    if (!(t > last)) continue;
    let whole = true;
    for (let c = 0; c < columns && whole; c++) whole = Number.isFinite(run.poses[c * run.count + k]!);
    if (!whole) continue;
    rows.push(k);
    last = t;
  }
  return rows;
}

/** Places (x, y, z) and rotations (x, y, z, w) of a body, without jumps from q to -q. */
function posesOf(run: RunDocument, body: number, rows: number[]): { place: Float32Array; turn: Float32Array } {
  const place = new Float32Array(3 * rows.length);
  const turn = new Float32Array(4 * rows.length);
  const value = (column: number, k: number): number => run.poses[(body * 7 + column) * run.count + k]!;
  rows.forEach((k, at) => {
    for (let c = 0; c < 3; c++) place[3 * at + c] = value(c, k);
    const q = [value(4, k), value(5, k), value(6, k), value(3, k)];
    const before = at > 0 ? turn.subarray(4 * at - 4, 4 * at) : null;
    const size = Math.hypot(...q) || 1;
    const sign = before !== null && q.reduce((sum, x, c) => sum + x * before[c]!, 0) < 0 ? -1 : 1;
    q.forEach((x, c) => { turn[4 * at + c] = (sign * x) / size; });
  });
  return { place, turn };
}

/** The rotation (x, y, z, w) that takes a direction to y. */
export function upright(up: Vec3): Quat {
  const size = Math.hypot(...up);
  if (!(size > 0)) return [0, 0, 0, 1];
  const [x, y, z] = up.map((each) => each / size) as Vec3;
  if (y < -0.999999) return [1, 0, 0, 0];
  // up cross y = (-z, 0, x)
  const w = Math.sqrt((1 + y) / 2);
  return [-z / (2 * w), 0, x / (2 * w), w];
}

class GlbWriter {
  private readonly nodes: Json[] = [];
  private readonly meshes: Json[] = [];
  private readonly accessors: Json[] = [];
  private readonly views: Json[] = [];
  private readonly samplers: Json[] = [];
  private readonly channels: Json[] = [];
  private readonly chunks: Uint8Array[] = [];
  private readonly shapes = new Map<string, Json>();
  private readonly known = new Map<string, number>();
  private length = 0;

  node(fields: Json): number {
    return this.nodes.push(fields) - 1;
  }

  /** A mesh of a solid in a color; solids of one kind share their numbers. */
  mesh(kind: string, color: number, geometry: BufferGeometry): number {
    const key = `${kind} ${color}`;
    const before = this.known.get(key);
    if (before !== undefined) return before;
    let shape = this.shapes.get(kind);
    if (shape === undefined) {
      shape = { attributes: { POSITION: this.vectors(geometry, "position", true), NORMAL: this.vectors(geometry, "normal", false) } };
      if (geometry.index) {
        const indices = Uint32Array.from(geometry.index.array);
        shape["indices"] = this.accessor(indices, UINT, "SCALAR", 1, 34963);
      }
      this.shapes.set(kind, shape);
    }
    const mesh = this.meshes.push({ name: kind, primitives: [{ ...shape, material: color }] }) - 1;
    this.known.set(key, mesh);
    return mesh;
  }

  times(times: Float32Array): number {
    const range = times.length > 0 ? { min: [times[0]], max: [times[times.length - 1]] } : {};
    return times.length > 1 ? this.accessor(times, FLOAT, "SCALAR", 1, null, range) : -1;
  }

  /** The poses of a node over time. */
  move(node: number, times: number, place: Float32Array, turn: Float32Array): void {
    for (const [path, values, width] of [["translation", place, 3], ["rotation", turn, 4]] as const) {
      const still = values.every((value, k) => value === values[k % width]);
      if (still) continue;
      const output = this.accessor(values, FLOAT, `VEC${width}`, width, null);
      const sampler = this.samplers.push({ input: times, output, interpolation: "LINEAR" }) - 1;
      this.channels.push({ sampler, target: { node, path } });
    }
  }

  finish(root: number, name: string, generator: string): Uint8Array<ArrayBuffer> {
    const materials = TINTS.map((tint, k) => ({
      name: `color ${k + 1}`, pbrMetallicRoughness: { baseColorFactor: linear(tint), metallicFactor: 0.1, roughnessFactor: 0.7 },
    }));
    const json: Json = {
      asset: { version: "2.0", generator }, scene: 0, scenes: [{ name, nodes: [root] }], nodes: this.nodes,
      ...(this.meshes.length > 0 ? { meshes: this.meshes, materials } : {}),
      ...(this.channels.length > 0 ? { animations: [{ name, samplers: this.samplers, channels: this.channels }] } : {}),
      ...(this.length > 0 ? { accessors: this.accessors, bufferViews: this.views, buffers: [{ byteLength: this.length }] } : {}),
    };
    return joinChunks(json, this.chunks, this.length);
  }

  private vectors(geometry: BufferGeometry, name: string, range: boolean): number {
    const values = Float32Array.from(geometry.getAttribute(name).array);
    if (name === "normal") makeUnit(values);
    const ends = range ? { min: extreme(values, Math.min), max: extreme(values, Math.max) } : {};
    return this.accessor(values, FLOAT, "VEC3", 3, 34962, ends);
  }

  private accessor(values: Float32Array | Uint32Array, componentType: number, type: string, width: number, target: number | null, more: Json = {}): number {
    const view: Json = { buffer: 0, byteOffset: this.length, byteLength: values.byteLength };
    if (target !== null) view["target"] = target;
    this.chunks.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    this.length += values.byteLength; // all numbers have four bytes
    const bufferView = this.views.push(view) - 1;
    return this.accessors.push({ bufferView, componentType, type, count: values.length / width, ...more }) - 1;
  }
}

function joinChunks(json: Json, chunks: Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  let text = JSON.stringify(json);
  let head = new TextEncoder().encode(text);
  if (head.length % 4 > 0) {
    text += " ".repeat(4 - (head.length % 4));
    head = new TextEncoder().encode(text);
  }
  const total = 20 + head.length + (length > 0 ? 8 + length : 0);
  const file = new Uint8Array(total);
  const view = new DataView(file.buffer);
  [MAGIC, 2, total, head.length, 0x4e4f534a].forEach((value, k) => view.setUint32(4 * k, value, true));
  file.set(head, 20);
  let at = 20 + head.length;
  if (length > 0) {
    view.setUint32(at, length, true);
    view.setUint32(at + 4, 0x004e4942, true);
    at += 8;
    for (const chunk of chunks) {
      file.set(chunk, at);
      at += chunk.length;
    }
  }
  return file;
}

function extreme(values: Float32Array, choose: (a: number, b: number) => number): number[] {
  const ends = [values[0]!, values[1]!, values[2]!];
  values.forEach((value, k) => { ends[k % 3] = choose(ends[k % 3]!, value); });
  return ends;
}

function makeUnit(normals: Float32Array): void {
  for (let k = 0; k < normals.length; k += 3) {
    const size = Math.hypot(normals[k]!, normals[k + 1]!, normals[k + 2]!) || 1;
    for (let c = 0; c < 3; c++) normals[k + c] = normals[k + c]! / size;
  }
}

/** A color of the screen as glTF wants it: linear, with opacity. */
function linear(color: string): number[] {
  const part = (at: number): number => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return Number((value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4).toFixed(5));
  };
  return [part(1), part(3), part(5), 1];
}
