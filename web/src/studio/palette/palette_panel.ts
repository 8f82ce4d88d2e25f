// The palette: every kind by its domain, and ready-made groups; dragged onto the canvas, or added by Enter.

import { searchNames } from "../../plots/name_search";
import { addHelp } from "../../ui/help";
import { make } from "../../ui/elements";
import { renew } from "../../ui/renew";
import type { Catalogue, StudioContext, StudioPart } from "../studio_types";
import { libraryChoices } from "../library/library_choices";
import libraryStyles from "../library/library.css?inline";
import type { Choice } from "./choice_box";
import { ADD_EVENT, additionName, DRAG_TYPE, groupChoices, kindChoices, type Addition } from "./kind_choices";
import styles from "./palette.css?inline";
import { symbolPicture } from "./symbol_picture";

const MOST_OPEN = 8; // parts of the library that are shown unasked

class PalettePanel implements StudioPart {
  readonly element = make("div", { class: "studio-palette", role: "region", "aria-label": "Palette" });
  private readonly context: StudioContext;
  private readonly input = make("input", { type: "search", placeholder: "Search a part", "aria-label": "Search a part", autocomplete: "off", spellcheck: "false" });
  private readonly list = make("div", { class: "palette-list" });
  private shown: Catalogue | null = null;
  private readonly folded = new Map<string, boolean>(); // sections that the person opened or closed

  constructor(context: StudioContext) {
    this.context = context;
    this.element.append(make("style", {}, styles + libraryStyles), this.input, this.list);
    this.input.addEventListener("input", () => this.fill());
    this.element.addEventListener("keydown", this.pressed);
    this.list.addEventListener("click", (event) => this.clicked(event.target as Element));
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
  /** What stays is not made anew: the library may come while a part is being dragged or has the focus. */
  private fill(): void {
    this.input.hidden = this.context.readOnly;
    if (this.context.readOnly) return this.list.replaceChildren(make("p", { class: "muted" }, "This model is open to read only."));
    const query = this.input.value.trim();
    renew(this.list, query === "" ? this.byDomain() : this.answers(query));
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
      ...(groups.length > 0 ? [this.section("ready-made groups", "Several parts in one step.", groups)] : []), this.library(), ...sections.flat(),
      ...(others.length > 0 ? [this.section("others", "Kinds of plug-ins.", others)] : []),
    ];
  }

  /** Files beside the model; many of them are folded away. */
  private library(): HTMLElement {
    const { catalogue } = this.context;
    const parts = libraryChoices(catalogue);
    const folder = catalogue.libraryFolder ?? "library";
    const section = this.section("library", `Models of this folder and of ${folder}/, as subsystems.`, parts, "", parts.length <= MOST_OPEN);
    if (parts.length === 0) section.append(make("p", { class: "muted" }, `Models in this folder and in ${folder}/ are parts too. None is there yet.`));
    return section;
  }

  private section(name: string, words: string, choices: Choice<Addition>[], color = "", open = true): HTMLDetailsElement {
    const mark = make("i", { class: "domain-color", "aria-hidden": "true" });
    if (color !== "") mark.style.background = color;
    const section = make("details", { "data-section": name, "data-key": name }, make("summary", { title: words }, mark, name), make("ul", {}, ...choices.map((choice) => this.item(choice))));
    section.open = this.folded.get(name) ?? open;
    return section;
  }

  private answers(query: string): HTMLElement[] {
    const { catalogue } = this.context;
    const all: Choice<Addition>[] = [...kindChoices(catalogue), ...groupChoices(catalogue), ...libraryChoices(catalogue)];
    const found = searchNames(query, all, (choice) => ({ name: choice.label, words: `${choice.detail ?? ""} ${choice.words ?? ""}` }));
    if (found.length === 0) return [make("p", { class: "muted", role: "status" }, "No part has this name.")];
    return [make("ul", { "aria-label": "Found" }, ...found.map((choice) => this.item(choice)))];
  }

  private item(choice: Choice<Addition>): HTMLElement {
    const words = choice.off ?? choice.detail ?? "";
    const off: Record<string, string> = choice.off === undefined ? { draggable: "true" } : { "aria-disabled": "true" };
    const button = make("button", { type: "button", ...off, "data-addition": additionName(choice.value), title: words },
      ...(choice.symbol ? [symbolPicture(choice.symbol)] : []), make("span", { class: "palette-words" }, make("b", {}, choice.label),
        make("span", { class: "muted" }, words), ...(choice.more ? [make("span", { class: "more" }, choice.more)] : [])));
    return make("li", { "data-key": additionName(choice.value) }, button);
  }

  // -- choosing ---------------------------------------------------------------------------------------
  private nameOf(target: Element): string | null {
    return target.closest<HTMLElement>("[data-addition]")?.dataset["addition"] ?? null;
  }

  private clicked(target: Element): void {
    const section = target.closest("summary")?.closest("details");
    if (section) this.folded.set(section.dataset["section"]!, !section.open);
    else this.add(target);
  }

  private add(target: Element): void {
    const name = this.nameOf(target);
    const off = target.closest<HTMLElement>("[aria-disabled='true']");
    if (off !== null) return this.context.say(off.title, "error");
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
