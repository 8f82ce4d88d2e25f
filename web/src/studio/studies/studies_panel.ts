// The tab "Studies": a form, the study under way, and the results of those that were made while the server lives.

import type { StudyAbout, StudyCheck, StudySummary } from "../../messages";
import { type Answer, type Kind, type LiveConnection, Overtaken, type Push, type PushedPacket, type Sent } from "../../live/connection";
import { type LiveDesk, errorWords } from "../../live/live_desk";
import { saveFile } from "../../plots/plot_files";
import { make, write } from "../../ui/elements";
import { addHelp } from "../../ui/help";
import type { StudioContext, StudioPart } from "../studio_types";
import { StudyData } from "./study_data";
import { StudyFormView, firstForm } from "./study_form";
import { StudyResult, copyText } from "./study_result";
import styles from "./studies.css?inline";
import { countRuns, progressWords, timeWords } from "./study_types";

const PAUSE = 350; // ms without a change before a form is checked
const NONE = "No study yet. Choose what varies, and press Run.";

export class StudiesPanel implements StudioPart {
  readonly element = make("div", { class: "studies" });
  result: StudyResult | null = null;
  data: StudyData | null = null;
  private readonly context: StudioContext;
  private readonly connection: LiveConnection;
  private readonly place = make("div", { class: "study-place" });
  private readonly estimate = make("p", { class: "study-estimate", role: "status" });
  private readonly begin = this.button("Run", "Make all runs of the model as it stands, saved or not", () => void this.run(), "primary");
  private readonly stopper = this.button("Stop", "End the study; what is done stays", () => void this.ask("study_stop"));
  private readonly bar = make("progress", { max: "1", value: "0", "aria-label": "Progress of the study" });
  private readonly progress = make("p", { class: "study-progress", role: "status" }, NONE);
  private readonly choice = make("select", { "aria-label": "Which study is shown" });
  private readonly tools = make("div", { class: "study-tools" });
  private readonly shown = make("div", { class: "study-shown" });
  private form: StudyFormView | null = null;
  private about: StudyAbout | null = null;
  private studies: StudySummary[] = [];
  private open = -1;
  private desk: LiveDesk | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private asked = 0;
  private loaded = false;
  private readonly ends: (() => void)[];

  constructor(context: StudioContext, connection: LiveConnection) {
    this.context = context;
    this.connection = connection;
    context.root.append(make("style", {}, styles));
    addHelp([{ keys: ["←", "→", "↑", "↓", "Enter"], words: "on the chart of a study: move from run to run, choose one" }]);
    this.choice.addEventListener("change", () => void this.show(Number(this.choice.value)));
    this.tools.append(this.choice, this.button("Forget", "Take this study out of the list", () => void this.ask("study_drop", { id: this.open })),
      this.button("CSV", "One row for each run, as a file", () => void this.saveCsv()),
      this.button("Copy command", "The command that makes the same study of the saved file", () => void copyText(this.data?.header.command ?? "", (words) => context.say(words))),
      this.button("Copy Python", "The lines of Python that make the same study of the saved file", () => void copyText(this.data?.header.python ?? "", (words) => context.say(words))));
    this.element.append(make("h2", {}, "Study"), this.place, make("div", { class: "study-begin" }, this.begin, this.stopper, this.estimate), this.bar, this.progress, this.tools, this.shown);
    this.ends = [connection.onPush((message) => this.hear(message)), connection.onPacket((packet) => this.hearPacket(packet)),
      context.document.listen((news) => (news.kind === "text" || news.kind === "opened") && this.changed()),
      connection.onState((state) => state === "open" && this.loaded && void this.load())];
    this.showList();
  }

  setDesk(desk: LiveDesk | null): void {
    this.desk = desk;
  }

  /** It was opened, or its size changed. */
  resized(): void {
    if (this.element.hidden || this.loaded) return;
    this.loaded = true;
    void this.load();
  }

