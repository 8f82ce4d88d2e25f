// The time bar: play, pause, scrub, step, speed, events; tracks of the runs and strips of modes.

import { allSpeeds } from "./time_steps";
import type { Panel, PlayerContext } from "../panel";
import { make, write } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { icon, iconButton, type IconName } from "../ui/icons";
import { goToEvent, showHelp, stepFrame, stepSpeed, toggleLoop, toggleTheme } from "../ui/key_actions";
import { formatNumber } from "../ui/numbers";
import { StripRows } from "./strip_rows";
import { formatTime, hasFailed } from "./time_steps";
import { TimeTrack } from "./time_track";

const BADGE_SIGNS = { true: "✓", false: "✗", null: "?" } as const;

export class TimeBar implements Panel {
  readonly element = make("div", { class: "time-bar", role: "group", "aria-label": "Time" });
  readonly title = "Time";
  private readonly context: PlayerContext;
  private readonly slider = make("div", { class: "slider", role: "slider", tabindex: "0", "aria-label": "Time", "aria-orientation": "horizontal" });
  private readonly thumb = make("div", { class: "thumb" });
  private readonly now = make("output", { class: "now", "aria-live": "off" });
  private readonly whole = make("span", { class: "muted" });
  private readonly labels = make("div", { class: "gutter track-labels" });
  private readonly side = make("div", { class: "gutter" });
  private readonly tip = make("div", { class: "tip", role: "tooltip", hidden: "" });
  private readonly ended = make("p", { class: "ended", role: "alert", hidden: "" });
  private readonly badges = make("span", { class: "badges", role: "group", "aria-label": "Checks" });
  private readonly speed = make("select", { "aria-label": "Speed", title: "Speed: seconds of the run for a second of watching" });
  private readonly playing: HTMLButtonElement;
  private readonly looping: HTMLButtonElement;
  private readonly folding: HTMLButtonElement;
  private readonly eventButtons: HTMLButtonElement[];
  private readonly tracks: TimeTrack[] = [];
  private readonly strips: StripRows;
  private plays: boolean | null = null;
  private width = 0; // of the slider; 0 until it is measured
  private badgeKey = "";
  private readonly ends: (() => void)[] = [];
  private readonly moving = makeFrameTask(() => this.showTime());
  private readonly updating = makeFrameTask(() => this.update());

  constructor(context: PlayerContext) {
    this.context = context;
    this.strips = new StripRows(context);
    const { clock } = context;
    const tool = (name: IconName, words: string, act: () => void): HTMLButtonElement => iconButton(name, words, act);
    this.playing = tool("play", "Play (space)", () => clock.toggle());
    this.playing.classList.add("play");
    this.looping = tool("loop", "Loop (r)", () => toggleLoop(context));
    this.folding = tool("strips", "Modes of components (m)", () => this.fold());
    this.eventButtons = [
      tool("eventBack", "Previous event (p)", () => goToEvent(context, -1)),
      tool("eventAhead", "Next event (n)", () => goToEvent(context, 1)),
    ];
    this.buildSpeeds();
    const controls = make("div", { class: "controls" },
      make("span", { class: "cluster" }, tool("start", "To the start (Home)", () => clock.seek(clock.from)),
        tool("back", "One picture back (←)", () => stepFrame(context, -1)), this.playing,
        tool("ahead", "One picture ahead (→)", () => stepFrame(context, 1)), tool("end", "To the end (End)", () => clock.seek(clock.to))),
      make("span", { class: "cluster" }, ...this.eventButtons, this.looping, this.folding),
      make("span", { class: "cluster speed" }, this.textButton("−", "Slower ([)", () => stepSpeed(context, -1)), this.speed,
        this.textButton("+", "Faster (])", () => stepSpeed(context, 1))),
      make("span", { class: "spring" }), this.badges,
      make("span", { class: "cluster" }, tool("theme", "Light or dark (t)", () => toggleTheme(context)), this.textButton("?", "Keys and gestures (?)", () => showHelp(context))));
    this.slider.append(this.thumb);
    const row = make("div", { class: "time-row" }, make("div", { class: "gutter clock" }, this.now, this.whole, this.labels), this.slider, this.side);
    this.element.append(controls, row, this.strips.element, this.ended, this.tip);
    this.strips.element.hidden = this.strips.count === 0 || this.strips.count > 6;
    this.addScrubbing();
    const fold = (): void => this.fold();
    context.root.addEventListener("kinode-fold-strips", fold);
    this.ends.push(clock.onTime(() => this.moving.request()), clock.onState(() => this.updating.request()),
      () => context.root.removeEventListener("kinode-fold-strips", fold));
    this.update();
  }

  setRuns(): void {
    this.updating.request();
  }

  wantedSeries(): string[] {
    return [];
  }

  themeChanged(): void {
    this.updating.request();
  }

  resized(): void {
    this.width = 0;
    this.updating.request();
  }

  destroy(): void {
    this.moving.cancel();
    this.updating.cancel();
    this.strips.destroy();
    for (const end of this.ends) end();
  }

  private textButton(text: string, words: string, act: () => void): HTMLButtonElement {
    const element = make("button", { type: "button", class: "icon", title: words, "aria-label": words }, text);
    element.addEventListener("click", act);
    return element;
  }

  private buildSpeeds(): void {
    for (const speed of allSpeeds()) this.speed.append(make("option", { value: String(speed) }, `${formatNumber(speed)}×`));
    this.speed.addEventListener("change", () => this.context.clock.setSpeed(Number(this.speed.value)));
  }

  private fold(): void {
    if (this.strips.count === 0) return;
    this.strips.element.hidden = !this.strips.element.hidden;
    this.update();
  }

