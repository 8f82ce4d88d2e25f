// What panes have in common whose content is derived from the model: when it is asked for, how far it is, what became of it.

import type { ModelAbout } from "../../messages";
import type { Answer, Fields } from "../../live/connection";
import { errorWords } from "../../live/live_desk";
import { make } from "../../ui/elements";
import type { StandingLabels } from "../standing";
import type { StudioContext, StudioPart } from "../studio_types";
import type { Pane, PaneLink } from "./pane_link";

const PAUSE = 600; // ms without a change before it is derived anew

/** What is wider than the pane scrolls, by keys too. */
export function letScroll(root: ParentNode, words: string): void {
  for (const wide of root.querySelectorAll(".wide")) for (const [key, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", words]] as const) wide.setAttribute(key, value);
}

export abstract class DerivedPane<K extends Pane> implements StudioPart {
  readonly element = make("div", { class: "derived" });
  protected readonly tools = make("div", { class: "derived-tools" });
  protected readonly body = make("div", { class: "derived-body", tabindex: "-1" });
  protected readonly context: StudioContext;
  protected readonly link: PaneLink;
  protected about: ModelAbout | null = null;
  protected answer: Answer<K> | null = null;
  private readonly words = make("span", { role: "status" });
  private readonly bar = make("progress", { max: "1", value: "0", "aria-label": "Progress", hidden: "" });
  private readonly stopper = make("button", { type: "button", class: "tool", hidden: "" }, "Stop");
  private readonly starter = make("button", { type: "button", class: "tool", hidden: "" }, "Derive");
  private readonly kind: K;
  private shownText: string | null = null; // whose answer is shown
  private askedText: string | null = null; // for which the answer is under way
  private refused: string | null = null; // the text that was refused or stopped
  private stood = ""; // what the text was when that was heard last
  private turn = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly end: () => void;

  constructor(context: StudioContext, link: PaneLink, kind: K) {
    this.context = context;
    this.link = link;
    this.kind = kind;
    this.stopper.addEventListener("click", () => this.link.stop(this.kind));
    this.starter.addEventListener("click", () => void this.derive());
    this.element.append(this.tools, make("div", { class: "derived-state" }, this.words, this.bar, this.stopper, this.starter), this.body);
    this.end = context.document.listen((news) => {
      if (news.kind === "text" || news.kind === "opened") this.changed();
    });
  }

  /** The fields of the request. */
  protected abstract fields(): Fields<K>;
  protected abstract show(answer: Answer<K>): void;
  /** What is known of the model has changed: choices that depend on it. */
  protected aboutChanged(): void {}

  resized(): void {
    this.changed(0);
  }

  standingChanged({ text }: StandingLabels): void {
    if (text !== this.stood) this.changed();
    this.stood = text;
  }

  destroy(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.end();
  }

  /** Other fields: what is shown is of no use. */
  protected choose(): void {
    this.shownText = this.refused = null;
    void this.derive();
  }

  private get seen(): boolean {
    return !this.element.hidden && this.element.isConnected && this.element.clientWidth > 0;
  }

  private changed(pause = PAUSE): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), pause);
    this.mark();
  }

  private get whole(): boolean {
    return this.context.document.labels.text === "whole";
  }

  private get isOld(): boolean {
    return this.shownText !== this.context.document.text;
  }

  private async refresh(): Promise<void> {
    const { text } = this.context.document;
    if (!this.seen || !this.whole || !this.isOld || this.askedText === text || this.refused === text) return this.mark();
    try {
      await this.learn();
    } catch (error) {
      return this.say(errorWords(error), true);
    }
    if (this.about?.size.large === true || (this.about?.size.words ?? "") === "nothing yet") return this.mark();
    await this.derive();
  }

  private async learn(): Promise<void> {
    this.about = await this.link.ask("pane_about", {});
    this.aboutChanged();
  }

  protected async derive(): Promise<void> {
    const mine = ++this.turn;
    const { text } = this.context.document;
    this.askedText = text;
    this.mark();
    try {
      if (this.about === null) await this.learn();
      const answer = await this.link.ask(this.kind, this.fields(), (share, words) => mine === this.turn && this.progress(share, words));
      if (mine !== this.turn) return;
      this.askedText = null;
      if (answer === null) {
        this.refused = text;
        return this.mark("It was stopped.");
      }
      this.answer = answer;
      this.shownText = text;
      this.refused = null;
      this.show(answer);
      this.mark();
    } catch (error) {
      if (mine !== this.turn) return;
      this.askedText = null;
      this.refused = text;
      this.mark(errorWords(error));
    }
  }

  private progress(share: number, words: string): void {
    this.bar.value = share;
    this.words.textContent = `${words} …`;
  }

  private say(words: string, wrong = false): void {
    this.words.textContent = words;
    this.words.classList.toggle("wrong", wrong);
  }

  /** Says how it stands. */
  private mark(words = ""): void {
    const busy = this.askedText !== null;
    const { text } = this.context.document;
    this.bar.hidden = this.stopper.hidden = !busy;
    if (!busy) this.bar.value = 0;
    this.body.classList.toggle("old", this.answer !== null && this.isOld);
    this.body.setAttribute("aria-busy", String(busy));
    this.starter.hidden = busy || !this.isOld || !this.whole;
    if (busy) return;
    if (words !== "") return this.say(words, true);
    if (!this.isOld) return this.say("");
    if (!this.whole) return this.say(`${this.answer === null ? "When the model is whole, it is derived." : "Of an earlier text."} ${this.context.document.labels.aside}`);
    if (this.refused === text) return;
    if (this.about?.size.large === true) return this.say(`${this.about.size.words}: that takes a while, and can be stopped.`);
    if (this.answer !== null) this.say("Of an earlier text.");
  }
}
