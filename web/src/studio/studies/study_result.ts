// The result of a study: a chart that fits its axes, the values in a table, one run that is chosen and what to do with it.

import { make } from "../../ui/elements";
import { formatNumber, prettyUnit } from "../../ui/numbers";
import { HeatMap } from "./heat_map";
import { LineChart } from "./line_chart";
import { ScatterChart } from "./scatter_chart";
import type { ChartActions, StudyChart } from "./study_chart";
import { type StudyData, axisText, correlation, withUnit } from "./study_data";

const MOST_ROWS = 500; // of the table
const MOST_MESSAGES = 12;

export interface ResultActions {
  /** Sets the values of a run in the page, as sliders do; beside the present run if that is to be pinned. */
  run(run: number, beside: boolean): void;
  /** Writes them into the model. */
  take(run: number): void;
  readonly readOnly: boolean;
}

export class StudyResult {
  readonly element = make("div", { class: "study-result" });
  private readonly data: StudyData;
  private readonly actions: ResultActions;
  private readonly tools = make("div", { class: "result-tools" });
  private readonly place = make("div", { class: "result-chart" });
  private readonly card = make("div", { class: "run-card", role: "region", "aria-label": "The run that is chosen" });
  private readonly table = make("details", { class: "result-table" }, make("summary", {}, "Table"));
  private readonly failures = make("div", { class: "result-failures" });
  private chart: (StudyChart & { draw(): void }) | null = null;
  private kept = 0;
  private x = 0;
  private y = 1;
  private slice: number[];
  private chosen = -1;

  constructor(data: StudyData, actions: ResultActions) {
    this.data = data;
    this.actions = actions;
    this.slice = data.header.dims.map(() => 0);
    if (!data.isGrid) this.y = data.header.axes.length;
    else if (data.header.axes.length === 1) this.y = -1;
    this.table.addEventListener("toggle", () => this.showTable());
    this.element.append(this.tools, this.place, this.card, this.failures, this.table);
    this.build();
  }

  /** More runs were made. */
  update(): void {
    this.chart?.draw();
    if (this.chosen >= 0) this.showCard();
    this.showFailures();
    this.showTable();
    this.showCorrelations();
  }

  choose(run: number): void {
    this.chosen = run;
    const place = this.data.place(run);
    if (this.data.isGrid && this.hidden().some((dim) => this.slice[dim] !== place[dim])) {
      this.slice = place;
      this.build();
    }
    this.chart?.moveTo(run);
    this.showCard();
  }

  // -- what is shown -------------------------------------------------------------------------------------------------
  /** The dimensions that the chart does not show. */
  private hidden(): number[] {
    const { axes, dims } = this.data.header;
    const shown = [this.x, this.y].map((axis) => axes[axis]?.dim);
    return [...dims.keys()].filter((k) => !shown.includes(dims[k]!.name));
  }

  private build(): void {
    const { header } = this.data;
    const parts: HTMLElement[] = [];
    if (this.data.isGrid) {
      parts.push(this.choice("Show", header.kept.map(({ text }) => text), this.kept, (k) => (this.kept = k)));
      if (header.axes.length > 1) {
        const titles = header.axes.map(({ title }) => title);
        parts.push(this.choice("Across", titles, this.x, (k) => {
          if (k === this.y) this.y = this.x;
          this.x = k;
        }), this.choice("Up", [...titles, "(lines)"], this.y < 0 ? titles.length : this.y, (k) => {
          if (k === this.x) this.x = this.y < 0 ? (k + 1) % titles.length : this.y;
          this.y = k === titles.length ? -1 : k;
        }));
      }
      parts.push(...this.hidden().map((dim) => this.slider(dim)));
    } else {
      const labels = this.data.columns.map(({ label }) => label);
      parts.push(this.choice("Across", labels, this.x, (k) => (this.x = k)), this.choice("Up", labels, this.y, (k) => this.setUp(k)));
    }
    parts.push(make("div", { class: "best" }, this.button("Least", "Choose the run with the least value; peaks by their size", () => this.chooseBest(false)), this.button("Greatest", "Choose the run with the greatest value; peaks by their size", () => this.chooseBest(true))));
    if (!this.data.isGrid) parts.push(make("div", { class: "correlations" }));
    this.tools.replaceChildren(...parts);
    this.showChart();
    this.showCorrelations();
    this.showFailures();
    this.showCard();
    this.showTable();
  }

  private setUp(column: number): void {
    this.y = column;
    const kept = column - this.data.header.axes.length;
    if (kept >= 0) this.kept = kept;
  }

