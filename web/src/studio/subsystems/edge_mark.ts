// A port of a subsystem that is open: a flag that says what it is connected to outside.

import type { SketchBox, SketchPort } from "../../messages";
import { OUTWARD, STUB } from "../canvas/route_types";
import { draw } from "../../live/svg";

const LENGTH = STUB + 4;

export function edgeMark(box: SketchBox, port: SketchPort): SVGGElement {
  const [x, y] = [port.at[0] - box.at[0], port.at[1] - box.at[1]];
  const [dx, dy] = OUTWARD[port.side];
  const [ex, ey] = [x + dx * LENGTH, y + dy * LENGTH];
  const flag = `M${ex - 3 * dx - 4 * dy},${ey - 3 * dy - 4 * dx}L${ex},${ey}L${ex - 3 * dx + 4 * dy},${ey - 3 * dy + 4 * dx}`;
  const anchor = dx === 0 ? "middle" : dx > 0 ? "start" : "end";
  const words = draw("text", { class: "edge-words", x: ex + 5 * dx, y: ey + (dx === 0 ? (dy > 0 ? 11 : -5) : 3), "font-size": 9, "text-anchor": anchor }, port.edge ?? "");
  return draw("g", { class: "edge" }, draw("title", {}, `connected outside to ${port.edge}`), draw("path", { d: `M${x},${y}L${ex},${ey}` }), draw("path", { d: flag }), words);
}
