// Above the numbers: what is changed, runs that are kept to compare, and time travel: a branch from the cursor's state.

import type { PlayerContext, ShownRun } from "../panel";
import { button, make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { errorWords, type LiveDesk } from "./live_desk";
import { fieldText, firstUnit, readNumber } from "./number_range";
import { seriesOf } from "./run_update";
import { valueNow } from "./state_values";

export class CompareSection {
  readonly element = make("section", { class: "compare", "aria-label": "Runs" });
  private readonly context: PlayerContext;
  private readonly desk: LiveDesk;
  private readonly changes = make("output", { class: "changes", "aria-live": "off" });
  private readonly reset: HTMLButtonElement;
  private readonly runs = make("ul", { class: "kept-runs" });
  private readonly name = make("select", { "aria-label": "State or number to change" });
  private readonly field = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": "New value", class: "number-field" });
  private readonly unit = make("span", { class: "muted" });
  private readonly at = make("output", { "aria-live": "off" });
  private readonly until = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": "End of the run, s", class: "number-field" });
  private readonly travel: HTMLDetailsElement;
  private optionKey = "";
  private runKey = "";
  private typed = false;
  private readonly timing = makeFrameTask(() => this.showNow());

  constructor(context: PlayerContext, desk: LiveDesk) {
    this.context = context;
    this.desk = desk;
    const pin = button("Pin this run", "Keep this run to compare with (i)", () => context.say(desk.pin()));
    pin.classList.add("tool", "pin");
    this.reset = button("Reset all", "All numbers as in the file", () => desk.resetAll());
    this.reset.classList.add("tool");
    const go = button("Branch", "A run from the state at the cursor, with this change (b)", () => void this.branch());
    go.classList.add("tool");
    this.travel = make("details", { class: "fold travel" }, make("summary", {}, "Time travel: change at the cursor and branch"),
      make("div", { class: "travel-row" }, make("span", {}, "at ", this.at, " set "), this.name, this.field, this.unit, go));
    this.element.append(
      make("div", { class: "compare-head" }, pin, this.reset, make("label", { class: "until" }, "until ", this.until, " s")),
      this.changes, this.runs, this.travel);
    this.listen();
    this.setRuns();
    this.showChanges();
  }

  setRuns(): void {
    this.showRuns();
    this.showOptions();
    if (!this.until.matches(":focus")) this.until.value = fieldText(this.desk.endTime, { unit: "s", factor: 1 });
    this.timing.request();
  }

  /** The state that is shown for a branch. */
  wantedSeries(): string[] {
    return this.travel.open && this.choice.kind === "state" ? seriesOf(this.context.main, [this.choice.name]) : [];
  }

  showTime(): void {
    if (this.travel.open) this.timing.request();
  }

  showChanges(): void {
    const count = this.desk.changedNames.length;
    const text = count === 0 ? "All numbers as in the file." : `Changed: ${this.desk.words}.`;
    if (this.changes.textContent !== text) this.changes.textContent = text;
    this.reset.disabled = count === 0;
  }

  destroy(): void {
    this.timing.cancel();
  }

  /** Opens the row of time travel, for the key. */
  open(): void {
    this.travel.open = true;
    this.context.clock.pause();
    this.field.focus();
    this.field.select();
  }

  private listen(): void {
    this.name.addEventListener("change", () => {
      this.typed = false;
      this.showNow();
    });
    this.field.addEventListener("input", () => (this.typed = true));
    this.field.addEventListener("keydown", (event) => event.key === "Enter" && void this.branch());
    this.travel.addEventListener("toggle", () => this.showNow());
    this.until.addEventListener("change", () => this.setUntil());
    this.context.root.addEventListener("kinode-branch", () => this.open());
  }

  private setUntil(): void {
    const second = { unit: "s", factor: 1 };
    try {
      const until = readNumber(this.until.value, "s", second);
      if (!(until > this.context.main.header.run.from)) throw new Error("The end must come after the start.");
      this.desk.setUntil(until);
    } catch (error) {
      this.context.say(errorWords(error), "error");
      this.until.value = fieldText(this.desk.endTime, second);
    }
  }

  private showRuns(): void {
    const { compared } = this.desk;
    const key = compared.map((run) => run.label).join("\n");
    if (key === this.runKey) return;
    this.runKey = key;
    this.runs.replaceChildren(...compared.map((run) => this.makeRun(run)));
  }

  private makeRun(run: ShownRun): HTMLElement {
    const drop = button("×", `Take away: ${run.label}`, () => this.desk.drop(run));
    drop.classList.add("icon-button");
    return make("li", { "data-role": run.role }, make("span", { class: "kept-name", title: run.label }, `${run.role}: ${run.label}`), drop);
  }

  /** States of the run, then parameters that can change without compiling. */
  private showOptions(): void {
    const { header } = this.context.main;
    const states = header.series.filter((series) => series.group === "coordinates" || series.group === "states")
      .flatMap((series) => (series.parts.length === 0 ? [series.name] : series.parts.map((part) => `${series.name}.${part}`)));
    const numbers = this.desk.parameters.filter((each) => each.structural === "").map((each) => each.name);
    const key = [...states, "", ...numbers].join("\n");
    if (key === this.optionKey) return;
    this.optionKey = key;
    const chosen = this.name.value;
    const options = (kind: string, names: string[]): HTMLElement[] => names.map((name) => make("option", { value: `${kind} ${name}` }, name));
    const speed = states.find((name) => name.endsWith(".u")) ?? states[0] ?? "";
    this.name.replaceChildren(make("optgroup", { label: "State" }, ...options("state", states)), make("optgroup", { label: "Number" }, ...options("value", numbers)));
    this.name.value = chosen !== "" && key.includes(chosen.slice(6)) ? chosen : `state ${speed}`;
  }

  private get choice(): { kind: "state" | "value"; name: string; si: string } {
    const space = this.name.value.indexOf(" ");
    const kind = this.name.value.slice(0, space) === "value" ? "value" : "state";
    const name = this.name.value.slice(space + 1);
    const si = kind === "value" ? this.desk.find(name)?.unit : (this.context.main.find(name) ?? this.context.main.find(name.replace(/\.[^.]*$/, "")))?.unit;
    return { kind, name, si: si ?? "" };
  }

  private showNow(): void {
    const text = `${formatNumber(this.context.clock.t)} s`;
    if (this.at.textContent !== text) this.at.textContent = text;
    if (!this.travel.open) return;
    const { kind, name, si } = this.choice;
    const unit = firstUnit(si);
    this.unit.textContent = prettyUnit(unit.unit === "1" ? "" : unit.unit);
    if (this.typed) return;
    const value = kind === "value" ? this.desk.value(name) : valueNow(this.context.main, name, this.context.clock.t);
    this.field.value = fieldText(value, unit);
  }

  private async branch(): Promise<void> {
    const { kind, name, si } = this.choice;
    const { clock } = this.context;
    try {
      const value = readNumber(this.field.value, si, firstUnit(si));
      clock.pause();
      await this.desk.branch(clock.t, kind === "state" ? { state: { [name]: value } } : { values: { [name]: value } });
      this.typed = false;
      this.context.say(`Branch at ${formatNumber(clock.t)} s: both runs are shown.`);
      clock.play();
    } catch (error) {
      this.context.say(errorWords(error), "error");
    }
  }
}