  destroy(): void {
    for (const end of this.ends) end();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  // -- the form ------------------------------------------------------------------------------------------------------
  private async load(): Promise<void> {
    await this.loadList();
    await this.loadAbout();
  }

  /** What can vary and be kept; a form that is filled in stays. */
  private async loadAbout(): Promise<void> {
    const about = await this.ask("study_about");
    if (about === null) return;
    if (!("names" in about)) {
      this.begin.disabled = true;
      write(this.estimate, sentence(about.why));
      if (this.form === null) this.place.replaceChildren();
      return;
    }
    this.begin.disabled = this.running !== null;
    if (JSON.stringify({ ...about, version: 0 }) === JSON.stringify({ ...this.about, version: 0 })) return this.checkSoon();
    const typing = this.place.contains(document.activeElement);
    const before = this.form?.value ?? this.data?.header.form ?? null;
    this.about = about;
    if (typing) return this.checkSoon();
    this.form = new StudyFormView(about, before ?? firstForm(about));
    this.form.onChange = (): void => this.checkSoon();
    this.place.replaceChildren(this.form.element);
    this.checkSoon();
  }

  private changed(): void {
    if (!this.loaded) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.loadAbout(), PAUSE);
  }

  private checkSoon(): void {
    const runs = this.form === null ? NaN : countRuns(this.form.value);
    if (!Number.isNaN(runs)) write(this.estimate, `${runs} ${runs === 1 ? "run" : "runs"} …`);
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), PAUSE);
  }

  private async check(): Promise<void> {
    const mine = ++this.asked;
    const { form } = this;
    if (form === null || this.element.hidden) return;
    try {
      const told = await this.connection.ask("study_check", { form: form.value });
      if (mine === this.asked) this.showCheck(told);
    } catch (error) {
      if (mine === this.asked && !(error instanceof Overtaken)) write(this.estimate, errorWords(error));
    }
  }

  private showCheck({ errors, runs, seconds, note }: StudyCheck): void {
    this.form?.showErrors(errors);
    const elsewhere = errors.filter(({ field }) => this.form?.has(field) !== true).map(({ message }) => sentence(message));
    const time = seconds === null ? "" : `, about ${timeWords(seconds)}`;
    const words = errors.length === 0 ? `${runs} ${runs === 1 ? "run" : "runs"}${time}${note ? `. ${sentence(note)}` : ""}` : elsewhere.join(" ") || "Something is wrong above.";
    write(this.estimate, words, { "data-wrong": String(errors.length > 0) });
    this.begin.disabled = errors.length > 0 || this.running !== null;
  }

  // -- a study -------------------------------------------------------------------------------------------------------
  private get running(): StudySummary | null {
    return this.studies.find(({ state }) => state === "running") ?? null;
  }

  private async run(): Promise<void> {
    if (this.form === null) return;
    this.begin.disabled = true;
    const answer = await this.ask("study_run", { form: this.form.value });
    if (answer === null) this.begin.disabled = false;
    else if (answer.errors.length > 0) {
      this.showCheck({ errors: answer.errors, runs: 0, seconds: null, note: "" });
      this.form.focusFirst(answer.errors);
    } else {
      await this.loadList(); // a study that was quick is over by now; the newest is shown
      if (this.open !== answer.id) await this.show(answer.id!);
    }
  }

  private hear(told: Push): void {
    if (told.kind !== "study_state") return;
    if (told.state === "dropped") {
      this.studies = this.studies.filter(({ id }) => id !== told.id);
      if (this.open === told.id) void this.show(this.studies[0]?.id ?? -1);
      this.showList();
      return this.checkSoon();
    }
    if (this.studies.some(({ id }) => id === told.id)) this.studies = this.studies.map((each) => (each.id === told.id ? told : each));
    else this.studies = [told, ...this.studies];
    this.showList();
    if (told.id === this.open && told.state !== "running" && this.data?.header.dims.length === 0) void this.show(told.id);
    if (told.state !== "running") this.checkSoon();
  }

  private hearPacket({ header, arrays }: PushedPacket): void {
    if (header.kind !== "study_chunk" || header.id !== this.open) return;
    if (this.data === null || this.data.header.dims.length === 0) return void this.show(this.open); // it was opened before it was described
    this.data.take({ header, arrays });
    this.result?.update();
  }

  private async loadList(): Promise<void> {
    const answer = await this.ask("study_list");
    if (answer === null) return;
    this.studies = answer.studies;
    const [newest] = this.studies;
    if (newest !== undefined && !this.studies.some(({ id }) => id === this.open)) await this.show(newest.id);
    this.showList();
  }

  private async show(id: number): Promise<void> {
    this.open = id;
    if (id < 0) {
      this.data = this.result = null;
      this.shown.replaceChildren();
      return this.showList();
    }
    try {
      const answer = await this.connection.ask("study_open", { id });
      if (this.open !== id) return;
      this.data = StudyData.of(answer);
      this.result = null;
      this.shown.replaceChildren();
      if (this.data.header.dims.length > 0) {
        this.result = new StudyResult(this.data, { run: (run, beside) => this.runOne(run, beside), take: (run) => void this.take(run), readOnly: this.context.readOnly });
        this.shown.append(this.result.element);
      }
      this.showList();
    } catch (error) {
      this.context.say(errorWords(error), "error");
    }
  }

  private showList(): void {
    const { studies, running } = this;
    const told = studies.find(({ id }) => id === this.open) ?? null;
    const focus = document.activeElement === this.stopper;
    this.stopper.hidden = this.bar.hidden = running === null;
    this.begin.hidden = running !== null;
    if (focus && running === null) this.begin.focus();
    this.bar.value = running === null ? 0 : running.reached / Math.max(1, running.runs);
    this.tools.hidden = studies.length === 0;
    const marks: Record<string, string> = { running: " …", stopped: ", stopped", failed: ", ended early", done: "" };
    const options = studies.map(({ id, title, state, older }) => make("option", { value: String(id) }, `${title}${marks[state] ?? ""}${older ? ", older model" : ""}`));
    if ([...this.choice.options].map(({ text }) => text).join("\n") !== options.map(({ text }) => text).join("\n")) this.choice.replaceChildren(...options);
    this.choice.value = String(this.open);
    write(this.progress, told === null ? NONE : `${progressWords(told)}.${told.older ? " The model was changed since: this study is of an older one." : ""}`, { "data-older": String(told?.older ?? false) });
  }

  // -- one run of it -------------------------------------------------------------------------------------------------
  /** The values of a run, set as sliders set them; the run that was shown may stay beside it. */
  private runOne(run: number, beside: boolean): void {
    const { desk, data } = this;
    if (desk === null || data === null) return this.context.say("Nothing runs yet.", "error");
    const values = data.values(run);
    const start = this.about?.names.filter(({ role }) => role === "initial value").map(({ name }) => name) ?? [];
    const missing = Object.keys(values).find((name) => !start.includes(name) && desk.find(name) === undefined);
    if (missing !== undefined) return this.context.say(`${missing} is not in the model any more: the study is of an older one.`, "error");
    if (beside) this.context.say(desk.pin());
    const pick = (wanted: boolean): Record<string, number> => Object.fromEntries(Object.entries(values).filter(([name]) => start.includes(name) === wanted));
    desk.choose(pick(false), pick(true), data.header.until ?? undefined);
    this.context.say(`Run ${run + 1} is shown: ${Object.keys(values).join(", ")} as in the study. The text stays.`);
  }

  private async take(run: number): Promise<void> {
    try {
      const { words } = await this.context.document.changeBy("study_take", { id: this.open, run });
      this.context.say(sentence(words));
    } catch (error) {
      this.context.say(errorWords(error), "error");
    }
  }

  private async saveCsv(): Promise<void> {
    const answer = await this.ask("study_csv", { id: this.open });
    if (answer !== null) saveFile(new Blob([answer.text], { type: "text/csv" }), answer.name, this.context.root);
  }

  private async ask<K extends Kind>(kind: K, ...fields: Sent<K>): Promise<Answer<K> | null> {
    try {
      return await this.connection.ask(kind, ...fields);
    } catch (error) {
      if (!(error instanceof Overtaken)) this.context.say(errorWords(error), "error");
      return null;
    }
  }

  private button(words: string, title: string, act: () => void, kind = "tool"): HTMLButtonElement {
    const made = make("button", { type: "button", class: kind, title }, words);
    made.addEventListener("click", act);
    return made;
  }
}

function sentence(words: string): string {
  return words === "" ? "" : `${words[0]!.toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}
