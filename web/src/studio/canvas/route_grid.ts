// The grid on which links are routed: its cells by number, what they cost, and which of them a port keeps for its link.

import { floorDivide, GRID, OUTWARD, roundHalfEven, STUB, type Point, type RoutedBox, type RoutedLink, type RoutedPort, type RoutePlan } from "./route_types";

const STEP_COST = 1.0;
const NEIGHBOR_COST = 0.2; // of a step, for each blocked cell beside it
const MARGIN_CELLS = 6; // around the whole diagram

export interface PlacedEnd {
  box: RoutedBox;
  port: RoutedPort;
  cell: Point; // of the port
  before: Point; // the cell in front of it
}

type CellRange = [number, number, number, number]; // first and last column, first and last row

export function cellOf(point: readonly [number, number]): Point {
  return [roundHalfEven(point[0] / GRID), roundHalfEven(point[1] / GRID)];
}

export class RouteGrid {
  readonly ends: PlacedEnd[][]; // by link
  readonly price: Float64Array; // of a cell without links: infinite where it is blocked and along the edge
  readonly blocked: Uint8Array;
  readonly kept: Int32Array; // the link for which a cell before a port is kept, from 1; 0: none
  readonly columns: number;
  readonly rows: number;
  private readonly low: Point;

  constructor(plan: RoutePlan, more: Point[] = []) {
    const boxes = new Map(plan.boxes.map((box) => [box.name, box]));
    this.ends = plan.links.map((link) => placeEnds(link, boxes));
    const ranges = plan.boxes.flatMap(blockedRanges);
    const [low, high] = findBounds(ranges, [...this.ends.flat().map((end) => end.before), ...more]);
    this.low = low;
    this.columns = high[0] - low[0] + 1;
    this.rows = high[1] - low[1] + 1;
    this.blocked = new Uint8Array(this.columns * this.rows);
    for (const [i0, i1, j0, j1] of ranges) {
      for (let i = i0; i <= i1; i++) {
        const start = (i - low[0]) * this.rows - low[1];
        this.blocked.fill(1, start + j0, start + j1 + 1);
      }
    }
    this.kept = new Int32Array(this.blocked.length);
    this.ends.forEach((ends, k) => {
      for (const end of ends) this.kept[this.number(end.before)] = k + 1;
    });
    for (const end of this.ends.flat()) this.blocked[this.number(end.before)] = 0;
    this.price = this.measure();
  }

  has([i, j]: Point): boolean {
    return i >= this.low[0] && j >= this.low[1] && i < this.low[0] + this.columns && j < this.low[1] + this.rows;
  }

  number(cell: Point): number {
    return (cell[0] - this.low[0]) * this.rows + cell[1] - this.low[1];
  }

  /** The cell of a number. */
  cell(number: number): Point {
    const column = Math.floor(number / this.rows);
    return [column + this.low[0], number - column * this.rows + this.low[1]];
  }

  point(number: number): Point {
    const [i, j] = this.cell(number);
    return [i * GRID, j * GRID];
  }

  private measure(): Float64Array {
    const { rows, blocked } = this;
    const price = new Float64Array(blocked.length).fill(Infinity);
    for (let i = 1; i < this.columns - 1; i++) {
      for (let at = i * rows + 1; at < (i + 1) * rows - 1; at++) {
        if (blocked[at]) continue;
        price[at] = STEP_COST + NEIGHBOR_COST * (blocked[at - rows]! + blocked[at + rows]! + blocked[at - 1]! + blocked[at + 1]!);
      }
    }
    return price;
  }
}

function placeEnds(link: RoutedLink, boxes: Map<string, RoutedBox>): PlacedEnd[] {
  return link.ends.flatMap((end) => {
    const box = boxes.get(end.component);
    const port = box?.ports.find((each) => each.name === end.port);
    if (box === undefined || port === undefined) return [];
    const cell = cellOf(port.at);
    const [di, dj] = OUTWARD[port.side];
    return [{ box, port, cell, before: [cell[0] + di, cell[1] + dj] as Point }];
  });
}

function blockedRanges(box: RoutedBox): CellRange[] {
  const [x, y] = box.at;
  const [width, height] = box.size;
  const ranges = [cellRange(x - width / 2, y - height / 2, x + width / 2, y + height / 2), ...box.rooms.map((room) => cellRange(...room))];
  for (const port of box.ports) {
    if (port.reference === "") continue;
    const [dx, dy] = OUTWARD[port.side];
    const [px, py] = [port.at[0] + dx * STUB, port.at[1] + dy * STUB];
    ranges.push(cellRange(Math.min(px, px - dx * STUB) - 10, Math.min(py, py - dy * STUB) - 4, Math.max(px, px - dx * STUB) + 10, py + 12));
  }
  return ranges.filter(([i0, i1, j0, j1]) => i0 <= i1 && j0 <= j1);
}

function cellRange(left: number, top: number, right: number, bottom: number): CellRange {
  return [-floorDivide(-left, GRID), floorDivide(right, GRID), -floorDivide(-top, GRID), floorDivide(bottom, GRID)];
}

/** The corners of the grid: a margin around all boxes, and room around further cells. */
function findBounds(ranges: CellRange[], inside: Point[]): [Point, Point] {
  const low: Point = [Infinity, Infinity];
  const high: Point = [-Infinity, -Infinity];
  const include = (i: number, j: number, around: number): void => {
    low[0] = Math.min(low[0], i - around);
    low[1] = Math.min(low[1], j - around);
    high[0] = Math.max(high[0], i + around);
    high[1] = Math.max(high[1], j + around);
  };
  for (const [i0, i1, j0, j1] of ranges) {
    include(i0, j0, MARGIN_CELLS);
    include(i1, j1, MARGIN_CELLS);
  }
  if (ranges.length === 0) include(0, 0, MARGIN_CELLS);
  for (const [i, j] of inside) include(i, j, 2);
  return [low, high];
}
