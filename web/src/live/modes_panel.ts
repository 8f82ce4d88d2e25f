// The panel of modes: eigenvalues at the cursor's state, in a table and in the complex plane; one chosen swings in 3D.

import type { Panel, PlayerContext } from "../panel";
import type { Player } from "../player";
import { button, make } from "../ui/elements";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { ComplexPlane } from "./complex_plane";
import { type Answer, Overtaken } from "./connection";
import { LiveDesk, errorWords } from "./live_desk";
import { type Eigenvalue, type ModeRecord, type ModesAnswer, modeWords, readEigenvalues, readModes } from "./mode_data";
import { ModeSwing } from "./mode_swing";
import { Newest } from "./newest";
import { firstRange } from "./number_range";

const LONGEST_TRAIL = 80;
const PAUSE = 120; // ms between questions while the time moves

export class ModesPanel implements Panel {
  readonly element = make("div", { class: "modes-panel" });
  readonly title = "Modes";
  private readonly context: PlayerContext;
  private readonly desk: LiveDesk;
  private readonly plane: ComplexPlane;
  private readonly swing: ModeSwing;
  private readonly head = make("p", { class: "modes-head", role: "status" }, "The modes are being computed.");
  private readonly table = make("table", { "aria-label": "Modes" });
  private readonly note = make("p", { class: "muted" });
  private readonly stop: HTMLButtonElement;
  private readonly number = make("select", { "aria-label": "Number of the root locus" });
  private readonly lane: Newest<number, Answer<"modes">>;
  private modes: ModesAnswer = { eigenvalues: [], modes: [] };
  private trail: Eigenvalue[][] = [];
  private locus: Eigenvalue[][] = [];
  private moved = ""; // the number whose trail is drawn
  private chosen = -1;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private stale = true;
  private time = NaN;
  private optionKey = "";
  private readonly ends: (() => void)[] = [];

  constructor(context: PlayerContext, desk: LiveDesk) {
    this.context = context;
    this.desk = desk;
    this.plane = new ComplexPlane((value) => this.chooseValue(value));
    this.swing = new ModeSwing(context as Player);
    this.lane = new Newest<number, Answer<"modes">>({
      send: (t) => desk.ask("modes", { t }), done: (answer, t) => this.answered(readModes(answer), t), failed: (error) => this.failed(error),
    });
    this.stop = button("Stop the swing", "Show the run again (Escape)", () => this.leave());
    this.stop.classList.add("tool");
    this.stop.hidden = true;
    const locus = button("Root locus", "Eigenvalues over the range of this number", () => void this.findLocus());
    const clear = button("Clear", "Take away locus and trail", () => this.clearWays());
    for (const each of [locus, clear]) each.classList.add("tool");
    this.element.append(make("div", { class: "modes-tools" }, this.head, this.stop), this.plane.element,
      make("div", { class: "modes-tools" }, this.number, locus, clear), this.note, this.table);
    const escape = (event: KeyboardEvent): void => {
      if (event.key === "Escape") this.leave();
    };
    document.addEventListener("keydown", escape);
    this.ends.push(() => document.removeEventListener("keydown", escape), context.clock.onTime(() => this.later()),
      context.clock.onState(() => context.clock.playing && this.leave()),
      desk.onNews((news) => {
        if (news.kind === "values" && news.name !== "" && news.name !== this.moved) {
          this.moved = news.name;
          this.trail = [];
        } else if (news.kind === "model") this.clearWays();
      }));
  }

  setRuns(): void {
    this.stale = true;
    if (this.swing.shown !== null) this.swing.begin(this.swing.shown);
    if (this.element.hidden) return;
    this.showNumbers();
    this.lane.ask(this.context.clock.t);
  }

  wantedSeries(): string[] {
    return [];
  }

  resized(): void {
    this.showNumbers();
    this.plane.draw();
    if (this.stale) this.lane.ask(this.context.clock.t);
  }

  themeChanged(): void {
    this.plane.draw();
  }

  destroy(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    for (const end of this.ends) end();
    this.swing.end();
  }

