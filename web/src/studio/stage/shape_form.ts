// The shape of a body as a form: its kind and sizes, mass or density, and the mass and inertia that follow.

import { make } from "../../ui/elements";
import type { Gesture, StudioContext } from "../studio_types";

export interface ShapeData {
  name: string;
  solid: string; // its kind; "" if it has none
  fields: { name: string; text: string | null; words: string }[];
  kinds: Record<string, Gesture>; // what makes it one
  properties: [string, string][];
}

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
      this.draw((await this.context.document.question("shape", { name: this.body })) as unknown as ShapeData);
    } catch {
      this.element.hidden = true; // a text that is being typed: the fields above say what is wrong
    }
  }

  private draw(shape: ShapeData): void {
    const kinds = make("select", { "aria-label": `Shape of ${shape.name}` }, ...(shape.solid === "" ? [make("option", { value: "" }, "no shape")] : []), ...Object.keys(shape.kinds).map((kind) => make("option", { value: kind }, kind)));
    kinds.value = shape.solid;
    kinds.disabled = this.context.readOnly;
    kinds.addEventListener("change", () => void this.context.act(shape.kinds[kinds.value]!));
    const rows = shape.fields.map((field) => {
      const input = make("input", { type: "text", "data-shape": field.name, placeholder: "not given", title: field.words, spellcheck: "false", autocomplete: "off" });
      input.value = field.text ?? "";
      input.disabled = this.context.readOnly;
      input.addEventListener("change", async () => {
        if ((await this.context.act(shapeGesture(shape, field.name, input.value.trim()))) === null) input.value = field.text ?? "";
      });
      return make("label", { class: "shape-field" }, make("span", {}, field.name), input);
    });
    const properties = make("table", { "aria-label": "Mass and inertia" }, make("tbody", {}, ...shape.properties.map(([words, value]) => make("tr", {}, make("th", { scope: "row" }, words), make("td", { class: "number" }, value)))));
    this.element.replaceChildren(make("summary", {}, "Shape, mass and inertia"), make("label", { class: "shape-field" }, make("span", {}, "kind"), kinds), ...rows, properties);
    if (focused !== null && document.activeElement === document.body) this.element.querySelector<HTMLElement>(`[data-shape="${focused}"]`)?.focus();
  }
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
