// The lines of a link from its cells: corners only, from knot to knot, and dots where more than two lines meet.

import type { PlacedEnd, RouteGrid } from "./route_grid";
import type { Point, RoutedLines } from "./route_types";

export function findLines(grid: RouteGrid, edges: [number, number][], ends: PlacedEnd[]): RoutedLines {
  const near = new Map<number, Set<number>>();
  const join = (a: number, b: number): void => {
    for (const [one, other] of [[a, b], [b, a]] as const) {
      const known = near.get(one);
      if (known === undefined) near.set(one, new Set([other]));
      else known.add(other);
    }
  };
  for (const [a, b] of edges) join(a, b);
  const ports = new Map<number, Point>();
  for (const end of ends) {
    join(grid.number(end.cell), grid.number(end.before));
    ports.set(grid.number(end.cell), end.port.at);
  }
  const knots = new Set([...near].filter(([, others]) => others.size !== 2).map(([cell]) => cell));
  const path = walk(near, knots).map((cells) => cornersOf(grid, cells).map((cell) => ports.get(cell) ?? grid.point(cell)));
  const dots = sorted(knots).filter((cell) => near.get(cell)!.size > 2).map((cell) => grid.point(cell));
  return { path, dots };
}

function cornersOf(grid: RouteGrid, cells: number[]): number[] {
  const places = cells.map((cell) => grid.cell(cell));
  return cells.filter((_, k) => {
    if (k === 0 || k === cells.length - 1) return true;
    const [a, b, c] = [places[k - 1]!, places[k]!, places[k + 1]!];
    return b[0] - a[0] !== c[0] - b[0] || b[1] - a[1] !== c[1] - b[1];
  });
}

/** Each line from one knot to the next, once. */
function walk(near: Map<number, Set<number>>, knots: Set<number>): number[][] {
  const done = new Set<string>();
  const name = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
  const lines: number[][] = [];
  for (const start of sorted(knots)) {
    for (const first of sorted(near.get(start)!)) {
      if (done.has(name(start, first))) continue;
      const line = [start, first];
      done.add(name(start, first));
      for (let [before, at] = [start, first]; !knots.has(at); ) {
        const after = [...near.get(at)!].find((cell) => cell !== before)!;
        done.add(name(at, after));
        line.push(after);
        [before, at] = [at, after];
      }
      lines.push(line);
    }
  }
  return lines;
}

function sorted(cells: Iterable<number>): number[] {
  return [...cells].sort((a, b) => a - b);
}