  private showChart(): void {
    const actions: ChartActions = { choose: (run) => this.choose(run), words: (run) => this.data.words(run, this.kept) };
    const { data, kept, x, y, slice } = this;
    if (!data.isGrid) this.chart = new ScatterChart(data, [data.columns[x]!, data.columns[y]!], actions);
    else this.chart = y < 0 ? new LineChart(data, kept, x, slice, actions) : new HeatMap(data, kept, [x, y], slice, actions);
    this.place.replaceChildren(this.chart.element);
    if (this.chosen >= 0) this.chart.moveTo(this.chosen);
  }

  private slider(dim: number): HTMLElement {
    const axis = this.data.header.axes.find(({ dim: name }) => name === this.data.header.dims[dim]!.name)!;
    const said = make("output", {}, axisText(axis, axis.values[this.slice[dim]!]!));
    const slider = make("input", { type: "range", min: "0", max: String(axis.values.length - 1), step: "1", value: String(this.slice[dim]), "aria-label": axis.title, "aria-valuetext": said.textContent ?? "" });
    slider.addEventListener("input", () => {
      this.slice = this.slice.map((at, k) => (k === dim ? Number(slider.value) : at));
      said.textContent = axisText(axis, axis.values[this.slice[dim]!]!);
      slider.setAttribute("aria-valuetext", said.textContent);
      this.showChart();
      this.showTable();
    });
    return make("label", { class: "slice" }, make("span", {}, axis.title), slider, said);
  }

  /** How each axis and each result of samples go together; a click shows the two. */
  private showCorrelations(): void {
    const place = this.tools.querySelector(".correlations");
    if (place === null) return;
    const { columns } = this.data;
    const axes = this.data.header.axes.length;
    const cell = (k: number, j: number): HTMLElement => {
      const value = correlation(columns[k]!.value, columns[j]!.value, this.data.runs);
      const text = Number.isNaN(value) ? "–" : value.toFixed(2).replace("-", "−");
      const show = this.button(text, `Show ${columns[j]!.label} over ${columns[k]!.label}`, () => {
        this.x = k;
        this.setUp(j);
        this.build();
      });
      show.setAttribute("aria-pressed", String(this.x === k && this.y === j));
      show.style.setProperty("--size", Number.isNaN(value) ? "0" : String(Math.abs(value)));
      return make("td", {}, show);
    };
    const head = make("tr", {}, make("th", { scope: "col" }, "correlation"), ...columns.slice(0, axes).map(({ label }) => make("th", { scope: "col" }, label)));
    const rows = columns.slice(axes).map(({ label }, k) => make("tr", {}, make("th", { scope: "row" }, label), ...columns.slice(0, axes).map((_, j) => cell(j, axes + k))));
    place.replaceChildren(make("table", { "aria-label": "Correlation of what varied with what was kept" }, make("thead", {}, head), make("tbody", {}, ...rows)));
  }

  // -- the run that is chosen ------------------------------------------------------------------------------------------
  private chooseBest(greatest: boolean): void {
    const run = this.data.best(this.kept, greatest);
    if (run >= 0) this.choose(run);
  }

