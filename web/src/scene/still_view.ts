// In the place of the 3D view: the circuit diagram of a model without bodies, or a sentence.

import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";

export function makeStillView(context: PlayerContext, sentence: string): Panel {
  const element = make("div", { class: "still-view" });
  let shown = "";
  const fill = (): void => {
    const { header, count } = context.main;
    const svg = header.diagram?.svg ?? "";
    const words = sentence || (count === 0 ? "The run has no pictures." : svg === "" ? "The model has no bodies to show." : "");
    if (shown === svg + words) return;
    shown = svg + words;
    element.replaceChildren();
    if (words !== "") element.append(make("p", { class: "muted" }, words));
    if (svg === "") return;
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    const picture = make("div", { class: "still-diagram", role: "img", "aria-label": `Circuit diagram of ${header.name}` });
    picture.append(document.importNode(parsed, true));
    element.append(picture);
  };
  fill();
  return { element, title: "Diagram", setRuns: fill, destroy: () => element.remove() };
}
