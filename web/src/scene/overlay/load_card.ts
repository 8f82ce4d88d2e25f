// The card beside the pointer: what a load, joint or body is, in numbers and words.

import { make } from "../../ui/elements";
import { type LoadWords, spokenLoad } from "../math/load_words";

export class LoadCard {
  readonly element = make("div", { class: "load-card", role: "status" });

  constructor() {
    this.element.hidden = true;
  }

  /** Shows words of a load at a place on the stage; the card stays inside. */
  showLoad(words: LoadWords, x: number, y: number, room: { width: number; height: number }): void {
    const nodes: HTMLElement[] = [make("strong", {}, words.title)];
    if (words.lines.length > 0) {
      const table = make("table", { class: "load-table" });
      for (const line of words.lines) {
        const quantity = line.what.endsWith("force") ? "force" : "moment";
        const row = make("tr", {}, make("th", { class: quantity, scope: "row" }, line.what), make("td", { class: "number size" }, line.value));
        for (const c of line.components) {
          const cell = make("td", { class: c.unique ? "number" : "number hatched" }, `${c.axis} ${c.value}`);
          if (!c.unique) cell.title = "not unique";
          row.append(cell);
        }
        table.append(row);
      }
      nodes.push(table);
    }
    for (const note of words.notes) nodes.push(make("div", { class: "note" }, note));
    this.show(nodes, x, y, room);
    this.element.setAttribute("aria-label", spokenLoad(words));
  }

  showText(title: string, lines: string[], x: number, y: number, room: { width: number; height: number }): void {
    this.element.removeAttribute("aria-label");
    this.show([make("strong", {}, title), ...lines.map((line) => make("div", { class: "note" }, line))], x, y, room);
  }

  hide(): void {
    this.element.hidden = true;
  }

  private show(nodes: HTMLElement[], x: number, y: number, room: { width: number; height: number }): void {
    this.element.replaceChildren(...nodes);
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + 18 + width < room.width ? x + 18 : Math.max(4, x - 18 - width);
    const top = Math.min(Math.max(4, y - height / 2), Math.max(4, room.height - height - 4));
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}
