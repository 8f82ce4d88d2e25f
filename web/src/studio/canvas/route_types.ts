// What the router needs of a drawing: plain data, so that it goes to a worker as it is.

import type { PortPlace } from "../../messages";
import type { LinkKind, Point, Side } from "../studio_types";

export type { LinkKind, Point, Side };
export type Room = [number, number, number, number]; // left, top, right, bottom

export interface RoutedPort {
  name: string;
  side: Side;
  at: Point;
  reference: string; // gnd, world ...; empty: none
}

export interface RoutedBox {
  name: string;
  role: string;
  at: Point; // its middle
  size: Point;
  spine: boolean;
  rooms: Room[]; // of its words, absolute
  ports: RoutedPort[];
}

export interface RoutedLink {
  name: string;
  kind: LinkKind;
  ends: PortPlace[];
  waypoints: Point[];
}

export interface RoutePlan {
  boxes: RoutedBox[];
  links: RoutedLink[];
}

export interface RoutedLines {
  path: Point[][];
  dots: Point[];
}

export interface RouteAnswer {
  lines: Record<string, RoutedLines>;
  crossings: number;
}

export const GRID = 10; // all positions are multiples of it
export const STUB = 20; // from a port to the symbol of the base or the ground

/** From a port, by its side. */
export const OUTWARD: Record<Side, Point> = { left: [-1, 0], right: [1, 0], top: [0, -1], bottom: [0, 1] };

/** As Python rounds: a half goes to the even neighbor. */
export function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest !== 0.5) return rest < 0.5 ? low : low + 1;
  return low % 2 === 0 ? low : low + 1;
}

/** As Python divides and rounds down: exact where the quotient would round to the next whole number. */
export function floorDivide(x: number, by: number): number {
  const rest = x % by;
  const quotient = (x - rest) / by - (rest !== 0 && rest < 0 !== by < 0 ? 1 : 0);
  const low = Math.floor(quotient);
  return quotient - low > 0.5 ? low + 1 : low;
}
