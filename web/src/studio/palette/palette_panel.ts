// The palette: every kind by its domain, and ready-made groups; dragged onto the canvas, or added by Enter.

import { searchNames } from "../../plots/name_search";
import { addHelp } from "../../ui/help";
import { make } from "../../ui/elements";
import type { Catalogue, StudioContext, StudioPart } from "../studio_types";
import type { Choice } from "./choice_box";
import { ADD_EVENT, additionName, DRAG_TYPE, groupChoices, kindChoices, type Addition } from "./kind_choices";
import styles from "./palette.css?inline";
import { symbolPicture } from "./symbol_picture";

class PalettePanel implements StudioPart {
  readonly element = make("div", { class: "studio-palette", role: "region", "aria-label": "Palette" });
  private readonly context: StudioContext;
  private readonly input = make("input", { type: "search", placeholder: "Search a part", "aria-label": "Search a part", autocomplete: "off", spellcheck: "false" });
  private readonly list = make("div", { class: "palette-list" });
  private shown: Catalogue | null = null;

  constructor(context: StudioContext) {
    this.context = context;
    this.element.append(make("style", {}, styles), this.input, this.list);
    this.input.addEventListener("input", () => this.fill());
    this.element.addEventListener("keydown", this.pressed);
    this.list.addEventListener("click", (event) => this.add(event.target as Element));
    this.list.addEventListener("dragstart", this.dragged);
    addHelp([{ keys: ["drag", "Enter"], words: "in the palette: add a part to the canvas" }]);
    this.sketchChanged();
  }

  /** Another document may know other kinds. */
  sketchChanged(): void {
    if (this.context.catalogue === this.shown) return;
    this.shown = this.context.catalogue;
    this.fill();
  }

  destroy(): void {
    this.element.remove();
  }

  // -- the list ---------------------------------------------------------------------------------------
  private fill(): void {
    this.input.hidden = this.context.readOnly;
    if (this.context.readOnly) return this.list.replaceChildren(make("p", { class: "muted" }, "This model is open to read only."));
    const query = this.input.value.trim();
    this.list.replaceChildren(...(query === "" ? this.byDomain() : this.answers(query)));
  }

  private byDomain(): HTMLElement[] {
    const { catalogue } = this.context;
    const groups = groupChoices(catalogue);
    const sections = catalogue.domains.map((domain) => {
      const kinds = kindChoices(catalogue, (kind) => kind.domain === domain.name);
      return kinds.length === 0 ? [] : [this.section(domain.name, domain.words, kinds, domain.color)];
    });
    const known = new Set(catalogue.domains.map((domain) => domain.name));
    const others = kindChoices(catalogue, (kind) => !known.has(kind.domain));
    return [
      ...(groups.length > 0 ? [this.section("ready-made groups", "Several parts in one step.", groups)] : []), ...sections.flat(),
      ...(others.length > 0 ? [this.section("others", "Kinds of plug-ins.", others)] : []),
    ];
  }

  private section(name: string, words: string, choices: Choice<Addition>[], color = ""): HTMLElement {
    const mark = make("i", { class: "domain-color", "aria-hidden": "true" });
    if (color !== "") mark.style.background = color;
    return make("details", { open: "" }, make("summary", { title: words }, mark, name), make("ul", {}, ...choices.map((choice) => this.item(choice))));
  }

  private answers(query: string): HTMLElement[] {
    const all = [...kindChoices(this.context.catalogue), ...groupChoices(this.context.catalogue)];
    const found = searchNames(query, all, (choice) => ({ name: choice.label, words: `${choice.detail ?? ""} ${choice.words ?? ""}` }));
    if (found.length === 0) return [make("p", { class: "muted", role: "status" }, "No part has this name.")];
    return [make("ul", { "aria-label": "Found" }, ...found.map((choice) => this.item(choice)))];
  }

  private item(choice: Choice<Addition>): HTMLElement {
    const button = make("button", {
      type: "button", draggable: "true", "data-addition": additionName(choice.value), title: choice.detail ?? "",
    }, ...(choice.symbol === undefined ? [] : [symbolPicture(choice.symbol)]),
    make("span", { class: "palette-words" }, make("b", {}, choice.label), make("span", { class: "muted" }, choice.detail ?? "")));
    return make("li", {}, button);
  }

  // -- choosing ---------------------------------------------------------------------------------------
  private nameOf(target: Element): string | null {
    return target.closest<HTMLElement>("[data-addition]")?.dataset["addition"] ?? null;
  }

  private add(target: Element): void {
    const name = this.nameOf(target);
    if (name !== null && !this.context.readOnly) this.context.root.dispatchEvent(new CustomEvent(ADD_EVENT, { detail: name }));
  }

  private readonly dragged = (event: DragEvent): void => {
    const name = this.nameOf(event.target as Element);
    if (name === null || event.dataTransfer === null) return;
    event.dataTransfer.setData(DRAG_TYPE, name);
    event.dataTransfer.effectAllowed = "copy";
  };

  private readonly pressed = (event: KeyboardEvent): void => {
    const buttons = [...this.list.querySelectorAll<HTMLButtonElement>("button")].filter((each) => each.checkVisibility());
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (event.key === "ArrowDown") buttons[at + 1]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? buttons[at - 1]! : this.input).focus();
    else if (event.key === "Enter" && event.target === this.input && buttons[0] !== undefined) this.add(buttons[0]);
    else if (event.key === "Escape" && this.input.value !== "") {
      this.input.value = "";
      this.fill();
      this.input.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
}

export function makePalette(context: StudioContext): StudioPart {
  return new PalettePanel(context);
}
