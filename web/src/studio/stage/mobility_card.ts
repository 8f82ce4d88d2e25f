// Mobility in words: freedoms, loops, what is redundant, beside the 3D picture.

import type { Cure, MobilityData } from "../../messages";
import { make } from "../../ui/elements";

export class MobilityCard {
  readonly element = make("section", { class: "mobility-card", "aria-label": "Mobility", hidden: "" });
  private readonly choose: (name: string) => void;
  private readonly cure: (cure: Cure) => void;

  constructor(choose: (name: string) => void, cure: (cure: Cure) => void) {
    this.choose = choose;
    this.cure = cure;
  }

  show(found: MobilityData): void {
    const counts = make("table", {}, make("tbody", {}, ...found.counts.map(([words, number]) => make("tr", {}, make("td", {}, words), make("td", { class: "number" }, number)))));
    const sentences = found.sentences.map((words) => make("p", {}, words));
    const joints = Object.entries(found.badges).map(([name, words]) => {
      const pick = make("button", { type: "button", class: "link" }, name);
      pick.addEventListener("click", () => this.choose(name));
      return make("li", {}, pick, ` ${words}`);
    });
    const cures = found.cures.map((cure) => {
      const button = make("button", { type: "button", class: "cure" }, cure.words);
      button.addEventListener("click", () => this.cure(cure));
      return button;
    });
    const gaps = found.gaps.map((gap) => make("li", { class: "gap-words" }, gap.words));
    this.element.replaceChildren(make("h3", {}, "Mobility"), ...(found.counts.length > 0 ? [counts] : []), ...sentences, ...(cures.length > 0 ? [make("div", { class: "cures" }, ...cures)] : []), ...(joints.length + gaps.length > 0 ? [make("ul", {}, ...joints, ...gaps)] : []));
  }

  say(words: string): void {
    this.element.replaceChildren(make("h3", {}, "Mobility"), make("p", {}, words));
  }
}
