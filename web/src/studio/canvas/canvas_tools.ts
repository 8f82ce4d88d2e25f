// Panning, choosing by a frame, moving parts, and bending wires with the pointer.

import { draw } from "../../live/svg";
import { makeFrameTask, type FrameTask } from "../../ui/frame_task";
import type { CanvasHost, PointerTool } from "./canvas_host";
import { placeOfDrop } from "./canvas_commands";
import { snapToGrid } from "./canvas_model";
import { GRID, type Point, type Room } from "./route_types";

const CLICK = 4; // pixels: a longer way is a drag

/** Whether the pointer has moved since it was pressed. */
class Travel {
  readonly start: Point;
  dragged = false;

  constructor(event: PointerEvent) {
    this.start = [event.clientX, event.clientY];
  }

  follow(event: PointerEvent): boolean {
    this.dragged ||= Math.hypot(event.clientX - this.start[0], event.clientY - this.start[1]) >= CLICK;
    return this.dragged;
  }
}

export class PanTool implements PointerTool {
  private last: Point;
  private readonly host: CanvasHost;

  constructor(host: CanvasHost, event: PointerEvent) {
    this.host = host;
    this.last = [event.clientX, event.clientY];
    host.sheet.classList.add("panning");
  }

  move(event: PointerEvent): void {
    this.host.window.pan(event.clientX - this.last[0], event.clientY - this.last[1]);
    this.last = [event.clientX, event.clientY];
  }

  up(): void {
    this.cancel();
  }

  cancel(): void {
    this.host.sheet.classList.remove("panning");
  }
}

export class MarqueeTool implements PointerTool {
  private readonly travel: Travel;
  private readonly from: Point;
  private readonly before: string[];
  private readonly frame = draw("rect", { class: "marquee" });
  private readonly host: CanvasHost;

  constructor(host: CanvasHost, event: PointerEvent) {
    this.host = host;
    this.travel = new Travel(event);
    this.from = host.window.placeOf(event);
    this.before = event.shiftKey || event.ctrlKey || event.metaKey ? [...host.chosen] : [];
  }

  move(event: PointerEvent): void {
    if (!this.travel.follow(event)) return;
    const [left, top, right, bottom] = this.room(event);
    for (const [key, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) this.frame.setAttribute(key, String(value));
    if (this.frame.parentNode === null) this.host.overlay.append(this.frame);
    this.host.boxes.mark(new Set([...this.before, ...this.host.model.inside([left, top, right, bottom])]));
  }

  up(event: PointerEvent): void {
    this.frame.remove();
    this.host.choose(this.travel.dragged ? [...this.before, ...this.host.model.inside(this.room(event))] : this.before);
  }

  cancel(): void {
    this.frame.remove();
    this.host.boxes.mark(this.host.chosen);
  }

  private room(event: PointerEvent): Room {
    const [x, y] = this.host.window.placeOf(event);
    return [Math.min(x, this.from[0]), Math.min(y, this.from[1]), Math.max(x, this.from[0]), Math.max(y, this.from[1])];
  }
}

export class MoveTool implements PointerTool {
  private readonly travel: Travel;
  private readonly names: string[];
  private readonly starts: Map<string, Point>;
  private readonly grabbed: Point;
  private by: Point = [0, 0];
  private readonly frame: FrameTask;
  private readonly host: CanvasHost;
  private readonly clicked: () => void;

  /** `clicked` is done where the press was no drag. */
  constructor(host: CanvasHost, event: PointerEvent, clicked: () => void) {
    this.host = host;
    this.clicked = clicked;
    this.travel = new Travel(event);
    this.grabbed = host.window.placeOf(event);
    this.names = [...host.chosen];
    this.starts = new Map(this.names.map((name) => [name, host.model.at(name)]));
    this.frame = makeFrameTask(() => this.show());
  }

  move(event: PointerEvent): void {
    if (this.host.context.readOnly || !this.travel.follow(event)) return;
    const [x, y] = this.host.window.placeOf(event);
    const by = snapToGrid([x - this.grabbed[0], y - this.grabbed[1]]);
    if (by[0] === this.by[0] && by[1] === this.by[1]) return;
    this.by = by;
    if (!this.host.sheet.classList.contains("moving")) this.host.lift(this.names);
    this.host.sheet.classList.add("moving");
    this.frame.request();
  }

  up(): void {
    this.end();
    if (!this.travel.dragged) return this.clicked();
    if (this.by[0] === 0 && this.by[1] === 0) return this.cancel();
    this.setBeside();
    this.host.move(this.places());
  }

  cancel(): void {
    this.end();
    this.host.model.move(this.starts);
    this.host.showMoved(this.names);
    this.host.model.forget(this.names);
  }

