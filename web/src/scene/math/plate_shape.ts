// A body without a shape: bars and a plate between its points.

import type { Vec3 } from "../../data/run_document";
import { add, cross, dot, length, scale, subtract, unit } from "./vectors";

export interface PlateShape {
  bars: [Vec3, Vec3][];
  triangles: [Vec3, Vec3, Vec3][];
}

const FLAT = 0.04; // second extent of a plate that is drawn as a bar, of the first

/** Bars along the edges and triangles between: the hull of the points in their plane; other points hang on by bars. */
export function findPlate(points: readonly Vec3[]): PlateShape {
  if (points.length < 2) return { bars: [], triangles: [] };
  if (points.length === 2) return { bars: [[points[0]!, points[1]!]], triangles: [] };
  const middle = scale(points.reduce<Vec3>((sum, p) => add(sum, p), [0, 0, 0]), 1 / points.length);
  const first = longest(points.map((p) => subtract(p, middle)));
  const e1 = unit(first, [1, 0, 0]);
  const second = longest(points.map((p) => { const d = subtract(p, middle); return subtract(d, scale(e1, dot(d, e1))); }));
  if (length(second) < FLAT * length(first)) return { bars: chain(points, e1), triangles: [] };
  const e2 = unit(second);
  const flat = points.map((p): [number, number] => {
    const d = subtract(p, middle);
    return [dot(d, e1), dot(d, e2)];
  });
  const ring = hull(flat);
  const corners = ring.map((k) => points[k]!);
  const heart = scale(corners.reduce<Vec3>((sum, p) => add(sum, p), [0, 0, 0]), 1 / corners.length);
  const shape: PlateShape = { bars: [], triangles: [] };
  corners.forEach((a, k) => {
    const b = corners[(k + 1) % corners.length]!;
    shape.bars.push([a, b]);
    shape.triangles.push([heart, a, b]);
  });
  const normal = unit(cross(e1, e2));
  const reach = length(first);
  points.forEach((p, k) => {
    if (ring.includes(k)) return;
    const off = Math.abs(dot(subtract(p, heart), normal));
    if (off > FLAT * reach) shape.bars.push([heart, p]);
  });
  return shape;
}

function longest(vectors: Vec3[]): Vec3 {
  return vectors.reduce((a, b) => (length(b) > length(a) ? b : a), [0, 0, 0] as Vec3);
}

function chain(points: readonly Vec3[], along: Vec3): [Vec3, Vec3][] {
  const sorted = [...points].sort((a, b) => dot(a, along) - dot(b, along));
  return sorted.slice(1).map((p, k): [Vec3, Vec3] => [sorted[k]!, p]);
}

/** Indices of the corners of the convex hull, counterclockwise. */
export function hull(points: readonly [number, number][]): number[] {
  const order = points.map((_, k) => k).sort((a, b) => points[a]![0] - points[b]![0] || points[a]![1] - points[b]![1]);
  const turn = (a: number, b: number, c: number): number => {
    const [p, q, r] = [points[a]!, points[b]!, points[c]!];
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
  };
  const half = (indices: number[]): number[] => {
    const kept: number[] = [];
    for (const k of indices) {
      while (kept.length > 1 && turn(kept[kept.length - 2]!, kept[kept.length - 1]!, k) <= 0) kept.pop();
      kept.push(k);
    }
    return kept.slice(0, -1);
  };
  return [...half(order), ...half(order.reverse())];
}