  private showCard(): void {
    const { data, chosen: run } = this;
    this.card.hidden = run < 0;
    if (run < 0) return;
    const focus = this.card.contains(document.activeElement) ? [...this.card.querySelectorAll("button")].indexOf(document.activeElement as HTMLButtonElement) : -1;
    const row = (name: string, value: string): HTMLElement => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value));
    const state = data.isFailed(run) ? `failed: ${data.messages.get(run) ?? ""}` : data.isMade(run) ? (data.messages.get(run) ?? "") : "not run yet";
    const take = this.button("Take over into the model", "Write these values into the model, as one step of undo", () => this.actions.take(run));
    take.disabled = this.actions.readOnly;
    this.card.replaceChildren(make("h3", {}, `Run ${run + 1} of ${data.runs}`), ...(state === "" ? [] : [make("p", { class: data.isFailed(run) ? "wrong" : "muted" }, state)]),
      make("table", {}, make("tbody", {}, ...data.header.axes.map((axis) => row(axis.title, axisText(axis, data.axisValue(axis, run)))), ...data.header.kept.map(({ text, unit }, k) => row(text, withUnit(data.results[k]![run]!, unit))))),
      make("div", { class: "card-actions" }, this.button("Run this one", "Set these values in the page, as sliders do; the text stays", () => this.actions.run(run, false)),
        this.button("Run it beside", "Pin the present run, and run this one beside it", () => this.actions.run(run, true)), take));
    if (focus >= 0) this.card.querySelectorAll("button")[focus]?.focus();
  }

  private showFailures(): void {
    const failed = this.data.failures;
    this.failures.hidden = failed.length === 0;
    const shown = failed.slice(0, MOST_MESSAGES);
    const known = this.failures.dataset["count"];
    if (known === String(failed.length)) return;
    this.failures.dataset["count"] = String(failed.length);
    this.failures.replaceChildren(make("h3", {}, failed.length === 1 ? "One run failed" : `${failed.length} runs failed`), make("ul", {}, ...shown.map((run) => {
      const where = this.data.header.axes.map((axis) => `${axis.title} = ${axisText(axis, this.data.axisValue(axis, run))}`).join(", ");
      const go = this.button(where, "Choose this run", () => this.choose(run));
      go.className = "link";
      return make("li", {}, go, `: ${this.data.messages.get(run) ?? ""}`);
    })), ...(failed.length > shown.length ? [make("p", { class: "muted" }, `and ${failed.length - shown.length} more; the CSV has all messages`)] : []));
  }

  // -- the numbers -------------------------------------------------------------------------------------------------------
  private showTable(): void {
    if (!this.table.open) return;
    const { header } = this.data;
    const shape = this.data.isGrid && this.y >= 0 ? this.crossTable() : this.longTable();
    const { unit, text } = header.kept[this.kept]!;
    shape.prepend(make("caption", {}, this.data.isGrid ? `${text}${unit === "" ? "" : ` [${prettyUnit(unit)}]`}` : "All runs"));
    this.table.querySelector(".wide")?.remove();
    this.table.append(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of results" }, shape));
  }

  private crossTable(): HTMLTableElement {
    const { axes, dims } = this.data.header;
    const [x, y] = [axes[this.x]!, axes[this.y]!];
    const [across, up] = [x, y].map((axis) => dims.findIndex(({ name }) => name === axis.dim)) as [number, number];
    const at = (i: number, j: number): string => {
      const place = [...this.slice];
      [place[across], place[up]] = [i, j];
      const run = this.data.runAt(place);
      return this.data.isFailed(run) ? "failed" : formatNumber(this.data.results[this.kept]![run]!, 5);
    };
    const columns = x.values.slice(0, 60);
    const rows = y.values.slice(0, Math.floor(MOST_ROWS * 8 / columns.length)).map((value, j) => make("tr", {}, make("th", { scope: "row" }, axisText(y, value)), ...columns.map((_, i) => make("td", {}, at(i, j)))));
    return make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, `${y.title} \\ ${x.title}`), ...columns.map((value) => make("th", { scope: "col" }, axisText(x, value))))), make("tbody", {}, ...rows));
  }

  private longTable(): HTMLTableElement {
    const { columns } = this.data;
    const runs = this.data.isGrid ? this.data.header.axes[this.x]!.values.map((_, i) => this.data.runAt(this.slice.map((at, k) => (this.data.header.dims[k]!.name === this.data.header.axes[this.x]!.dim ? i : at)))) : [...this.data.status.keys()];
    const head = make("tr", {}, ...columns.map(({ label, unit }) => make("th", { scope: "col" }, unit === "" ? label : `${label} [${prettyUnit(unit)}]`)), make("th", { scope: "col" }, "status"));
    const rows = runs.slice(0, MOST_ROWS).map((run) => make("tr", {}, ...columns.map(({ value }) => make("td", {}, formatNumber(value(run), 5))), make("td", {}, this.data.isFailed(run) ? "failed" : this.data.isMade(run) ? "done" : "not run")));
    return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
  }

  // -- small things --------------------------------------------------------------------------------------------------------
  private choice(words: string, options: readonly string[], at: number, set: (k: number) => void): HTMLElement {
    const select = make("select", {}, ...options.map((text, k) => make("option", { value: String(k) }, text)));
    select.value = String(at);
    select.addEventListener("change", () => {
      set(Number(select.value));
      this.build();
      this.tools.querySelector<HTMLElement>(`[data-choice="${words}"] select`)?.focus();
    });
    return make("label", { class: "choice", "data-choice": words }, make("span", {}, words), select);
  }

  private button(words: string, title: string, act: () => void): HTMLButtonElement {
    const made = make("button", { type: "button", class: "tool", title }, words);
    made.addEventListener("click", act);
    return made;
  }

  /** What is chosen, for tests and programs. */
  get chosenRun(): number {
    return this.chosen;
  }
}

/** Copies a text, and says so. */
export async function copyText(text: string, say: (words: string) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say("The browser does not let this page copy: mark the text and copy it.");
  }
}

