// The numbers of the active place, to be typed: position and axes, as they stand in the file.

import type { PlaceData, PlaceEntry } from "../../messages";
import { make } from "../../ui/elements";
import type { Gesture, StudioContext } from "../studio_types";
import { wordsOf } from "./gizmo_layer";

const POSITION = ["x", "y", "z"];
const NOTHING = "Select a body: its frames and its mass center get handles. Select a joint to move it.";
const ANGLES = ["roll", "pitch", "yaw"];

export class PlaceFieldsBar {
  readonly element = make("form", { class: "place-fields", "aria-label": "Place" }, NOTHING);
  private readonly context: StudioContext;
  private key = "";

  constructor(context: StudioContext) {
    this.context = context;
    this.element.addEventListener("submit", (event) => event.preventDefault());
  }

  show(place: PlaceData | null): void {
    const key = JSON.stringify(place === null ? null : [place.kind, place.name, place.entries, place.turns, place.off, place.turnOff, place.axis]);
    if (key === this.key) return;
    this.key = key;
    if (place === null) return this.element.replaceChildren(NOTHING);
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["field"] : undefined;
    const parts: HTMLElement[] = [make("b", {}, wordsOf(place))];
    if (place.off !== "") parts.push(make("span", { class: "muted" }, place.off));
    else place.entries.forEach((entry, k) => parts.push(this.field(place, entry, POSITION[k]!, false, k)));
    if (place.turnOff === "") place.turns.forEach((entry, k) => parts.push(this.field(place, entry, ANGLES[k]!, true, k)));
    if (place.axis !== undefined && place.axis.value !== null) parts.push(place.axis.off === "" ? this.axis(place, place.axis.text) : make("span", { class: "muted" }, `Axis: ${place.axis.off}.`));
    this.element.replaceChildren(...parts);
    if (focused !== undefined) this.element.querySelector<HTMLElement>(`[data-field="${focused}"]`)?.focus();
  }

  private axis(place: PlaceData, text: string): HTMLElement {
    const input = make("input", { type: "text", "data-field": "axis", "aria-label": `axis of ${wordsOf(place)}`, spellcheck: "false", autocomplete: "off" });
    input.value = text;
    input.disabled = this.context.readOnly;
    input.title = "x, y, z, -x, -y, -z or three numbers, in the joint's axes";
    input.addEventListener("change", async () => {
      if ((await this.context.act({ do: "set", name: place.name, path: ["axis"], value: input.value.trim() === "" ? null : input.value.trim() }, [])) === null) input.value = text;
    });
    return make("label", {}, "axis", input);
  }

  private field(place: PlaceData, entry: PlaceEntry, name: string, turns: boolean, k: number): HTMLElement {
    const input = make("input", { type: "text", "data-field": name, "aria-label": `${name} of ${wordsOf(place)}`, spellcheck: "false", autocomplete: "off" });
    input.value = entry.text;
    input.disabled = this.context.readOnly;
    input.title = entry.parameter === "" ? entry.off : `follows the parameter ${entry.parameter}`;
    input.addEventListener("change", async () => {
      const done = await this.context.act(typedGesture(place, input.value.trim(), turns, k), []);
      if (done === null) input.value = entry.text;
    });
    return make("label", {}, name, input);
  }
}

/** What writes one number of a place as it was typed; a list that is not there yet is written as a whole. */
export function typedGesture(place: PlaceData, text: string, turns: boolean, k: number): Gesture {
  const value = text === "" ? "0" : text;
  const entries = turns ? place.turns : place.entries;
  const whole = `[${entries.map((entry, n) => (n === k ? value : entry.text)).join(", ")}]`;
  if (!turns) return place.given ? { do: "set", name: "", path: [...place.path, k], value } : { do: "set", name: "", path: place.path, value: whole };
  // "0" stands for angles that are not written: then the axes come beside the position
  const position = `[${place.entries.map((entry) => entry.text).join(", ")}]`;
  const isList = place.path.join(" ") === place.turnPath.slice(0, -1).join(" ");
  return isList ? { do: "set", name: "", path: place.path, value: `{at: ${position}, rpy: ${whole}}` } : { do: "set", name: "", path: place.turnPath, value: whole };
}
