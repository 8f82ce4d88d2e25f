// The search box: a combobox whose list names what can be plotted.

import { make } from "../ui/elements";
import { prettyUnit } from "../ui/numbers";
import { search } from "./name_search";
import type { Quantity } from "./quantities";

export interface NameBoxSource {
  quantities(): readonly Quantity[];
  live(): boolean;
  shown(name: string): boolean;
  pick(quantity: Quantity): void;
}

let boxes = 0;

export class NameBox {
  readonly element = make("div", { class: "name-box" });
  readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly source: NameBoxSource;
  private found: Quantity[] = [];
  private active = -1;

  constructor(source: NameBoxSource) {
    this.source = source;
    const id = `kinode-names-${++boxes}`;
    this.input = make("input", {
      type: "text", role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      "aria-label": "Add a quantity to the plots", placeholder: "Add a quantity: name or word", autocomplete: "off", spellcheck: "false",
    });
    this.list = make("ul", { id, role: "listbox", "aria-label": "Quantities", hidden: "" });
    this.element.append(this.input, this.list);
    this.input.addEventListener("input", () => this.open());
    this.input.addEventListener("focus", () => this.open());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.key(event));
    // Before the box loses the focus, which would close the list.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
      if (item !== null) this.pick(Number(item.dataset["index"]));
    });
  }

  private open(): void {
    this.found = search(this.input.value, this.source.quantities());
    this.active = this.input.value.trim() !== "" && this.found.length > 0 ? 0 : -1;
    this.list.replaceChildren(...(this.found.length > 0 ? this.items() : [make("li", { class: "muted", role: "presentation" }, "Nothing of this name in the run.")]));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  private items(): HTMLElement[] {
    return this.found.map((quantity, k) => {
      const barred = quantity.source === "live" && !this.source.live();
      const shown = this.source.shown(quantity.name);
      const parts = quantity.parts.length > 0 ? ` (${quantity.parts.join(" ")})` : "";
      const unit = quantity.unit === "" || quantity.unit === "1" ? "" : prettyUnit(quantity.unit);
      const words = barred ? "needs --live" : quantity.words === "needs --live" ? "computed when asked" : quantity.words;
      return make("li", {
        id: `${this.list.id}-${k}`, role: "option", "data-index": String(k), "aria-selected": "false",
        ...(barred ? { "aria-disabled": "true" } : {}), title: words,
      }, make("span", { class: "tick" }, shown ? "✓" : ""), make("b", {}, quantity.name), `${parts} `,
      make("span", { class: "muted" }, [unit, words].filter((x) => x !== "").join(" · ")));
    });
  }

  private mark(): void {
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === this.active)));
    const item = this.active < 0 ? undefined : this.list.children[this.active];
    if (item === undefined) this.input.removeAttribute("aria-activedescendant");
    else {
      this.input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    }
  }

  private key(event: KeyboardEvent): void {
    const count = this.found.length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.open();
      else if (count > 0) this.active = (this.active + (event.key === "ArrowDown" ? 1 : -1) + count + (this.active < 0 && event.key === "ArrowUp" ? 1 : 0)) % count;
      this.mark();
    } else if (event.key === "Enter" && this.active >= 0) this.pick(this.active);
    else if (event.key === "Escape") {
      if (this.list.hidden) this.input.value = "";
      this.close();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private pick(index: number): void {
    const quantity = this.found[index];
    if (quantity === undefined) return;
    this.input.value = "";
    this.source.pick(quantity);
    if (this.list.hidden) return;
    this.open();
    this.close();
  }
}
