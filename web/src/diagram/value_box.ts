// The small box with all values of a link or component at the cursor.

import type { DiagramComponent, DiagramData, LinkData } from "../data/run_document";
import type { ShownRun } from "../panel";
import { make } from "../ui/elements";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { componentPower, endPowers, seriesAt } from "./link_reader";

export type Target = { link: LinkData } | { component: DiagramComponent };

export interface BoxRow {
  words: string;
  unit: string;
  values: number[]; // one for each run
}

const ROLES: Record<string, string> = {
  SB: "solid body", KN: "kinematic node", E: "source", DC: "dynamic component", part: "part", signal: "signal",
};
const MOST_RUNS = 3;

export function titleOf(target: Target): { name: string; words: string } {
  if ("component" in target) {
    const { name, kind, role } = target.component;
    return { name, words: `${kind.replace(/_/g, " ")}, ${ROLES[role] ?? role}` };
  }
  const { name, kind, domain } = target.link;
  return { name, words: kind === "energy" && domain ? `${domain} link` : `${kind} link` };
}

/** What the box says: values of each run at a time. */
export function boxRows(target: Target, data: DiagramData, runs: readonly ShownRun[], t: number): BoxRow[] {
  const shown = runs.slice(0, MOST_RUNS).map((run) => ({ run: run.document, cursor: run.document.locate(t) }));
  if ("component" in target) {
    const { name } = target.component;
    const rows: BoxRow[] = [];
    const total = shown.map(({ run, cursor }) => componentPower(run, data.links, name, cursor));
    if (total.some(Number.isFinite)) rows.push({ words: "power taken in, all links", unit: "W", values: total });
    for (const link of data.links) {
      link.ends.forEach((end, k) => {
        if (end.component !== name || link.powers.length === 0) return;
        const values = shown.map(({ run, cursor }) => endPowers(run, link, cursor)[k]!);
        rows.push({ words: `power through ${link.name}`, unit: "W", values });
      });
    }
    return rows;
  }
  const { link } = target;
  const rows = link.values.map(({ label, series, unit, of }): BoxRow => ({
    words: of === "" ? label : `${label}, ${link.kind === "vector" ? "on" : "into"} ${of}`,
    unit,
    values: shown.map(({ run, cursor }) => seriesAt(run, series, cursor)),
  }));
  if (link.powers.length > 0) {
    link.ends.forEach((end, k) => {
      const values = shown.map(({ run, cursor }) => endPowers(run, link, cursor)[k]!);
      rows.push({ words: `power into ${end.component}`, unit: "W", values });
    });
  }
  return rows;
}

export function spoken(target: Target, rows: BoxRow[]): string {
  const { name, words } = titleOf(target);
  const values = rows.map((row) => `${row.words} ${formatNumber(row.values[0] ?? NaN, 3)} ${row.unit}`);
  return [`${name}, ${words}`, ...values].join("; ");
}

export class ValueBox {
  readonly element = make("div", { class: "value-box", hidden: "" });
  private cells: HTMLElement[][] = [];
  private signature = "";

  show(target: Target, rows: BoxRow[], runs: readonly ShownRun[]): void {
    const { name, words } = titleOf(target);
    const signature = JSON.stringify([name, words, rows.map((row) => [row.words, row.unit, row.values.length])]);
    if (signature !== this.signature) this.build(name, words, rows, runs);
    this.signature = signature;
    rows.forEach((row, k) => row.values.forEach((value, j) => {
      const text = formatNumber(value, 4);
      const cell = this.cells[k]?.[j];
      if (cell && cell.textContent !== text) cell.textContent = text;
    }));
    this.element.hidden = false;
  }

  hide(): void {
    this.element.hidden = true;
  }

  /** Beside a place of the window, inside it. */
  place(x: number, y: number, width: number, height: number): void {
    const { offsetWidth: w, offsetHeight: h } = this.element;
    const left = x + 16 + w <= width ? x + 16 : Math.max(4, x - 16 - w);
    const top = y + 14 + h <= height ? y + 14 : Math.max(4, y - 14 - h);
    this.element.style.transform = `translate(${Math.max(4, Math.min(left, width - w - 4))}px, ${top}px)`;
  }

  private build(name: string, words: string, rows: BoxRow[], runs: readonly ShownRun[]): void {
    const body = make("tbody");
    this.cells = rows.map((row) => row.values.map((_, j) => make("td", { class: j === 0 ? "number" : "number muted" })));
    rows.forEach((row, k) => {
      const unit = make("td", { class: "muted" }, row.unit === "1" ? "" : prettyUnit(row.unit));
      body.append(make("tr", {}, make("td", {}, row.words), ...this.cells[k]!, unit));
    });
    const parts: Node[] = [make("div", { class: "value-title" }, make("b", {}, name), ` ${words}`)];
    if (rows.length > 0) {
      const table = make("table", {}, body);
      if (runs.length > 1) {
        const names = runs.slice(0, MOST_RUNS).map((run) => make("th", { class: "number" }, run.label));
        table.prepend(make("thead", {}, make("tr", {}, make("th"), ...names, make("th"))));
      }
      parts.push(table);
    }
    this.element.replaceChildren(...parts);
  }
}
