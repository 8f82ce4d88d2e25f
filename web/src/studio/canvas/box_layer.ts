// The components on the canvas: symbol, name, value, base and ground, ports as handles, badges of problems.

import type { Problem, SketchBox, SketchPort } from "../../messages";
import { draw } from "../../live/svg";
import { write } from "../../ui/elements";
import { renew } from "../../ui/renew";
import { type RowChange, SIGNS } from "../comparison/compare_types";
import { placeWords } from "./box_words";
import type { CanvasModel } from "./canvas_model";
import { OUTWARD, STUB } from "./route_types";
import { edgeMark } from "../subsystems/edge_mark";
import { boxName, portName } from "./spoken_names";

interface DrawnBox {
  element: SVGGElement;
  key: string; // what it was drawn from
  at: string;
}

export interface BoxMarks {
  problems: readonly Problem[];
  chosen: ReadonlySet<string>;
}

export class BoxLayer {
  readonly element = draw("g", { class: "boxes" });
  /** How parts differ from another model, by their components. */
  compared: ReadonlyMap<string, RowChange> = new Map();
  private readonly drawn = new Map<string, DrawnBox>();
  private readonly model: CanvasModel;

  constructor(model: CanvasModel) {
    this.model = model;
  }

  /** Draws what has changed since the last time. */
  update(marks: BoxMarks): void {
    for (const [name, { element }] of this.drawn) {
      if (this.model.boxes.has(name)) continue;
      element.remove();
      this.drawn.delete(name);
    }
    const problems = new Map<string, Problem[]>();
    for (const problem of marks.problems) {
      const name = problem.component ?? "";
      problems.set(name, [...(problems.get(name) ?? []), problem]);
    }
    for (const box of this.model.boxes.values()) {
      const own = [...(problems.get(box.name) ?? [])];
      const { at, ports, pinned: _, ...look } = box;
      const relative = ports.map((port) => ({ ...port, at: [port.at[0] - at[0], port.at[1] - at[1]] }));
      const key = JSON.stringify([look, relative, own.map((problem) => [problem.message, problem.port, problem.severity]), this.compared.get(box.owner)]);
      const known = this.drawn.get(box.name);
      if (known?.key !== key) this.build(box, own, key, known?.element);
    }
    this.place(this.model.boxes.keys());
    this.mark(marks.chosen);
  }

  /** Puts boxes where the model has them. */
  place(names: Iterable<string>): void {
    for (const name of names) {
      const drawn = this.drawn.get(name);
      if (drawn === undefined) continue;
      const [x, y] = this.model.at(name);
      const at = `translate(${x} ${y})`;
      if (drawn.at !== at) drawn.element.setAttribute("transform", at);
      drawn.at = at;
    }
  }

  mark(chosen: ReadonlySet<string>): void {
    for (const [name, { element }] of this.drawn) {
      element.classList.toggle("selected", chosen.has(name));
      write(element, null, { "aria-label": boxName(this.model.boxes.get(name)!, chosen.has(name)) });
    }
  }

  /** The only box that Tab reaches. */
  setTabStop(name: string | null): void {
    for (const [each, { element }] of this.drawn) write(element, null, { tabindex: each === name ? "0" : "-1" });
  }

  light(names: readonly string[]): void {
    for (const [each, { element }] of this.drawn) element.classList.toggle("lit", names.includes(each));
  }

  find(name: string): SVGGElement | null {
    return this.drawn.get(name)?.element ?? null;
  }

  /** Marks ports: those that fit, those that do not; null takes all marks away. */
  markPorts(reasons: ReadonlyMap<string, string> | null, from = ""): void {
    for (const [name, { element }] of this.drawn) {
      for (const port of element.querySelectorAll<SVGGElement>("g.port")) {
        const key = `${name}:${port.dataset["port"]}`;
        const why = reasons?.get(key);
        port.classList.toggle("fits", reasons !== null && why === "");
        port.classList.toggle("refused", reasons !== null && why !== undefined && why !== "");
        port.classList.toggle("source", reasons !== null && key === from);
      }
    }
  }

