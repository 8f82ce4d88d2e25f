// A lookup table in the inspector: a grid of its numbers, its method, and a plot of how it goes on between and outside.

import type { TableData } from "../../messages";
import { errorWords } from "../../live/live_desk";
import { draw } from "../../live/svg";
import { make } from "../../ui/elements";
import { formatNumber } from "../../ui/numbers";
import type { Gesture, StudioContext } from "../studio_types";
import { type Grid, curvePath, findWrong, insertRow, parsePasted, pasteInto, removeRow, toGrid, writeTable } from "./table_cells";

const [WIDTH, HEIGHT] = [260, 110];

export class TableForm {
  readonly element: HTMLDetailsElement;
  private readonly context: StudioContext;
  private readonly name: string;
  private readonly body = make("div", { class: "table-body" });
  private readonly wrong = make("p", { class: "field-error", role: "alert", hidden: "" });
  private data: TableData | null = null;
  private grid: Grid = [];
  private asked = false; // a fold that is made open tells so once more

  /** `focused` is the cell that had the focus before the panel was drawn anew. */
  constructor(context: StudioContext, name: string, open: boolean, focused: string, toggled: (open: boolean) => void) {
    this.context = context;
    this.name = name;
    this.element = make("details", { class: "table-form", "data-table": name }, make("summary", {}, name), this.body, this.wrong);
    this.element.open = open;
    this.element.addEventListener("toggle", () => {
      toggled(this.element.open);
      if (this.element.open && !this.asked) void this.load();
    });
    if (open) void this.load().then(() => focused !== "" && this.body.querySelector<HTMLElement>(`[data-cell="${focused}"]`)?.focus());
  }

  private async load(): Promise<void> {
    this.asked = true;
    try {
      const { table } = await this.context.document.ask("inspect_table", { name: this.name });
      this.data = table;
      this.grid = toGrid(table);
      this.show();
    } catch (error) {
      this.refuse(errorWords(error));
    }
  }

  private get twoAxes(): boolean {
    return this.data?.axes.length === 2;
  }

  private show(): void {
    const { data } = this;
    if (data === null) return;
    this.body.replaceChildren(this.choices(data), data.reason === "" ? this.cells() : make("p", { class: "muted" }, data.reason), ...this.buttons(data), ...this.plot(data));
    this.refuse(data.broken);
    this.mark();
  }

  private choices(data: TableData): HTMLElement {
    const choose = (field: "method" | "outside", words: string[], value: string): HTMLElement => {
      const select = make("select", { "aria-label": `${field} of ${this.name}` }, ...[...new Set([value, ...words])].map((word) => make("option", { value: word }, word)));
      select.value = value;
      select.disabled = this.context.readOnly || Array.isArray(data[field]);
      select.addEventListener("change", () => void this.send([{ do: "set", name: this.name, path: [field], value: select.value }]));
      return make("label", {}, `${field} `, select);
    };
    return make("div", { class: "table-choices" }, choose("method", data.methods, data.method), choose("outside", data.outsides, Array.isArray(data.outside) ? data.outside.join(", ") : data.outside));
  }

  private cells(): HTMLElement {
    const { grid, twoAxes } = this;
    const head = make("thead", {}, make("tr", {}, ...(twoAxes ? ["axis 1 ↓, axis 2 →", ...grid[0]!.slice(1).map(() => "value, SI")] : ["axis, SI", "value, SI"]).map((words) => make("th", { scope: "col" }, words)), make("td", {})));
    const rows = grid.map((cells, row) => {
      const isHead = twoAxes && row === 0;
      const remove = make("button", { type: "button", class: "field-remove", title: "Take this row out", "aria-label": `Take out row ${row + (twoAxes ? 0 : 1)} of ${this.name}` }, "×");
      remove.hidden = isHead || this.context.readOnly;
      remove.addEventListener("click", () => this.change(removeRow(this.grid, row)));
      return make("tr", {}, ...cells.map((cell, column) => make("td", {}, ...(isHead && column === 0 ? [] : [this.cell(row, column, cell)]))), make("td", {}, remove));
    });
    return make("div", { class: "table-scroll" }, make("table", { class: "table-grid", "aria-label": `Cells of ${this.name}` }, head, make("tbody", {}, ...rows)));
  }

