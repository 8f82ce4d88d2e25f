// Copies of a geometry without instancing: all copies in one buffer, their places in a small texture.
// Software rendering takes some 50 microseconds for each instance of an instanced call, and none for a copy.

import { BufferAttribute, BufferGeometry, DataTexture, FloatType, RGBAFormat, type ShaderMaterial } from "three";

/** Numbers of each copy, four texels (16 numbers) a row. */
export class SlotTexture {
  readonly data: Float32Array;
  readonly texture: DataTexture;

  constructor(capacity: number) {
    const data = new Float32Array(16 * capacity);
    this.data = data;
    this.texture = new DataTexture(data, 4, capacity, RGBAFormat, FloatType);
    this.texture.needsUpdate = true;
  }
}

/** What a vertex shader begins with to read its copy's numbers as `slotAt(k)`. */
export const SLOT_HEAD = /* glsl */ `
attribute float slot;
uniform highp sampler2D slots;
vec4 slotAt(int k) { return texelFetch(slots, ivec2(k, int(slot + 0.5)), 0); }
`;

/** A material like another one, whose other uniforms stay common, with slots of its own. */
export function withSlots(material: ShaderMaterial, slots: SlotTexture): ShaderMaterial {
  const own = material.clone();
  own.uniforms = { ...material.uniforms, slots: { value: slots.texture } };
  return own;
}

/** How many vertices are drawn for a geometry. */
export function drawnCount(geometry: BufferGeometry): number {
  return geometry.index ? geometry.index.count : geometry.getAttribute("position").count;
}

/** A geometry repeated, each copy with its number in the attribute "slot". */
export function repeatGeometry(geometry: BufferGeometry, copies: number): BufferGeometry {
  const count = geometry.getAttribute("position").count;
  const all = new BufferGeometry();
  for (const [name, attribute] of Object.entries(geometry.attributes)) {
    if (name === "uv") continue;
    const source = attribute.array as Float32Array;
    const values = new Float32Array(source.length * copies);
    for (let k = 0; k < copies; k++) values.set(source, k * source.length);
    all.setAttribute(name, new BufferAttribute(values, attribute.itemSize));
  }
  const slot = new Float32Array(count * copies);
  for (let k = 0; k < copies; k++) slot.fill(k, k * count, (k + 1) * count);
  all.setAttribute("slot", new BufferAttribute(slot, 1));
  if (geometry.index) {
    const index = geometry.index.array;
    const values = new Uint32Array(index.length * copies);
    for (let k = 0; k < copies; k++) for (let j = 0; j < index.length; j++) values[k * index.length + j] = index[j]! + k * count;
    all.setIndex(new BufferAttribute(values, 1));
  }
  return all;
}

/** Geometries in one, with a number of its own for all vertices of each part. */
export function joinGeometries(parts: readonly [BufferGeometry, number][], name: string): BufferGeometry {
  const position: number[] = [];
  const normal: number[] = [];
  const numbers: number[] = [];
  const index: number[] = [];
  for (const [part, number] of parts) {
    const first = numbers.length;
    const count = part.getAttribute("position").count;
    position.push(...(part.getAttribute("position").array as Float32Array));
    normal.push(...(part.getAttribute("normal").array as Float32Array));
    for (let k = 0; k < count; k++) numbers.push(number);
    if (part.index) for (const k of part.index.array) index.push(first + k);
    else for (let k = 0; k < count; k++) index.push(first + k);
    part.dispose();
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(position), 3));
  geometry.setAttribute("normal", new BufferAttribute(Float32Array.from(normal), 3));
  geometry.setAttribute(name, new BufferAttribute(Float32Array.from(numbers), 1));
  geometry.setIndex(index);
  return geometry;
}
