// A question with a list of answers: type to narrow it, arrows and Enter to choose. Used to add, to connect and to find.

import { searchNames } from "../../plots/name_search";
import { make } from "../../ui/elements";
import type { Point } from "../studio_types";
import { symbolPicture } from "./symbol_picture";

export interface Choice<T> {
  value: T;
  label: string;
  detail?: string;
  words?: string; // more to search in
  more?: string; // a second line, where there is room
  symbol?: string;
  off?: string; // why it cannot be chosen
}

export interface Question<T> {
  title: string;
  choices: readonly Choice<T>[];
  at?: Point; // pixels of the host; none: its middle
  /** Makes an answer of what was typed, where no choice has that name. */
  typed?: (text: string) => T;
  hint?: string; // stands in the empty box
  none?: string; // said where nothing fits
  /** Told of the choice that the arrows are on. */
  active?: (value: T | null) => void;
}

let boxes = 0;
const MOST = 80;

export class ChoiceBox {
  readonly element = make("div", { class: "choice-box", hidden: "" });
  private readonly host: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly list: HTMLElement;
  private readonly title = make("div", { class: "choice-title" });
  private question: Question<unknown> | null = null;
  private answer: ((value: unknown) => void) | null = null;
  private found: Choice<unknown>[] = [];
  private active = 0;

  constructor(host: HTMLElement) {
    this.host = host;
    const id = `kinode-choices-${++boxes}`;
    this.title.id = `${id}-title`;
    this.input = make("input", {
      type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": id, "aria-autocomplete": "list", "aria-labelledby": this.title.id,
      autocomplete: "off", spellcheck: "false",
    });
    this.list = make("ul", { id, role: "listbox", "aria-labelledby": this.title.id });
    this.element.append(this.title, this.input, this.list);
    this.input.addEventListener("input", () => this.narrow());
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusout", (event) => {
      const next = event.relatedTarget as Node | null;
      if (!this.element.contains(next)) this.close(null);
    });
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const item = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
      if (item !== null) this.pick(Number(item.dataset["index"]));
    });
    for (const name of ["pointerdown", "pointermove", "wheel", "dblclick", "paste", "copy"] as const) this.element.addEventListener(name, (event) => event.stopPropagation());
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Asks; null is the answer of Escape, and of a click elsewhere. */
  ask<T>(question: Question<T>): Promise<T | null> {
    this.close(null);
    this.question = question as unknown as Question<unknown>;
    this.title.textContent = question.title;
    this.input.value = "";
    this.input.placeholder = question.hint ?? "";
    this.element.hidden = false;
    this.narrow();
    this.place(question.at);
    return new Promise<T | null>((resolve) => {
      this.answer = resolve as (value: unknown) => void;
      this.input.focus();
    });
  }

  close(value: unknown): void {
    if (this.question === null) return;
    const { answer, question } = this;
    this.question = null;
    this.answer = null;
    this.element.hidden = true;
    question.active?.(null);
    answer?.(value);
  }

  private place(at: Point | undefined): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    const own = this.element.getBoundingClientRect();
    const [x, y] = at ?? [width / 2 - own.width / 2, height / 4];
    this.element.style.left = `${Math.max(4, Math.min(x, width - own.width - 4))}px`;
    this.element.style.top = `${Math.max(4, Math.min(y, height - own.height - 4))}px`;
  }

  private narrow(): void {
    const { choices = [], none = "Nothing has this name." } = this.question ?? {};
    this.found = searchNames(this.input.value, choices, (choice) => ({
      name: choice.label, words: `${choice.detail ?? ""} ${choice.words ?? ""}`, behind: choice.off === undefined ? 0 : 10,
    }), MOST);
    const items = this.found.map((choice, k) => this.item(choice, k));
    const typed = this.question?.typed !== undefined && this.input.value.trim() !== "" && !this.found.some((choice) => choice.label === this.input.value.trim());
    const words = typed ? `Enter takes "${this.input.value.trim()}"` : none;
    this.list.replaceChildren(...(items.length > 0 ? items : [make("li", { class: "muted", role: "option", "aria-disabled": "true" }, words)]));
    this.active = this.found.findIndex((choice) => choice.off === undefined);
    this.mark();
  }

  private item(choice: Choice<unknown>, k: number): HTMLElement {
    const attributes: Record<string, string> = { id: `${this.list.id}-${k}`, role: "option", "data-index": String(k), "aria-selected": "false" };
    if (choice.off !== undefined) Object.assign(attributes, { "aria-disabled": "true", title: choice.off });
    const picture = choice.symbol === undefined ? [] : [symbolPicture(choice.symbol)];
    return make("li", attributes, ...picture, make("span", { class: "choice-words" }, make("b", {}, choice.label),
      make("span", { class: "muted" }, choice.off ?? choice.detail ?? "")));
  }

  private mark(): void {
    this.found.forEach((_, k) => this.list.children[k]?.setAttribute("aria-selected", String(k === this.active)));
    const item = this.active < 0 ? undefined : this.list.children[this.active];
    if (item === undefined) this.input.removeAttribute("aria-activedescendant");
    else {
      this.input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    }
    this.question?.active?.(this.found[this.active]?.value ?? null);
  }

  private step(by: number): void {
    const count = this.found.length;
    if (count === 0 || this.found.every((choice) => choice.off !== undefined)) return;
    do this.active = (this.active + by + count) % count;
    while (this.found[this.active]!.off !== undefined);
    this.mark();
  }

  private key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "ArrowDown") this.step(1);
    else if (event.key === "ArrowUp") this.step(-1);
    else if (event.key === "Enter") this.enter();
    else if (event.key === "Escape" || event.key === "Tab") this.close(null);
    else return;
    event.preventDefault();
  }

  private enter(): void {
    const text = this.input.value.trim();
    if (this.found[this.active] !== undefined && this.active >= 0) this.pick(this.active);
    else if (this.question?.typed !== undefined && text !== "") this.close(this.question.typed(text));
  }

  private pick(index: number): void {
    const choice = this.found[index];
    if (choice !== undefined && choice.off === undefined) this.close(choice.value);
  }
}
