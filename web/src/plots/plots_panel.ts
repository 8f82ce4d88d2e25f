// The panel of plots: any quantity by name, in plots that share one time axis with the clock.

import type { RunDocument } from "../data/run_document";
import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { lineDash } from "../ui/line_colors";
import { findRange } from "./decimate";
import { LiveSeries, type LiveQuantity } from "./live_series";
import { NameBox } from "./name_box";
import { PlotBlock, type ShownLine } from "./plot_block";
import { addChoice, firstChoices, linesOf, plotNumbers, type Choice, type LineOf } from "./plot_choice";
import { drawPicture, fileName, saveFile, toCsv, type Column } from "./plot_files";
import { findLine, QuantityList, SIZE, type Quantity } from "./quantities";
import { magnitude } from "./joint_axes";
import { TimeWindow } from "./time_window";
import { unitWords, UnitChoices } from "./unit_choice";

const LEAST_HEIGHT = 150;
const MOST_HEIGHT = 300;

export class PlotsPanel implements Panel {
  readonly element = make("div", { class: "plots" });
  readonly title = "Plots";
  choices: Choice[];
  private readonly context: PlayerContext;
  private list: QuantityList;
  private listOf: RunDocument;
  private readonly units = new UnitChoices();
  private readonly window: TimeWindow;
  private readonly box: NameBox;
  private readonly blocks = new Map<number, PlotBlock>();
  private readonly empty = make("p", { class: "muted" }, "No curve is shown: add a quantity by its name.");
  private readonly whole: HTMLButtonElement;
  private readonly live: LiveSeries | null;
  private readonly ends: (() => void)[] = [];
  private readonly update = makeFrameTask(() => this.refresh());
  private readonly values = makeFrameTask(() => this.showValues());

  constructor(context: PlayerContext) {
    this.context = context;
    this.listOf = context.main;
    this.list = new QuantityList(context.main);
    this.choices = firstChoices(context.main, this.list);
    this.window = new TimeWindow(context.clock);
    this.live = context.live === null ? null : new LiveSeries(context.live, (answered) => this.answered(answered), (text) => context.say(text, "error"));
    this.box = new NameBox({
      quantities: () => this.list.all, live: () => this.live !== null,
      shown: (name) => this.choices.some((choice) => choice.name === name), pick: (quantity) => this.pick(quantity),
    });
    this.whole = this.tool("Whole run", "Show the whole run (double click in a plot)", () => this.window.reset());
    this.whole.hidden = true;
    const tools = make("div", { class: "plot-tools" }, this.box.element, this.whole,
      this.tool("CSV", "CSV: save the curves that are shown as numbers", () => this.saveCsv()),
      this.tool("PNG", "PNG: save the plots that are shown as a picture", () => this.savePng()));
    this.element.append(tools, this.empty);
    const plot = (event: Event): void => this.show((event as CustomEvent<string[]>).detail);
    const search = (): void => this.box.input.focus();
    context.root.addEventListener("kinode-plot", plot);
    context.root.addEventListener("kinode-search", search);
    this.ends.push(
      () => context.root.removeEventListener("kinode-plot", plot),
      () => context.root.removeEventListener("kinode-search", search),
      context.clock.onTime(() => this.values.request()),
      this.units.onChange(() => this.update.request()),
      this.window.onChange(() => (this.whole.hidden = !this.window.zoomed)),
    );
    this.refresh();
  }

  /** Adds quantities by name; says which are not there. */
  show(names: string[]): void {
    for (const name of names) {
      const quantity = this.list.find(name);
      if (quantity === undefined) this.context.say(`The run has no ${name}.`, "error");
      else this.pick(quantity);
    }
  }

  setRuns(): void {
    if (this.listOf.header.series.length !== this.context.main.header.series.length || this.listOf.header.digest !== this.context.main.header.digest) {
      this.list = new QuantityList(this.context.main);
      this.choices = this.choices.filter((choice) => this.list.find(choice.name) !== undefined);
      if (this.choices.length === 0) this.choices = firstChoices(this.context.main, this.list);
    }
    this.listOf = this.context.main;
    this.update.request();
  }

