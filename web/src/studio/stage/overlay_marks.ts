// Marks over the 3D picture: loops that stay open, joints with redundant constraints, places that were picked.

import type { GapData } from "../../messages";
import { draw } from "../../live/svg";
import { withPrefix } from "../../ui/numbers";
import type { Vec3 } from "../../data/run_document";
import { type RowChange, SIGNS } from "../comparison/compare_types";
import type { PickedPlace } from "./place_types";
import type { StillStage } from "./still_stage";

/** A sign at a point of the world: how something differs from another model. */
export interface SignedPoint {
  name: string;
  sign: string;
  change: string;
  point: Vec3;
}

export class OverlayMarks {
  readonly element = draw("svg", { class: "overlay-marks", "aria-hidden": "true" });
  private gaps: readonly GapData[] = [];
  private picked: readonly PickedPlace[] = [];
  private badges: Record<string, string> = {};
  private changes: ReadonlyMap<string, RowChange> = new Map();
  private gone: readonly SignedPoint[] = [];
  private readonly stage: StillStage;

  constructor(stage: StillStage) {
    this.stage = stage;
  }

  setGaps(gaps: readonly GapData[]): void {
    this.gaps = gaps;
  }

  setPicked(picked: readonly PickedPlace[]): void {
    this.picked = picked;
  }

  setBadges(badges: Record<string, string>): void {
    this.badges = badges;
  }

  /** Parts that differ from another model, by name, and those that only the other one has. */
  setCompared(changes: ReadonlyMap<string, RowChange>, gone: readonly SignedPoint[]): void {
    this.changes = changes;
    this.gone = gone;
  }

  /** Where the parts that differ are now: bodies at their mass centers, joints at their points. */
  private signed(): SignedPoint[] {
    const { view, header } = this.stage;
    const points = [...this.gone];
    for (const [name, change] of this.changes) {
      const row = header?.bodies.findIndex((body) => body.name === name) ?? -1;
      const point = row >= 0 ? this.stage.pointOf(row, header!.bodies[row]!.com) : (view?.drawing.jointPoint(name) ?? null);
      if (point !== null && change !== "removed") points.push({ name, sign: SIGNS[change], change, point });
    }
    return points;
  }

  reposition(): void {
    const { view } = this.stage;
    if (view === null) return this.element.replaceChildren();
    const parts: SVGElement[] = [];
    for (const gap of this.gaps) {
      const [a, b] = [view.projectPoint(gap.a), view.projectPoint(gap.b)];
      const line = draw("line", { class: "gap", x1: a.x, y1: a.y, x2: b.x, y2: b.y });
      const words = draw("text", { class: "gap", x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 - 6 }, `${gap.joint} open ${withPrefix(gap.length, "m")}`);
      parts.push(line, draw("circle", { class: "gap", cx: a.x, cy: a.y, r: 4 }), draw("circle", { class: "gap", cx: b.x, cy: b.y, r: 4 }), words);
    }
    for (const [name, words] of Object.entries(this.badges)) {
      const point = view.drawing.jointPoint(name);
      if (point === null) continue;
      const { x, y } = view.projectPoint(point);
      parts.push(draw("g", { class: "redundant", transform: `translate(${(x + 12).toFixed(1)} ${(y + 12).toFixed(1)})` }, draw("title", {}, `${name}: ${words}`),
        draw("circle", { r: 8 }), draw("text", { y: 4 }, "R")));
    }
    for (const place of this.picked) {
      const { x, y } = view.projectPoint(place.point);
      parts.push(draw("circle", { class: "picked", cx: x, cy: y, r: 8 }), draw("circle", { class: "picked-dot", cx: x, cy: y, r: 2 }));
    }
    for (const { name, sign, change, point } of this.signed()) {
      const { x, y } = view.projectPoint(point);
      parts.push(draw("g", { class: `compared ${change}`, "data-name": name, transform: `translate(${x.toFixed(1)} ${(y - 14).toFixed(1)})` }, draw("title", {}, `${name}: ${change}`), draw("circle", { r: 8 }), draw("text", { class: "sign", y: 4 }, sign), draw("text", { class: "name", x: 12, y: 4 }, name)));
    }
    this.element.replaceChildren(...parts);
  }
}
