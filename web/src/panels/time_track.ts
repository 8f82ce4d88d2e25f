// One run on the time bar: its span, the way already gone, ticks of its events, a red end if it failed.

import type { PlayerContext, ShownRun } from "../panel";
import { make, write } from "../ui/elements";
import { formatNumber } from "../ui/numbers";
import { findTicks, hasFailed, sentences, type Tick } from "./time_steps";

const TICK_ROOM = 5; // pixels

export class TimeTrack {
  readonly element = make("div", { class: "track" });
  private readonly span = make("div", { class: "track-span" });
  private readonly gone = make("div", { class: "track-gone" });
  private readonly failed = make("div", { class: "track-end", role: "img" });
  private readonly group = make("div", { class: "track-ticks", role: "group" });
  private readonly context: PlayerContext;
  private readonly tip: (text: string, at: HTMLElement | null) => void;
  private ticks: Tick[] = [];
  private run: ShownRun;
  private share = -1;

  constructor(context: PlayerContext, run: ShownRun, tip: (text: string, at: HTMLElement | null) => void) {
    this.context = context;
    this.run = run;
    this.tip = tip;
    this.span.append(this.gone);
    this.element.append(this.span, this.group, this.failed);
    this.group.addEventListener("keydown", (event) => this.key(event));
    this.addTips(this.failed, () => this.endWords());
  }

  /** New numbers, or a new width in pixels. */
  update(run: ShownRun, width: number): void {
    this.run = run;
    const { clock } = this.context;
    const header = run.document.header;
    const whole = clock.to - clock.from || 1;
    const place = (t: number): string => `${(100 * (t - clock.from)) / whole}%`;
    this.span.style.left = place(header.run.from);
    this.span.style.width = `${(100 * (header.run.to - header.run.from)) / whole}%`;
    this.failed.hidden = !hasFailed(header.run.status);
    if (!this.failed.hidden) {
      this.failed.style.left = place(header.run.to);
      this.failed.setAttribute("aria-label", this.endWords());
    }
    write(this.group, null, { "aria-label": `Events of ${run.label}` });
    this.ticks = findTicks(header.events.filter((event) => event.kind !== "end"), clock.from, clock.to, width / TICK_ROOM);
    while (this.group.children.length > this.ticks.length) this.group.lastElementChild!.remove();
    while (this.group.children.length < this.ticks.length) this.group.append(this.makeTick(this.group.children.length));
    this.ticks.forEach((tick, k) => {
      const element = this.group.children[k] as HTMLElement;
      element.style.left = place(tick.time);
      write(element, null, { "data-kind": tick.events[0]!.kind, "aria-label": sentences(tick.events) });
    });
    this.showTime();
  }

  showTime(): void {
    const run = this.run.document.header.run;
    const share = Math.min(1, Math.max(0, (this.context.clock.t - run.from) / (run.to - run.from || 1)));
    if (share === this.share) return;
    this.share = share;
    this.gone.style.transform = `scaleX(${share})`;
  }

  private endWords(): string {
    const run = this.run.document.header.run;
    return `The run ended at ${formatNumber(run.to, 5)} s: ${run.message}`;
  }

  private makeTick(k: number): HTMLElement {
    const tick = make("button", { type: "button", class: "track-tick", tabindex: k === 0 ? "0" : "-1" });
    tick.addEventListener("click", () => this.go(k));
    tick.addEventListener("focus", () => {
      for (const other of this.group.children) other.setAttribute("tabindex", other === tick ? "0" : "-1");
    });
    this.addTips(tick, () => sentences(this.ticks[k]?.events ?? []));
    return tick;
  }

  private addTips(element: HTMLElement, words: () => string): void {
    for (const name of ["pointerenter", "focus"]) element.addEventListener(name, () => this.tip(words(), element));
    for (const name of ["pointerleave", "blur"]) element.addEventListener(name, () => this.tip("", null));
  }

  private go(k: number): void {
    const tick = this.ticks[k];
    if (tick === undefined) return;
    this.context.clock.pause();
    this.context.clock.seek(tick.time);
    this.context.say(sentences(tick.events));
  }

  /** Arrows go from tick to tick; the group is one stop of the Tab key. */
  private key(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = [...this.group.children].indexOf(event.target as Element);
    const next = this.group.children[at + step] as HTMLElement | undefined;
    if (step === 0 || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    if (next === undefined) return;
    next.focus();
    this.go(at + step);
  }
}
