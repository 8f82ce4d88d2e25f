// The desk of a live page: numbers in force, the run they give, runs kept beside it. Panels ask it, it asks the server.

import type { LiveHeader } from "../messages";
import type { Packet } from "../data/packet";
import { runOf } from "../data/packet";
import type { ParameterData } from "../data/run_document";
import { RunDocument } from "../data/run_document";
import type { LiveLink, ShownRun } from "../panel";
import type { Player } from "../player";
import type { Stage } from "../scene/stage";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { type Answer, type Ask, LiveError, type LiveConnection, Overtaken, type Push } from "./connection";
import { LatencyMeter } from "./latency";
import { Newest } from "./newest";
import { fieldText, firstUnit } from "./number_range";
import { type LiveRun, changeWords, fits, liveHeader, updateRun, wholeRun, withCauses, withMore, withRows } from "./run_update";

interface SetQuestion {
  values: Record<string, number | null>; // null: as in the file
  start: Record<string, number | null>;
  until: number;
  name: string; // what was moved last
  input: number; // when, performance.now()
}

/** What listeners are told: numbers changed, runs were added or left, another model, nothing moved for a while, an error. */
export type DeskNews =
  | { kind: "values"; name: string }
  | { kind: "runs" }
  | { kind: "model" }
  | { kind: "settled" }
  | { kind: "refused"; name: string; message: string };

const SETTLES = 300; // ms without a change
export const MOST_COMPARED = 6;

export class LiveDesk implements LiveLink {
  readonly latency = new LatencyMeter();
  readonly connection: LiveConnection;
  live: LiveHeader;
  run: LiveRun;
  compared: ShownRun[] = [];
  /** What was moved last. */
  last = "";
  private player: Player | null = null;
  private readonly values = new Map<string, number>(); // that differ from the file
  private readonly starts = new Map<string, number>();
  private readonly given = new Map<string, number>(); // values of the file
  private readonly left = { values: new Set<string>(), start: new Set<string>() }; // set before, now as in the file
  private until!: number;
  private early = false;
  private settling: ReturnType<typeof setTimeout> | null = null;
  private readonly listeners = new Set<(news: DeskNews) => void>();
  private readonly lane: Newest<SetQuestion, Answer<"set">>;

  constructor(connection: LiveConnection, opened: Packet) {
    this.connection = connection;
    this.run = wholeRun(opened);
    this.live = liveHeader(this.run.document.header);
    this.takeNumbers();
    this.lane = new Newest<SetQuestion, Answer<"set">>({
      send: ({ values, start, until }) => connection.ask("set", { values, start, until, series: this.player?.wantedSeries ?? null }),
      done: (answer, question) => this.answered(answer, question),
      failed: (error, question) => this.refused(error, question),
    });
  }

  // -- the link that panels know -------------------------------------------------------------------
  readonly ask: Ask = (kind, ...fields) => this.connection.ask(kind, ...fields);

  onPush(listener: (message: Push) => void): () => void {
    return this.connection.onPush(listener);
  }

  // -- numbers ---------------------------------------------------------------------------------------
  get parameters(): readonly ParameterData[] {
    return this.live.parameters;
  }

  find(name: string): ParameterData | undefined {
    return this.live.parameters.find((each) => each.name === name);
  }

  /** The value in force, SI. */
  value(name: string): number {
    return this.values.get(name) ?? this.given.get(name) ?? NaN;
  }

  /** The value of the file. */
  fileValue(name: string): number {
    return this.given.get(name) ?? NaN;
  }

  start(name: string): number | undefined {
    return this.starts.get(name) ?? this.values.get(name);
  }

  isChanged(name: string): boolean {
    return this.values.has(name);
  }

  get changedNames(): string[] {
    return [...this.values.keys(), ...this.starts.keys()];
  }

  get endTime(): number {
    return this.until;
  }

  setValue(name: string, value: number, input = performance.now()): void {
    this.setValues({ [name]: value }, input);
  }

  setValues(values: Record<string, number>, input = performance.now()): void {
    const names = Object.keys(values);
    for (const name of names) {
      if (values[name] === this.given.get(name)) this.leave("values", name);
      else this.values.set(name, values[name]!);
    }
    this.send(names[0] ?? "", input);
  }

  /** Initial values of coordinates and speeds; those that are numbers of the model are set as such, their sliders follow. */
  setStart(values: Record<string, number>, input = performance.now()): void {
    const names = Object.keys(values);
    for (const name of names) {
      if (this.find(name)?.structural === "") this.values.set(name, values[name]!);
      else this.starts.set(name, values[name]!);
    }
    this.send(names[0] ?? "", input);
  }

