// The form of a study: what varies, the design, what is kept, until when; what is wrong stands at its field.

import type { Completion, FieldError, RawAxis, RawForm, StudyAbout } from "../../messages";
import { make, write } from "../../ui/elements";
import { LawBox } from "../inspector/law_box";
import { type AxisKind, DESIGN_WORDS, KIND_WORDS } from "./study_types";

let count = 0;

/** What may stand in a field of what is kept: quantities, and after the bar how they become one number. */
export function completeKept(about: Pick<StudyAbout, "quantities" | "reductions">, text: string, position: number): Completion {
  const bar = text.lastIndexOf("|", position - 1);
  if (bar >= 0) return { from: bar + 1, options: about.reductions.map((label) => ({ label, detail: "", apply: label })) };
  return { from: 0, options: about.quantities.map((label) => ({ label, detail: "", apply: text.includes("|") ? label : `${label}|peak` })) };
}

/** The form that a model's own numbers suggest: its first parameter over its range. */
export function firstForm(about: StudyAbout): RawForm {
  const [name] = about.names;
  return { axes: name === undefined ? [] : [axisOf(about, name.name)], design: "grid", n: String(about.n), keep: [...about.keep], until: about.until };
}

/** An axis over the range that a name suggests. */
export function axisOf(about: StudyAbout, name: string): RawAxis {
  const known = about.names.find((each) => each.name === name);
  return { name, kind: "range", first: known?.first ?? "", second: known?.second ?? "", count: String(about.count), values: "" };
}

export class StudyFormView {
  readonly element = make("form", { class: "study-form", novalidate: "" });
  /** Called after each change. */
  onChange: () => void = () => {};
  private readonly about: StudyAbout;
  private readonly axes = make("div", { class: "study-axes" });
  private readonly kept = make("div", { class: "study-kept" });
  private readonly names = make("datalist", { id: `study-names-${++count}` });
  private readonly design: HTMLSelectElement;
  private readonly n = input("Number of samples", "narrow");
  private readonly samples: HTMLElement;
  private readonly until = input("End of the runs", "narrow");
  private readonly fields = new Map<string, HTMLElement>();
  private form: RawForm;

  constructor(about: StudyAbout, form: RawForm) {
    this.about = about;
    this.form = form;
    this.design = make("select", { "aria-label": "Design" }, ...about.designs.map((name) => make("option", { value: name }, DESIGN_WORDS[name] ?? name)));
    this.names.append(...about.names.map(({ name, role, value, unit, words }) => make("option", { value: name, label: [role, value === null ? "" : `${Number(value.toPrecision(6))} ${unit}`, words].filter((part) => part !== "").join(", ") })));
    this.samples = make("label", { class: "study-samples" }, "samples ", this.n);
    const more = this.button("Add what varies", () => this.addAxis());
    const keep = this.button("Keep more", () => this.addKept());
    this.element.append(this.names, make("h3", {}, "What varies"), this.axes, more, make("div", { class: "study-design" }, this.design, this.samples),
      make("h3", {}, "What is kept of each run"), this.kept, keep, make("label", { class: "study-until" }, "until ", this.until));
    this.design.addEventListener("change", () => this.change({ design: this.design.value }, true));
    this.n.addEventListener("input", () => this.change({ n: this.n.value }));
    this.until.addEventListener("input", () => this.change({ until: this.until.value }));
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.build();
  }

  get value(): RawForm {
    return this.form;
  }

  fill(form: RawForm): void {
    this.form = form;
    this.build();
    this.onChange();
  }

  /** Puts words to the fields that are wrong; where a field is not shown, to the form. */
  showErrors(errors: readonly FieldError[]): void {
    const told = new Map(errors.map(({ field, message }) => [field, message]));
    for (const [field, element] of this.fields) {
      const words = told.get(field) ?? "";
      const place = element.closest(".study-field")!.querySelector(".field-error")!;
      write(place, words);
      (place as HTMLElement).hidden = words === "";
      element.setAttribute("aria-invalid", String(words !== ""));
    }
  }

  /** Where the words of an error can stand. */
  has(field: string): boolean {
    return this.fields.has(field);
  }

  focusFirst(errors: readonly FieldError[]): void {
    this.fields.get(errors.find(({ field }) => this.fields.has(field))?.field ?? "")?.focus();
  }

  // -- building -----------------------------------------------------------------------------------------------------
  private build(): void {
    this.fields.clear();
    const { axes, keep, design, n, until } = this.form;
    this.design.value = design;
    this.n.value = n;
    this.until.value = until;
    this.samples.hidden = design === "grid";
    this.axes.replaceChildren(...axes.map((axis, k) => this.axisRow(axis, k)));
    this.kept.replaceChildren(...keep.map((text, k) => this.keptRow(text, k)));
    for (const [field, element, around] of [["n", this.n, this.samples], ["until", this.until, this.until.parentElement!], ["design", this.design, this.design.parentElement!]] as const) {
      around.classList.add("study-field");
      if (around.querySelector(":scope > .field-error") === null) around.append(errorPlace(element));
      this.fields.set(field, element);
    }
  }

