// The shaders of the stage: few and small, so that they compile fast and run on software rendering too.

import { Color, FrontSide, NormalBlending, ShaderMaterial, type IUniform } from "three";
import { SLOT_HEAD } from "./slots";

/** Colors of bodies, as in kinode's pictures. */
export const TINTS = ["#e3a72f", "#5b8fb9", "#d9774a", "#5fa784", "#9c7bb0", "#6fb3b8", "#b5a16a", "#8a97a6"];

const LIT_VERTEX = /* glsl */ `${SLOT_HEAD}
#ifdef SHADED
attribute float shade;
#endif
varying vec3 vNormal;
varying vec3 vTint;
void main() {
  vec4 c0 = slotAt(0), c1 = slotAt(1), c2 = slotAt(2);
  mat3 m = mat3(c0.xyz, c1.xyz, c2.xyz);
  vec3 n = mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])) * normal;
  vNormal = normalize(mat3(viewMatrix) * n);
  vTint = vec3(c0.w, c1.w, c2.w);
#ifdef SHADED
  vTint *= shade;
#endif
  gl_Position = projectionMatrix * viewMatrix * vec4(m * position + slotAt(3).xyz, 1.0);
}`;

const LIT_FRAGMENT = /* glsl */ `
uniform float opacity;
uniform vec3 tint;
uniform float ambient;
varying vec3 vNormal;
varying vec3 vTint;
void main() {
  vec3 n = normalize(vNormal);
  float key = max(0.0, dot(n, vec3(0.32, 0.64, 0.70)));
  float fill = max(0.0, dot(n, vec3(-0.75, 0.10, 0.65)));
  float rim = 1.0 - 0.30 * pow(1.0 - clamp(n.z, 0.0, 1.0), 3.0);
  vec3 c = vTint * tint * (ambient + 0.56 * key + 0.20 * fill) * rim;
  gl_FragColor = vec4(c, opacity);
  #include <colorspace_fragment>
}`;

export interface LitOptions {
  opacity?: number;
  shaded?: boolean; // geometry has an attribute "shade"
  depthWrite?: boolean;
}

/** Solids: Lambert shading with two lights that move with the camera. */
export function litMaterial({ opacity = 1, shaded = false, depthWrite = true }: LitOptions = {}): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: LIT_VERTEX,
    fragmentShader: LIT_FRAGMENT,
    defines: shaded ? { SHADED: "" } : {},
    uniforms: { opacity: { value: opacity }, tint: { value: new Color(1, 1, 1) }, ambient: { value: 0.42 } },
    transparent: opacity < 1,
    depthWrite,
    side: FrontSide,
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
}

/** Thin lines that are placed like the solids they belong to. */
export function edgeMaterial(opacity: number, depthTest = true): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: /* glsl */ `${SLOT_HEAD}
      void main() {
        vec3 at = mat3(slotAt(0).xyz, slotAt(1).xyz, slotAt(2).xyz) * position + slotAt(3).xyz;
        gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 tint;
      uniform float opacity;
      void main() {
        gl_FragColor = vec4(tint, opacity);
        #include <colorspace_fragment>
      }`,
    uniforms: { tint: { value: new Color("#1d2733") }, opacity: { value: opacity } },
    transparent: true,
    depthWrite: false,
    depthTest,
  });
}

const ARROW_VERTEX = /* glsl */ `${SLOT_HEAD}
attribute float zone;
uniform float thick;
uniform float heads;
varying vec3 vNormal;
varying vec3 vTint;
varying float vHatch;
varying float vAt;
void main() {
  vec3 start = slotAt(0).xyz, along = slotAt(1).xyz;
  vec4 tintAndHatch = slotAt(2);
  float size = length(along);
  vec3 z = size > 0.0 ? along / size : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(cross(z, abs(z.x) < 0.8 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0)));
  vec3 y = cross(z, x);
  float wanted = thick * (6.0 + 4.2 * (heads - 1.0));
  float fit = min(1.0, size / (1.35 * wanted));
  float head = thick * 6.0 * fit;
  float r = thick * max(fit, 0.35);
  float at;
  float radius;
  if (zone < 0.5) { at = position.z * (size - 0.9 * head); radius = 0.72 * r; }
  else { at = size - (zone - 1.0) * 0.7 * head - (1.0 - position.z) * head; radius = 2.3 * r; }
  vec3 world = start + z * at + (x * position.x + y * position.y) * radius;
  vec3 n = x * normal.x + y * normal.y + z * normal.z;
  vNormal = mat3(viewMatrix) * n;
  vTint = tintAndHatch.rgb;
  vHatch = tintAndHatch.a;
  vAt = at / (thick * 3.4) + (zone < 0.5 ? 0.0 : 0.35);
  gl_Position = size > 0.0 ? projectionMatrix * viewMatrix * vec4(world, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const ARROW_FRAGMENT = /* glsl */ `
uniform float opacity;
varying vec3 vNormal;
varying vec3 vTint;
varying float vHatch;
varying float vAt;
void main() {
  float a = opacity;
  if (vHatch > 0.5) {
    if (fract(vAt) < 0.45) discard;
    a *= 0.9;
  }
  float light = 0.62 + 0.38 * max(0.0, dot(normalize(vNormal), vec3(0.32, 0.64, 0.70)));
  gl_FragColor = vec4(vTint * light, a);
  #include <colorspace_fragment>
}`;

/** Arrows with one or two heads; those that are not unique are striped. */
export function arrowMaterial(heads: number): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: ARROW_VERTEX,
    fragmentShader: ARROW_FRAGMENT,
    uniforms: { opacity: { value: 0.88 }, thick: { value: 0.01 }, heads: { value: heads } },
    transparent: true,
    blending: NormalBlending,
  });
}

/** Lines of some pixels' width in segments start - end; `now` parts what has been from what comes. */
export function pathMaterial(width: number, ribbon = false): ShaderMaterial {
  return new ShaderMaterial({
    defines: ribbon ? { RIBBON: "" } : {},
    vertexShader: /* glsl */ `
      attribute vec3 start;
      attribute vec3 end;
      uniform vec2 screen;
      uniform float width;
      uniform float now;
      varying float vLater;
      void main() {
        vec4 a = projectionMatrix * viewMatrix * vec4(start, 1.0);
        vec4 b = projectionMatrix * viewMatrix * vec4(end, 1.0);
        vec2 d = (b.xy / b.w - a.xy / a.w) * screen;
        float size = length(d);
        vec2 u = size > 1e-6 ? d / size : vec2(1.0, 0.0);
        vec2 side = vec2(-u.y, u.x) * position.y + u * (position.x - 0.5) * 0.6;
        vec4 p = position.x < 0.5 ? a : b;
        p.xy += side * width / screen * p.w;
        #ifdef RIBBON
        vLater = position.z >= now ? 1.0 : 0.0;
#else
        vLater = 0.0;
#endif
        gl_Position = p;
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 tint;
      uniform float later;
      varying float vLater;
      void main() {
        gl_FragColor = vec4(tint, vLater > 0.5 ? later : 0.85);
        #include <colorspace_fragment>
      }`,
    uniforms: {
      tint: { value: new Color("#888888") }, width: { value: width }, screen: { value: [1, 1] },
      now: { value: Infinity }, later: { value: 0.22 },
    },
    transparent: true,
    depthWrite: false,
  });
}

export function uniform<T>(material: ShaderMaterial, name: string): IUniform<T> {
  const found = material.uniforms[name] as IUniform<T> | undefined;
  if (found === undefined) throw new Error(`the material has no uniform ${name}`);
  return found;
}
