// The equations of motion, the value of each term under it at the cursor.

import type { EquationData, EquationsData, EquationTerm } from "../data/run_document";
import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { lineScale, termValues } from "./equation_values";

const DIGITS = 3;

interface ShownTerm {
  number: HTMLElement;
  bar: HTMLElement;
}

interface ShownLine {
  line: EquationData;
  scale: number;
  terms: ShownTerm[];
}

class EquationsPanel implements Panel {
  readonly element = make("div", { class: "equations" });
  readonly title = "Equations";
  private readonly context: PlayerContext;
  private readonly endClock: () => void;
  private shown: EquationsData | null = null;
  private signature = "";
  private lines: ShownLine[] = [];
  private known: EquationsData | null = null;
  private symbols: { cell: HTMLElement; name: string }[] = [];

  constructor(context: PlayerContext) {
    this.context = context;
    this.endClock = context.clock.onTime(() => this.update());
    this.setRuns();
  }

  setRuns(): void {
    const data = this.context.main.header.equations;
    if (data === null) return;
    if (data !== this.known) {
      const signature = JSON.stringify([data.note, data.lines.map((line) => line.mathml), data.symbols]);
      if (signature !== this.signature) this.build(data);
      this.signature = signature;
      this.known = data;
    }
    this.showRun();
  }

  resized(): void {
    this.showRun();
  }

  /** The values of the present run, if they are seen. */
  private showRun(): void {
    if (this.element.hidden) return;
    for (const each of this.lines) each.scale = lineScale(this.context.main, each.line);
    this.update();
  }

  destroy(): void {
    this.endClock();
  }

  private build(data: EquationsData): void {
    this.shown = data;
    this.lines = [];
    const parts: Node[] = [];
    let title = "";
    for (const line of data.lines) {
      if (line.title !== title) parts.push(make("h3", {}, line.title));
      title = line.title;
      parts.push(this.line(line));
    }
    if (data.lines.length > 0) {
      parts.unshift(make("p", { class: "muted" }, "Under each term its value at the cursor; the bar is its share of the largest in the run. Click a term to plot it."));
      parts.push(this.meanings(data));
    }
    if (data.note !== "") parts.push(make("p", { class: "muted" }, data.note));
    if (data.lines.length === 0) {
      const command = `kn.equations(kn.load("model.yaml"))`;
      parts.push(make("p", {}, "In Python: ", make("code", {}, command), ", on the command line: ", make("code", {}, "kinode equations model.yaml")));
    }
    this.element.replaceChildren(...parts);
  }

  private line(line: EquationData): HTMLElement {
    const terms: ShownTerm[] = [];
    const row = make("div", { class: "equation-line", role: "group", "aria-label": `Equation of ${line.name}` });
    let side = "left";
    for (const term of line.terms) {
      if (term.side !== side) row.append(make("span", { class: "equation-sign" }, "="));
      side = term.side;
      row.append(this.term(line, term, terms));
    }
    this.lines.push({ line, scale: 0, terms });
    const head = make("div", { class: "equation-name" }, line.name, make("span", { class: "muted" }, ` ${prettyUnit(line.unit)}`));
    return make("section", { class: "equation" }, head, row);
  }

  private term(line: EquationData, term: EquationTerm, terms: ShownTerm[]): HTMLElement {
    const sign = make("span", { class: "equation-sign" }, term.sign);
    const math = make("span", { class: "equation-math" });
    math.innerHTML = term.mathml;
    const number = make("span", { class: "equation-value" });
    const bar = make("span", { class: "equation-bar", "aria-hidden": "true" }, make("i"));
    terms.push({ number, bar: bar.firstElementChild as HTMLElement });
    const formula = make("span", { class: "equation-formula" }, sign, math);
    if (term.series === "") return make("span", { class: "equation-term" }, formula);
    const element = make("button", { type: "button", class: "equation-term", title: `${term.series}, ${prettyUnit(line.unit)}` }, formula, number, bar);
    element.addEventListener("click", () => this.context.plot([term.series]));
    return element;
  }

  /** What the symbols mean, with their values at the cursor. */
  private meanings(data: EquationsData): HTMLElement {
    this.symbols = [];
    const body = make("tbody");
    for (const symbol of data.symbols) {
      const shape = make("td");
      shape.innerHTML = symbol.mathml;
      const cell = make("td", { class: "number" }, symbol.value === null ? "" : formatNumber(symbol.value, 5));
      if (symbol.value === null) this.symbols.push({ cell, name: symbol.name });
      body.append(make("tr", {}, shape, make("td", {}, symbol.name), cell, make("td", { class: "muted" }, prettyUnit(symbol.unit))));
    }
    const table = make("table", { class: "equation-symbols" }, body);
    return make("details", { open: "" }, make("summary", {}, "where"), table);
  }

  private update(): void {
    if (this.shown === null || this.element.clientWidth === 0) return;
    const { main, clock } = this.context;
    for (const { line, scale, terms } of this.lines) {
      termValues(main, line, scale, clock.t).forEach(({ value, share }, k) => {
        const { number, bar } = terms[k]!;
        const text = formatNumber(value, DIGITS);
        if (number.textContent !== text) number.textContent = text;
        bar.style.transform = `scaleX(${share.toFixed(4)})`;
        bar.dataset["sign"] = share < 0 ? "minus" : "plus";
      });
    }
    for (const { cell, name } of this.symbols) {
      const text = formatNumber(this.symbolValue(name), DIGITS);
      if (cell.textContent !== text) cell.textContent = text;
    }
  }

  private symbolValue(name: string): number {
    const { main, clock } = this.context;
    if (name === "t") return clock.t;
    const whole = main.find(name);
    if (whole !== undefined && whole.parts.length === 0) return main.valueAt(main.row(whole.row), clock.t);
    const dot = name.lastIndexOf(".");
    const vector = main.find(name.slice(0, dot));
    const part = vector?.parts.indexOf(name.slice(dot + 1)) ?? -1;
    return vector === undefined || part < 0 ? NaN : main.valueAt(main.row(vector.row + part), clock.t);
  }
}

export function makeEquationsPanel(context: PlayerContext): Panel {
  return new EquationsPanel(context);
}
