// The words beside a component, name and value, relative to its middle; those of a body are inside it.

import type { SketchBox } from "../../messages";
import type { Room } from "./route_types";

const LETTER_WIDTH = 6.4; // largest width of a letter in names
const SMALL_LETTER_WIDTH = 5.4; // the same in values
const LINE = 13;

export interface PlacedWords {
  text: string;
  role: "label" | "value";
  room: Room;
}

/** Their places are those of views/diagram/box_geometry.py. */
export function placeWords(box: SketchBox): PlacedWords[] {
  if (box.role === "SB") return [];
  const lines: { text: string; role: PlacedWords["role"]; letter: number }[] = [{ text: box.label, role: "label", letter: LETTER_WIDTH }];
  if (box.value !== "") lines.push({ text: box.value, role: "value", letter: SMALL_LETTER_WIDTH });
  const above = box.spine === true || (box.upright === false && !standsUpright(box));
  const top = above ? -box.size[1] / 2 - 6 - LINE * lines.length : (-LINE * lines.length) / 2;
  return lines.map(({ text, role, letter }, k) => {
    const width = letter * [...text].length;
    const left = above ? -width / 2 : box.size[0] / 2 + 5;
    return { text, role, room: [left, top + k * LINE, left + width, top + (k + 1) * LINE] };
  });
}

/** Whether the ports of a two-pole are above and below it. */
function standsUpright(box: SketchBox): boolean {
  const ends = box.ports.filter((port) => port.kind !== "information");
  return ends.length === 2 && box.ports.some((port) => port.side === "top" || port.side === "bottom");
}
