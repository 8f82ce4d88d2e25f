// Paths of the tips of a run: what has been is drawn firmly, what comes faintly.

import { Color, Group, type Mesh, type ShaderMaterial } from "three";
import type { RunDocument, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { pathMaterial, uniform } from "./materials";
import { tintOf } from "./marks";
import { rotate } from "./math/vectors";
import type { PoseReader } from "./math/poses";
import { pathLength, ribbonMesh, setPath } from "./ribbon";

const MOST = 900; // points of a path

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
      if (old && pathLength(old.mesh) * 3 === points.length) {
        setPath(old.mesh, points);
        old.step = step;
        return;
      }
      if (old) this.drop(old);
      const material = pathMaterial(1.1);
      uniform<Color>(material, "tint").value.set(this.gray ?? tintOf(document.header, row));
      const mesh = ribbonMesh(points.length / 3, material, 2);
      setPath(mesh, points);
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
