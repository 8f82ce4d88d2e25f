// All values at the clock: coordinates, states, signals and loads; a column for each run, and what differs.

import type { Panel, PlayerContext } from "../panel";
import { sampleAt } from "../plots/decimate";
import { findLine, isVector, QuantityList, SIZE, unitOf, type Quantity } from "../plots/quantities";
import { unitWords } from "../plots/unit_choice";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { formatNumber } from "../ui/numbers";

const GROUPS: [string, string][] = [
  ["coordinates", "Coordinates"], ["states", "States"], ["loads", "Loads"], ["signals", "Signals"], ["powers", "Powers and energies"], ["kept", "Kept"],
];
const MOST_ROWS = 400;

interface Row {
  quantity: Quantity;
  part: string;
  cells: HTMLElement[];
  difference: HTMLElement | null;
  lines: (Float32Array | null)[];
}

/** The rows of a quantity: its parts, and for a vector its magnitude. */
export function valueParts(quantity: Quantity): string[] {
  if (quantity.parts.length === 0) return [""];
  return isVector(quantity) ? [...quantity.parts, SIZE] : quantity.parts;
}

export class ValuesPanel implements Panel {
  readonly element = make("div", { class: "values-panel" });
  readonly title = "Values";
  private readonly context: PlayerContext;
  private readonly filter = make("input", { type: "search", placeholder: "Only names with", "aria-label": "Only names with" });
  private readonly table = make("table", { "aria-label": "Values at the time of the clock" });
  private readonly left = make("p", { class: "muted" });
  private rows: Row[] = [];
  private structure = "";
  private readonly end: () => void;
  private readonly updating = makeFrameTask(() => this.update());
  private readonly moving = makeFrameTask(() => this.showTime());

  constructor(context: PlayerContext) {
    this.context = context;
    this.element.append(this.filter, this.table, this.left);
    this.filter.addEventListener("input", () => this.updating.request());
    this.end = context.clock.onTime(() => this.moving.request());
  }

  setRuns(): void {
    this.updating.request();
  }

  resized(): void {
    this.update();
  }

  destroy(): void {
    this.updating.cancel();
    this.moving.cancel();
    this.end();
  }

  private update(): void {
    if (this.element.hidden) return;
    const { runs, main } = this.context;
    const structure = [this.filter.value, main.header.digest, main.header.series.length, ...runs.map((run) => run.label)].join("\n");
    if (structure !== this.structure) {
      this.structure = structure;
      this.build();
    }
    for (const row of this.rows) row.lines = runs.map((run) => findLine(run.document, row.quantity, row.part));
    this.showTime();
  }

  private build(): void {
    const { runs, main } = this.context;
    const wanted = this.filter.value.trim().toLowerCase();
    const all = new QuantityList(main).all.filter((each) => each.source !== "live" && !/\.(static|kinetic)$/.test(each.name) && each.name.toLowerCase().includes(wanted));
    const compare = runs.length === 2;
    const head = ["", ...(runs.length > 1 ? runs.map((run) => run.label) : ["value"]), ...(compare ? ["difference"] : []), ""];
    this.rows = [];
    const bodies = GROUPS.flatMap(([group, words]) => {
      const quantities = all.filter((each) => each.group === group);
      if (quantities.length === 0 || this.rows.length >= MOST_ROWS) return [];
      const title = make("tr", {}, make("th", { scope: "rowgroup", colspan: String(head.length), class: "group" }, words));
      return [make("tbody", {}, title, ...quantities.flatMap((quantity) => valueParts(quantity).map((part) => this.makeRow(quantity, part, compare))))];
    });
    const total = all.reduce((sum, each) => sum + valueParts(each).length, 0);
    this.left.textContent = this.rows.length < total ? `${total - this.rows.length} more: narrow the names.` : "";
    this.table.replaceChildren(make("thead", {}, make("tr", {}, ...head.map((text, k) => make("th", { scope: "col", ...(k > 0 && k < head.length - 1 ? { class: "number" } : {}) }, text)))), ...bodies);
  }

  private makeRow(quantity: Quantity, part: string, compare: boolean): HTMLElement {
    const name = part === SIZE ? `|${quantity.name}|` : part === "" ? quantity.name : `${quantity.name}.${part}`;
    const cell = (): HTMLElement => make("td", { class: "number" });
    const cells = this.context.runs.map(cell);
    const difference = compare ? cell() : null;
    this.rows.push({ quantity, part, cells, difference, lines: [] });
    const plot = make("button", { type: "button", class: "link", title: "Show among the plots" }, name);
    plot.addEventListener("click", () => this.context.plot([quantity.name]));
    return make("tr", {}, make("th", { scope: "row" }, plot), ...cells, ...(difference === null ? [] : [difference]), make("td", { class: "muted" }, unitWords(unitOf(quantity, part))));
  }

  private showTime(): void {
    if (this.element.hidden) return;
    const { clock, runs } = this.context;
    for (const row of this.rows) {
      const values = row.lines.map((line, k) => (line === null ? NaN : sampleAt(runs[k]!.document.t, line, clock.t)));
      values.forEach((value, k) => put(row.cells[k]!, formatNumber(value, 5)));
      if (row.difference !== null) put(row.difference, formatNumber(values[0]! - values[1]!, 3));
    }
  }
}

function put(cell: HTMLElement, text: string): void {
  if (cell.textContent !== text) cell.textContent = text;
}

export const makeValuesPanel = (context: PlayerContext): Panel => new ValuesPanel(context);
