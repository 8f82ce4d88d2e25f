// The load of a joint over time: components in its axes and magnitude, force and moment.

import type { JointData } from "../data/run_document";
import type { PlayerContext } from "../panel";
import { sampleAt } from "../plots/decimate";
import { swatch } from "../plots/plot_block";
import { PlotView, type PlotLine } from "../plots/plot_view";
import { jointLoad, jointLoadSize, loadName, type LoadKind } from "../plots/quantities";
import type { TimeWindow } from "../plots/time_window";
import { suitableUnit, unitWords, type ShownUnit } from "../plots/unit_choice";
import { make } from "../ui/elements";
import { lineColor, MUTED } from "../ui/line_colors";
import { formatNumber } from "../ui/numbers";
import type { JointSection } from "./joint_section";
import { largest, tidy } from "./joint_table";

const SI = { force: "N", moment: "N*m" } as const;
const HEIGHT = 140;

interface LoadPlot {
  kind: LoadKind;
  view: PlotView;
  title: HTMLElement;
  cells: HTMLElement[];
  rows: Float32Array[];
  unit: ShownUnit;
  peak: number;
}

export class LoadPlots implements JointSection {
  readonly element = make("section", { class: "load-plots" }, make("h3", {}, "Over time"));
  private readonly context: PlayerContext;
  private readonly plots: LoadPlot[];
  private joint: JointData | null = null;

  constructor(context: PlayerContext, window: TimeWindow) {
    this.context = context;
    this.plots = (["force", "moment"] as const).map((kind) => this.makePlot(kind, window));
  }

  show(joint: JointData): void {
    this.joint = joint;
    const part = this.context.loadPart;
    for (const plot of this.plots) {
      const { main, runs, theme } = this.context;
      const size = jointLoadSize(main, joint, plot.kind, part);
      plot.rows = [...jointLoad(main, joint, plot.kind, part), size];
      plot.peak = largest(size).value;
      plot.unit = suitableUnit(SI[plot.kind], plot.peak);
      const title = `${part} ${plot.kind}, ${unitWords(plot.unit.unit)}`;
      if (plot.title.textContent !== title) plot.title.textContent = title;
      const base = { scale: plot.kind, dash: [], factor: plot.unit.factor };
      const lines: PlotLine[] = runs.slice(1).flatMap((run) => {
        const same = run.document.header.joints.find((each) => each.name === joint.name);
        if (same === undefined || same.load < 0) return [];
        return [{ ...base, key: "", color: MUTED[theme], width: 1.4, t: run.document.t, y: jointLoadSize(run.document, same, plot.kind, part) }];
      });
      plot.rows.forEach((y, k) => lines.push({ ...base, key: String(k), color: this.color(k), width: k === 3 ? 2 : 1.2, t: main.t, y }));
      const marks = main.header.events.map((event) => event.time);
      plot.view.setContent({ lines, bands: [], marks });
      plot.view.describe(`${part} ${plot.kind} of ${joint.name} over time: components and magnitude`);
    }
    this.showTime();
  }

  showTime(): void {
    const { clock, main } = this.context;
    for (const plot of this.plots) plot.rows.forEach((row, k) => {
      const text = formatNumber(tidy(sampleAt(main.t, row, clock.t), plot.peak) * plot.unit.factor, 4);
      if (plot.cells[k]!.textContent !== text) plot.cells[k]!.textContent = text;
    });
  }

  themeChanged(): void {
    for (const plot of this.plots) plot.view.themeChanged();
    this.paintSwatches();
  }

  resized(): void {
    for (const plot of this.plots) plot.view.resized();
  }

  destroy(): void {
    for (const plot of this.plots) plot.view.destroy();
  }

  private color(k: number): string {
    return k === 3 ? (this.context.theme === "dark" ? "#e6ebf0" : "#1d2733") : lineColor(k, this.context.theme);
  }

  private makePlot(kind: LoadKind, window: TimeWindow): LoadPlot {
    const view = new PlotView(this.context, window);
    view.setHeight(HEIGHT);
    const title = make("b");
    const cells = [0, 1, 2, 3].map(() => make("output", { class: "value", "aria-live": "off" }));
    const legend = make("span", { class: "line-legend" }, ...["x", "y", "z", "magnitude"].map((word, k) =>
      make("span", { "data-line": String(k) }, swatch(this.color(k), []), `${word} `, cells[k]!)));
    legend.querySelectorAll<HTMLElement>("[data-line]").forEach((item) => {
      item.addEventListener("pointerenter", () => view.highlight(item.dataset["line"]!));
      item.addEventListener("pointerleave", () => view.highlight(""));
    });
    const add = make("button", { type: "button", class: "link", title: "Show among the plots" }, "to plots");
    add.addEventListener("click", () => this.joint !== null && this.context.plot([loadName(this.joint.name, kind, this.context.loadPart)]));
    this.element.append(make("div", { class: "plot-head" }, title, add), view.element, legend);
    return { kind, view, title, cells, rows: [], unit: { unit: SI[kind], factor: 1 }, peak: 0 };
  }

  private paintSwatches(): void {
    this.element.querySelectorAll<HTMLElement>("[data-line]").forEach((item) => item.querySelector("line")?.setAttribute("stroke", this.color(Number(item.dataset["line"]))));
  }
}
