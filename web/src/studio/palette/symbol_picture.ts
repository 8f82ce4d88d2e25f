// The symbol of a kind as a small picture.

import { draw } from "../../live/svg";

/** A picture of markup that is drawn around its middle. */
export function symbolPicture(markup: string, size: readonly [number, number] = [60, 44]): SVGSVGElement {
  const [width, height] = [Math.max(size[0], 44) + 8, Math.max(size[1], 40) + 6];
  const group = draw("g", { class: "component" });
  group.innerHTML = markup;
  return draw("svg", { class: "circuit symbol-picture", viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`, width: 46, height: 34, "aria-hidden": "true" }, group);
}
