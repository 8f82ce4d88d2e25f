// Derivations compared: the badge in the header, and the table behind it.

import { make, write } from "../../ui/elements";
import type { StudioPart } from "../studio_types";
import type { Comparison, Verification, VerifyState } from "./derivation_types";
import type { PaneLink, PaneSocket } from "./pane_link";

const SIGNS: Record<VerifyState, string> = { waiting: "…", running: "…", agrees: "✓", differs: "✕", none: "–", unfinished: "–", asleep: "?" };
const WORDS: Record<VerifyState, string> = {
  waiting: "not compared yet", running: "comparing", agrees: "derivations agree", differs: "derivations differ", none: "nothing to compare", unfinished: "not compared: the model is not whole",
  asleep: "not compared",
};

/** What the badge says. */
export function badgeWords({ state, share }: Pick<Verification, "state" | "share">): string {
  const far = state === "running" && share !== undefined && share > 0 ? ` ${Math.round(100 * share)} %` : "";
  return `${SIGNS[state]} ${WORDS[state]}${far}`;
}

/** A difference as it is read: 1.2e-15. */
export function differenceText(difference: number | null): string {
  if (difference === null || !Number.isFinite(difference)) return "not a number";
  return difference === 0 ? "0" : difference.toExponential(1);
}

/** Rows by quantity, the largest differences in units of their tolerance first where something differs. */
export function sortComparisons(rows: readonly Comparison[]): Comparison[] {
  const ratio = (row: Comparison): number => (row.difference === null ? Infinity : row.difference / row.tolerance);
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
  private readonly end: () => void;

  constructor(link: PaneLink, socket: PaneSocket, open: () => void) {
    this.badge.addEventListener("click", open);
    this.badge.title = "Independent derivations of the model are compared after each change";
    this.again.addEventListener("click", () => void link.ask<Verification>("pane_verify").then((now) => now !== null && this.show(now), () => undefined));
    this.stopper.addEventListener("click", () => link.stop("pane_verify"));
    this.element.append(make("div", { class: "derived-state" }, this.head, this.bar, this.stopper, this.again), this.reason, this.body);
    this.end = socket.onPush((message) => message["kind"] === "verification" && this.show(message as unknown as Verification));
    void link.ask<Verification>("pane_verification").then((now) => now !== null && this.show(now), () => undefined);
  }

  destroy(): void {
    this.end();
  }

  show(now: Verification): void {
    const { state, words } = now;
    write(this.badge, badgeWords(now), { "data-state": state });
    write(this.head, badgeWords(now), { "data-state": state });
    const isBusy = state === "running";
    this.bar.hidden = this.stopper.hidden = !isBusy;
    this.again.hidden = isBusy || state === "unfinished";
    this.bar.value = now.share ?? 0;
    this.reason.textContent = state === "agrees" || state === "differs" ? `${words}${now.seconds === undefined ? "" : `, in ${now.seconds.toFixed(1)} s`}.` : words;
    if (isBusy || state === "waiting") return void this.body.classList.add("old");
    this.body.classList.remove("old");
    const key = JSON.stringify([state, now.rows, now.skipped]);
    if (key === this.shown) return;
    this.shown = key;
    this.body.replaceChildren(...this.parts(now));
  }

  private parts(now: Verification): Node[] {
    const parts: Node[] = (now.failures ?? []).map((words) => make("p", { class: "wrong" }, words));
    if (now.rows.length > 0) {
      parts.push(make("p", { class: "muted" }, "Each row is a quantity by two derivations at random states: how far they are apart, relative to the largest entry, and what is allowed."));
      parts.push(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Comparisons" }, this.table(sortComparisons(now.rows))));
    }
    if ((now.skipped ?? []).length > 0) {
      const items = now.skipped!.map(([name, reason]) => make("li", {}, make("strong", {}, name), ` does not apply: ${reason}`));
      parts.push(make("ul", { class: "skipped" }, ...items));
    }
    return parts;
  }

  private table(rows: Comparison[]): HTMLElement {
    const head = ["formulation", "quantity", "difference", "allowed", "time", "where"].map((word, k) => make("th", { scope: "col", class: k > 1 && k < 5 ? "number" : "" }, word));
    const body = rows.map((row) => make("tr", { "data-ok": String(row.ok) }, make("td", {}, `${row.one} – ${row.two}`), make("td", {}, row.quantity),
      make("td", { class: "number" }, row.ok ? differenceText(row.difference) : `✕ ${differenceText(row.difference)}`), make("td", { class: "number" }, differenceText(row.tolerance)),
      make("td", { class: "number" }, row.seconds === null ? "" : row.seconds < 1 ? `${(1e3 * row.seconds).toFixed(0)} ms` : `${row.seconds.toFixed(1)} s`), make("td", {}, row.where)));
    return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body));
  }
}
