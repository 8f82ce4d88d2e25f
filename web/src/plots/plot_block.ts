// One plot of the panel with its unit choices and its legend, whose values follow the clock.

import type { PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { iconButton } from "../ui/icons";
import { lineColor, lineDash, MUTED } from "../ui/line_colors";
import { formatNumber } from "../ui/numbers";
import { sampleAt } from "./decimate";
import { waysToShow, type Choice, type LineOf } from "./plot_choice";
import { PlotView, type PlotLine } from "./plot_view";
import type { TimeWindow } from "./time_window";
import { unitsOf, unitWords, type ShownUnit, type UnitChoices } from "./unit_choice";

const ROUNDING = 1e-10; // of the largest value on an axis: less than that is rounding

/** A line as it is drawn: one curve for each run that has it. */
export interface ShownLine extends LineOf {
  key: string;
  unit: ShownUnit;
  peak: number; // of the lines of its axis, SI
  curves: ({ t: Float64Array; y: Float32Array } | null)[];
}

export interface BlockActions {
  remove(choice: Choice): void;
  change(choice: Choice, show: string): void;
  move(choice: Choice, plot: number): void;
  plots(): number[];
}

export class PlotBlock {
  readonly element = make("section", { class: "plot-block" });
  readonly view: PlotView;
  lines: ShownLine[] = [];
  private readonly context: PlayerContext;
  private readonly units: UnitChoices;
  private readonly actions: BlockActions;
  private readonly unitRow = make("div", { class: "plot-units" });
  private readonly legend = make("ul", { class: "plot-legend" });
  private readonly values: { cells: HTMLElement[]; line: ShownLine }[] = [];
  private structure = "";

  constructor(context: PlayerContext, window: TimeWindow, units: UnitChoices, actions: BlockActions) {
    this.context = context;
    this.units = units;
    this.actions = actions;
    this.view = new PlotView(context, window);
    this.element.append(this.unitRow, this.view.element, this.legend);
  }

  setLines(lines: ShownLine[], structure: string): void {
    this.lines = lines;
    if (structure !== this.structure) {
      this.structure = structure;
      this.build();
    }
    lines.forEach((line, k) => (this.values[k]!.line = line));
    const events = this.context.main.header.events.map((event) => event.time);
    this.view.setContent({ lines: this.curves(), bands: [], marks: events });
    this.view.describe(`Plot of ${lines.map((line) => line.label).join(", ")} over time`);
    this.showValues();
  }

  /** Values at the clock: the main run, then those compared with it. */
  showValues(): void {
    const time = this.context.clock.t;
    for (const { cells, line } of this.values) {
      line.curves.forEach((curve, run) => {
        const cell = cells[run];
        if (cell === undefined) return;
        const value = curve === null ? NaN : sampleAt(curve.t, curve.y, time);
        const text = formatNumber(Math.abs(value) < ROUNDING * line.peak ? 0 : value * line.unit.factor, 5);
        if (cell.textContent !== text) cell.textContent = text;
      });
    }
  }

  color(index: number): string {
    return lineColor(index, this.context.theme);
  }

  destroy(): void {
    this.view.destroy();
    this.element.remove();
  }

  private curves(): PlotLine[] {
    const runs = this.context.runs.length;
    const curves: PlotLine[] = [];
    for (let run = runs - 1; run >= 0; run--) {
      this.lines.forEach((line, k) => {
        const curve = line.curves[run];
        if (curve === null || curve === undefined) return;
        curves.push({
          key: run === 0 ? line.key : "", scale: line.si, factor: line.unit.factor, ...curve,
          color: run === 0 ? this.color(k) : MUTED[this.context.theme],
          dash: run === 0 ? lineDash(k) : lineDash(6 * (k + run - 1)), width: run === 0 ? 1.6 : 1.2,
        });
      });
    }
    return curves;
  }

  private build(): void {
    const scales = [...new Set(this.lines.map((line) => line.si))];
    this.unitRow.replaceChildren(...scales.map((si) => this.unitChoice(si)));
    this.values.length = 0;
    let before: Choice | null = null;
    this.legend.replaceChildren(...this.lines.map((line, k) => {
      const first = line.choice !== before;
      before = line.choice;
      return this.legendItem(line, k, first);
    }));
  }

  private unitChoice(si: string): HTMLElement {
    const shown = this.lines.find((line) => line.si === si)!.unit.unit;
    const units = unitsOf(si);
    if (units.length === 1) return make("span", { class: "muted" }, unitWords(shown));
    const select = make("select", { "aria-label": `Unit of ${unitWords(si)}`, title: "Unit of this axis" },
      ...units.map(({ unit }) => make("option", { value: unit, ...(unit === shown ? { selected: "" } : {}) }, unitWords(unit))));
    select.addEventListener("change", () => this.units.choose(si, select.value));
    return select;
  }

  private legendItem(line: ShownLine, k: number, first: boolean): HTMLElement {
    const cells = line.curves.map((_, run) => make("output", {
      class: run === 0 ? "value" : "value pinned", title: this.context.runs[run]?.label ?? "",
      "aria-label": `${line.label}, ${this.context.runs[run]?.label ?? ""}`, "aria-live": "off",
    }));
    this.values.push({ cells, line });
    const item = make("li", { title: line.quantity.words }, swatch(this.color(k), lineDash(k)),
      make("span", { class: "name" }, line.label), ...cells, make("span", { class: "unit muted" }, unitWords(line.unit.unit)));
    const highlight = (key: string) => (): void => this.view.highlight(key);
    item.addEventListener("pointerenter", highlight(line.key));
    item.addEventListener("pointerleave", highlight(""));
    item.addEventListener("focusin", highlight(line.key));
    item.addEventListener("focusout", highlight(""));
    item.append(first ? this.itemTools(line) : make("span"));
    return item;
  }

  private itemTools(line: ShownLine): HTMLElement {
    const tools = make("span", { class: "tools" });
    const ways = waysToShow(line.quantity);
    if (ways.length > 0) {
      const select = make("select", { "aria-label": `Show of ${line.choice.name}` },
        ...ways.map(([value, words]) => make("option", { value, ...(value === line.choice.show ? { selected: "" } : {}) }, words)));
      select.addEventListener("change", () => this.actions.change(line.choice, select.value));
      tools.append(select);
    }
    const numbers = this.actions.plots();
    const options = [...numbers.map((plot, k): [number, string] => [plot, `${k + 1}`]), [Math.max(...numbers) + 1, "new"] as [number, string]];
    if (numbers.length > 1 || this.lines.length > 1) {
      const select = make("select", { class: "move", "aria-label": `Number of the plot of ${line.choice.name}`, title: "Plot: move to another" },
        ...options.map(([plot, words]) => make("option", { value: String(plot), ...(plot === line.choice.plot ? { selected: "" } : {}) }, words)));
      select.addEventListener("change", () => this.actions.move(line.choice, Number(select.value)));
      tools.append(select);
    }
    tools.append(iconButton("close", `Remove ${line.choice.name}`, () => this.actions.remove(line.choice)));
    return tools;
  }
}

/** A piece of the line, as a key to its color and dashes. */
export function swatch(color: string, dash: number[]): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of [["width", "22"], ["height", "10"], ["aria-hidden", "true"], ["class", "swatch"]] as const) svg.setAttribute(key, value);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  for (const [key, value] of [["x1", "1"], ["x2", "21"], ["y1", "5"], ["y2", "5"], ["stroke", color], ["stroke-width", "2.4"], ["stroke-dasharray", dash.join(" ")]] as const)
    line.setAttribute(key, value);
  svg.append(line);
  return svg;
}