  private cell(row: number, column: number, text: string): HTMLInputElement {
    const input = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "data-cell": `${row},${column}`, "aria-label": `${column === 0 ? "axis" : "value"}, row ${row + 1}, column ${column + 1}` });
    input.value = text;
    input.disabled = this.context.readOnly;
    input.addEventListener("change", () => {
      const made = this.grid.map((cells) => [...cells]);
      made[row]![column] = input.value.trim();
      this.change(made);
    });
    input.addEventListener("paste", (event) => {
      const pasted = parsePasted(event.clipboardData?.getData("text/plain") ?? "");
      if (pasted.length === 1 && pasted[0]!.length === 1) return;
      event.preventDefault();
      this.change(pasteInto(this.grid, [row, column], pasted, this.twoAxes));
    });
    input.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowDown" || event.key === "Enter" ? 1 : event.key === "ArrowUp" ? -1 : 0;
      if (step === 0) return;
      event.preventDefault();
      this.body.querySelector<HTMLInputElement>(`[data-cell="${row + step},${column}"]`)?.focus();
    });
    return input;
  }

  private buttons(data: TableData): HTMLElement[] {
    if (data.reason !== "") return [];
    const add = make("button", { type: "button", class: "tool" }, "Add row");
    add.disabled = this.context.readOnly;
    add.addEventListener("click", () => this.change(insertRow(this.grid, this.grid.length), true));
    return [make("div", { class: "part-actions" }, add)];
  }

  /** Another grid: written as one step of undo if it is whole, else shown with what is missing. */
  private change(grid: Grid, focus = false): void {
    this.grid = grid;
    const wrong = findWrong(grid, this.twoAxes);
    if (wrong.size === 0) {
      const { axes, values } = writeTable(grid, this.twoAxes);
      const set = (field: string, value: string): Gesture => ({ do: "set", name: this.name, path: [field], value });
      return void this.send([set("axes", axes), set("values", values)]);
    }
    const at = (document.activeElement as HTMLElement | null)?.dataset["cell"];
    this.show();
    this.body.querySelector<HTMLInputElement>(focus ? "tbody tr:last-child input" : `[data-cell="${at ?? "x"}"]`)?.focus();
  }

  private mark(): void {
    const wrong = findWrong(this.grid, this.twoAxes);
    for (const input of this.body.querySelectorAll<HTMLInputElement>("[data-cell]")) {
      const words = wrong.get(input.dataset["cell"]!) ?? "";
      input.setAttribute("aria-invalid", String(words !== ""));
      input.title = words;
    }
    const first = [...wrong.values()][0];
    if (first !== undefined && this.data?.reason === "") this.refuse(first);
  }

  private async send(gestures: Gesture[]): Promise<void> {
    const done = await this.context.act(gestures.length === 1 ? gestures[0]! : { do: "all", gestures });
    if (done !== null) await this.load();
  }

  private plot({ curves, axes }: TableData): HTMLElement[] {
    if (curves.length === 0) return [];
    const values = curves.flatMap(({ y }) => y.filter((each) => each !== null));
    const [left, right] = [Math.min(...curves[0]!.x), Math.max(...curves[0]!.x)];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const along = (axes[axes.length - 1] ?? []).map(Number);
    const svg = draw("svg", { class: "table-plot", viewBox: `-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`, role: "img", "aria-label": `${this.name} from ${formatNumber(left)} to ${formatNumber(right)}: ${formatNumber(low)} to ${formatNumber(high)}` });
    const edges: [number, number] = [along[0] ?? left, along[along.length - 1] ?? right];
    const px = (value: number): number => ((value - left) / (right - left || 1)) * WIDTH;
    if (along.length > 0) svg.append(draw("rect", { class: "inside", x: px(edges[0]), y: 0, width: Math.max(0, px(edges[1]) - px(edges[0])), height: HEIGHT }));
    for (const { x, y } of curves) {
      svg.append(draw("path", { class: "curve", d: curvePath(x, y, [left, right], [low, high], WIDTH, HEIGHT) }));
      for (const at of along) {
        const value = y[x.indexOf(at)] ?? null;
        if (value !== null) svg.append(draw("circle", { class: "point", cx: px(at), cy: HEIGHT - ((value - low) / (high - low || 1)) * HEIGHT, r: 2.4 }));
      }
    }
    const words = `${formatNumber(left)} … ${formatNumber(right)}: ${formatNumber(low)} … ${formatNumber(high)}`;
    return [make("figure", { class: "table-figure" }, svg, make("figcaption", { class: "muted" }, `${words}; the shaded part is inside the axis`))];
  }

  private refuse(words: string): void {
    this.wrong.textContent = words;
    this.wrong.hidden = words === "";
  }
}
