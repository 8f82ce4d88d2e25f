// The grid on the ground.

import { Color, DoubleSide, Mesh, PlaneGeometry, ShaderMaterial } from "three";
import type { RunHeader, Vec3 } from "../data/run_document";
import type { CameraRig } from "./camera_rig";
import { uniform } from "./materials";
import { roundLength } from "./math/framing";
import { across, add, cross, dot, rotate, scale, unit } from "./math/vectors";

/** A grid of lines that fades with the distance, at the lowest point of the model. */
export class GroundGrid {
  readonly mesh: Mesh;
  private readonly material: ShaderMaterial;
  private normal: Vec3 = [0, 0, 1];
  private side: Vec3 = [1, 0, 0];
  private level = 0;
  private size = 1;

  constructor() {
    this.material = new ShaderMaterial({
      vertexShader: /* glsl */ `
        uniform vec3 origin, ex, ey;
        uniform float reach;
        varying vec2 vAt;
        varying vec2 vFrom;
        uniform vec2 corner;
        void main() {
          vFrom = position.xy * 2.0;
          vec2 local = vFrom * reach;
          vAt = corner + local;
          gl_Position = projectionMatrix * viewMatrix * vec4(origin + ex * local.x + ey * local.y, 1.0);
        }`,
      fragmentShader: /* glsl */ `
        uniform float cell;
        uniform vec3 tint;
        varying vec2 vAt;
        varying vec2 vFrom;
        float lines(float size) {
          vec2 p = vAt / size;
          vec2 w = fwidth(p);
          vec2 d = abs(fract(p - 0.5) - 0.5) / max(w, vec2(1e-6));
          return (1.0 - min(1.0, min(d.x, d.y))) * (1.0 - smoothstep(0.2, 0.6, max(w.x, w.y)));
        }
        void main() {
          float fade = 1.0 - smoothstep(0.25, 1.0, length(vFrom));
          float a = max(0.34 * lines(cell), 0.7 * lines(cell * 5.0)) * fade;
          if (a < 0.01) discard;
          gl_FragColor = vec4(tint, a);
          #include <colorspace_fragment>
        }`,
      uniforms: {
        origin: { value: [0, 0, 0] }, ex: { value: [1, 0, 0] }, ey: { value: [0, 1, 0] }, corner: { value: [0, 0] },
        reach: { value: 1 }, cell: { value: 0.1 }, tint: { value: new Color() },
      },
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
    });
    this.mesh = new Mesh(new PlaneGeometry(1, 1), this.material);
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
    const foot = add(rig.target, scale(this.normal, this.level - dot(rig.target, this.normal)));
    const cell = roundLength(Math.max(this.size, 0.7 * rig.state.height) / 8).length;
    uniform<Vec3>(this.material, "origin").value = foot;
    uniform<Vec3>(this.material, "ex").value = this.side;
    uniform<Vec3>(this.material, "ey").value = forward;
    uniform<[number, number]>(this.material, "corner").value = [dot(foot, this.side), dot(foot, forward)];
    uniform<number>(this.material, "reach").value = 1.6 * Math.max(this.size, rig.state.height);
    uniform<number>(this.material, "cell").value = cell;
    this.mesh.visible = Math.abs(dot(rotate(rig.quaternion, [0, 0, 1]), this.normal)) > 0.03; // not edge on
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.material.dispose();
  }
}
