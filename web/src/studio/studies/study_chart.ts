// What all charts of a study have in common: a frame with scales, a cursor that pointer and keys move, and words for it.

import { draw, roundTicks, scaleOf } from "../../live/svg";
import { make, write } from "../../ui/elements";
import { formatNumber, prettyUnit } from "../../ui/numbers";

export interface ChartActions {
  /** A run was chosen by a click or a key. */
  choose(run: number): void;
  /** What the cursor is at. */
  words(run: number): string;
}

export interface Span {
  low: number;
  high: number;
  label: string;
  unit: string;
}

export const BOX = { width: 400, height: 290, left: 60, right: 12, top: 10, bottom: 44 };

export abstract class StudyChart {
  readonly element: HTMLElement;
  protected readonly svg = draw("svg", { viewBox: `0 0 ${BOX.width} ${BOX.height}`, "aria-hidden": "true", focusable: "false" });
  protected readonly actions: ChartActions;
  private readonly said = make("output", { class: "chart-words", "aria-live": "polite" });
  protected run = -1;

  constructor(label: string, actions: ChartActions) {
    this.actions = actions;
    const field = make("div", { class: "chart-field", tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": `${label}. Arrow keys move from run to run, Enter chooses one.` });
    field.append(this.svg);
    this.element = make("div", { class: "study-chart" }, field, this.said);
    field.addEventListener("pointermove", (event) => this.point(event, false));
    field.addEventListener("click", (event) => this.point(event, true));
    field.addEventListener("keydown", (event) => this.key(event));
    field.addEventListener("focus", () => this.run < 0 && this.moveTo(this.firstRun()));
  }

  /** The run that is nearest to a place of the drawing; -1 if there is none. */
  protected abstract runNear(x: number, y: number): number;
  /** The run that a key leads to. */
  protected abstract runBeside(run: number, dx: number, dy: number): number;
  protected abstract firstRun(): number;
  /** Where a run is drawn; null if it is not. */
  protected abstract placeOf(run: number): { x: number; y: number; width?: number; height?: number } | null;

  /** Moves the cursor to a run, which may have been chosen elsewhere. */
  moveTo(run: number): void {
    this.run = run;
    this.drawCursor();
    write(this.said, run < 0 ? "" : this.actions.words(run));
  }

  protected drawCursor(): void {
    this.svg.querySelector(".chart-cursor")?.remove();
    const place = this.run < 0 ? null : this.placeOf(this.run);
    if (place === null) return;
    const { x, y, width = 12, height = 12 } = place;
    this.svg.append(draw("g", { class: "chart-cursor" }, draw("rect", { x: x - width / 2 - 1, y: y - height / 2 - 1, width: width + 2, height: height + 2, rx: 2 })));
  }

  private point(event: MouseEvent, choose: boolean): void {
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    const scale = Math.min(width / BOX.width, height / BOX.height);
    const run = this.runNear((event.clientX - left - (width - scale * BOX.width) / 2) / scale, (event.clientY - top - (height - scale * BOX.height) / 2) / scale);
    if (run < 0) return;
    if (run !== this.run) this.moveTo(run);
    if (choose) this.actions.choose(run);
  }

  private key(event: KeyboardEvent): void {
    const step = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], Home: [-Infinity, 0], End: [Infinity, 0] } as Record<string, [number, number]>)[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.moveTo(this.run < 0 ? this.firstRun() : this.runBeside(this.run, ...step));
    } else if ((event.key === "Enter" || event.key === " ") && this.run >= 0) {
      event.preventDefault();
      this.actions.choose(this.run);
    }
  }
}

/** The frame: lines and numbers of both scales, and what they are of. */
export function drawFrame(x: Span, y: Span, ticks: { x?: number[]; y?: number[] } = {}, right = BOX.width - BOX.right): { frame: SVGGElement; toX(value: number): number; toY(value: number): number } {
  const toX = scaleOf(x.low, x.high, BOX.left, right);
  const toY = scaleOf(y.low, y.high, BOX.height - BOX.bottom, BOX.top);
  const frame = draw("g", { class: "chart-frame" });
  for (const tick of ticks.x ?? roundTicks(x.low, x.high, 5)) frame.append(draw("line", { x1: toX(tick), x2: toX(tick), y1: BOX.height - BOX.bottom, y2: BOX.height - BOX.bottom + 4 }), draw("text", { x: toX(tick), y: BOX.height - BOX.bottom + 17, "text-anchor": "middle" }, formatNumber(tick)));
  for (const tick of ticks.y ?? roundTicks(y.low, y.high, 5)) frame.append(draw("line", { x1: BOX.left - 4, x2: BOX.left, y1: toY(tick), y2: toY(tick) }), draw("text", { x: BOX.left - 7, y: toY(tick) + 4, "text-anchor": "end" }, formatNumber(tick)));
  frame.append(draw("path", { d: `M${BOX.left} ${BOX.top}V${BOX.height - BOX.bottom}H${right}`, class: "axis-line" }));
  frame.append(draw("text", { class: "axis-name", x: (BOX.left + right) / 2, y: BOX.height - 6, "text-anchor": "middle" }, nameOf(x)));
  frame.append(draw("text", { class: "axis-name", transform: `translate(13 ${(BOX.top + BOX.height - BOX.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, nameOf(y)));
  return { frame, toX, toY };
}

function nameOf({ label, unit }: Span): string {
  return unit === "" || unit === "1" ? label : `${label} [${prettyUnit(unit)}]`;
}

/** A range with some room around it. */
export function widen(low: number, high: number, share = 0.05): [number, number] {
  const room = high > low ? share * (high - low) : Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

/** A small cross: a run that failed. */
export function crossPath(x: number, y: number, size = 3.5): string {
  return `M${(x - size).toFixed(1)} ${(y - size).toFixed(1)}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`;
}
