// A path as one mesh: four corners for each segment. Copies by instancing would cost a call each in software rendering.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, type ShaderMaterial } from "three";

const CORNERS = [[0, -1], [1, -1], [1, 1], [0, 1]] as const;

/** Corners, and in z the number of the segment, for the material of paths. */
function ribbonGeometry(segments: number): BufferGeometry {
  const geometry = new BufferGeometry();
  const position = new Float32Array(12 * segments);
  const index = new Uint32Array(6 * segments);
  for (let k = 0; k < segments; k++) {
    CORNERS.forEach(([x, y], c) => position.set([x, y, k], 12 * k + 3 * c));
    index.set([0, 1, 2, 0, 2, 3].map((c) => 4 * k + c), 6 * k);
  }
  geometry.setAttribute("position", new BufferAttribute(position, 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  for (const name of ["start", "end"]) geometry.setAttribute(name, new BufferAttribute(new Float32Array(12 * segments), 3).setUsage(DynamicDrawUsage));
  return geometry;
}

/** A mesh of a path with so many points; `setPath` fills it. */
export function ribbonMesh(points: number, material: ShaderMaterial, order: number): Mesh {
  const mesh = new Mesh(ribbonGeometry(Math.max(0, points - 1)), material);
  mesh.frustumCulled = false;
  mesh.renderOrder = order;
  mesh.raycast = () => {};
  return mesh;
}

/** The number of points that a mesh was made for. */
export function pathLength(mesh: Mesh): number {
  return mesh.geometry.getAttribute("start").count / 4 + 1;
}

export function setPath(mesh: Mesh, points: Float32Array): void {
  const start = mesh.geometry.getAttribute("start");
  const end = mesh.geometry.getAttribute("end");
  const [from, to] = [start.array as Float32Array, end.array as Float32Array];
  for (let k = 0, at = 0; at < from.length; k += 3) {
    for (let corner = 0; corner < 4; corner++) {
      for (let c = 0; c < 3; c++, at++) {
        from[at] = points[k + c]!;
        to[at] = points[k + 3 + c]!;
      }
    }
  }
  start.needsUpdate = true;
  end.needsUpdate = true;
}
