// The links on the canvas: lines, dots where they branch, arrow heads of information, names of nodes.

import type { SketchLink } from "../../messages";
import { draw } from "../../live/svg";
import { renew } from "../../ui/renew";
import type { CanvasModel } from "./canvas_model";
import { OUTWARD, type Point, type Room, type RoutedLines } from "./route_types";
import { linkName } from "./spoken_names";

interface DrawnWire {
  element: SVGGElement;
  key: string;
}

const LETTER = 5.6;

export class WireLayer {
  readonly element = draw("g", { class: "wires" });
  private readonly drawn = new Map<string, DrawnWire>();
  private readonly model: CanvasModel;

  constructor(model: CanvasModel) {
    this.model = model;
  }

  /** Draws what has changed since the last time. */
  update(chosen: string | null): void {
    for (const [name, { element }] of this.drawn) {
      if (this.model.links.has(name)) continue;
      element.remove();
      this.drawn.delete(name);
    }
    this.redraw(this.model.links.keys());
    this.mark(chosen);
  }

  redraw(names: Iterable<string>): void {
    for (const name of names) {
      const link = this.model.links.get(name);
      if (link === undefined) continue;
      const lines = this.model.lines.get(name) ?? { path: [], dots: [] };
      const key = JSON.stringify([link.kind, labelOf(link), link.ends, lines, link.waypoints]);
      const known = this.drawn.get(name);
      if (known?.key !== key) this.build(link, lines, key, known?.element);
    }
  }

  mark(chosen: string | null, lit: string | null = null): void {
    for (const [name, { element }] of this.drawn) {
      element.classList.toggle("selected", name === chosen);
      element.classList.toggle("lit", name === lit);
    }
  }

  /** Marks wires that a loose end may join. */
  markTargets(names: ReadonlySet<string> | null): void {
    for (const [name, { element }] of this.drawn) element.classList.toggle("fits", names?.has(name) ?? false);
  }

  find(name: string): SVGGElement | null {
    return this.drawn.get(name)?.element ?? null;
  }

  private build(link: SketchLink, lines: RoutedLines, key: string, old: SVGGElement | undefined): void {
    const element = old ?? draw("g", { "data-name": link.name, role: "button", tabindex: -1 });
    element.setAttribute("class", `wire link ${link.kind}${element.classList.contains("selected") ? " selected" : ""}`);
    element.setAttribute("aria-label", linkName(link));
    const d = lines.path.map((line) => `M${line.map(([x, y]) => `${x},${y}`).join("L")}`).join("");
    const parts: SVGElement[] = [draw("path", { class: "hit", d }), draw("path", { class: "line", d })];
    for (const [x, y] of lines.dots) parts.push(draw("circle", { class: "dot", cx: x, cy: y, r: link.kind === "vector" ? 4 : 3 }));
    for (const [x, y] of link.waypoints ?? []) parts.push(draw("rect", { class: "waypoint", x: x - 3, y: y - 3, width: 6, height: 6 }));
    if (link.kind === "information") parts.push(...this.heads(link));
    const words = labelOf(link);
    const label = words === "" ? null : labelPlace(lines.path, LETTER * words.length);
    if (label !== null) parts.push(draw("text", { class: "node", x: label[0], y: label[1] + 8.5, "font-size": 9 }, words));
    renew(element, [draw("title", {}, linkName(link)), ...parts]);
    if (old === undefined) this.element.append(element);
    this.drawn.set(link.name, { element, key });
  }

  private heads(link: SketchLink): SVGElement[] {
    return link.ends.flatMap((end) => {
      const port = this.model.port(end);
      const at = this.model.portAt(end);
      if (port === null || at === null || port.out) return [];
      const [dx, dy] = OUTWARD[port.side];
      const [ax, ay] = [at[0] + 8 * dx, at[1] + 8 * dy];
      return [draw("polygon", { class: "head", points: `${at[0]},${at[1]} ${ax + 3.6 * dy},${ay + 3.6 * dx} ${ax - 3.6 * dy},${ay - 3.6 * dx}` })];
    });
  }
}

/** Left and top of the name of a node: beside the middle of its longest stretch. */
/** The name of a node; in a subsystem that is open, with what it is connected to outside. */
function labelOf({ label, edge }: SketchLink): string {
  return edge ? `${label} → ${edge}` : label;
}

function labelPlace(path: Point[][], width: number): Point | null {
  let best: Room | null = null;
  let most = 0;
  for (const line of path) {
    for (let k = 0; k + 1 < line.length; k++) {
      const [a, b] = [line[k]!, line[k + 1]!];
      const length = Math.abs(b[0] - a[0]) + Math.abs(b[1] - a[1]);
      if (length > most) [best, most] = [[...a, ...b], length];
    }
  }
  if (best === null) return null;
  const [mx, my] = [(best[0] + best[2]) / 2, (best[1] + best[3]) / 2];
  return best[1] === best[3] ? [mx - width / 2, my - 13] : [mx + 4, my - 5];
}
