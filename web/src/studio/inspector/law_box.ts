// A field with completion: names, functions and units that may stand in a law. Arrows choose, Tab or Enter takes, Escape leaves.

import type { Completion, CompletionOption } from "../../messages";
import { make } from "../../ui/elements";

export interface LawBoxActions {
  complete(text: string, position: number): Promise<Completion>;
  commit(text: string): void;
  /** Called while it is typed into. */
  typed(text: string): void;
}

const PAUSE = 120; // ms without a key before names are asked for
let count = 0;

export class LawBox {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly actions: LawBoxActions;
  private options: CompletionOption[] = [];
  private from = 0;
  private chosen = -1;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private asked = 0;

  constructor(input: HTMLInputElement, actions: LawBoxActions) {
    this.input = input;
    this.actions = actions;
    const id = `law-options-${++count}`;
    this.list = make("ul", { role: "listbox", id, class: "law-options", "aria-label": "What may stand here", hidden: "" });
    this.element = make("div", { class: "law-box" }, input, this.list);
    for (const [key, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": id, "aria-expanded": "false" })) input.setAttribute(key, value);
    input.addEventListener("input", () => this.typed());
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => this.close());
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.asked++;
    this.options = [];
    this.draw();
  }

  private typed(): void {
    this.actions.typed(this.input.value);
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), PAUSE);
  }

  private async ask(): Promise<void> {
    const mine = ++this.asked;
    const position = this.input.selectionStart ?? this.input.value.length;
    try {
      const { from, options } = await this.actions.complete(this.input.value, position);
      if (mine !== this.asked) return;
      const begun = this.input.value.slice(from, position).toLowerCase();
      this.from = from;
      this.options = begun === "" ? [] : options.filter(({ label }) => label.toLowerCase().startsWith(begun) && label.toLowerCase() !== begun).slice(0, 12);
      this.chosen = -1;
      this.draw();
    } catch {
      if (mine === this.asked) this.close();
    }
  }

  private key(event: KeyboardEvent): void {
    const open = this.options.length > 0;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.chosen = (this.chosen + step + this.options.length) % this.options.length;
      this.draw();
    } else if (open && (event.key === "Tab" || event.key === "Enter") && (this.chosen >= 0 || event.key === "Tab")) {
      event.preventDefault();
      this.take(this.options[Math.max(0, this.chosen)]!);
    } else if (open && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.close();
      this.actions.commit(this.input.value);
    }
  }

  private take(option: CompletionOption): void {
    const position = this.input.selectionStart ?? this.input.value.length;
    const added = option.apply ?? option.label;
    this.input.value = this.input.value.slice(0, this.from) + added + this.input.value.slice(position);
    this.input.setSelectionRange(this.from + added.length, this.from + added.length);
    this.close();
    this.actions.typed(this.input.value);
  }

  private draw(): void {
    this.list.hidden = this.options.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.list.replaceChildren(...this.options.map((option, k) => {
      const item = make("li", { role: "option", id: `${this.list.id}-${k}`, "aria-selected": String(k === this.chosen) }, make("span", {}, option.label), make("small", {}, option.detail ?? ""));
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.take(option);
      });
      return item;
    }));
    if (this.chosen >= 0) this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
    else this.input.removeAttribute("aria-activedescendant");
  }
}
