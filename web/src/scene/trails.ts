// Paths of the tips of a run: what has been is drawn firmly, what comes faintly.

import { BufferAttribute, BufferGeometry, Color, Group, Mesh, type ShaderMaterial } from "three";
import type { RunDocument, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { pathMaterial, uniform } from "./gl/materials";
import { tintOf } from "./marks";
import { rotate } from "./math/vectors";
import type { PoseReader } from "./math/poses";

const MOST = 480; // points of a path

/** The path of a point of a body over the run, with every k-th picture. */
export function findPath(document: RunDocument, row: number, tip: Vec3, most = MOST): { points: Float32Array; step: number } {
  const n = document.count;
  const step = Math.max(1, Math.ceil(n / most));
  const count = Math.floor((n - 1) / step) + 1 + ((n - 1) % step > 0 ? 1 : 0);
  const points = new Float32Array(3 * Math.max(0, count));
  const poses = document.poses;
  const at = (c: number, k: number): number => poses[(row * 7 + c) * n + k] ?? NaN;
  for (let j = 0; j < count; j++) {
    const k = Math.min(n - 1, j * step);
    const moved = rotate([at(3, k), at(4, k), at(5, k), at(6, k)], tip);
    for (let c = 0; c < 3; c++) points[3 * j + c] = at(c, k) + moved[c]!;
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
  for (let k = 0; k < points.length / 3 - 1; k++) {
    for (let corner = 0; corner < 4; corner++) {
      start.setXYZ(4 * k + corner, points[3 * k]!, points[3 * k + 1]!, points[3 * k + 2]!);
      end.setXYZ(4 * k + corner, points[3 * k + 3]!, points[3 * k + 4]!, points[3 * k + 5]!);
    }
  }
  start.needsUpdate = true;
  end.needsUpdate = true;
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
    for (const { material, step } of this.trails) {
      uniform<number>(material, "now").value = (poses.moment.index + poses.moment.share) / step;
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
