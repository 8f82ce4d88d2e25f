// What the page says: a word for a moment, and strips that ask for a choice.

import { make } from "../ui/elements";
import type { SayKind } from "./studio_types";

export interface StripChoice {
  words: string;
  act(): void;
}

export class Notices {
  readonly moment = make("div", { class: "studio-notice", role: "status", "aria-live": "polite" });
  readonly strips = make("div", { class: "strips" });
  private timer: ReturnType<typeof setTimeout> | null = null;

  say(words: string, kind: SayKind = "note"): void {
    this.moment.textContent = words;
    this.moment.dataset["kind"] = kind;
    this.moment.classList.add("shown");
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.moment.classList.remove("shown"), kind === "error" ? 8000 : 3000);
  }

  /** A strip under the header, one for each topic; its choices take it away. */
  ask(topic: string, words: string, choices: StripChoice[], wrong = false): void {
    this.clear(topic);
    const strip = make("div", { class: `strip${wrong ? " wrong" : ""}`, role: wrong ? "alert" : "status", "data-topic": topic }, make("span", {}, words));
    for (const choice of choices) {
      const button = make("button", { type: "button" }, choice.words);
      button.addEventListener("click", () => {
        strip.remove();
        choice.act();
      });
      strip.append(button);
    }
    this.strips.append(strip);
  }

  clear(topic: string): void {
    this.strips.querySelector(`[data-topic="${topic}"]`)?.remove();
  }
}