  /** Exactly these values, initial values and end: what was set before is as in the file. */
  choose(values: Record<string, number>, start: Record<string, number>, until = this.until): void {
    for (const name of [...this.values.keys()]) this.leave("values", name);
    for (const name of [...this.starts.keys()]) this.leave("start", name);
    for (const [name, value] of Object.entries(values)) if (value !== this.given.get(name)) this.values.set(name, value);
    for (const [name, value] of Object.entries(start)) (this.find(name)?.structural === "" ? this.values : this.starts).set(name, value);
    this.until = until;
    this.send(Object.keys({ ...values, ...start })[0] ?? "", performance.now());
  }

  setUntil(until: number): void {
    this.until = until;
    this.send("until", performance.now());
  }

  reset(name: string): void {
    if (!this.values.has(name)) return;
    this.leave("values", name);
    this.send(name, performance.now());
  }

  resetAll(): void {
    for (const name of [...this.values.keys()]) this.leave("values", name);
    for (const name of [...this.starts.keys()]) this.leave("start", name);
    this.send("", performance.now());
  }

  // -- runs beside the main one ------------------------------------------------------------------------
  get shownRuns(): ShownRun[] {
    const { document } = this.run;
    const label = this.compared.length > 0 ? `now: ${this.words}` : document.header.label || document.header.name;
    return [{ document, role: "main", label }, ...this.compared];
  }

  /** The numbers that differ from the file, in a few words. */
  get words(): string {
    const changed = this.changedNames.map((name) => {
      const si = this.find(name)?.unit ?? this.run.document.find(name)?.unit ?? "";
      const unit = firstUnit(si);
      const value = this.starts.get(name) ?? this.value(name);
      return { name, text: `${fieldText(value, unit)}${unit.unit === "" || unit.unit === "1" ? "" : ` ${prettyUnit(unit.unit)}`}` };
    });
    return changeWords(changed);
  }

  /** Keeps the run that is shown, to compare with. Says what became of it. */
  pin(): string {
    const { document } = this.run;
    if (this.compared.some((run) => run.document === document)) return "This run is pinned already.";
    if (this.compared.length >= MOST_COMPARED) return `At most ${MOST_COMPARED} runs are compared: unpin one first.`;
    this.compared.push({ document, role: "pinned", label: this.words });
    void this.complete();
    this.showRuns();
    return `Pinned: ${this.words}. Now change a number.`;
  }

  /** Shows the run of another model beside this one. */
  addRun(document: RunDocument, label: string): void {
    if (this.compared.length >= MOST_COMPARED) throw new Error(`At most ${MOST_COMPARED} runs are compared: take one away first.`);
    this.compared.push({ document, role: "pinned", label });
    this.showRuns();
  }

  drop(run: ShownRun): void {
    this.compared = this.compared.filter((each) => each !== run);
    this.showRuns();
  }

  /** A run from the state at a time, with a change; it stays beside the main one. */
  async branch(t: number, change: { values?: Record<string, number>; state?: Record<string, number> }): Promise<void> {
    if (this.compared.length >= MOST_COMPARED) throw new Error(`At most ${MOST_COMPARED} runs are compared: take one away first.`);
    const answer = await this.ask("branch", { t, ...change });
    const document = runOf(answer);
    const changed = Object.entries({ ...change.values, ...change.state }).map(([name, value]) => ({ name, text: formatNumber(value) }));
    this.compared.push({ document, role: "branch", label: `from ${formatNumber(t)} s: ${changeWords(changed)}` });
    this.showRuns();
  }

  // -- what comes from outside -----------------------------------------------------------------------
  attach(player: Player): void {
    this.player = player;
  }

