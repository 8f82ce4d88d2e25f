// Tables of text and numbers.

import type { TableData } from "../data/run_document";
import { make } from "../ui/elements";

export function makeTable(table: TableData): HTMLElement {
  const side = (column: number): Record<string, string> => (table.numbers.includes(column) ? { class: "number" } : {});
  return make("table", {}, ...(table.title === "" ? [] : [make("caption", {}, table.title)]),
    make("thead", {}, make("tr", {}, ...table.head.map((text, k) => make("th", { scope: "col", ...side(k) }, text)))),
    make("tbody", {}, ...table.rows.map((row) => make("tr", {}, ...row.map((text, k) => make("td", side(k), text))))));
}

/** A part of a panel that folds. */
export function makeFold(title: string, open: boolean, ...children: Node[]): HTMLDetailsElement {
  return make("details", { class: "fold", ...(open ? { open: "" } : {}) }, make("summary", {}, title), ...children);
}
