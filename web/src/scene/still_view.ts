// In the place of the 3D view: the circuit diagram of a model without bodies, or a sentence.

import { makeDiagramView } from "../diagram/diagram_view";
import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";

export function makeStillView(context: PlayerContext, sentence: string): Panel {
  const element = make("div", { class: "still-view" });
  let diagram: Panel | null = null;
  let shown: string | null = null;
  const fill = (): void => {
    const { header, count } = context.main;
    const words = sentence || (count === 0 ? "The run has no pictures." : header.diagram === null ? "The model has no bodies to show." : "");
    if (header.diagram !== null && diagram === null) diagram = makeDiagramView(context);
    else diagram?.setRuns();
    if (shown === words) return;
    shown = words;
    element.replaceChildren(...(words === "" ? [] : [make("p", { class: "muted" }, words)]), ...(diagram === null ? [] : [diagram.element]));
  };
  fill();
  return {
    element,
    title: "Diagram",
    setRuns: fill,
    selectionChanged: () => diagram?.selectionChanged?.(),
    themeChanged: () => diagram?.themeChanged?.(),
    resized: () => diagram?.resized?.(),
    destroy: () => {
      diagram?.destroy();
      element.remove();
    },
  };
}