  // -- one box ----------------------------------------------------------------------------------------
  private build(box: SketchBox, problems: Problem[], key: string, old: SVGGElement | undefined): void {
    const element = old ?? draw("g", { "data-name": box.name, role: "group", tabindex: -1 });
    element.setAttribute("class", `part component ${box.role}${box.broken === null ? "" : " broken"}`);
    element.setAttribute("data-kind", box.kind);
    const [width, height] = box.size;
    const room = draw("rect", { class: "room", x: -width / 2 - 2, y: -height / 2 - 2, width: width + 4, height: height + 4 });
    const symbol = draw("g", { class: "symbol" });
    symbol.innerHTML = box.svg;
    const rooms = placeWords(box).map(({ room: [left, top, right, bottom] }) => draw("rect", { class: "words-room", x: left, y: top, width: right - left, height: bottom - top }));
    const words = placeWords(box).map(({ text, role, room: [left, top, , bottom] }) =>
      draw("text", { class: role, x: left, y: (top + bottom) / 2 + 3.6, "font-size": role === "label" ? 10.5 : 9 }, text.trim()));
    const references = box.ports.filter((port) => port.reference !== "").map((port) => reference(box, port));
    const glow = draw("rect", { class: "glow", x: -width / 2 - 5, y: -height / 2 - 5, width: width + 10, height: height + 10, rx: 5 });
    const ports = box.ports.map((port) => handle(box, port, problems.filter((problem) => problem.port === port.name)));
    const edges = box.ports.filter((port) => (port.edge ?? "") !== "").map((port) => edgeMark(box, port));
    renew(element, [room, ...rooms, ...references, ...edges, symbol, ...words, glow, ...ports, ...badge(box, problems), ...compareMark(box, this.compared.get(box.owner))]);
    if (old === undefined) this.element.append(element);
    this.drawn.set(box.name, { element, key, at: old?.getAttribute("transform") ?? "" });
  }
}

/** A port as something to grab: a small mark with a large room. */
function handle(box: SketchBox, port: SketchPort, problems: Problem[]): SVGGElement {
  const [x, y] = [port.at[0] - box.at[0], port.at[1] - box.at[1]];
  const classes = `port ${port.kind}${port.open ? " open" : ""}${problems.length > 0 ? " bad" : ""}`;
  const words = portName(box, port);
  const title = [words, ...problems.map((problem) => problem.message)].join("\n");
  const [dx, dy] = OUTWARD[port.side];
  return draw("g", { class: classes, "data-port": port.name, role: "button", tabindex: -1, "aria-label": words, transform: `translate(${x} ${y})` },
    draw("title", {}, title), draw("circle", { class: "grab", cx: 3 * dx, cy: 3 * dy, r: 10 }), draw("circle", { class: "knob", r: 4 }));
}

/** The base or the ground at a port. */
function reference(box: SketchBox, port: SketchPort): SVGGElement {
  const [x, y] = [port.at[0] - box.at[0], port.at[1] - box.at[1]];
  const [dx, dy] = OUTWARD[port.side];
  const [ex, ey] = [x + dx * STUB, y + dy * STUB];
  const lead = draw("path", { d: `M${x},${y}L${ex},${ey}`, "stroke-width": port.kind === "vector" ? 3.6 : 1.4 });
  if (port.reference !== "world" && port.reference !== "base") {
    const bars = `M${ex},${ey}v${dx === 0 ? 0 : 6}m-7,0h14m-11,3.5h8m-5.5,3.5h3`;
    return draw("g", { class: "gnd" }, draw("title", {}, port.reference), lead, draw("path", { d: bars }));
  }
  const [tx, ty] = dx === 0 ? [1, 0] : [0, 1];
  let plate = `M${ex - 10 * tx},${ey - 10 * ty}L${ex + 10 * tx},${ey + 10 * ty}`;
  for (const k of [-8, -2, 4]) plate += `M${ex + k * tx},${ey + k * ty}l${6 * dx + 4 * tx},${6 * dy + 4 * ty}`;
  return draw("g", { class: "base" }, draw("title", {}, port.reference), lead, draw("path", { d: plate }));
}

/** A sign with what is wrong. */
function badge(box: SketchBox, problems: Problem[]): SVGGElement[] {
  const words = [...(box.broken === null || problems.length > 0 ? [] : [box.broken]), ...problems.map((problem) => problem.message)];
  if (words.length === 0) return [];
  const bad = box.broken !== null || problems.some((problem) => problem.severity === "error");
  const [x, y] = [box.size[0] / 2, -box.size[1] / 2];
  return [draw("g", { class: `badge ${bad ? "error" : "warning"}`, transform: `translate(${x} ${y})`, role: "img", "aria-label": words.join(" ") },
    draw("title", {}, words.join("\n")), draw("circle", { r: 8 }), draw("text", { y: 4, "text-anchor": "middle", "font-size": 11 }, words.length > 1 ? String(words.length) : "!"))];
}

/** A frame and a sign of a part that differs from another model. */
function compareMark(box: SketchBox, change: RowChange | undefined): SVGGElement[] {
  if (change === undefined) return [];
  const [width, height] = box.size;
  return [draw("g", { class: `compare-mark ${change}`, role: "img", "aria-label": change }, draw("title", {}, change),
    draw("rect", { class: `compare-room ${change}`, x: -width / 2 - 3, y: -height / 2 - 3, width: width + 6, height: height + 6, rx: 5 }),
    draw("circle", { cx: -width / 2 - 5, cy: -height / 2 - 5, r: 8 }), draw("text", { x: -width / 2 - 5, y: -height / 2 - 1, "text-anchor": "middle", "font-size": 12 }, SIGNS[change]))];
}
