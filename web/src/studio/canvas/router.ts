// Routing of links: on a grid, with right angles, around components and labels, with few crossings.
// Each link is a search for the cheapest path (A*, Hart, Nilsson and Raphael 1968), as in views/diagram/link_routing.py:
// the same drawing gives the same lines there and here. Waypoints of a user are kept: the path leads through them.

import { BENT, LEVEL, LinkMarks, UPRIGHT } from "./link_marks";
import { cellOf, RouteGrid, type PlacedEnd } from "./route_grid";
import { findLines } from "./route_lines";
import { GRID, OUTWARD, roundHalfEven, type Point, type RouteAnswer, type RoutedLines, type RoutedLink, type RoutePlan } from "./route_types";
import { SearchHeap } from "./search_heap";

const BEND_COST = 3.0;
const CROSSING_COST = 40.0;
const MOST_ROUNDS = 3; // of routing again the links that cross others
const MOST_SEARCHES = 60; // in these rounds
const MOST_CELLS = 1_000_000; // searched before routing ends
const KIND_ORDER = { vector: 0, energy: 1, information: 2 } as const;

export type CellEdge = [number, number];

export class Router {
  cellsSeen = 0;
  /** States that one search may look at; beyond that its link is a simple line. */
  limit = Infinity;
  /** When searches end, as performance.now() counts. */
  until = Infinity;
  private readonly plan: RoutePlan;
  private readonly grid: RouteGrid;
  private readonly marks: LinkMarks;
  private readonly steps: [number, number, number, number];
  private readonly edges = new Map<number, CellEdge[]>();
  private readonly cost: Float64Array;
  private readonly came: Int32Array;
  private readonly seen: Int32Array; // the search that has set cost and came of a state
  private readonly own: Int32Array; // the search in which a cell belongs to the link
  private searchNumber = 0;

  constructor(plan: RoutePlan, more: Point[] = []) {
    this.plan = plan;
    this.grid = new RouteGrid(plan, [...more, ...plan.links.flatMap((link) => link.waypoints)].map(cellOf));
    const count = this.grid.price.length;
    this.marks = new LinkMarks(count);
    this.steps = [-this.grid.rows, this.grid.rows, -1, 1];
    this.cost = new Float64Array(4 * count);
    this.came = new Int32Array(4 * count);
    this.seen = new Int32Array(4 * count);
    this.own = new Int32Array(count);
  }

