// One field of a component: what was typed for it, its default, unit and documentation, the error at it, a slider while it runs.

import type { InspectedField, Problem } from "../../messages";
import { errorWords, type LiveDesk } from "../../live/live_desk";
import { make } from "../../ui/elements";
import { prettyUnit } from "../../ui/numbers";
import type { StudioContext } from "../studio_types";
import { toPoints, toUnits } from "../text_positions";
import { LawBox } from "./law_box";
import { LiveSlider, keptText } from "./live_slider";

let count = 0;

export class FieldRow {
  readonly element: HTMLElement;
  readonly field: InspectedField;
  private readonly context: StudioContext;
  private readonly owner: string;
  private readonly input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
  private readonly wrong = make("p", { class: "field-error", role: "alert", hidden: "" });
  private readonly doc: HTMLElement;
  private slider: LiveSlider | null = null;
  private committed: string;
  private readonly liveName: string;

  /** `title` is what the row is called, and `liveName` what the run calls the number, where these are not the field's own. */
  constructor(context: StudioContext, owner: string, field: InspectedField, title = field.name, liveName = field.live ?? [owner, ...field.path].join(".")) {
    this.liveName = context.document.prefix + liveName;
    this.context = context;
    this.owner = owner;
    this.field = field;
    this.committed = field.given ?? "";
    const id = `field-${++count}`;
    this.doc = make("p", { class: "field-doc", id: `${id}-doc` }, docWords(field));
    this.input = field.choices !== null && field.choices.length > 0 ? this.makeSelect(field.choices) : this.makeInput(this.committed.includes("\n") ? make("textarea", { rows: "4" }) : make("input", { type: "text" }));
    for (const [key, value] of Object.entries({ id, "aria-describedby": `${id}-doc` })) this.input.setAttribute(key, value);
    if (field.required) this.input.setAttribute("aria-required", "true");
    this.input.toggleAttribute("disabled", context.readOnly);
    const label = make("label", { for: id, title: docWords(field) }, title, ...(field.required ? [make("span", { class: "required", title: "must be given", "aria-hidden": "true" }, " *")] : []));
    const unit = make("span", { class: "field-unit" }, prettyUnit(field.unit ?? ""));
    const box = this.input instanceof HTMLInputElement ? this.lawBox(this.input) : this.input;
    this.element = make("div", { class: "field-row", "data-field": field.path.join("."), "data-owner": owner }, label, box, unit, this.removeButton(), this.doc, this.wrong);
  }

  /** The slider of a number that the run knows by this name. */
  setDesk(desk: LiveDesk | null): void {
    this.slider?.element.remove();
    this.slider?.destroy();
    this.slider = null;
    const name = this.liveName;
    if (desk === null || this.field.given === null || desk.find(name)?.structural !== "") return;
    this.slider = new LiveSlider(desk, name, (value, unit) => {
      desk.reset(name);
      void this.send(keptText(value, unit, this.field.given));
    });
    this.element.append(this.slider.element);
  }

  /** The error that the check found here. */
  showProblems(problems: readonly Problem[]): void {
    const mine = problems.filter((problem) => problem.field !== null && fits(problem.field, this.field));
    this.refuse(mine.map((problem) => problem.message).join("\n"));
  }

  focus(): void {
    this.input.focus();
  }

  /** The component and the field: no two rows have the same. */
  get key(): string {
    return [this.owner, ...this.field.path].join("\n");
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  get isChanged(): boolean {
    return this.input.value !== this.committed;
  }

  destroy(): void {
    this.slider?.destroy();
  }

  private makeInput<T extends HTMLInputElement | HTMLTextAreaElement>(input: T): T {
    const { field } = this;
    const words = { autocomplete: "off", spellcheck: "false", placeholder: field.default || (field.required ? "must be given" : "not given") };
    for (const [key, value] of Object.entries(words)) input.setAttribute(key, value);
    input.value = this.committed;
    input.addEventListener("change", () => void this.send(input.value));
    input.addEventListener("keydown", (event) => {
      if ((event as KeyboardEvent).key !== "Escape" || event.defaultPrevented) return;
      input.value = this.committed;
      this.refuse("");
      event.stopPropagation();
    });
    return input;
  }

  private makeSelect(choices: string[]): HTMLSelectElement {
    const select = make("select", {});
    const names = this.committed === "" || choices.includes(this.committed) ? choices : [this.committed, ...choices];
    select.append(make("option", { value: "" }, this.field.default === null ? "–" : `${this.field.default} (default)`), ...names.map((name) => make("option", { value: name }, name)));
    select.value = this.committed;
    select.addEventListener("change", () => void this.send(select.value));
    return select;
  }

  private lawBox(input: HTMLInputElement): HTMLElement {
    return new LawBox(input, {
      complete: async (text, position) => {
        const answer = await this.context.document.completeLaw(text, toPoints(text, position), this.owner, this.field.path);
        const wrong = (answer as { problem?: string | null }).problem;
        if (typeof wrong === "string" && input.value === text) this.refuse(wrong);
        return { ...answer, from: toUnits(text, answer.from) };
      },
      commit: (text) => void this.send(text),
      typed: () => this.refuse(""),
    }).element;
  }

  private removeButton(): HTMLElement {
    const remove = make("button", { type: "button", class: "field-remove", title: "Take this field out of the file", "aria-label": `Take out ${this.field.name}` }, "×");
    remove.hidden = this.field.given === null || this.field.required || this.context.readOnly;
    remove.addEventListener("click", () => void this.send(""));
    return remove;
  }

  private async send(typed: string): Promise<void> {
    const value = typed.trim();
    if (value === this.committed) return;
    const before = this.committed;
    this.committed = value;
    try {
      await this.context.document.gesture({ do: "set", name: this.owner, path: this.field.path, value: value === "" ? null : value });
      this.refuse("");
    } catch (error) {
      this.committed = before;
      this.refuse(errorWords(error));
    }
  }

  private refuse(message: string): void {
    this.wrong.textContent = message;
    this.wrong.hidden = message === "";
    this.input.setAttribute("aria-invalid", String(message !== ""));
  }
}

/** Whether the place that an error names is this field: "mass", "frames.hand", or a part of it. */
export function fits(named: string, { name, path }: Pick<InspectedField, "name" | "path">): boolean {
  const whole = path.join(".");
  return named === name || named === whole || named.startsWith(`${whole}.`) || named.startsWith(`${whole}[`);
}

function docWords({ doc, unit, dimension }: InspectedField): string {
  const what = [dimension ?? "", unit ?? ""].filter((each) => each !== "").join(", ");
  return [doc, what === "" ? "" : `(${what})`].filter((each) => each !== "").join(" ");
}
