// The derivation step by step, beside the vector scheme; the parts of a step light up.

import type { Explanation, Nothing } from "../../messages";
import { button, make } from "../../ui/elements";
import type { StudioContext } from "../studio_types";
import { DerivedPane, letScroll } from "./derived_pane";
import type { PaneLink } from "./pane_link";
import { PartChips } from "./part_chips";
import { chosenParts, lightParts } from "./shown_parts";
import { markSymbols, partsOf, showParts } from "./symbol_marks";

/** The step after or before one, within the steps there are. */
export function stepTo(at: number, by: number, count: number): number {
  return Math.max(0, Math.min(count - 1, at + by));
}

export class ExplainPanel extends DerivedPane<"pane_explain"> {
  private at = 0;
  private readonly list = make("select", { "aria-label": "Step" });
  private readonly previous = button("←", "Previous step (Alt ←)", () => this.go(-1));
  private readonly next = button("→", "Next step (Alt →)", () => this.go(1));
  private readonly step = make("div", { class: "explain-step" });
  private readonly scheme = make("details", { class: "explain-scheme" });
  private readonly chips: PartChips;

  constructor(context: StudioContext, link: PaneLink) {
    super(context, link, "pane_explain");
    this.chips = new PartChips(context, "explain");
    this.tools.classList.add("steps");
    this.tools.append(this.previous, this.list, this.next);
    this.tools.hidden = true;
    this.list.addEventListener("change", () => this.go(this.list.selectedIndex - this.at));
    this.element.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by === undefined || !event.altKey) return;
      event.preventDefault();
      this.go(by);
    });
    this.step.addEventListener("pointerover", (event) => {
      const symbol = (event.target as Element).closest("[data-parts]");
      lightParts(this.context, symbol === null ? this.parts : partsOf(symbol));
    });
    this.step.addEventListener("pointerleave", () => this.context.hover(null));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.context.hover(null);
    });
    this.scheme.open = true;
  }

  private get parts(): string[] {
    return this.answer?.steps[this.at]?.parts ?? [];
  }

  protected fields(): Nothing {
    return {};
  }

  protected show(answer: Explanation): void {
    const title = this.list.selectedOptions[0]?.dataset["title"];
    this.list.replaceChildren(...answer.steps.map((step, k) => make("option", { value: String(k), "data-title": step.title }, `${k + 1}. ${step.title}`)));
    this.at = Math.max(0, answer.steps.findIndex((step) => step.title === title)); // the step that was read stays
    this.tools.hidden = answer.steps.length === 0;
    const picture = make("div", { class: "scheme-picture" });
    picture.innerHTML = answer.scheme;
    letScroll(picture, "Vector scheme");
    this.scheme.replaceChildren(make("summary", {}, "Vector scheme"), picture);
    this.scheme.hidden = answer.scheme === "";
    this.body.replaceChildren(this.step, this.scheme);
    this.showStep();
  }

  private go(by: number): void {
    if (this.answer === null) return;
    this.at = stepTo(this.at, by, this.answer.steps.length);
    this.showStep();
    lightParts(this.context, this.parts);
  }

  private showStep(): void {
    const { steps, t } = this.answer!;
    const step = steps[this.at];
    if (step === undefined) return;
    this.list.selectedIndex = this.at;
    this.previous.disabled = this.at === 0;
    this.next.disabled = this.at === steps.length - 1;
    const content = make("div", { class: "formulas" });
    content.innerHTML = step.html;
    letScroll(content, step.title);
    markSymbols(content, this.about?.owners ?? {});
    this.chips.setParts(step.parts);
    this.step.replaceChildren(make("h3", { class: "derived-heading" }, `${this.at + 1} of ${steps.length}: ${step.title}`), this.chips.element, content,
      make("p", { class: "muted" }, `Numbers are those at t = ${t} s.`));
    this.selectionChanged();
  }

  selectionChanged(): void {
    showParts(this.step, chosenParts(this.context), "marked");
    this.chips.mark();
  }

  hoverChanged(): void {
    showParts(this.step, this.context.lit, "lit");
  }
}
