// The drawing as the canvas shows it: the sketch of the server, places that were changed here and not yet answered, and lines.

import type { PortPlace, Sketch, SketchBox, SketchLink, SketchPort } from "../../messages";
import { placeWords, type PlacedWords } from "./box_words";
import { GRID, roundHalfEven, type Point, type Room, type RoutedBox, type RoutedLines, type RoutePlan } from "./route_types";

export class CanvasModel {
  readonly boxes = new Map<string, SketchBox>();
  readonly links = new Map<string, SketchLink>();
  readonly lines = new Map<string, RoutedLines>();
  private readonly moved = new Map<string, Point>();
  private readonly linksAt = new Map<string, string[]>();
  private readonly routedBoxes = new WeakMap<SketchBox, RoutedBox>();

  /** Takes a sketch; places in `keep` stay as they were moved here. */
  take(sketch: Sketch, keep: ReadonlySet<string>): void {
    this.boxes.clear();
    this.links.clear();
    this.linksAt.clear();
    for (const box of sketch.boxes) this.boxes.set(box.name, box);
    for (const name of [...this.moved.keys()]) if (!keep.has(name) || !this.boxes.has(name)) this.moved.delete(name);
    for (const link of sketch.links) {
      this.links.set(link.name, link);
      for (const end of link.ends) this.linksAt.set(end.component, [...(this.linksAt.get(end.component) ?? []), link.name]);
    }
    for (const name of [...this.lines.keys()]) if (!this.links.has(name)) this.lines.delete(name);
    for (const link of sketch.links) {
      if (link.path !== null && this.reaches(link.name, link.path)) this.lines.set(link.name, { path: link.path, dots: link.dots });
    }
  }

  /** Whether the lines of a link end at its ports. */
  reaches(name: string, path: Point[][] = this.lines.get(name)?.path ?? []): boolean {
    const ends = new Set(path.flatMap((line) => [`${line[0]}`, `${line[line.length - 1]}`]));
    return ends.size > 0 && this.links.get(name)!.ends.every((end) => ends.has(`${this.portAt(end)}`));
  }

  /** Moves boxes here, before the server has answered. */
  move(places: Iterable<[string, Point]>): void {
    for (const [name, at] of places) if (this.boxes.has(name)) this.moved.set(name, at);
  }

  forget(names: Iterable<string>): void {
    for (const name of names) this.moved.delete(name);
  }

  at(name: string): Point {
    return this.moved.get(name) ?? this.boxes.get(name)?.at ?? [0, 0];
  }

  port(place: PortPlace): SketchPort | null {
    return this.boxes.get(place.component)?.ports.find((port) => port.name === place.port) ?? null;
  }

  /** Where a port is now. */
  portAt(place: PortPlace): Point | null {
    const box = this.boxes.get(place.component);
    const port = this.port(place);
    if (box === undefined || port === null) return null;
    const [x, y] = this.at(place.component);
    return [port.at[0] - box.at[0] + x, port.at[1] - box.at[1] + y];
  }

  /** The links at any of some boxes. */
  touched(names: Iterable<string>): Set<string> {
    return new Set([...names].flatMap((name) => this.linksAt.get(name) ?? []));
  }

  /** The link at a port, if it has one. */
  linkAt(place: PortPlace): SketchLink | null {
    for (const name of this.linksAt.get(place.component) ?? []) {
      const link = this.links.get(name)!;
      if (link.ends.some((end) => end.component === place.component && end.port === place.port)) return link;
    }
    return null;
  }

  /** What the router needs. */
  plan(): RoutePlan {
    const links = [...this.links.values()].map(({ name, kind, ends, waypoints }) => ({ name, kind, ends, waypoints: waypoints ?? [] }));
    return { boxes: [...this.boxes.values()].map((box) => this.routedBox(box)), links };
  }

  /** A box as the router takes it, made anew where it has changed or moved. */
  private routedBox(box: SketchBox): RoutedBox {
    const [x, y] = this.at(box.name);
    const known = this.routedBoxes.get(box);
    if (known !== undefined && known.at[0] === x && known.at[1] === y) return known;
    const [dx, dy] = [x - box.at[0], y - box.at[1]];
    const made: RoutedBox = {
      name: box.name, role: box.role, at: [x, y], size: box.size, spine: box.spine === true,
      rooms: placeWords(box).map(({ room }): Room => [room[0] + x, room[1] + y, room[2] + x, room[3] + y]),
      ports: box.ports.map((port) => ({ name: port.name, side: port.side, at: [port.at[0] + dx, port.at[1] + dy] as Point, reference: port.reference })),
    };
    this.routedBoxes.set(box, made);
    return made;
  }

  /** Left, top, width and height of some boxes with their names, else of all that is drawn, lines too; null if there is nothing. */
  extent(some?: Iterable<string>): [number, number, number, number] | null {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const name of some ?? this.boxes.keys()) {
      const box = this.boxes.get(name);
      if (box === undefined) continue;
      const [x, y] = this.at(name);
      const around: Room[] = [[-box.size[0] / 2 - 12, -box.size[1] / 2 - 12, box.size[0] / 2 + 12, box.size[1] / 2 + 30], ...placeWords(box).map((words: PlacedWords) => words.room)];
      for (const room of around) {
        left = Math.min(left, x + room[0]);
        top = Math.min(top, y + room[1]);
        right = Math.max(right, x + room[2]);
        bottom = Math.max(bottom, y + room[3]);
      }
    }
    if (some === undefined) {
      for (const [x, y] of [...this.lines.values()].flatMap(({ path }) => path.flat())) [left, top, right, bottom] = [Math.min(left, x - 4), Math.min(top, y - 4), Math.max(right, x + 4), Math.max(bottom, y + 4)];
    }
    return left === Infinity ? null : [left, top, right - left, bottom - top];
  }

  /** The boxes inside a rectangle. */
  inside([left, top, right, bottom]: Room): string[] {
    return [...this.boxes.values()].filter(({ name, size }) => {
      const [x, y] = this.at(name);
      return x - size[0] / 2 >= left && x + size[0] / 2 <= right && y - size[1] / 2 >= top && y + size[1] / 2 <= bottom;
    }).map((box) => box.name);
  }

  /** Names from top to bottom, from left to right. */
  readingOrder(): string[] {
    return [...this.boxes.keys()].sort((a, b) => this.at(a)[1] - this.at(b)[1] || this.at(a)[0] - this.at(b)[0]);
  }

  /** The next box in a direction: near, and not far aside. */
  neighbor(from: string, direction: Point): string | null {
    const [x, y] = this.at(from);
    let best: string | null = null;
    let least = Infinity;
    for (const name of this.boxes.keys()) {
      const [dx, dy] = [this.at(name)[0] - x, this.at(name)[1] - y];
      const along = dx * direction[0] + dy * direction[1];
      const aside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
      if (name === from || along <= 0 || aside > 3 * along) continue;
      if (along + 2 * aside < least) [best, least] = [name, along + 2 * aside];
    }
    return best;
  }
}

export function snapToGrid([x, y]: readonly [number, number]): Point {
  return [roundHalfEven(x / GRID) * GRID + 0, roundHalfEven(y / GRID) * GRID + 0];
}
