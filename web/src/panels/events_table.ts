// The events of the runs as a table: a click goes to the time, the row of the clock is marked.

import type { EventData } from "../data/run_document";
import type { PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { formatNumber } from "../ui/numbers";
import { eventWords } from "./time_steps";

const MOST_ROWS = 500;

/** The last event that is not after t; -1 before the first. */
export function eventAt(events: readonly EventData[], t: number, span: number): number {
  let index = -1;
  for (let k = 0; k < events.length && events[k]!.time <= t + 1e-9 * span; k++) index = k;
  return index;
}

export class EventsTable {
  readonly element = make("div", { class: "events" });
  private readonly context: PlayerContext;
  private readonly body = make("tbody");
  private readonly more = make("p", { class: "muted" });
  private events: EventData[] = [];
  private marked = -1;

  constructor(context: PlayerContext) {
    this.context = context;
    const head = make("tr", {}, make("th", { scope: "col", class: "number" }, "s"), make("th", { scope: "col" }, "kind"), make("th", { scope: "col" }, "what happens"));
    this.element.append(make("table", { "aria-label": "Events" }, make("thead", {}, head), this.body), this.more);
  }

  update(): void {
    this.events = [...this.context.main.header.events].sort((a, b) => a.time - b.time).slice(0, MOST_ROWS);
    const left = this.context.main.header.events.length - this.events.length;
    this.more.hidden = left === 0;
    this.more.textContent = `${left} more are not listed.`;
    while (this.body.children.length > this.events.length) this.body.lastElementChild!.remove();
    while (this.body.children.length < this.events.length) this.body.append(this.makeRow(this.body.children.length));
    this.events.forEach((event, k) => {
      const cells = this.body.children[k]!.children;
      const texts = [formatNumber(event.time, 5), event.kind, eventWords(event)];
      const go = cells[0]!.firstElementChild!;
      if (go.textContent !== texts[0]) go.textContent = texts[0]!;
      for (const c of [1, 2]) if (cells[c]!.textContent !== texts[c]) cells[c]!.textContent = texts[c]!;
    });
    this.marked = -2;
    this.showTime();
  }

  showTime(): void {
    const { clock } = this.context;
    const index = eventAt(this.events, clock.t, clock.to - clock.from);
    if (index === this.marked) return;
    this.marked = index;
    [...this.body.children].forEach((row, k) => {
      if (k === index) row.setAttribute("aria-current", "time");
      else row.removeAttribute("aria-current");
    });
  }

  private makeRow(k: number): HTMLElement {
    const go = make("button", { type: "button", class: "link", title: "Go to this time" });
    const row = make("tr", {}, make("td", { class: "number" }, go), make("td"), make("td"));
    row.addEventListener("click", () => {
      const event = this.events[k];
      if (event === undefined) return;
      this.context.clock.pause();
      this.context.clock.seek(event.time);
    });
    return row;
  }
}
