// Parts that only the other model has, drawn faintly where they would stand.

import type { SketchBox } from "../../messages";
import { draw } from "../../live/svg";

export class GhostLayer {
  readonly element = draw("g", { class: "ghosts" });

  show(boxes: readonly SketchBox[]): void {
    this.element.replaceChildren(...boxes.map((box) => ghost(box)));
  }
}

function ghost(box: SketchBox): SVGGElement {
  const [width, height] = box.size;
  const words = `removed: ${box.label || box.name}`;
  const symbol = draw("g", { class: "symbol part" }); // drawn as a part, but out of reach
  symbol.innerHTML = box.svg; // the server's own drawing
  return draw("g", { class: "ghost", role: "img", "aria-label": words, transform: `translate(${box.at[0]} ${box.at[1]})`, "data-name": box.name },
    draw("title", {}, words), draw("rect", { class: "ghost-room", x: -width / 2 - 4, y: -height / 2 - 4, width: width + 8, height: height + 8, rx: 4 }), symbol,
    draw("text", { class: "ghost-name", y: height / 2 + 15, "text-anchor": "middle", "font-size": 10 }, `− ${box.label || box.name}`));
}
