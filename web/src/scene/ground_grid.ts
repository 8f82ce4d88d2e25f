// The grid on the ground.

import { BufferGeometry, Color, Float32BufferAttribute, LineSegments, ShaderMaterial } from "three";
import type { RunHeader, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { uniform } from "./gl/materials";
import { roundLength } from "./math/framing";
import { across, add, cross, dot, rotate, scale, unit } from "./math/vectors";

const CELLS = 18; // to each side
const PIECES = 8; // of a line, for fading

/** Lines between the cells; z tells those along y (1) from those along x (0). */
function gridGeometry(): BufferGeometry {
  const points: number[] = [];
  for (let line = -CELLS; line <= CELLS; line++) {
    const half = Math.sqrt(CELLS * CELLS - line * line);
    for (let k = 0; k < PIECES; k++) {
      const [a, b] = [half * ((2 * k) / PIECES - 1), half * ((2 * k + 2) / PIECES - 1)];
      points.push(line, a, 1, line, b, 1, a, line, 0, b, line, 0);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(points, 3));
  return geometry;
}

/** A grid of lines that fades with the distance, at the lowest point of the model. */
export class GroundGrid {
  readonly mesh: LineSegments;
  private readonly material: ShaderMaterial;
  private normal: Vec3 = [0, 0, 1];
  private side: Vec3 = [1, 0, 0];
  private level = 0;
  private size = 1;

  constructor() {
    this.material = new ShaderMaterial({
      vertexShader: /* glsl */ `
        uniform vec3 origin, ex, ey;
        uniform float cell;
        uniform vec2 corner;
        varying float vStrength;
        void main() {
          vec2 local = position.xy * cell;
          float number = position.z > 0.5 ? position.x + corner.x : position.y + corner.y;
          float fifth = abs(number / 5.0 - floor(number / 5.0 + 0.5)) < 0.05 ? 0.85 : 0.4;
          vStrength = fifth * (1.0 - smoothstep(0.2, 1.0, length(position.xy) / ${CELLS}.0));
          gl_Position = projectionMatrix * viewMatrix * vec4(origin + ex * local.x + ey * local.y, 1.0);
        }`,
      fragmentShader: /* glsl */ `
        uniform vec3 tint;
        varying float vStrength;
        void main() {
          gl_FragColor = vec4(tint, vStrength);
          #include <colorspace_fragment>
        }`,
      uniforms: {
        origin: { value: [0, 0, 0] }, ex: { value: [1, 0, 0] }, ey: { value: [0, 1, 0] }, corner: { value: [0, 0] },
        cell: { value: 0.1 }, tint: { value: new Color() },
      },
      transparent: true,
      depthWrite: false,
    });
    this.mesh = new LineSegments(gridGeometry(), this.material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = -1;
    this.mesh.raycast = () => {};
  }

  setHeader(header: RunHeader, points: readonly Vec3[]): void {
    this.normal = unit(header.up);
    this.side = across(this.normal);
    this.size = header.size;
    const heights = points.map((p) => dot(p, this.normal));
    const lowest = heights.length > 0 ? heights.reduce((a, b) => Math.min(a, b)) : 0;
    this.level = lowest - 0.002 * this.size;
  }

  setTheme(dark: boolean): void {
    uniform<Color>(this.material, "tint").value.set(dark ? "#4d5966" : "#aab4bf");
  }

  place(rig: CameraRig): void {
    const forward = cross(this.normal, this.side);
    const cell = roundLength(Math.max(this.size, 0.7 * rig.state.height) / 8).length;
    const corner: [number, number] = [Math.round(dot(rig.target, this.side) / cell), Math.round(dot(rig.target, forward) / cell)];
    const level = scale(this.normal, this.level);
    uniform<Vec3>(this.material, "origin").value = add(add(level, this.side, corner[0] * cell), forward, corner[1] * cell);
    uniform<Vec3>(this.material, "ex").value = this.side;
    uniform<Vec3>(this.material, "ey").value = forward;
    uniform<[number, number]>(this.material, "corner").value = corner;
    uniform<number>(this.material, "cell").value = cell;
    this.mesh.visible = Math.abs(dot(rotate(rig.quaternion, [0, 0, 1]), this.normal)) > 0.03; // not edge on
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.material.dispose();
  }
}
