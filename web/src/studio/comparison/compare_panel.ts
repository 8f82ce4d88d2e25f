// The tab "Compare": what differs from another model, each row with the way to its part and a button that takes it over;
// the peaks of both runs side by side; marks in the drawing, and the other run as a ghost in 3D.

import { runOf } from "../../data/packet";
import type { CompareChoices, ComparedModels, ComparedRow } from "../../messages";
import { errorWords, type LiveDesk } from "../../live/live_desk";
import type { ShownRun } from "../../panel";
import { make, write } from "../../ui/elements";
import { formatNumber, prettyUnit } from "../../ui/numbers";
import type { DocumentNews } from "../document";
import type { StandingLabels } from "../standing";
import type { StudioContext, StudioPart } from "../studio_types";
import { COMPARED_EVENT, type CompareOther, type ComparedMarks, type ComparedPeak, SIGNS, lineWords, marksOf, partWords, percentWords, valueWords } from "./compare_types";

const PAUSE = 250; // ms after a change before the comparison is made anew
const NOTHING = "Choose what to compare this model with.";

export interface CompareActions {
  /** Shows a field of a part, or a line of the text. */
  goTo(row: ComparedRow): void;
}

export class ComparePanel implements StudioPart {
  readonly element = make("div", { class: "comparison" });
  private readonly context: StudioContext;
  private readonly actions: CompareActions;
  private readonly choice = make("select", { "aria-label": "Compare with" });
  private readonly verdict = make("p", { class: "compare-verdict", role: "status" }, NOTHING);
  private readonly rows = make("ul", { class: "compare-rows", "aria-label": "Differences" });
  private readonly peaks = make("div", { class: "compare-peaks" });
  private readonly runButton = this.makeButton("Peaks side by side", "Run the other model too, and compare the peaks of both", () => void this.comparePeaks());
  private readonly allButton = this.makeButton("Take over all", "Make this model as the other one is, as one step of undo", () => void this.take(this.found?.rows ?? []));
  private readonly endButton = this.makeButton("Stop comparing", "Take the marks away", () => this.compareWith(null));
  private others: CompareOther[] = [];
  private other: CompareOther | null = null;
  private found: ComparedModels | null = null;
  private foundText = ""; // the text that it is of
  private desk: LiveDesk | null = null;
  private endDesk: (() => void) | null = null;
  private readonly pinned = new Map<ShownRun["document"], string>(); // the text that a pinned run is of
  private ghost: ShownRun["document"] | null = null;
  private asked = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly end: () => void;

  constructor(context: StudioContext, actions: CompareActions) {
    this.context = context;
    this.actions = actions;
    this.choice.addEventListener("change", () => this.compareWith(this.others[Number(this.choice.value)] ?? null));
    this.element.append(make("h2", {}, "Compare with …"), this.choice, this.verdict, make("div", { class: "compare-actions" }, this.runButton, this.allButton, this.endButton), this.rows, this.peaks);
    this.end = context.document.listen((news) => this.hear(news));
    this.showFound();
  }

  /** It was opened: what it can be compared with may have changed. */
  resized(): void {
    if (!this.element.hidden) void this.loadChoices();
  }

  /** The run that stands beside the other one. */
  setDesk(desk: LiveDesk | null): void {
    if (desk === this.desk) return;
    this.endDesk?.();
    this.desk = desk;
    this.endDesk = desk?.onNews((news) => news.kind === "runs" && this.notePinned()) ?? null;
    this.runButton.disabled = desk === null || this.other === null;
  }

  destroy(): void {
    this.end();
    this.endDesk?.();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  // -- what it is compared with --------------------------------------------------------------------------------
  private async loadChoices(): Promise<void> {
    try {
      const choices = await this.context.document.ask("compare_choices");
      this.showChoices(choices);
    } catch (error) {
      this.verdict.textContent = errorWords(error);
    }
  }

  private showChoices({ files, commit, why, saved }: CompareChoices): void {
    const entries: [string, CompareOther | null][] = [
      ...(saved ? [["Last saved", { saved: true }] as [string, CompareOther]] : []),
      [commit === "" ? `Last commit: ${why}` : `Last commit: ${commit}`, commit === "" ? null : { commit: "HEAD" }],
      ...files.map((file) => [file, { file }] as [string, CompareOther]),
      ...[...this.pinned].filter(([document]) => this.desk?.compared.some((run) => run.document === document)).map(([document, text], k) => {
        const label = this.desk?.compared.find((run) => run.document === document)?.label ?? "";
        return [`Pinned run ${k + 1}: ${label}`, { text, label: `pinned run ${k + 1}` }] as [string, CompareOther];
      }),
    ];
    const known = JSON.stringify(this.other);
    this.others = entries.flatMap(([, other]) => (other === null ? [] : [other]));
    this.choice.replaceChildren(make("option", { value: "" }, "nothing"), ...entries.map(([words, other]) => {
      const option = make("option", { value: other === null ? "" : String(this.others.indexOf(other)) }, words);
      option.disabled = other === null;
      return option;
    }));
    const at = this.others.findIndex((other) => JSON.stringify(other) === known);
    this.choice.value = at < 0 ? "" : String(at);
  }

  /** A run that was pinned just now is one of the present text. */
  private notePinned(): void {
    for (const { document, role } of this.desk?.compared ?? []) if (role === "pinned" && document !== this.ghost && !this.pinned.has(document)) this.pinned.set(document, this.context.document.text);
  }

  compareWith(other: CompareOther | null): void {
    this.other = other;
    this.dropGhost();
    this.peaks.replaceChildren();
    if (other === null) {
      this.choice.value = "";
      this.found = null;
      this.showFound();
    } else void this.compare();
  }

  // -- what differs ----------------------------------------------------------------------------------------------
  private hear(news: DocumentNews): void {
    if (this.other === null || (news.kind !== "text" && news.kind !== "opened")) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.compare(), PAUSE);
  }