  // -- all links --------------------------------------------------------------------------------------
  /** The lines of all links, and how often they cross. */
  route(): RouteAnswer {
    const order = this.order();
    for (const link of order) this.routeLink(link);
    let best = this.marks.crossings;
    let searches = 0;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      for (const link of order) {
        if (best === 0 || searches >= MOST_SEARCHES || this.cellsSeen >= MOST_CELLS) break;
        const crossed = this.crossedBy(link);
        if (crossed.length === 0) continue;
        const before = new Map(this.edges);
        const again = [link, ...crossed];
        if (searches % 2 === 1) again.reverse();
        for (const one of again) searches += this.grid.ends[one]!.length - 1;
        for (const one of again) this.remove(one);
        for (const one of again) this.routeLink(one);
        if (this.marks.crossings > best) this.restore(before);
        else best = this.marks.crossings;
      }
    }
    return { lines: Object.fromEntries(order.map((link) => [this.plan.links[link]!.name, this.lines(link)])), crossings: best };
  }

  /** The lines of some links; all others keep those that they have. */
  routeSome(names: ReadonlySet<string>, kept: ReadonlyMap<string, Point[][]>): Record<string, RoutedLines> {
    this.plan.links.forEach((link, k) => {
      const path = kept.get(link.name);
      if (!names.has(link.name) && path !== undefined) this.hold(k, path);
    });
    const own = this.order().filter((link) => names.has(this.plan.links[link]!.name));
    for (const link of own) this.routeLink(link);
    return Object.fromEntries(own.map((link) => [this.plan.links[link]!.name, this.lines(link)]));
  }

  /** Links with at least two ends: vector links first, information last, short ones before long ones. */
  private order(): number[] {
    const links = this.plan.links.map((_, k) => k).filter((k) => this.grid.ends[k]!.length > 1);
    const span = (k: number): number => {
      const cells = this.grid.ends[k]!.map((end) => end.before);
      const across = cells.map(([i]) => i);
      const along = cells.map(([, j]) => j);
      return Math.max(...across) - Math.min(...across) + Math.max(...along) - Math.min(...along);
    };
    const rank = new Map(links.map((k) => [k, [KIND_ORDER[this.plan.links[k]!.kind], span(k)] as const]));
    return links.sort((a, b) => rank.get(a)![0] - rank.get(b)![0] || rank.get(a)![1] - rank.get(b)![1]);
  }

  private crossedBy(link: number): number[] {
    const name = (k: number): string => this.plan.links[k]!.name;
    return [...this.marks.crossedBy(link)].sort((a, b) => (name(a) < name(b) ? -1 : 1));
  }

  private remove(link: number): void {
    this.edges.delete(link);
    this.marks.remove(link);
  }

  private restore(edges: Map<number, CellEdge[]>): void {
    this.marks.clear();
    this.edges.clear();
    for (const [link, each] of edges) {
      this.edges.set(link, each);
      this.mark(link);
    }
  }

  private lines(link: number): RoutedLines {
    return findLines(this.grid, this.edges.get(link) ?? [], this.grid.ends[link]!);
  }

  /** Lines that are given: their cells are taken. */
  private hold(link: number, path: Point[][]): void {
    const ports = new Set(this.grid.ends[link]!.map((end) => this.grid.number(end.cell)));
    const edges: CellEdge[] = [];
    for (const line of path) {
      for (let k = 0; k + 1 < line.length; k++) {
        const [a, b] = [cellOf(line[k]!), cellOf(line[k + 1]!)];
        const [di, dj] = [Math.sign(b[0] - a[0]), Math.sign(b[1] - a[1])];
        if (di !== 0 && dj !== 0) continue;
        for (let [i, j] = a; i !== b[0] || j !== b[1]; i += di, j += dj) {
          if (!this.grid.has([i, j]) || !this.grid.has([i + di, j + dj])) continue;
          const edge: CellEdge = [this.grid.number([i, j]), this.grid.number([i + di, j + dj])];
          if (!ports.has(edge[0]) && !ports.has(edge[1])) edges.push(edge);
        }
      }
    }
    this.edges.set(link, edges);
    this.mark(link);
  }

  // -- one link ---------------------------------------------------------------------------------------
  private routeLink(link: number): void {
    const ends = this.grid.ends[link]!;
    const data = this.plan.links[link]!;
    const fan = data.kind === "vector" && ends.length === 2 && data.waypoints.length === 0 ? this.fan(link) : null;
    this.edges.set(link, fan === null ? this.grow(link, ends, data) : pairs(fan));
    this.mark(link);
  }

  /** From the first end through the waypoints, then from the cells of the link to the nearest end, until all are reached. */
  private grow(link: number, ends: PlacedEnd[], data: RoutedLink): CellEdge[] {
    const edges: CellEdge[] = [];
    const tree = new Set([this.grid.number(ends[0]!.before)]);
    const left = ends.slice(1).map((end) => this.grid.number(end.before));
    let from: Set<number> = tree;
    for (const waypoint of data.waypoints) {
      const goal = this.grid.number(cellOf(waypoint));
      if (tree.has(goal) || this.grid.price[goal] === Infinity) continue;
      this.take(link, ends, from, goal, edges, tree);
      from = new Set([goal]);
    }
    while (left.length > 0) {
      const distance = new Map(left.map((cell) => [cell, this.distance(cell, from)]));
      left.sort((a, b) => distance.get(a)! - distance.get(b)!);
      this.take(link, ends, from, left.shift()!, edges, tree);
      from = tree;
    }
    return edges;
  }

  private take(link: number, ends: PlacedEnd[], from: Set<number>, goal: number, edges: CellEdge[], tree: Set<number>): void {
    const path = this.search(link, ends, from, goal, tree);
    edges.push(...pairs(path));
    for (const cell of path) tree.add(cell);
  }

  private distance(cell: number, tree: Set<number>): number {
    const [gi, gj] = this.grid.cell(cell);
    let least = Infinity;
    for (const other of tree) {
      const [i, j] = this.grid.cell(other);
      least = Math.min(least, Math.abs(gi - i) + Math.abs(gj - j));
    }
    return least;
  }

  private mark(link: number): void {
    const { rows } = this.grid;
    const leads = new Map<number, number[]>();
    const lead = (cell: number, step: number): void => {
      const known = leads.get(cell);
      if (known === undefined) leads.set(cell, [step]);
      else known.push(step);
    };
    for (const [a, b] of this.edges.get(link)!) {
      lead(a, b - a);
      lead(b, a - b);
    }
    for (const end of this.grid.ends[link]!) {
      const [di, dj] = OUTWARD[end.port.side];
      lead(this.grid.number(end.before), -(di * rows + dj));
    }
    for (const [cell, steps] of leads) {
      const through = steps.length === 2 && steps[0] === -steps[1]!;
      this.marks.add(link, cell, through ? (Math.abs(steps[0]!) >= rows ? LEVEL : UPRIGHT) : BENT);
    }
  }

  // -- the search -------------------------------------------------------------------------------------
  /** The cheapest path from cells of a link to a cell. A state is a cell and one of four directions, as a number. */
  private search(link: number, ends: PlacedEnd[], from: Set<number>, goal: number, tree: Set<number>): number[] {
    if (from.has(goal)) return [goal];
    const round = ++this.searchNumber;
    const { cost, came, seen, own, steps, marks } = this;
    const { price, kept, rows } = this.grid;
    const out = new Map(ends.map((end) => [this.grid.number(end.before), headingOf(OUTWARD[end.port.side])]));
    const back = out.get(goal);
    const into = back === undefined ? -1 : back ^ 1;
    const [gi, gj] = [Math.floor(goal / rows), goal % rows];
    const ahead = (cell: number, heading: number): number => {
      const i = gi - Math.floor(cell / rows);
      const j = gj - (cell % rows);
      return Math.abs(i) + Math.abs(j) + ((heading < 2 ? j : i) !== 0 ? BEND_COST : 0.0);
    };
    for (const cell of tree) own[cell] = round;
    const front = new SearchHeap();
    for (const cell of this.startsOf(from, out)) {
      if (marks.isTaken(cell, link)) continue; // a branch where another link crosses could not be distinguished
      const only = from.size === 1 ? out.get(cell) : undefined;
      for (const heading of only === undefined ? [0, 1, 2, 3] : [only]) {
        const state = 4 * cell + heading;
        cost[state] = 0;
        came[state] = -1;
        seen[state] = round;
        front.push(ahead(cell, heading), 0, state);
      }
    }
    const most = this.until === Infinity || performance.now() < this.until ? this.limit : 0;
    for (let looked = 0; front.size > 0 && looked < most; looked++) {
      this.cellsSeen++;
      front.pop();
      const { cost: spent, state } = front;
      if (spent > cost[state]!) continue;
      const cell = state >> 2;
      const heading = state & 3;
      if (cell === goal) return this.traceBack(state);
      const crossed = own[cell] !== round && this.wayThrough(cell, link, goal) >= 0;
      for (let step = 0; step < 4; step++) {
        if (step !== heading && (step === (heading ^ 1) || crossed)) continue; // neither back nor a bend upon another link
        const there = cell + steps[step]!;
        let total = price[there]!;
        if (total === Infinity || own[there] === round) continue;
        const keeper = kept[there]!;
        const way = keeper !== 0 && keeper !== link + 1 ? 2 : marks.has(there) ? this.wayThrough(there, link, goal) : -1;
        if (way >= 0) {
          if (way !== step >> 1) continue;
          total += CROSSING_COST;
        }
        total += spent + BEND_COST * (Number(step !== heading) + Number(there === goal && into >= 0 && step !== into));
        const after = 4 * there + step;
        if (seen[after] !== round || total < cost[after]!) {
          cost[after] = total;
          came[after] = state;
          seen[after] = round;
          front.push(total + ahead(there, step), total, after);
        }
      }
    }
    return this.simplePath(from, goal);
  }

  /** How a cell that others have taken can be crossed: 0 across, 1 up and down, 2 not at all; -1: it is free. */
  private wayThrough(cell: number, link: number, goal: number): number {
    const keeper = this.grid.kept[cell]!;
    if (keeper !== 0 && keeper !== link + 1) return 2;
    const way = this.marks.way(cell, link);
    return way >= 0 && cell === goal ? 2 : way;
  }

  /** No branch right before a port, where arrow heads are. */
  private startsOf(from: Set<number>, out: Map<number, number>): number[] {
    const inner = [...from].filter((cell) => !out.has(cell));
    return (inner.length > 0 ? inner : [...from]).sort((a, b) => a - b);
  }

  private traceBack(state: number): number[] {
    const cells: number[] = [];
    for (let at = state; at >= 0; at = this.came[at]!) cells.push(at >> 2);
    return cells.reverse();
  }

  /** From the nearest cell straight to the goal: where it is walled in. While dragging, with a right angle. */
  private simplePath(from: Set<number>, goal: number): number[] {
    const nearest = [...from].sort((a, b) => a - b).reduce((best, cell) => (this.distance(goal, new Set([cell])) < this.distance(goal, new Set([best])) ? cell : best));
    if (this.limit === Infinity) return [nearest, goal];
    const [a, b] = [this.grid.cell(nearest), this.grid.cell(goal)];
    const corner = this.grid.number([a[0], b[1]]);
    return [...new Set([nearest, corner, goal])];
  }

  // -- the spine --------------------------------------------------------------------------------------
  /** A branch of the spine in the channel beside its body, if that is free: lower rows take the nearer channel. */
  private fan(link: number): number[] | null {
    const [a, b] = this.grid.ends[link] as [PlacedEnd, PlacedEnd];
    const [one, other] = a.box.role !== "SB" && b.box.role === "SB" ? [b, a] : [a, b];
    if (!(one.box.spine && other.box.spine && one.port.side === "right" && other.port.side === "left" && other.box.at[0] > one.box.at[0])) return null;
    const offset = (port: { at: Point }): number => port.at[1] - one.box.at[1];
    const last = Math.max(...one.box.ports.filter((port) => port.side === "right").map(offset));
    const [start, end] = [one.before, other.before];
    const turn = start[0] + roundHalfEven((last - offset(one.port)) / GRID);
    if (turn > end[0]) return null;
    const cells: Point[] = [];
    for (let i = start[0]; i < turn; i++) cells.push([i, start[1]]);
    const step = end[1] >= start[1] ? 1 : -1;
    for (let j = start[1]; j !== end[1] + step; j += step) cells.push([turn, j]);
    for (let i = turn + 1; i <= end[0]; i++) cells.push([i, end[1]]);
    const numbers = cells.map((cell) => this.grid.number(cell));
    const isFree = (cell: number): boolean => this.grid.blocked[cell] === 0 && !this.marks.has(cell) && [0, link + 1].includes(this.grid.kept[cell]!);
    return numbers.every(isFree) ? numbers : null;
  }
}

function pairs(cells: number[]): CellEdge[] {
  return cells.slice(1).map((cell, k) => [cells[k]!, cell]);
}

/** 0 left, 1 right, 2 up, 3 down. */
function headingOf([di, dj]: Point): number {
  return di < 0 ? 0 : di > 0 ? 1 : dj < 0 ? 2 : 3;
}
