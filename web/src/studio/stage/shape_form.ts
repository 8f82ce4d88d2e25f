// The shape of a body as a form: its kind and sizes, mass or density, and the mass and inertia that follow.

import type { ShapeData } from "../../messages";
import { make } from "../../ui/elements";
import type { Gesture, StudioContext } from "../studio_types";

type ShapeField = ShapeData["fields"][number];

export class ShapeForm {
  readonly element = make("details", { class: "shape-form" }, make("summary", {}, "Shape, mass and inertia"));
  private readonly context: StudioContext;
  private readonly body: string;

  constructor(context: StudioContext, body: string) {
    this.context = context;
    this.body = body;
    this.element.open = opened;
    this.element.addEventListener("toggle", () => {
      opened = this.element.open;
      if (opened) void this.load();
    });
    this.element.addEventListener("focusin", (event) => (focused = (event.target as HTMLElement).dataset["shape"] ?? null));
    this.element.addEventListener("focusout", (event) => event.relatedTarget !== null && (focused = null));
    if (opened) void this.load();
  }

  private async load(): Promise<void> {
    try {
      this.draw(await this.context.document.ask("shape", { name: this.body }));
    } catch {
      this.element.hidden = true; // a text that is being typed: the fields above say what is wrong
    }
  }

  private draw(shape: ShapeData): void {
    const missing = Object.entries(shape.missing).map(([kind, why]) => make("option", { value: kind, disabled: "", title: why }, `${kind} (${why})`));
    const kinds = make("select", { "aria-label": `Shape of ${shape.name}` }, ...(shape.solid === "" ? [make("option", { value: "" }, "no shape")] : []), ...Object.keys(shape.kinds).map((kind) => make("option", { value: kind }, kind)), ...missing);
    kinds.value = shape.solid;
    kinds.disabled = this.context.readOnly;
    kinds.addEventListener("change", () => void this.context.act(shape.kinds[kinds.value]!));
    const rows = shape.fields.map((field) => {
      const input = fieldBox(field);
      input.disabled = this.context.readOnly;
      input.addEventListener("change", async () => {
        if ((await this.context.act(shapeGesture(shape, field.name, input.value.trim()))) === null) input.value = field.text ?? "";
      });
      return make("label", { class: "shape-field" }, make("span", {}, field.name), input);
    });
    const properties = propertyTable(shape);
    this.element.replaceChildren(make("summary", {}, "Shape, mass and inertia"), make("label", { class: "shape-field" }, make("span", {}, "kind"), kinds), ...rows, properties);
    if (focused !== null && document.activeElement === document.body) this.element.querySelector<HTMLElement>(`[data-shape="${focused}"]`)?.focus();
  }
}

/** Where a field is typed, or chosen from what there is. */
function fieldBox(field: ShapeField): HTMLInputElement | HTMLSelectElement {
  const attributes = { "data-shape": field.name, title: field.words };
  if (field.choices === undefined) {
    const input = make("input", { ...attributes, type: "text", placeholder: "not given", spellcheck: "false", autocomplete: "off" });
    input.value = field.text ?? "";
    return input;
  }
  const own = field.text !== null && !field.choices.includes(field.text) ? [field.text] : [];
  const select = make("select", attributes, ...[...own, ...field.choices].map((choice) => make("option", { value: choice }, choice === "" ? "as the file says" : choice)));
  select.value = field.text ?? "";
  return select;
}

/** Mass and inertia; where the body states them beside a mesh, both, and a mark where they differ. */
function propertyTable(shape: ShapeData): HTMLElement {
  const head = shape.columns.length > 0 ? [make("thead", {}, make("tr", {}, make("td", {}), ...shape.columns.map((words) => make("th", { scope: "col" }, words))))] : [];
  const rows = shape.properties.map(([words, ...values]) => {
    const differs = shape.differs.includes(words!);
    const wide: Record<string, string> = values.length < shape.columns.length ? { colspan: String(shape.columns.length) } : {};
    return make("tr", differs ? { class: "differs", title: "these differ by more than 2 %; what is stated counts" } : {}, make("th", { scope: "row" }, words!), ...values.map((value, k) => make("td", { class: "number", ...wide }, differs && k > 0 ? `${value} ≠` : value)));
  });
  return make("table", { "aria-label": "Mass and inertia" }, ...head, make("tbody", {}, ...rows));
}

let opened = true;
let focused: string | null = null; // the field that was typed into: the inspector draws all anew after each change

/** What writes a number of a shape; mass takes the place of density, and the other way round. */
export function shapeGesture(shape: ShapeData, field: string, text: string): Gesture {
  const set = (name: string, value: string | null): Gesture => ({ do: "set", name: shape.name, path: ["shape", shape.solid, name], value });
  const other = { mass: "density", density: "mass" }[field];
  const one = set(field, text === "" ? null : text);
  const replaced = other !== undefined && text !== "" && shape.fields.some((each) => each.name === other && each.text !== null);
  return replaced ? { do: "all", gestures: [one, set(other, null)] } : one;
}
