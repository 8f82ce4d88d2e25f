// Lines of some links at once: while a part is dragged, and until the worker has found all lines of a new drawing.

import { Router } from "./router";
import type { Point, Room, RoutedLines, RoutedLink, RoutePlan } from "./route_types";

const QUICK_LIMIT = 6000; // states that the search of one link may look at while a part is dragged
const QUICK_BUDGET = 9; // milliseconds for all of them
const NEAR = 120; // around the ends of links that are dragged: what is farther away is not in their way
const MOST_ENDS = 4; // links of more are drawn along while dragging, not routed

/** The lines of some links at once, around all that is near and stays: those that take too long are simple lines. */
export function routeQuickly(plan: RoutePlan, names: ReadonlySet<string>, lines: ReadonlyMap<string, RoutedLines>): Record<string, RoutedLines> {
  const own = plan.links.filter((link) => names.has(link.name));
  const few = own.filter((link) => link.ends.length <= MOST_ENDS);
  const room = roomAround(plan, few);
  const boxes = plan.boxes.filter((box) => meets(room, box.at[0] - box.size[0], box.at[1] - box.size[1], box.at[0] + box.size[0], box.at[1] + box.size[1]));
  const kept = new Map<string, Point[][]>();
  const links = plan.links.filter((link) => {
    if (names.has(link.name)) return link.ends.length <= MOST_ENDS;
    const path = (lines.get(link.name)?.path ?? []).filter((line) => line.some((point, k) => k > 0 && meets(room, ...spanOf(line[k - 1]!, point))));
    if (path.length > 0) kept.set(link.name, path);
    return path.length > 0;
  });
  const router = new Router({ boxes, links }, few.length > 0 ? [[room[0], room[1]], [room[2], room[3]]] : []);
  router.limit = QUICK_LIMIT;
  router.until = performance.now() + QUICK_BUDGET;
  const answer = router.routeSome(new Set(few.map((link) => link.name)), kept);
  for (const link of own) if (link.ends.length > MOST_ENDS) answer[link.name] = spider(plan, link.name);
  return answer;
}

/** Left, top, right and bottom of the ends of links, with room for detours. */
function roomAround(plan: RoutePlan, links: readonly RoutedLink[]): Room {
  const wanted = new Set(links.flatMap((link) => link.ends.map((end) => end.component)));
  const room: Room = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of plan.boxes) {
    if (!wanted.has(box.name)) continue;
    for (const c of [0, 1] as const) {
      room[c] = Math.min(room[c], box.at[c] - box.size[c] / 2 - NEAR);
      room[c + 2] = Math.max(room[c + 2]!, box.at[c] + box.size[c] / 2 + NEAR);
    }
  }
  return room;
}

function spanOf(a: Point, b: Point): Room {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}

function meets(room: Room, left: number, top: number, right: number, bottom: number): boolean {
  return left <= room[2] && right >= room[0] && top <= room[3] && bottom >= room[1];
}

/** Lines from the middle of all ends to each of them. */
function spider(plan: RoutePlan, name: string): RoutedLines {
  const boxes = new Map(plan.boxes.map((box) => [box.name, box]));
  const link = plan.links.find((each) => each.name === name)!;
  const points = link.ends.map((end) => boxes.get(end.component)?.ports.find((port) => port.name === end.port)?.at).filter((at) => at !== undefined);
  if (points.length === 0) return { path: [], dots: [] };
  const middle = (c: 0 | 1): number => Math.round(points.map((point) => point[c]).sort((a, b) => a - b)[Math.floor(points.length / 2)]! / 10) * 10;
  const knot: Point = [middle(0), middle(1)];
  return { path: points.map((point) => (point[0] === knot[0] || point[1] === knot[1] ? [point, knot] : [point, [point[0], knot[1]], knot])), dots: [knot] };
}
