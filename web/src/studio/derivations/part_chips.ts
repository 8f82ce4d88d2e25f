// The parts that something is about, as buttons: pointing at one lights it up, pressing it selects it.

import { make } from "../../ui/elements";
import type { StudioContext } from "../studio_types";
import { chosenParts, lightParts, shownParts } from "./shown_parts";

const MOST = 40; // parts that are named

export class PartChips {
  readonly element = make("div", { class: "part-chips", role: "group", "aria-label": "Parts" });
  private readonly context: StudioContext;
  private readonly from: string;

  constructor(context: StudioContext, from: string) {
    this.context = context;
    this.from = from;
  }

  setParts(parts: readonly string[]): void {
    this.element.hidden = parts.length === 0;
    const chips = parts.slice(0, MOST).map((name) => {
      const chip = make("button", { type: "button", "data-part": name, "aria-pressed": "false", title: `Select ${name}` }, name);
      chip.addEventListener("click", () => this.context.select(shownParts(this.context, [name]), this.from));
      for (const event of ["pointerenter", "focus"]) chip.addEventListener(event, () => lightParts(this.context, [name]));
      for (const event of ["pointerleave", "blur"]) chip.addEventListener(event, () => this.context.hover(null));
      return chip;
    });
    const more = parts.length - chips.length;
    this.element.replaceChildren(...chips, ...(more > 0 ? [make("span", { class: "muted" }, `and ${more} more`)] : []));
    this.mark();
  }

  mark(): void {
    for (const chip of this.element.querySelectorAll("button")) chip.setAttribute("aria-pressed", String(chosenParts(this.context).includes(chip.dataset["part"]!)));
  }
}
