// Equations in any form, typeset: pointing at a symbol lights up its part, choosing a part marks its symbols.

import type { Equations } from "../../messages";
import { make } from "../../ui/elements";
import { menuButton } from "../../ui/menu";
import type { StudioContext } from "../studio_types";
import { DerivedPane, letScroll } from "./derived_pane";
import type { PaneLink } from "./pane_link";
import { PartChips } from "./part_chips";
import { chosenParts, lightParts, shownParts } from "./shown_parts";
import { markSymbols, partsOf, showParts } from "./symbol_marks";

const SHAPE_WORDS: Record<string, string> = { auto: "by size", expanded: "written out", named: "with names for what recurs", vectors: "vectors" };
const FORMS: Record<string, string> = { latex: "LaTeX", text: "text", python: "Python function", c: "C function", json: "JSON" };

export function formsOf(answer: Equations | null): { form: string; words: string; text: string }[] {
  return Object.entries(FORMS).flatMap(([form, words]) => {
    const text = answer?.[form as "latex"];
    return text === undefined ? [] : [{ form, words, text }];
  });
}

export class FormulasPanel extends DerivedPane<"pane_equations"> {
  private readonly formulation = make("select", { "aria-label": "Formulation" });
  private readonly shape = make("select", { "aria-label": "Shape" });
  private readonly reactions = make("select", { "aria-label": "Reactions of joints" });
  private readonly frame = make("select", { "aria-label": "Balances about a frame" });
  private readonly basis = make("select", { "aria-label": "Axes of the circuit's vectors" });
  private readonly chips: PartChips;
  private readonly copied: (text: string) => Promise<void>;

  constructor(context: StudioContext, link: PaneLink, copy: (text: string) => Promise<void> = (text) => navigator.clipboard.writeText(text)) {
    super(context, link, "pane_equations");
    this.copied = copy;
    this.chips = new PartChips(context, "equations");
    fill(this.formulation, [["", "chosen by size"]]);
    fill(this.basis, [["body", "axes of bodies"], ["global", "world axes"]]);
    this.aboutChanged();
    for (const select of [this.formulation, this.shape, this.reactions, this.frame, this.basis]) {
      select.addEventListener("change", () => {
        this.showChoices();
        this.choose();
      });
    }
    const copyMenu = menuButton("Copy", "Copy the equations", () => formsOf(this.answer).map(({ words, text }) => ({
      kind: "action" as const, text: `as ${words}`, act: () => void this.copied(text).then(() => this.context.say(`Copied as ${words}.`), () => this.context.say("The browser does not allow it.", "error")),
    })));
    const row = (words: string, select: HTMLElement): HTMLElement => make("label", {}, make("span", {}, words), select);
    this.tools.append(row("Formulation", this.formulation), row("Shape", this.shape), row("Axes", this.basis), row("Reactions", this.reactions), row("About", this.frame), copyMenu.element);
    this.body.addEventListener("pointerover", (event) => this.point(event.target as Element));
    this.body.addEventListener("pointerleave", () => this.context.hover(null));
    this.body.addEventListener("click", (event) => {
      const symbol = (event.target as Element).closest("[data-parts]");
      if (symbol !== null) this.context.select(shownParts(this.context, partsOf(symbol)), "equations");
    });
    this.showChoices();
  }

  /** What is shown, for those who save it. */
  get shown(): Equations | null {
    return this.answer;
  }

  protected fields(): Record<string, unknown> {
    const { value: joint } = this.reactions;
    const reactions = joint === "" || !this.takesReactions ? [] : joint === "*" ? this.about?.joints ?? [] : [joint];
    return { formulation: this.formulation.value, shape: this.shape.value, reactions, frame: this.frame.value, basis: this.basis.value };
  }

  private get takesReactions(): boolean {
    return !["circuit", "newton_euler", "hamilton"].includes(this.formulation.value);
  }

  protected override aboutChanged(): void {
    const { about } = this;
    if (about === null) return;
    fill(this.formulation, [["", "chosen by size"], ...about.formulations.map(({ name, words, reason }): Option => [name, `${name}: ${reason === "" ? words : "does not apply"}`, reason])]);
    fill(this.shape, about.shapes.map((shape): Option => [shape, SHAPE_WORDS[shape] ?? shape]));
    fill(this.reactions, [["", "none"], ...(about.joints.length > 1 && about.joints.length <= 6 ? [["*", "of all joints"] as Option] : []), ...about.joints.map((joint): Option => [joint, `of ${joint}`])]);
    fill(this.frame, [["", "equations of motion"], ...about.frames.map((frame): Option => [frame, `balances about ${frame}`])]);
    this.showChoices();
  }

  /** Choices that say nothing beside others are hidden. */
  private showChoices(): void {
    const isCircuit = this.formulation.value === "circuit";
    const isFrame = this.frame.value !== "";
    const show = (select: HTMLElement, wanted: boolean): void => void (select.parentElement !== null && (select.parentElement.hidden = !wanted));
    show(this.formulation, !isFrame);
    show(this.shape, !isFrame && !isCircuit);
    show(this.basis, !isFrame && isCircuit);
    show(this.reactions, !isFrame && this.takesReactions && this.reactions.options.length > 1);
    show(this.frame, this.frame.options.length > 1);
  }

  protected show(answer: Equations): void {
    const size = answer.operations === null ? "" : `, ${answer.operations} operations`;
    const formulas = make("div", { class: "formulas" });
    formulas.innerHTML = answer.html;
    letScroll(formulas, "Formulas");
    const parts = markSymbols(formulas, this.about?.owners ?? {});
    this.chips.setParts(parts);
    this.body.replaceChildren(make("h3", { class: "derived-heading" }, `${answer.heading}${size}`), this.chips.element, formulas);
    this.selectionChanged();
  }

  selectionChanged(): void {
    showParts(this.body, chosenParts(this.context), "marked");
    this.chips.mark();
  }

  hoverChanged(): void {
    showParts(this.body, this.context.lit, "lit");
  }

  private point(target: Element): void {
    const symbol = target.closest("[data-parts]");
    lightParts(this.context, symbol === null ? [] : partsOf(symbol));
  }
}

type Option = readonly [value: string, words: string, reason?: string];

/** New options; what was chosen stays where it is still there. */
function fill(select: HTMLSelectElement, options: readonly Option[]): void {
  const key = JSON.stringify(options);
  if (select.dataset["options"] === key) return;
  const { value } = select;
  select.dataset["options"] = key;
  select.replaceChildren(...options.map(([each, words, reason]) => {
    const option = make("option", { value: each, ...(reason ? { title: reason } : {}) }, words);
    option.disabled = Boolean(reason);
    return option;
  }));
  select.value = options.some(([each, , reason]) => each === value && !reason) ? value : options[0]?.[0] ?? "";
}