  wantedSeries(): string[] {
    return this.choices.map((choice) => choice.name).filter((name) => this.context.main.find(name) !== undefined);
  }

  themeChanged(): void {
    for (const block of this.blocks.values()) block.view.themeChanged();
    this.update.request();
  }

  resized(): void {
    this.update.request();
    this.values.request();
  }

  destroy(): void {
    this.update.cancel();
    this.values.cancel();
    for (const end of this.ends) end();
    for (const block of this.blocks.values()) block.destroy();
  }

  private tool(text: string, words: string, act: () => void): HTMLButtonElement {
    const element = make("button", { type: "button", class: "tool", title: words, "aria-label": words }, text);
    element.addEventListener("click", act);
    return element;
  }

  private pick(quantity: Quantity): void {
    if (quantity.source === "live" && this.live === null) {
      this.context.say(`${quantity.name} is not in the file: it needs --live (kinode view MODEL --live), or keep= when the file is written.`);
      return;
    }
    if (addChoice(this.choices, this.list, quantity.name) === null) this.context.say(`${quantity.name} is already shown.`);
    this.update.request();
  }

  private answered(answered: LiveQuantity[]): void {
    for (const each of answered) {
      const first = this.list.find(each.info.name)?.unit === "";
      this.list.learn(each.info);
      if (!first || each.info.unit === "") continue;
      // Its unit is known only now: it goes where that unit is shown.
      this.choices = this.choices.filter((choice) => choice.name !== each.info.name);
      addChoice(this.choices, this.list, each.info.name);
    }
    this.update.request();
  }

  private refresh(): void {
    if (this.element.hidden) return;
    const numbers = plotNumbers(this.choices);
    for (const [plot, block] of this.blocks) if (!numbers.includes(plot)) {
      block.destroy();
      this.blocks.delete(plot);
    }
    this.live?.want(this.choices.map((x) => x.name).filter((name) => this.context.main.find(name) === undefined && this.list.find(name)?.source === "live"), this.context.main);
    this.empty.hidden = numbers.length > 0;
    const height = this.plotHeight(numbers.length);
    for (const plot of numbers) {
      const block = this.blocks.get(plot) ?? this.addBlock(plot);
      const lines = this.choices.filter((choice) => choice.plot === plot).flatMap((choice) => this.linesOf(choice));
      shareUnits(lines);
      block.setLines(lines, this.structure(lines, numbers));
      block.view.setHeight(height);
      block.view.resized();
    }
  }

