// Derivations compared: the badge in the header, and the table behind it.

import type { Verification, VerifiedRow } from "../../messages";
import { make, write } from "../../ui/elements";
import type { StandingLabels } from "../standing";
import type { StudioContext, StudioPart } from "../studio_types";
import type { PaneLink, PaneSocket } from "./pane_link";

/** A difference as it is read: 1.2e-15. */
export function differenceText(difference: number | null): string {
  if (difference === null || !Number.isFinite(difference)) return "not a number";
  return difference === 0 ? "0" : difference.toExponential(1);
}

/** Rows by quantity, the largest differences in units of their tolerance first where something differs. */
export function sortComparisons(rows: readonly VerifiedRow[]): VerifiedRow[] {
  return rows.some((row) => !row.ok) ? [...rows].sort((a, b) => ratio(b) - ratio(a)) : [...rows];
}

export class VerifyPanel implements StudioPart {
  readonly element = make("div", { class: "derived verify-panel" });
  readonly badge = make("button", { type: "button", class: "verify-badge", "data-state": "waiting" }, "");
  private readonly head = make("p", { role: "status" });
  private readonly reason = make("p", { class: "muted" });
  private readonly bar = make("progress", { max: "1", value: "0", "aria-label": "Progress of the comparison", hidden: "" });
  private readonly again = make("button", { type: "button", class: "tool" }, "Compare now");
  private readonly stopper = make("button", { type: "button", class: "tool", hidden: "" }, "Stop");
  private readonly body = make("div", { class: "derived-body" });
  private shown = "";
  private readonly context: StudioContext;
  private readonly end: () => void;

  constructor(context: StudioContext, link: PaneLink, socket: PaneSocket, open: () => void) {
    this.context = context;
    this.badge.addEventListener("click", open);
    this.badge.title = "Independent derivations of the model are compared after each change";
    this.again.addEventListener("click", () => void link.ask("pane_verify", {}).then((now) => now !== null && this.show(now), () => undefined));
    this.stopper.addEventListener("click", () => link.stop("pane_verify"));
    this.element.append(make("div", { class: "derived-state" }, this.head, this.bar, this.stopper, this.again), this.reason, this.body);
    this.end = socket.onPush((message) => message.kind === "verification" && this.show(message));
    void link.ask("pane_verification", {}).then((now) => now !== null && this.show(now), () => undefined);
  }

  destroy(): void {
    this.end();
  }

  standingChanged({ proof: { words, state }, aside }: StandingLabels): void {
    const { proof } = this.context.document.standing;
    write(this.badge, words, { "data-state": state });
    write(this.head, words, { "data-state": state });
    const isBusy = state === "running";
    this.bar.hidden = this.stopper.hidden = !isBusy;
    this.again.hidden = isBusy || aside !== "";
    this.bar.value = proof.share ?? 0;
    const took = proof.seconds === undefined ? "" : `, in ${proof.seconds.toFixed(1)} s`;
    this.reason.textContent = state !== proof.state ? aside : state === "agrees" || state === "differs" ? `${proof.words}${took}.` : proof.words;
    this.body.classList.toggle("old", isBusy || state === "waiting");
  }

  /** What was found; how it stands is in the one record. */
  show(now: Verification): void {
    const { state } = now;
    if (state === "running" || state === "waiting") return;
    const key = JSON.stringify([state, now.rows, now.skipped]);
    if (key === this.shown) return;
    this.shown = key;
    this.body.replaceChildren(...this.parts(now));
  }

  private parts(now: Verification): Node[] {
    const parts: Node[] = (now.failures ?? []).map((words) => make("p", { class: "wrong" }, words));
    if (now.rows.length > 0) {
      parts.push(make("p", { class: "muted" }, "Each derivation is compared with every other at random states. A difference is relative to the largest entry of the quantity."), wide("Derivations", summaryTable(summarize(now.rows))));
      const all = make("details", {}, make("summary", {}, `All ${now.rows.length} comparisons`), wide("Comparisons", pairTable(sortComparisons(now.rows))));
      all.open = now.state === "differs";
      parts.push(all);
    }
    if ((now.skipped ?? []).length > 0) {
      const items = now.skipped!.map(([name, reason]) => make("li", {}, make("strong", {}, name), ` does not apply: ${reason}`));
      parts.push(make("ul", { class: "skipped" }, ...items));
    }
    return parts;
  }
}

export interface DerivationRow {
  name: string;
  worst: VerifiedRow;
  count: number;
  seconds: number | null;
}

/** One row for each derivation: its largest difference from any other, relative to what is allowed. */
export function summarize(rows: readonly VerifiedRow[]): DerivationRow[] {
  const found = new Map<string, DerivationRow>();
  const timed = new Map(rows.filter((row) => row.seconds !== null).map((row) => [row.two, row.seconds]));
  for (const row of rows) {
    for (const name of timed.has(row.two) ? [row.one, row.two] : [row.one]) {
      const known = found.get(name);
      const worst = known === undefined || ratio(row) > ratio(known.worst) ? row : known.worst;
      found.set(name, { name, worst, count: (known?.count ?? 0) + 1, seconds: timed.get(name) ?? null });
    }
  }
  return [...found.values()];
}

function ratio(row: VerifiedRow): number {
  return row.difference === null ? Infinity : row.difference / row.tolerance;
}

function wide(words: string, table: HTMLElement): HTMLElement {
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": words }, table);
}

function secondsText(seconds: number | null): string {
  if (seconds === null) return "";
  return seconds < 1 ? `${(1e3 * seconds).toFixed(0)} ms` : `${seconds.toFixed(1)} s`;
}

function makeTable(head: [word: string, number: boolean][], rows: { ok: boolean; cells: string[]; title: string }[]): HTMLElement {
  const top = head.map(([word, number]) => make("th", { scope: "col", class: number ? "number" : "" }, word));
  const body = rows.map(({ ok, cells, title }) => make("tr", { "data-ok": String(ok), title }, ...cells.map((cell, k) => make("td", { class: head[k]![1] ? "number" : "" }, cell))));
  return make("table", {}, make("thead", {}, make("tr", {}, ...top)), make("tbody", {}, ...body));
}

function signed(row: VerifiedRow): string {
  return row.ok ? differenceText(row.difference) : `✕ ${differenceText(row.difference)}`;
}

function summaryTable(rows: DerivationRow[]): HTMLElement {
  return makeTable([["formulation", false], ["difference", true], ["quantity", false], ["time", true]],
    rows.map(({ name, worst, seconds }) => ({ ok: worst.ok, cells: [name, signed(worst), worst.quantity, secondsText(seconds)], title: `${worst.one} and ${worst.two}, ${worst.where}` })));
}

function pairTable(rows: VerifiedRow[]): HTMLElement {
  return makeTable([["quantity", false], ["difference", true], ["formulations", false], ["allowed", true], ["where", false]],
    rows.map((row) => ({ ok: row.ok, cells: [row.quantity, signed(row), `${row.one}, ${row.two}`, differenceText(row.tolerance), row.where], title: "" })));
}
