// Paths of the tips of a run: what has been is drawn firmly, what comes faintly.

import { BufferAttribute, BufferGeometry, Color, Group, Mesh, type ShaderMaterial } from "three";
import type { RunDocument, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { pathMaterial, uniform } from "./gl/materials";
import { tintOf } from "./marks";
import type { PoseReader } from "./math/poses";

const MOST = 480; // points of a path
const STRETCHES = 800; // drawn of all paths together: software rendering takes a microsecond for each
const LATER = 0.2; // of the stretches drawn, where not all of them are: ahead of the time

/** The path of a point of a body over the run, with every k-th picture. */
export function findPath(document: RunDocument, row: number, tip: Vec3, most = MOST): { points: Float32Array; step: number } {
  const n = document.count;
  const step = Math.max(1, Math.ceil(n / most));
  const count = Math.floor((n - 1) / step) + 1 + ((n - 1) % step > 0 ? 1 : 0);
  const points = new Float32Array(3 * Math.max(0, count));
  const poses = document.poses;
  const base = row * 7 * n;
  const [x, y, z] = tip;
  for (let j = 0; j < count; j++) {
    const k = base + Math.min(n - 1, j * step);
    const w = poses[k + 3 * n]!, a = poses[k + 4 * n]!, b = poses[k + 5 * n]!, c = poses[k + 6 * n]!;
    const u = 2 * (b * z - c * y), v = 2 * (c * x - a * z), s = 2 * (a * y - b * x);
    points[3 * j] = poses[k]! + x + w * u + b * s - c * v;
    points[3 * j + 1] = poses[k + n]! + y + w * v + c * u - a * s;
    points[3 * j + 2] = poses[k + 2 * n]! + z + w * s + a * v - b * u;
  }
  return { points, step };
}

/** Four corners and two triangles for each stretch of a path: software rendering is slow with many small copies. */
function ribbonGeometry(points: Float32Array): BufferGeometry {
  const count = points.length / 3 - 1;
  const geometry = new BufferGeometry();
  const corners = new Float32Array(12 * count);
  const index = new Uint32Array(6 * count);
  for (let k = 0; k < count; k++) {
    corners.set([0, -1, k, 1, -1, k, 1, 1, k, 0, 1, k], 12 * k);
    index.set([4 * k, 4 * k + 1, 4 * k + 2, 4 * k, 4 * k + 2, 4 * k + 3], 6 * k);
  }
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.setAttribute("start", new BufferAttribute(new Float32Array(12 * count), 3));
  geometry.setAttribute("end", new BufferAttribute(new Float32Array(12 * count), 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  fillRibbon(geometry, points);
  return geometry;
}

function fillRibbon(geometry: BufferGeometry, points: Float32Array): void {
  const start = geometry.getAttribute("start") as BufferAttribute;
  const end = geometry.getAttribute("end") as BufferAttribute;
  const [from, to] = [start.array, end.array];
  for (let k = 0, at = 0; k < points.length / 3 - 1; k++) {
    for (let corner = 0; corner < 4; corner++) {
      for (let c = 3 * k; c < 3 * k + 3; c++, at++) {
        from[at] = points[c]!;
        to[at] = points[c + 3]!;
      }
    }
  }
  start.needsUpdate = true;
  end.needsUpdate = true;
}

/** Which stretches of a path are drawn: all if they are few, else those around the present one. */
export function drawnStretches(count: number, now: number, most: number): [number, number] {
  if (count <= most) return [0, count];
  const from = Math.round(now - (1 - LATER) * most);
  const first = Math.min(count - most, Math.max(0, from));
  return [first, most];
}

interface Trail {
  mesh: Mesh;
  material: ShaderMaterial;
  step: number;
}

export class Trails {
  readonly group = new Group();
  private trails: Trail[] = [];
  private gray: string | null;

  constructor(gray: string | null = null) {
    this.gray = gray;
  }

  setDocument(document: RunDocument): void {
    const wanted = document.header.bodies.flatMap((body, row) => (body.tip ? [{ row, tip: body.tip }] : []));
    if (document.count < 2) wanted.length = 0;
    while (this.trails.length > wanted.length) this.drop(this.trails.pop()!);
    wanted.forEach(({ row, tip }, k) => {
      const { points, step } = findPath(document, row, tip);
      const old = this.trails[k];
      if (old && old.mesh.geometry.getAttribute("start").count === (4 * points.length) / 3 - 4) {
        fillRibbon(old.mesh.geometry, points);
        old.step = step;
        return;
      }
      if (old) this.drop(old);
      const material = pathMaterial(1.1, true);
      uniform<Color>(material, "tint").value.set(this.gray ?? tintOf(document.header, row));
      const mesh = new Mesh(ribbonGeometry(points), material);
      mesh.frustumCulled = false;
      mesh.renderOrder = 2;
      mesh.raycast = () => {};
      this.group.add(mesh);
      this.trails[k] = { mesh, material, step };
    });
  }

  place(poses: PoseReader, rig: CameraRig): void {
    const most = Math.ceil(STRETCHES / Math.max(1, this.trails.length));
    for (const { mesh, material, step } of this.trails) {
      const now = (poses.moment.index + poses.moment.share) / step;
      const [first, count] = drawnStretches(mesh.geometry.getIndex()!.count / 6, now, most);
      mesh.geometry.setDrawRange(6 * first, 6 * count);
      uniform<number>(material, "now").value = now;
      uniform<[number, number]>(material, "screen").value = [rig.width / 2, rig.heightPixels / 2];
    }
  }

  dispose(): void {
    for (const trail of this.trails) this.drop(trail);
    this.trails = [];
  }

  private drop(trail: Trail): void {
    this.group.remove(trail.mesh);
    trail.mesh.geometry.dispose();
    trail.material.dispose();
  }
}
