// The lines of a link as a tree: pieces between junctions, each with the ends that lie beyond it.
// What flows through a piece toward its far side is the sum of what the ends beyond it take in.

import type { LinkData, Point } from "../data/run_document";

export interface WirePiece {
  points: Point[]; // from the near side to the far side
  length: number;
  beyond: number[]; // indices of the ends of the link on the far side
}

/** The pieces of a link's lines. */
export function wirePieces(link: Pick<LinkData, "path" | "ends">): WirePiece[] {
  const neighbours = joinLines(link.path);
  const ends = new Map<string, number[]>();
  link.ends.forEach((end, k) => ends.set(key(end.at), [...(ends.get(key(end.at)) ?? []), k]));
  const first = link.ends.find((end) => neighbours.has(key(end.at)));
  if (first === undefined) return [];
  const pieces: WirePiece[] = [];
  const seen = new Set<string>([key(first.at)]);
  walk(key(first.at));
  return pieces;

  /** Follows all lines away from a point; returns the ends beyond it, its own included. */
  function walk(from: string): number[] {
    const found = [...(ends.get(from) ?? [])];
    for (const next of neighbours.get(from) ?? []) {
      if (seen.has(next)) continue;
      const names = [from, next];
      seen.add(next);
      for (let last = next; ; ) {
        const onward = [...(neighbours.get(last) ?? [])].filter((name) => !seen.has(name));
        if (onward.length !== 1 || ends.has(last)) break;
        last = onward[0]!;
        seen.add(last);
        names.push(last);
      }
      const points = names.map(point);
      const piece: WirePiece = { points, length: lengthOf(points), beyond: [] };
      pieces.push(piece);
      piece.beyond = walk(names[names.length - 1]!);
      found.push(...piece.beyond);
    }
    return found;
  }
}

/** Neighbours of every corner; a line that ends on another one splits it. */
function joinLines(path: Point[][]): Map<string, Set<string>> {
  const corners = path.flat();
  const neighbours = new Map<string, Set<string>>();
  const connect = (a: Point, b: Point): void => {
    if (key(a) === key(b)) return;
    for (const [one, other] of [[a, b], [b, a]] as const) {
      const known = neighbours.get(key(one)) ?? new Set<string>();
      known.add(key(other));
      neighbours.set(key(one), known);
    }
  };
  for (const line of path) {
    for (let k = 0; k + 1 < line.length; k++) {
      const a = line[k]!;
      const b = line[k + 1]!;
      const between = corners.filter((c) => isBetween(a, b, c));
      between.sort((c, d) => distance(a, c) - distance(a, d));
      const stops = [a, ...between, b];
      for (let i = 0; i + 1 < stops.length; i++) connect(stops[i]!, stops[i + 1]!);
    }
  }
  return neighbours;
}

function isBetween(a: Point, b: Point, c: Point): boolean {
  const along = distance(a, b);
  return distance(a, c) > 1e-9 && distance(c, b) > 1e-9 && Math.abs(distance(a, c) + distance(c, b) - along) < 1e-9;
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(b[0] - a[0], b[1] - a[1]);
}

export function lengthOf(points: Point[]): number {
  let total = 0;
  for (let k = 0; k + 1 < points.length; k++) total += distance(points[k]!, points[k + 1]!);
  return total;
}

/** The place on a line at a distance from its start, and the direction there. */
export function placeOn(points: Point[], s: number): { at: Point; along: Point } {
  let rest = s;
  for (let k = 0; k + 1 < points.length; k++) {
    const a = points[k]!;
    const b = points[k + 1]!;
    const step = distance(a, b);
    if (step === 0) continue;
    if (rest <= step || k + 2 === points.length) {
      const along: Point = [(b[0] - a[0]) / step, (b[1] - a[1]) / step];
      return { at: [a[0] + along[0] * rest, a[1] + along[1] * rest], along };
    }
    rest -= step;
  }
  return { at: points[0] ?? [0, 0], along: [1, 0] };
}

/** The middle of the longest straight stretch of a line: where a label stands best. */
export function labelPlace(points: Point[]): { at: Point; along: Point; room: number } {
  let best = 0;
  for (let k = 1; k + 1 < points.length; k++) {
    const longer = distance(points[k]!, points[k + 1]!) > distance(points[best]!, points[best + 1]!);
    if (longer) best = k;
  }
  const a = points[best]!;
  const b = points[best + 1] ?? a;
  const room = distance(a, b);
  const along: Point = room > 0 ? [(b[0] - a[0]) / room, (b[1] - a[1]) / room] : [1, 0];
  return { at: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], along, room };
}

const BESIDE = 22; // from a line to the middle of a label beside it

/** Places where a label of a line may stand, best first: on the middles of its stretches, on other shares, beside them. */
export function labelPlaces(points: Point[]): Point[] {
  const stretches = points.slice(1).map((b, k) => ({ a: points[k]!, b, room: distance(points[k]!, b) }));
  stretches.sort((one, other) => other.room - one.room);
  const share = ({ a, b }: { a: Point; b: Point }, s: number): Point => [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
  const on = [0.5, 0.3, 0.7, 0.15, 0.85].flatMap((s) => stretches.map((stretch) => share(stretch, s)));
  const beside = stretches.flatMap((stretch) => {
    const level = Math.abs(stretch.b[0] - stretch.a[0]) > Math.abs(stretch.b[1] - stretch.a[1]);
    const [x, y] = share(stretch, 0.5);
    return [1, -1].map((side): Point => (level ? [x, y + 0.8 * side * BESIDE] : [x + 1.5 * side * BESIDE, y]));
  });
  return [...on, ...beside];
}

function key(p: Point): string {
  return `${p[0]},${p[1]}`;
}

function point(name: string): Point {
  const [x, y] = name.split(",").map(Number);
  return [x!, y!];
}
