// Values as stickers on the links, inside the SVG so that they move and grow with it.

import type { LinkData, Point, RunDocument } from "../data/run_document";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { endPowers, seriesAt, type Cursor } from "./link_reader";
import { labelPlace, wirePieces } from "./wire_graph";

export type StickerMode = "none" | "values" | "power";

const SVG = "http://www.w3.org/2000/svg";
const DIGITS = 3;
const LETTER = 5.1; // units of width
const LINE = 10;

/** One sticker: what each of its lines says at a cursor. */
export interface Sticker {
  at: Point;
  lines: ((run: RunDocument, cursor: Cursor) => string)[];
}

export function quantityText(value: number, unit: string): string {
  return `${formatNumber(value, DIGITS)} ${prettyUnit(unit)}`.trim();
}

/** An arrow in the direction in which power flows along a stretch of line. */
export function arrowText(along: Point, power: number): string {
  const x = along[0] * Math.sign(power);
  const y = along[1] * Math.sign(power);
  if (power === 0) return "";
  return Math.abs(x) > Math.abs(y) ? (x > 0 ? "→ " : "← ") : y > 0 ? "↓ " : "↑ ";
}

/** The stickers of a link. */
export function stickersOf(link: LinkData, mode: StickerMode): Sticker[] {
  const pieces = wirePieces(link);
  if (pieces.length === 0 || mode === "none") return [];
  const longest = pieces.reduce((a, b) => (labelPlace(b.points).room > labelPlace(a.points).room ? b : a));
  if (mode === "power") {
    if (link.powers.length === 0) return [];
    return (link.ends.length === 2 ? [longest] : pieces.filter((piece) => piece.beyond.length > 0)).map((piece) => {
      const { at, along } = labelPlace(piece.points);
      return {
        at,
        lines: [(run, cursor): string => {
          const powers = endPowers(run, link, cursor);
          const power = piece.beyond.reduce((sum, k) => sum + (powers[k] ?? 0), 0);
          return arrowText(along, power) + quantityText(Math.abs(power), "W");
        }],
      };
    });
  }
  const value = (k: number): Sticker["lines"][number] => {
    const { series, unit } = link.values[k]!;
    return (run, cursor) => quantityText(seriesAt(run, series, cursor), unit);
  };
  if (link.values.length === 0) return [];
  const { at } = labelPlace(longest.points);
  if (link.kind !== "energy") return [{ at, lines: link.kind === "vector" ? [value(0), value(1)] : [value(0)] }];
  const flows = link.values.map((each, k) => ({ each, k })).filter(({ each }) => each.of !== "");
  if (link.ends.length === 2) return [{ at, lines: [value(0), ...(flows.length > 0 ? [value(flows[flows.length - 1]!.k)] : [])] }];
  const stickers: Sticker[] = [{ at, lines: [value(0)] }];
  for (const piece of pieces) {
    if (piece === longest || piece.beyond.length !== 1) continue;
    const flow = flows.find(({ each }) => each.of === link.ends[piece.beyond[0]!]!.component);
    if (flow) stickers.push({ at: labelPlace(piece.points).at, lines: [value(flow.k)] });
  }
  return stickers;
}

export class StickerLayer {
  readonly group: SVGGElement = document.createElementNS(SVG, "g");
  private drawn: { sticker: Sticker; texts: SVGTextElement[]; plate: SVGRectElement; width: number }[] = [];

  constructor() {
    this.group.setAttribute("class", "stickers");
    this.group.setAttribute("aria-hidden", "true");
  }

  setLinks(links: LinkData[], mode: StickerMode): void {
    this.group.replaceChildren();
    this.drawn = links.flatMap((link) => stickersOf(link, mode).map((sticker) => this.add(sticker, link.kind)));
  }

  update(run: RunDocument, cursor: Cursor): void {
    for (const each of this.drawn) {
      let width = 0;
      each.sticker.lines.forEach((line, k) => {
        const text = line(run, cursor);
        width = Math.max(width, text.length * LETTER + 6);
        const element = each.texts[k]!;
        if (element.textContent !== text) element.textContent = text;
      });
      if (width > each.width) {
        each.width = width;
        each.plate.setAttribute("width", String(width));
        each.plate.setAttribute("x", String(each.sticker.at[0] - width / 2));
      }
    }
  }

  private add(sticker: Sticker, kind: string): (typeof this.drawn)[number] {
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", `sticker ${kind}`);
    const plate = document.createElementNS(SVG, "rect");
    const height = LINE * sticker.lines.length + 3;
    plate.setAttribute("y", String(sticker.at[1] - height / 2));
    plate.setAttribute("height", String(height));
    plate.setAttribute("rx", "3");
    const texts = sticker.lines.map((_, k) => {
      const text = document.createElementNS(SVG, "text");
      text.setAttribute("x", String(sticker.at[0]));
      text.setAttribute("y", String(sticker.at[1] - height / 2 + LINE * (k + 1) - 1));
      return text;
    });
    group.append(plate, ...texts);
    this.group.append(group);
    return { sticker, texts, plate, width: 0 };
  }
}
