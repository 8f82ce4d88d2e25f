// Who loads a joint: the static part as one band, the kinetic part by body or by cause, stacked over time.

import type { CausesData, JointData } from "../data/run_document";
import type { PlayerContext } from "../panel";
import { sampleAt } from "../plots/decimate";
import { PlotView } from "../plots/plot_view";
import type { LoadKind } from "../plots/quantities";
import type { TimeWindow } from "../plots/time_window";
import { suitableUnit, unitWords, type ShownUnit } from "../plots/unit_choice";
import { make } from "../ui/elements";
import { lineColor, MUTED } from "../ui/line_colors";
import { formatNumber } from "../ui/numbers";
import { buildStack, rankContributors, type Stack } from "./causes_stack";
import type { JointSection } from "./joint_section";
import { largest } from "./joint_table";

const SI = { force: "N", moment: "N*m" } as const;
const HEIGHT = 180;

/** What the stage is told: arrows of the contributors in the colors of the bands. Without names the arrows end. */
export interface CausesShown {
  joint: string;
  by: string;
  names: string[];
  colors: string[];
  array: string; // contributors, 6, times in world axes
  staticColor: string;
}

export class CausesView implements JointSection {
  readonly element = make("section", { class: "causes" });
  private readonly context: PlayerContext;
  private readonly view: PlotView;
  private readonly tools = make("div", { class: "plot-head" });
  private readonly note = make("p", { class: "muted" });
  private readonly legend = make("ul", { class: "causes-legend" });
  private cells: { share: HTMLElement; value: HTMLElement }[] = [];
  private by: CausesData["by"] = "body";
  private kind: LoadKind = "force";
  private stack: Stack | null = null;
  private unit: ShownUnit = { unit: "N", factor: 1 };
  private structure = "";
  private toolKey = "";
  private told = "";
  private ranks: { key: string; values: number[] } = { key: "", values: [] };

  constructor(context: PlayerContext, window: TimeWindow) {
    this.context = context;
    this.view = new PlotView(context, window);
    this.view.setHeight(HEIGHT);
    this.element.append(make("h3", {}, "Who loads it"), this.tools, this.view.element, this.legend, this.note);
  }

  show(joint: JointData): void {
    const causes = this.find(joint);
    const ranks = causes === null ? [] : this.rank(causes);
    this.stack = buildStack(this.context.main, joint, causes, ranks, this.kind);
    this.element.hidden = this.stack === null;
    this.tell(causes, ranks);
    if (this.stack === null) return;
    this.buildTools(joint);
    this.unit = suitableUnit(SI[this.kind], largest(this.stack.size).value);
    const structure = [joint.name, this.kind, this.context.theme, ...this.stack.bands.map((band) => band.name), this.unit.unit].join("\n");
    if (structure !== this.structure) {
      this.structure = structure;
      this.buildLegend(causes);
    }
    const t = this.context.main.t;
    const { factor } = this.unit;
    const ink = this.context.theme === "dark" ? "#e6ebf0" : "#1d2733";
    this.view.setContent({
      lines: [{ key: "sum", scale: this.kind, color: ink, dash: [], width: 1.7, t, y: this.stack.size, factor }],
      bands: this.stack.bands.map((band) => ({ color: this.color(band.rank), hatched: band.rank === -1, t, low: band.low, high: band.high, factor })),
      marks: this.context.main.header.events.map((event) => event.time),
    });
    this.view.describe(`Contributions to the ${this.kind} of ${joint.name}, stacked over time: ${this.stack.bands.map((band) => band.name).join(", ")}`);
    this.showTime();
  }

  showTime(): void {
    if (this.stack === null || this.element.hidden) return;
    const { clock, main } = this.context;
    const sum = sampleAt(main.t, this.stack.size, clock.t);
    this.stack.bands.forEach((band, k) => {
      const cell = this.cells[k];
      if (cell === undefined) return;
      const value = sampleAt(main.t, band.along, clock.t);
      const share = sum > 0 ? `${((100 * value) / sum).toFixed(0).replace("-", "−")} %` : "–";
      const text = formatNumber(value * this.unit.factor, 4);
      if (cell.share.textContent !== share) cell.share.textContent = share;
      if (cell.value.textContent !== text) cell.value.textContent = text;
    });
    const total = this.cells[this.stack.bands.length];
    if (total !== undefined) total.value.textContent = formatNumber(sum * this.unit.factor, 4);
  }