  private plotHeight(count: number): number {
    const lines = this.choices.reduce((sum, choice) => sum + linesOf(choice, this.list.find(choice.name)!).length, 0);
    const room = this.element.clientHeight - 60 - 24 * lines - 34 * count;
    return Math.round(Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, room / Math.max(1, count))));
  }

  private addBlock(plot: number): PlotBlock {
    const block = new PlotBlock(this.context, this.window, this.units, {
      remove: (choice) => this.change(() => (this.choices = this.choices.filter((each) => each !== choice))),
      change: (choice, show) => this.change(() => (choice.show = show)),
      move: (choice, to) => this.change(() => (choice.plot = to)),
      plots: () => plotNumbers(this.choices),
    });
    const after = [...this.blocks].filter(([number]) => number < plot).sort(([a], [b]) => b - a)[0]?.[1];
    if (after === undefined) this.empty.after(block.element);
    else after.element.after(block.element);
    this.blocks.set(plot, block);
    return block;
  }

  private change(act: () => void): void {
    act();
    this.update.request();
  }

  private linesOf(choice: Choice): ShownLine[] {
    const quantity = this.list.find(choice.name);
    if (quantity === undefined) return [];
    return linesOf(choice, quantity).map((line) => {
      const curves = this.context.runs.map((run, k) => this.curve(run.document, line, k === 0));
      const main = curves[0];
      const [low, high] = main == null ? [NaN, NaN] : findRange(main.t, main.y, -Infinity, Infinity);
      const peak = Math.max(Math.abs(low), Math.abs(high)) || 0;
      return { ...line, key: `${choice.name}.${line.part}`, unit: this.units.find(line.si, peak), curves, peak };
    });
  }

  private curve(run: RunDocument, line: LineOf, main: boolean): { t: Float64Array; y: Float32Array } | null {
    const y = findLine(run, line.quantity, line.part);
    if (y !== null) return { t: run.t, y };
    const live = main ? this.live?.find(line.quantity.name) : undefined;
    if (live === undefined) return null;
    const row = line.part === SIZE ? magnitude(live.rows) : live.rows[Math.max(0, line.quantity.parts.indexOf(line.part))];
    return row === undefined ? null : { t: live.t, y: row };
  }

  /** What the legend's elements depend on; numbers do not belong to it. */
  private structure(lines: ShownLine[], numbers: number[]): string {
    const parts = lines.map((line) => `${line.key} ${line.choice.show} ${line.choice.plot} ${line.unit.unit}`);
    return [this.context.theme, ...this.context.runs.map((run) => run.label), numbers.join(), ...parts].join("\n");
  }

  private showValues(): void {
    if (this.element.hidden) return;
    for (const block of this.blocks.values()) block.showValues();
  }

  private saveCsv(): void {
    const columns: Column[] = [...this.blocks.values()].flatMap((block) => block.lines.flatMap((line) =>
      line.curves.flatMap((curve, run) => curve === null ? [] : [{
        label: `${line.label} [${line.unit.unit || "1"}]`, run: this.context.runs[run]!.label, ...curve, factor: line.unit.factor,
      }])));
    if (columns.length === 0) return this.context.say("There is no curve to save.");
    const text = toCsv(columns, this.window.from, this.window.to);
    saveFile(new Blob([text], { type: "text/csv" }), fileName(this.context.main.header.name, "csv"), this.context.root);
  }

  /** All plots that are shown as one picture; null if there is none. */
  picture(): HTMLCanvasElement | null {
    const style = getComputedStyle(this.context.root);
    const parts = [...this.blocks.values()].flatMap((block) => {
      const canvas = block.view.canvas;
      const legend = block.lines.map((line, k) => ({ text: `${line.label} [${unitWords(line.unit.unit)}]`, color: block.color(k), dash: lineDash(k) }));
      return canvas === null ? [] : [{ canvas, legend }];
    });
    if (parts.length === 0) return null;
    const others = this.context.runs.slice(1).map((run) => run.label);
    const title = `${this.context.main.header.name}${others.length > 0 ? ` (grey: ${others.join(", ")})` : ""}, time in s`;
    return drawPicture(parts, title, style.getPropertyValue("--paper"), style.getPropertyValue("--ink"));
  }

  private savePng(): void {
    const picture = this.picture();
    if (picture === null) return this.context.say("There is no plot to save.");
    picture.toBlob((blob) => blob !== null && saveFile(blob, fileName(this.context.main.header.name, "png"), this.context.root));
  }
}

/** Lines on one axis have one unit and one measure of what is rounding: those of the largest. */
function shareUnits(lines: ShownLine[]): void {
  const shared = new Map<string, ShownLine["unit"]>();
  for (const line of lines) {
    const known = shared.get(line.si);
    if (known === undefined || line.unit.factor < known.factor) shared.set(line.si, line.unit);
  }
  for (const line of lines) {
    line.unit = shared.get(line.si)!;
    line.peak = Math.max(...lines.filter((each) => each.si === line.si).map((each) => each.peak));
  }
}

export const makePlotsPanel = (context: PlayerContext): Panel => new PlotsPanel(context);