  /** The time has moved: other states, other modes. */
  private later(): void {
    if (this.context.clock.t === this.time) return;
    this.time = this.context.clock.t;
    this.trail = [];
    this.stale = true;
    if (this.element.hidden || this.timer !== null || this.swing.shown !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (!this.element.hidden) this.lane.ask(this.context.clock.t);
    }, PAUSE);
  }

  private answered(modes: ModesAnswer, t: number): void {
    this.stale = false;
    if (this.modes.eigenvalues.length > 0 && this.moved !== "") {
      this.trail.push(this.modes.eigenvalues);
      if (this.trail.length > LONGEST_TRAIL) this.trail.shift();
    }
    this.modes = modes;
    if (this.chosen >= modes.modes.length) this.chosen = -1;
    const bad = modes.eigenvalues.filter(({ re }) => re > 1e-9).length;
    this.head.textContent = `Small motions about the state at ${formatNumber(t)} s: ${bad === 0 ? "none grows" : `${bad} of ${modes.eigenvalues.length} grow`}.`;
    this.note.textContent = "";
    this.showTable();
    this.drawPlane();
    const mode = modes.modes[this.chosen];
    if (this.swing.shown !== null && mode !== undefined) this.swing.begin(mode);
  }

  private failed(error: Error): void {
    this.head.textContent = `No modes here: ${errorWords(error)}`;
    this.modes = { eigenvalues: [], modes: [] };
    this.leave();
    this.showTable();
    this.drawPlane();
  }

  private drawPlane(): void {
    const mode = this.modes.modes[this.chosen];
    this.plane.set({ values: this.modes.eigenvalues, chosen: mode ?? null, trail: this.trail, locus: this.locus });
  }

  private showTable(): void {
    const row = (mode: ModeRecord, k: number): HTMLElement => {
      const { rate, decay } = modeWords(mode);
      const show = make("button", { type: "button", class: "link", "aria-pressed": String(k === this.chosen), title: mode.poses === null ? "No body moves in this mode" : "Show it in 3D" }, rate);
      show.addEventListener("click", () => this.choose(k));
      const value = `${formatNumber(mode.re, 3)}${mode.im > 0 ? ` ± ${formatNumber(mode.im, 3)}i` : ""}`;
      return make("tr", { ...(k === this.chosen ? { class: "chosen" } : {}) }, make("td", {}, show), make("td", {}, decay), make("td", { class: "number" }, value), make("td", { class: "muted" }, mode.words));
    };
    const focused = this.table.querySelector("button:focus") !== null;
    this.table.replaceChildren(
      make("thead", {}, make("tr", {}, ...["mode", "", "eigenvalue, 1/s", "moves"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...this.modes.modes.map(row)));
    if (focused) this.table.querySelectorAll<HTMLElement>("button")[Math.max(0, this.chosen)]?.focus();
  }

  private chooseValue(value: Eigenvalue): void {
    let best = -1;
    let least = Infinity;
    this.modes.modes.forEach((mode, k) => {
      const distance = Math.hypot(mode.re - value.re, mode.im - value.im);
      if (distance < least) {
        least = distance;
        best = k;
      }
    });
    if (best >= 0) this.choose(best);
  }

  private choose(k: number): void {
    const mode = this.modes.modes[k];
    if (mode === undefined) return;
    if (this.chosen === k && this.swing.shown !== null) return this.leave();
    this.chosen = k;
    if (!this.swing.begin(mode)) {
      this.swing.end();
      this.context.say("No body moves in this mode.");
    }
    this.stop.hidden = this.swing.shown === null;
    this.showTable();
    this.drawPlane();
  }

  private leave(): void {
    if (this.swing.shown === null && this.chosen < 0) return;
    this.swing.end();
    this.chosen = -1;
    this.stop.hidden = true;
    this.showTable();
    this.drawPlane();
  }

  // -- root locus --------------------------------------------------------------------------------------
  private showNumbers(): void {
    const names = this.desk.parameters.filter((each) => each.structural === "").map((each) => each.name);
    const key = names.join("\n");
    if (key !== this.optionKey) {
      this.optionKey = key;
      this.number.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
    }
    if (this.moved !== "" && names.includes(this.moved)) this.number.value = this.moved;
  }

  private clearWays(): void {
    this.locus = [];
    this.trail = [];
    this.moved = "";
    this.note.textContent = "";
    this.drawPlane();
  }

  private async findLocus(): Promise<void> {
    const parameter = this.desk.find(this.number.value);
    if (parameter === undefined) return;
    const { low, high } = firstRange(parameter, this.context.main.header.size);
    try {
      const answer = await this.desk.ask("locus", { name: parameter.name, low, high, t: this.context.clock.t });
      const sets = answer.eigenvalues.map(readEigenvalues);
      const count = Math.max(0, ...sets.map((set) => set.length));
      this.locus = Array.from({ length: count }, (_, k) => sets.map((set) => set[k] ?? { re: NaN, im: NaN }));
      this.note.textContent = `Root locus of ${parameter.name} from ${formatNumber(low)} to ${formatNumber(high)} ${prettyUnit(parameter.unit)}; squares are the high end.`;
      this.drawPlane();
    } catch (error) {
      if (!(error instanceof Overtaken)) this.context.say(errorWords(error), "error");
    }
  }
}

export function makeModesPanel(context: PlayerContext): Panel {
  if (!(context.live instanceof LiveDesk)) throw new Error("modes need a live server");
  return new ModesPanel(context, context.live);
}
