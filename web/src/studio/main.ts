// The studio's module: its page starts by itself.

import { makeCanvas } from "./canvas/canvas_view";
import { makePalette } from "./palette/palette_panel";
import { makeBuildPane } from "./stage/build_pane";
import { startStudio } from "./studio_page";

export { startStudio };

if (typeof document !== "undefined") {
  const start = (): void => {
    const host = document.querySelector<HTMLElement>("[data-kinode-studio]");
    if (host !== null) startStudio(host, { canvas: makeBuildPane(makeCanvas), palette: makePalette });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
}