  themeChanged(): void {
    this.view.themeChanged();
  }

  resized(): void {
    this.view.resized();
  }

  /** The arrows of the contributors end. */
  hide(): void {
    this.tell(null, []);
  }

  destroy(): void {
    this.hide();
    this.view.destroy();
  }

  private find(joint: JointData): CausesData | null {
    const all = this.context.main.header.causes.filter((each) => each.joint === joint.name);
    return all.find((each) => each.by === this.by) ?? all[0] ?? null;
  }

  /** Colors stay while a number is dragged: ranks are found anew only for another joint or breakdown. */
  private rank(causes: CausesData): number[] {
    const key = [causes.joint, causes.by, ...causes.names].join("\n");
    if (key !== this.ranks.key) this.ranks = { key, values: rankContributors(this.context.main, causes) };
    return this.ranks.values;
  }

  private color(rank: number): string {
    if (rank < -1) return MUTED[this.context.theme];
    if (rank === -1) return getComputedStyle(this.context.root).getPropertyValue("--static").trim() || "#0f766e";
    return lineColor(rank, this.context.theme);
  }

  private buildTools(joint: JointData): void {
    const offered = this.context.main.header.causes.filter((each) => each.joint === joint.name).map((each) => each.by);
    const shown = this.find(joint)?.by ?? "";
    const key = [offered.join(), shown, this.kind].join(" ");
    if (key === this.toolKey) return;
    this.toolKey = key;
    const pick = (text: string, pressed: boolean, act: () => void): HTMLElement => {
      const element = make("button", { type: "button", class: "tool", "aria-pressed": String(pressed) }, text);
      element.addEventListener("click", () => {
        act();
        this.show(joint);
      });
      return element;
    };
    const kinds = (["force", "moment"] as const).map((kind) => pick(kind, kind === this.kind, () => (this.kind = kind)));
    const ways = offered.length > 1 ? offered.map((by) => pick(`by ${by}`, by === shown, () => (this.by = by))) : [];
    this.tools.replaceChildren(make("span", { class: "choices", role: "group", "aria-label": "Quantity" }, ...kinds),
      make("span", { class: "choices", role: "group", "aria-label": "Contributors" }, ...ways));
  }

  private buildLegend(causes: CausesData | null): void {
    const item = (name: string, color: string, hatched: boolean, share: boolean): HTMLElement => {
      const cell = { share: make("output", { class: "value", "aria-live": "off" }), value: make("output", { class: "value", "aria-live": "off" }) };
      this.cells.push(cell);
      const key = make("span", { class: hatched ? "patch hatched" : share ? "patch" : "patch line", "aria-hidden": "true" });
      key.style.setProperty("--patch", color);
      return make("li", {}, key, make("span", { class: "name", title: name }, name), cell.share, cell.value, make("span", { class: "muted" }, unitWords(this.unit.unit)));
    };
    this.cells = [];
    const stack = this.stack!;
    const ink = this.context.theme === "dark" ? "#e6ebf0" : "#1d2733";
    this.legend.replaceChildren(...stack.bands.map((band) => item(band.name, this.color(band.rank), band.rank === -1, true)),
      item(stack.whole ? "magnitude of the load" : "magnitude of the kinetic part", ink, false, false));
    const rule = "Each band is the component along the load; what relieves the joint is below zero.";
    const missing = causes === null ? " Which body makes the kinetic part is not in this file." : "";
    this.note.textContent = rule + missing;
  }

  private tell(causes: CausesData | null, ranks: number[]): void {
    const detail: CausesShown = causes === null
      ? { joint: "", by: "", names: [], colors: [], array: "", staticColor: "" }
      : { joint: causes.joint, by: causes.by, names: causes.names, array: causes.array, colors: ranks.map((rank) => this.color(rank)), staticColor: this.color(-1) };
    const text = JSON.stringify(detail);
    if (text === this.told || (causes === null && this.told === "")) return;
    this.told = text;
    this.context.root.dispatchEvent(new CustomEvent<CausesShown>("kinode-causes", { detail }));
  }
}
