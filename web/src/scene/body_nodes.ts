// The bodies as plain nodes with meshes, for files of other programs: one node for each body, named like it.

import { BufferGeometry, Color, Float32BufferAttribute, Group, Matrix4, Mesh, MeshStandardMaterial } from "three";
import type { RunHeader } from "../data/run_document";
import { TINTS } from "./gl/materials";
import { SolidGeometries, partsOf } from "./solids";

/** A group with a node for each body; shapes are in the body's axes, poses are left to the caller. */
export function makeBodyNodes(header: RunHeader): Group {
  const geometries = new SolidGeometries(header.bodies.length > 40);
  const group = new Group();
  group.name = header.name;
  header.bodies.forEach((body, row) => {
    const node = new Group();
    node.name = body.name;
    const position: number[] = [];
    const normal: number[] = [];
    for (const shape of body.shapes) {
      for (const [kind, [x, y, z, at]] of partsOf(shape, row)) {
        const place = new Matrix4().set(x[0], y[0], z[0], at[0], x[1], y[1], z[1], at[1], x[2], y[2], z[2], at[2], 0, 0, 0, 1);
        const solid = geometries.of[kind].clone().applyMatrix4(place);
        const flat = solid.index ? solid.toNonIndexed() : solid;
        for (const value of flat.getAttribute("position").array) position.push(value);
        for (const value of flat.getAttribute("normal").array) normal.push(value);
      }
    }
    if (position.length > 0) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new Float32BufferAttribute(position, 3));
      geometry.setAttribute("normal", new Float32BufferAttribute(normal, 3));
      const color = new Color(TINTS[body.color % TINTS.length]!);
      node.add(new Mesh(geometry, new MeshStandardMaterial({ color, roughness: 0.7, metalness: 0.1 })));
    }
    group.add(node);
  });
  geometries.dispose();
  return group;
}