  private end(): void {
    this.frame.cancel();
    this.host.sheet.classList.remove("moving");
    this.host.putDown();
  }

  /** One part that was let go over another stands beside it. */
  private setBeside(): void {
    const [name] = this.names;
    if (this.names.length !== 1 || name === undefined) return;
    const { model } = this.host;
    const [start, size] = [this.starts.get(name)!, model.boxes.get(name)!.size];
    const [x, y] = placeOfDrop(model, [start[0] + this.by[0], start[1] + this.by[1]], size, new Set(this.names));
    this.by = [x - start[0], y - start[1]];
  }

  private show(): void {
    this.host.model.move(Object.entries(this.places()));
    this.host.showMoved(this.names);
  }

  private places(): Record<string, Point> {
    return Object.fromEntries([...this.starts].map(([name, [x, y]]) => [name, [x + this.by[0], y + this.by[1]] as Point]));
  }
}

/** Drags a stretch of a wire aside: it leads along there from then on. */
export class BendTool implements PointerTool {
  private readonly travel: Travel;
  private readonly host: CanvasHost;
  private readonly link: string;
  private readonly stretch: [Point, Point] | null;
  private readonly mark = draw("path", { class: "rubber" });

  constructor(host: CanvasHost, event: PointerEvent, link: string) {
    this.host = host;
    this.link = link;
    this.travel = new Travel(event);
    this.stretch = nearestStretch(host.model.lines.get(link)?.path ?? [], host.window.placeOf(event));
  }

  move(event: PointerEvent): void {
    if (this.host.context.readOnly || this.stretch === null || !this.travel.follow(event)) return;
    const points = bentPoints(this.stretch, snapToGrid(this.host.window.placeOf(event)));
    this.mark.setAttribute("d", `M${[this.stretch[0], ...points, this.stretch[1]].join("L")}`);
    if (this.mark.parentNode === null) this.host.overlay.append(this.mark);
  }

  up(event: PointerEvent): void {
    this.mark.remove();
    if (!this.travel.dragged || this.host.context.readOnly || this.stretch === null) return;
    const [a, b] = this.stretch;
    const known = this.host.model.links.get(this.link)?.waypoints ?? [];
    const kept = known.filter((point) => !isOn(point, a, b));
    const points = inOrder([...kept, ...bentPoints(this.stretch, snapToGrid(this.host.window.placeOf(event)))], this.start());
    void this.host.act({ do: "waypoints", link: this.link, points });
  }

  cancel(): void {
    this.mark.remove();
  }

  private start(): Point {
    const first = this.host.model.links.get(this.link)?.ends[0];
    return (first === undefined ? null : this.host.model.portAt(first)) ?? [0, 0];
  }
}

const INSET = 2 * GRID; // from the end of a stretch to where it turns aside

/** The points of a stretch that is moved aside to a place; those of a short one are one. */
export function bentPoints([a, b]: [Point, Point], to: Point): Point[] {
  const level = a[1] === b[1];
  const along = level ? 0 : 1;
  const [low, high] = [Math.min(a[along], b[along]), Math.max(a[along], b[along])];
  const at = (s: number): Point => snapToGrid(level ? [s, to[1]] : [to[0], s]);
  if (high - low < 3 * INSET) return [at((low + high) / 2)];
  return a[along] < b[along] ? [at(low + INSET), at(high - INSET)] : [at(high - INSET), at(low + INSET)];
}

function isOn(point: Point, a: Point, b: Point): boolean {
  const within = (c: 0 | 1): boolean => point[c] >= Math.min(a[c], b[c]) && point[c] <= Math.max(a[c], b[c]);
  return within(0) && within(1);
}

function nearestStretch(path: Point[][], place: Point): [Point, Point] | null {
  let best: [Point, Point] | null = null;
  let least = Infinity;
  for (const line of path) {
    for (let k = 0; k + 1 < line.length; k++) {
      const [a, b] = [line[k]!, line[k + 1]!];
      const beyond = (c: 0 | 1): number => Math.max(Math.min(a[c], b[c]) - place[c], place[c] - Math.max(a[c], b[c]), 0);
      const distance = Math.hypot(beyond(0), beyond(1));
      if (distance < least) [best, least] = [[a, b], distance];
    }
  }
  return best;
}

/** Points from near to far, each the nearest one to the last. */
export function inOrder(points: Point[], from: Point): Point[] {
  const left = [...points];
  const order: Point[] = [];
  for (let at = from; left.length > 0; at = order[order.length - 1]!) {
    left.sort((a, b) => Math.hypot(a[0] - at[0], a[1] - at[1]) - Math.hypot(b[0] - at[0], b[1] - at[1]));
    order.push(left.shift()!);
  }
  return order;
}