  onNews(listener: (news: DeskNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * The model was edited, or the page came back: another run, its numbers as the server tells them. Where only more of
   * the same model has come, numbers that were moved meanwhile stay.
   */
  setModel(packet: Packet, more = false): void {
    const next = wholeRun(packet);
    this.run = more ? withMore(this.run, next) : next;
    this.live = liveHeader(this.run.document.header);
    if (!more) this.takeNumbers();
    this.tell({ kind: "model" });
    if (this.early) this.send("", performance.now());
    this.early = false;
  }

  /** Who loads the chosen joint, if the present run does not say so yet. */
  async wantCauses(joint: string): Promise<void> {
    const { run } = this;
    if (joint === "" || run.document.header.causes.some((each) => each.joint === joint)) return;
    try {
      for (const by of ["body", "cause"] as const) {
        const answer = await this.ask("causes", { joint, by });
        if (this.run.document.header.run !== run.document.header.run) return;
        this.run = withCauses(this.run, answer);
      }
    } catch {
      // A breakdown that cannot be made is left out: the panel says so.
    }
    if (this.run.document !== run.document) this.showRuns(false);
  }

  /** A check of the run that is shown now. */
  async check(what: "audit" | "verify"): Promise<void> {
    const { document } = this.run;
    try {
      const badge = await this.ask("checks", { what });
      if (this.run.document.header.run !== document.header.run) return;
      const header = this.run.document.header;
      const badges = [...header.badges.filter((each) => each.name !== what), { ...badge, name: what }];
      this.run = { ...this.run, document: new RunDocument({ ...header, badges }, this.run.arrays) };
      this.showRuns(false);
    } catch (error) {
      if (!(error instanceof Overtaken)) this.player?.say(errorWords(error), "error");
    }
  }

  /** The series that were not sent while a number moved, into the run and where it is pinned. */
  async complete(): Promise<void> {
    const { run } = this;
    if (!run.lacking) return;
    try {
      const answer = await this.ask("rows", { id: run.id });
      const whole = withRows(run, answer);
      this.compared = this.compared.map((each) => (each.document === run.document ? { ...each, document: whole.document } : each));
      if (this.run.id === run.id && this.run.lacking) this.run = withRows(this.run, answer);
      this.showRuns(false);
    } catch (error) {
      if (!(error instanceof Overtaken)) this.player?.say(errorWords(error), "error");
    }
  }

  private send(name: string, input: number): void {
    if (name !== "" && name !== "until") this.last = name;
    this.tell({ kind: "values", name });
    const { left } = this;
    const nothing = (names: Set<string>): Record<string, null> => Object.fromEntries([...names].map((each) => [each, null]));
    this.lane.ask({
      values: { ...nothing(left.values), ...Object.fromEntries(this.values) },
      start: { ...nothing(left.start), ...Object.fromEntries(this.starts) }, until: this.until, name, input,
    });
  }

  private leave(kind: "values" | "start", name: string): void {
    (kind === "values" ? this.values : this.starts).delete(name);
    this.left[kind].add(name);
  }

  /** Numbers as the server tells them: those in force, those that differ from the file. */
  private takeNumbers(): void {
    const { parameters, values, startChanged, until } = this.live;
    this.until = until;
    for (const { name, value } of parameters) if (!(name in values) || !this.given.has(name)) this.given.set(name, value);
    for (const kept of [this.values, this.starts, this.left.values, this.left.start]) kept.clear();
    for (const [name, value] of Object.entries(values)) this.values.set(name, value);
    for (const [name, value] of Object.entries(startChanged)) this.starts.set(name, value);
  }

  private answered(answer: Answer<"set">, question: SetQuestion): void {
    const came = performance.now();
    if (!fits(this.run.document.header, answer)) {
      this.early = true; // it belongs to a model that is still on its way here
      return;
    }
    this.run = updateRun(this.run, answer);
    const { note } = answer.header;
    if (note !== "") this.player?.say(note);
    (this.player?.stage as Stage | undefined)?.setQuick(true);
    this.showRuns(false);
    this.latency.drawn(question.input, came);
    this.settleSoon();
  }

  private refused(error: Error, question: SetQuestion): void {
    const message = errorWords(error);
    this.player?.say(message, "error");
    this.tell({ kind: "refused", name: question.name, message });
    this.settleSoon();
  }

  private showRuns(changed = true): void {
    this.player?.setRuns(this.shownRuns);
    if (changed) this.tell({ kind: "runs" });
  }

  private settleSoon(): void {
    if (this.settling !== null) clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.settling = null;
      if (this.lane.busy) return;
      (this.player?.stage as Stage | undefined)?.setQuick(false);
      void this.complete();
      const chosen = this.player?.selection;
      if (chosen?.kind === "joint") void this.wantCauses(chosen.name);
      void this.check("audit");
      this.tell({ kind: "settled" });
    }, SETTLES);
  }

  private tell(news: DeskNews): void {
    for (const listener of this.listeners) listener(news);
  }
}

export function errorWords(error: unknown): string {
  return error instanceof LiveError ? error.words : error instanceof Error ? error.message : String(error);
}
