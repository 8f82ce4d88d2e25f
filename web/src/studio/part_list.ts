// The parts of the model as a list.

import { make } from "../ui/elements";
import type { StudioContext, StudioPart } from "./studio_types";

export function makePartList(context: StudioContext): StudioPart {
  const element = make("section", { class: "part-list" });
  const draw = (): void => element.replaceChildren(...context.document.sketch.boxes.map((box) => {
    const one = make("button", { type: "button", "aria-pressed": String(context.selection.includes(box.name)) }, `${box.label || box.name} (${box.kind})`);
    one.addEventListener("click", () => context.select([box.name], "list"));
    return one;
  }));
  draw();
  return { element, sketchChanged: draw, selectionChanged: draw, destroy: () => element.remove() };
}
