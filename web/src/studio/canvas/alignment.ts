// Aligning and spreading parts: new places of parts from old ones, on the grid.

import { snapToGrid } from "./canvas_model";
import type { Point } from "./route_types";

export type AlignWay = "left" | "center" | "right" | "top" | "middle" | "bottom" | "across" | "down";

export const ALIGN_WORDS: Record<AlignWay, string> = {
  left: "Left edges", center: "Middles in a column", right: "Right edges", top: "Top edges", middle: "Middles in a row", bottom: "Bottom edges",
  across: "Spread evenly across", down: "Spread evenly down",
};

export interface AlignedPart {
  name: string;
  at: Point;
  size: [number, number];
}

/** The places after an alignment; parts that stay are left out. */
export function align(parts: readonly AlignedPart[], way: AlignWay): Record<string, Point> {
  const level = way === "left" || way === "center" || way === "right" || way === "across" ? 0 : 1;
  const spread = way === "across" || way === "down";
  const next = spread ? spreadEvenly(parts, level) : sameLine(parts, level, way);
  const places: Record<string, Point> = {};
  parts.forEach((part, k) => {
    const at: Point = level === 0 ? [next[k]!, part.at[1]] : [part.at[0], next[k]!];
    const snapped = snapToGrid(at);
    if (snapped[0] !== part.at[0] || snapped[1] !== part.at[1]) places[part.name] = snapped;
  });
  return places;
}

function sameLine(parts: readonly AlignedPart[], level: 0 | 1, way: AlignWay): number[] {
  const low = Math.min(...parts.map((part) => part.at[level] - part.size[level] / 2));
  const high = Math.max(...parts.map((part) => part.at[level] + part.size[level] / 2));
  const mean = parts.reduce((sum, part) => sum + part.at[level], 0) / parts.length;
  if (way === "left" || way === "top") return parts.map((part) => low + part.size[level] / 2);
  if (way === "right" || way === "bottom") return parts.map((part) => high - part.size[level] / 2);
  return parts.map(() => mean);
}

function spreadEvenly(parts: readonly AlignedPart[], level: 0 | 1): number[] {
  const order = parts.map((_, k) => k).sort((a, b) => parts[a]!.at[level] - parts[b]!.at[level]);
  const first = parts[order[0]!]!.at[level];
  const last = parts[order[order.length - 1]!]!.at[level];
  const next = parts.map((part) => part.at[level]);
  order.forEach((k, place) => (next[k] = first + ((last - first) * place) / Math.max(1, order.length - 1)));
  return next;
}
