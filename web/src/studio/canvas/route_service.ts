// The whole route of a drawing, found in a worker; the newest drawing wins.

import RouteWorker from "./route_worker?worker&inline";
import { Router } from "./router";
import type { Point, RouteAnswer, RoutedLines, RoutePlan } from "./route_types";

const QUICK_LIMIT = 6000; // states that the search of one link may look at while a part is dragged
const QUICK_BUDGET = 9; // milliseconds for all of them
const MOST_ENDS = 4; // links of more are drawn along while dragging, not routed

export class RouteService {
  private worker: Worker | null = null;
  private busy = false;
  private waiting: RoutePlan | null = null;
  private number = 0;
  private readonly done: (answer: RouteAnswer) => void;

  constructor(done: (answer: RouteAnswer) => void) {
    this.done = done;
    try {
      this.worker = new RouteWorker();
      this.worker.addEventListener("message", this.answered);
      this.worker.addEventListener("error", this.failed);
    } catch {
      this.worker = null;
    }
  }

  /** Asks for the lines of a drawing; one that waits is replaced. */
  request(plan: RoutePlan): void {
    this.number++;
    this.waiting = plan;
    this.next();
  }

  /** What is under way will not be told. */
  cancel(): void {
    this.number++;
    this.waiting = null;
  }

  destroy(): void {
    this.cancel();
    this.worker?.terminate();
  }

  private next(): void {
    if (this.busy || this.waiting === null) return;
    const plan = this.waiting;
    const number = this.number;
    this.waiting = null;
    if (this.worker === null) {
      setTimeout(() => number === this.number && this.done(new Router(plan).route()), 0);
      return;
    }
    this.busy = true;
    this.worker.postMessage({ number, plan });
  }

  private readonly answered = (event: MessageEvent<{ number: number; answer: RouteAnswer }>): void => {
    this.busy = false;
    if (event.data.number === this.number) this.done(event.data.answer);
    this.next();
  };

  /** A worker that cannot start: the page routes by itself. */
  private readonly failed = (): void => {
    this.worker = null;
    this.busy = false;
  };
}

/** The lines of some links at once, around all that stays: those that take too long are simple lines. */
export function routeQuickly(plan: RoutePlan, names: ReadonlySet<string>, lines: ReadonlyMap<string, RoutedLines>): Record<string, RoutedLines> {
  const few = new Set(plan.links.filter((link) => names.has(link.name) && link.ends.length <= MOST_ENDS).map((link) => link.name));
  const kept = new Map<string, Point[][]>();
  for (const [name, each] of lines) if (!names.has(name)) kept.set(name, each.path);
  const router = new Router(plan, [...kept.values()].flat(2));
  router.limit = QUICK_LIMIT;
  router.until = performance.now() + QUICK_BUDGET;
  const answer = router.routeSome(few, kept);
  for (const link of plan.links) if (names.has(link.name) && !few.has(link.name)) answer[link.name] = spider(plan, link.name);
  return answer;
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