  private axisRow(axis: RawAxis, k: number): HTMLElement {
    const what = axis.name === "" ? `axis ${k + 1}` : axis.name;
    const row = make("fieldset", { class: "study-axis", "aria-label": `What varies: ${what}` });
    const name = input("Name of what varies", "");
    name.setAttribute("list", this.names.id);
    name.setAttribute("placeholder", "parameter, input, initial value");
    name.value = axis.name;
    name.addEventListener("change", () => this.named(k, name.value.trim()));
    name.addEventListener("input", () => this.about.names.some((each) => each.name === name.value) && this.named(k, name.value));
    const kind = make("select", { "aria-label": `How the values of ${what} are given` }, ...Object.entries(KIND_WORDS).map(([value, words]) => make("option", { value }, words)));
    kind.value = axis.kind;
    kind.addEventListener("change", () => this.changeAxis(k, { kind: kind.value as AxisKind }, true));
    const away = this.button("×", () => this.change({ axes: this.form.axes.filter((_, at) => at !== k) }, true));
    away.setAttribute("aria-label", `Leave out ${what}`);
    row.append(this.field(`axes.${k}.name`, name), this.field(`axes.${k}.kind`, kind), away);
    const text = (word: "first" | "second" | "count" | "values", label: string, words: string): void => {
      const box = input(`${label} of ${what}`, word === "count" ? "narrow" : "");
      box.value = axis[word];
      box.addEventListener("input", () => this.changeAxis(k, { [word]: box.value }));
      row.append(this.field(`axes.${k}.${word}`, box, words));
    };
    if (axis.kind === "list") text("values", "Values", "values");
    else {
      text("first", axis.kind === "normal" ? "Mean" : "First value", axis.kind === "normal" ? "mean" : "from");
      text("second", axis.kind === "normal" ? "Standard deviation" : "Last value", axis.kind === "normal" ? "sigma" : "to");
      if (axis.kind === "range" && this.form.design === "grid") text("count", "Number of values", "count");
    }
    row.classList.toggle("listed", axis.kind === "list");
    return row;
  }

  private keptRow(text: string, k: number): HTMLElement {
    const box = input(`What is kept, ${k + 1}`, "");
    box.value = text;
    box.setAttribute("placeholder", "elbow.reaction.force|peak");
    const set = (value: string): void => this.change({ keep: this.form.keep.map((each, at) => (at === k ? value.trim() : each)) });
    const law = new LawBox(box, { complete: async (typed, position) => completeKept(this.about, typed, position), commit: set, typed: set });
    const away = this.button("×", () => this.change({ keep: this.form.keep.filter((_, at) => at !== k) }, true));
    away.setAttribute("aria-label", `Do not keep ${text === "" ? `number ${k + 1}` : text}`);
    return make("div", { class: "kept-row" }, this.field(`keep.${k}`, box, "", law.element), away);
  }

  private field(name: string, element: HTMLElement, words = "", shown: HTMLElement = element): HTMLElement {
    this.fields.set(name, element);
    return make("div", { class: "study-field", "data-field": name }, ...(words === "" ? [] : [make("span", { class: "field-word", "aria-hidden": "true" }, words)]), shown, errorPlace(element));
  }

  // -- changes ------------------------------------------------------------------------------------------------------
  private addAxis(): void {
    const free = this.about.names.find(({ name }) => !this.form.axes.some((axis) => axis.name === name));
    this.change({ axes: [...this.form.axes, axisOf(this.about, free?.name ?? "")] }, true);
    this.fields.get(`axes.${this.form.axes.length - 1}.name`)?.focus();
  }

  private addKept(): void {
    this.change({ keep: [...this.form.keep, ""] }, true);
    this.fields.get(`keep.${this.form.keep.length - 1}`)?.focus();
  }

  /** A name was chosen: its range is that of the model. */
  private named(k: number, name: string): void {
    const before = this.form.axes[k]!;
    if (before.name === name) return;
    const suggested = axisOf(this.about, name);
    const known = this.about.names.some((each) => each.name === name);
    this.changeAxis(k, known ? { ...suggested, kind: before.kind, count: before.count } : { name }, true);
    this.fields.get(`axes.${k}.name`)?.focus();
  }

  private changeAxis(k: number, more: Partial<RawAxis>, anew = false): void {
    this.change({ axes: this.form.axes.map((axis, at) => (at === k ? { ...axis, ...more } : axis)) }, anew);
  }

  private change(more: Partial<RawForm>, anew = false): void {
    this.form = { ...this.form, ...more };
    if (anew) this.build();
    this.onChange();
  }

  private button(words: string, act: () => void): HTMLButtonElement {
    const made = make("button", { type: "button", class: "tool" }, words);
    made.addEventListener("click", act);
    return made;
  }
}

function input(label: string, name: string): HTMLInputElement {
  return make("input", { type: "text", "aria-label": label, autocomplete: "off", spellcheck: "false", class: name });
}

function errorPlace(element: HTMLElement): HTMLElement {
  const id = `study-error-${++count}`;
  element.setAttribute("aria-describedby", id);
  return make("span", { class: "field-error", id, hidden: "" });
}