  private async compare(): Promise<void> {
    const mine = ++this.asked;
    const { other } = this;
    if (other === null) return;
    const { text } = this.context.document;
    try {
      const found = await this.context.document.ask("compare", { other });
      if (mine !== this.asked || other !== this.other) return;
      this.found = found;
      this.foundText = text;
      this.showFound();
    } catch (error) {
      if (mine === this.asked) this.verdict.textContent = errorWords(error);
    }
  }

  private showFound(): void {
    const { found } = this;
    this.standingChanged(this.context.document.labels);
    const focus = this.rows.contains(document.activeElement);
    this.rows.replaceChildren(...(found?.rows ?? []).map((row) => this.item(row)));
    if (focus) (this.rows.querySelector<HTMLElement>("button") ?? this.choice).focus();
    for (const each of [this.runButton, this.allButton, this.endButton]) each.hidden = found === null;
    this.allButton.disabled = this.context.readOnly || (found?.rows.length ?? 0) === 0;
    this.runButton.disabled = this.desk === null;
    const detail: ComparedMarks | null = found === null ? null : { ...marksOf(found), ...(this.other === null ? {} : { other: this.other }) };
    this.context.root.dispatchEvent(new CustomEvent(COMPARED_EVENT, { detail }));
  }

  /** The verdict, with what speaks against it: it is of an earlier text, or the model has problems. */
  standingChanged({ aside }: StandingLabels): void {
    const { found } = this;
    if (found === null) return void write(this.verdict, NOTHING);
    const old = this.foundText === this.context.document.text ? "" : " Of an earlier text: it is compared anew.";
    write(this.verdict, `${found.label} → this model: ${found.verdict}.${old}${aside === "" ? "" : ` ${aside}`}`);
  }

  private item(row: ComparedRow): HTMLElement {
    const go = make("button", { type: "button", class: "compare-row" }, make("span", { class: `row-sign ${row.change}`, title: row.change, role: "img", "aria-label": row.change }, SIGNS[row.change]),
      make("strong", {}, partWords(row), make("small", {}, lineWords(row))), make("span", { class: "row-values" }, valueWords(row)));
    go.addEventListener("click", () => this.actions.goTo(row));
    go.addEventListener("pointerenter", () => this.context.hover(row.part));
    go.addEventListener("pointerleave", () => this.context.hover(null));
    const take = this.makeButton("Take over", `Make ${partWords(row)} as the other model has it`, () => void this.take([row]));
    take.disabled = this.context.readOnly;
    return make("li", { "data-change": row.change, "data-part": row.part }, go, take);
  }

  private async take(rows: readonly ComparedRow[]): Promise<void> {
    if (rows.length === 0 || this.other === null) return;
    const asked = rows.map(({ part, field, change }) => ({ part, field, change }));
    try {
      const { words } = await this.context.document.changeBy("compare_take", { other: this.other, rows: asked });
      this.context.say(words);
    } catch (error) {
      this.context.say(errorWords(error), "error");
    }
  }

  // -- both runs -------------------------------------------------------------------------------------------------
  private async comparePeaks(): Promise<void> {
    const { other, desk } = this;
    if (other === null || desk === null) return;
    this.peaks.replaceChildren(make("p", { class: "muted", role: "status" }, "The other model runs …"));
    try {
      const answer = await this.context.document.ask("compare_run", { other });
      if (other !== this.other) return;
      this.dropGhost();
      const ghost = (this.ghost = runOf(answer));
      desk.addRun(ghost, this.found?.label ?? "other");
      this.showPeaks(answer.header.peaks);
    } catch (error) {
      if (other === this.other) this.peaks.replaceChildren(make("p", { class: "muted", role: "alert" }, errorWords(error)));
    }
  }

  private showPeaks(peaks: readonly ComparedPeak[]): void {
    const cell = (value: number | null): HTMLElement => make("td", {}, value === null ? "–" : formatNumber(value));
    const body = peaks.map((peak) => make("tr", { ...(peak.percent !== null && Math.abs(peak.percent) >= 0.1 ? { class: "differs" } : {}), "data-name": peak.name },
      make("td", {}, peak.name, " ", make("span", { class: "muted" }, prettyUnit(peak.unit))), cell(peak.before), cell(peak.after), make("td", {}, peak.percent === null ? "" : percentWords(peak.percent))));
    const head = ["peak", "other", "this", "change"].map((words) => make("th", { scope: "col" }, words));
    this.peaks.replaceChildren(make("h3", {}, "Peaks side by side"), make("table", { class: "peak-table", "aria-label": "Peaks side by side" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)));
  }

  private dropGhost(): void {
    const run = this.desk?.compared.find(({ document }) => document === this.ghost);
    this.ghost = null;
    if (run !== undefined) this.desk?.drop(run);
  }

  private makeButton(words: string, title: string, act: () => void): HTMLButtonElement {
    const made = make("button", { type: "button", class: "tool", title }, words);
    made.addEventListener("click", act);
    return made;
  }
}