  private addScrubbing(): void {
    let resume = false;
    const seek = (event: PointerEvent): void => {
      const box = this.slider.getBoundingClientRect();
      const { clock } = this.context;
      clock.seek(clock.from + ((event.clientX - box.left) / (box.width || 1)) * (clock.to - clock.from));
    };
    this.slider.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || (event.target as HTMLElement).closest(".track-tick") !== null) return;
      event.preventDefault();
      this.slider.focus();
      this.slider.setPointerCapture(event.pointerId);
      resume = this.context.clock.playing;
      this.context.clock.pause();
      seek(event);
    });
    this.slider.addEventListener("pointermove", (event) => {
      if (this.slider.hasPointerCapture(event.pointerId)) seek(event);
    });
    const end = (): void => {
      if (resume) this.context.clock.play();
      resume = false;
    };
    this.slider.addEventListener("pointerup", end);
    this.slider.addEventListener("pointercancel", end);
  }

  private update(): void {
    const { clock, runs, main } = this.context;
    if (this.width === 0) this.width = Math.max(1, this.slider.clientWidth);
    while (this.tracks.length > runs.length) this.tracks.pop()!.element.remove();
    runs.forEach((run, k) => {
      if (this.tracks[k] === undefined) {
        const track = new TimeTrack(this.context, run, (text, at) => this.showTip(text, at));
        this.tracks.push(track);
        this.slider.append(track.element);
      }
      this.tracks[k]!.update(run, this.width);
    });
    this.showLabels();
    const span = clock.to - clock.from;
    write(this.whole, ` / ${formatNumber(clock.to, 5)} s`);
    write(this.slider, null, { "aria-valuemin": String(clock.from), "aria-valuemax": String(clock.to) });
    if (clock.playing !== this.plays) this.playing.replaceChildren(icon(clock.playing ? "pause" : "play"));
    this.plays = clock.playing;
    const words = clock.playing ? "Pause (space)" : "Play (space)";
    write(this.playing, null, { title: words, "aria-label": words });
    write(this.looping, null, { "aria-pressed": String(clock.loop) });
    this.folding.hidden = this.strips.count === 0;
    write(this.folding, null, { "aria-expanded": String(!this.strips.element.hidden) });
    for (const each of this.eventButtons) each.hidden = !runs.some((run) => run.document.header.events.length > 0);
    const value = String(allSpeeds().find((speed) => Math.abs(speed - clock.speed) < 1e-6 * speed) ?? "");
    if (this.speed.value !== value) this.speed.value = value;
    this.side.hidden = this.strips.element.hidden;
    const failed = runs.filter((run) => hasFailed(run.document.header.run.status));
    const ending = failed.map((run) => `${runs.length > 1 ? `${run.label}: ` : ""}ended at ${formatNumber(run.document.header.run.to, 5)} s. ${run.document.header.run.message}`).join("\n");
    this.ended.hidden = ending === "";
    write(this.ended, ending);
    this.showBadges(main.header.badges);
    this.strips.update();
    if (span >= 0) this.showTime();
  }

  private showLabels(): void {
    const { runs } = this.context;
    const text = runs.length > 1 ? runs.map((run) => run.label) : [];
    if (this.labels.dataset["text"] === text.join("\n")) return;
    this.labels.dataset["text"] = text.join("\n");
    this.labels.hidden = text.length === 0;
    this.labels.replaceChildren(...text.map((label) => make("span", { title: label }, label)));
    this.slider.style.setProperty("--tracks", String(runs.length));
  }

  private showBadges(badges: PlayerContext["main"]["header"]["badges"]): void {
    const key = badges.map((badge) => `${badge.name} ${String(badge.ok)} ${badge.verdict}`).join("\n");
    if (key === this.badgeKey) return;
    this.badgeKey = key;
    this.badges.replaceChildren(...badges.map((badge) => {
      const state = String(badge.ok) as keyof typeof BADGE_SIGNS;
      const element = make("button", { type: "button", class: "badge", "data-ok": state, title: badge.verdict, "aria-label": `${badge.name}: ${badge.verdict}` },
        `${BADGE_SIGNS[state]} ${badge.name}`);
      element.addEventListener("click", () => {
        this.context.show("Checks");
        this.context.root.dispatchEvent(new CustomEvent("kinode-badge", { detail: badge.name }));
      });
      return element;
    }));
  }

  private showTime(): void {
    const { clock } = this.context;
    const span = clock.to - clock.from;
    const text = `${formatTime(clock.t, span)} s`;
    write(this.now, text);
    this.thumb.style.transform = `translateX(${(((clock.t - clock.from) / (span || 1)) * this.width).toFixed(1)}px)`;
    write(this.slider, null, {
      "aria-valuenow": String(Number(clock.t.toPrecision(6))), "aria-valuetext": `${formatNumber(clock.t)} s of ${formatNumber(clock.to)} s`,
    });
    for (const track of this.tracks) track.showTime();
    this.strips.showTime();
  }

  private showTip(text: string, at: HTMLElement | null): void {
    this.tip.hidden = text === "" || at === null;
    if (at === null || text === "") return;
    this.tip.textContent = text;
    const box = this.element.getBoundingClientRect();
    const place = at.getBoundingClientRect();
    this.tip.style.left = `${Math.min(box.width - this.tip.offsetWidth - 6, Math.max(6, place.left - box.left - this.tip.offsetWidth / 2))}px`;
    this.tip.style.bottom = `${box.bottom - place.top + 4}px`;
  }
}

export const makeTimeBar = (context: PlayerContext): Panel => new TimeBar(context);
