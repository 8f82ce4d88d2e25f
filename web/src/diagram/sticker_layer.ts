// Values as stickers on the links, inside the SVG so that they move and grow with it.

import type { DiagramComponent, LinkData, Point, RunDocument } from "../data/run_document";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { endPowers, seriesAt, type Cursor } from "./link_reader";
import { labelPlace, labelPlaces, wirePieces, type WirePiece } from "./wire_graph";

export type StickerMode = "none" | "values" | "power";

const SVG = "http://www.w3.org/2000/svg";
const DIGITS = 3;
const LETTER = 5.1; // units of width
const LINE = 10;
const USUAL_WIDTH = 50;

/** One sticker: what each of its lines says at a cursor. */
export interface Sticker {
  places: Point[]; // where it may be, best first
  lines: ((run: RunDocument, cursor: Cursor) => string)[];
}

const PREFIXED = new Set(["N", "N*m", "W", "J", "Pa"]);

/** A short text of a value with its unit: 111 kN. */
export function quantityText(value: number, unit: string): string {
  if (unit === "1") return formatNumber(value, DIGITS);
  if (PREFIXED.has(unit) && Math.abs(value) >= 1e3) {
    const [size, letter] = Math.abs(value) >= 1e6 ? [1e6, "M"] : [1e3, "k"];
    return `${formatNumber(value / size, DIGITS)} ${letter}${prettyUnit(unit)}`;
  }
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
      const { along } = labelPlace(piece.points);
      return {
        places: labelPlaces(piece.points),
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
  const places = labelPlaces(longest.points);
  if (link.kind !== "energy") return [{ places, lines: link.kind === "vector" ? [value(0), value(1)] : [value(0)] }];
  const flows = link.values.map((each, k) => ({ each, k })).filter(({ each }) => each.of !== "");
  const flowInto = (component: string): number | undefined => flows.find(({ each }) => each.of === component)?.k;
  const stickers: Sticker[] = [];
  for (const piece of pieces) {
    const end = link.ends.length === 2 ? link.ends[1] : link.ends[soleEnd(piece, link.ends.length)];
    const flow = end === undefined ? undefined : flowInto(end.component);
    const lines = [...(piece === longest ? [value(0)] : []), ...(flow === undefined ? [] : [value(flow)])];
    if (lines.length > 0) stickers.push({ places: labelPlaces(piece.points), lines });
  }
  return stickers;
}

/** The end that alone is on one side of a piece; -1 if there is none. */
function soleEnd(piece: WirePiece, count: number): number {
  if (piece.beyond.length === 1) return piece.beyond[0]!;
  if (piece.beyond.length !== count - 1) return -1;
  return Array.from({ length: count }, (_, k) => k).findIndex((k) => !piece.beyond.includes(k));
}

interface Room {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The first place where a sticker covers nothing; where there is none, the one where it covers least. */
export function freePlace(places: Point[], width: number, height: number, taken: Room[]): Point {
  const room = ([x, y]: Point): Room => ({ left: x - width / 2, top: y - height / 2, right: x + width / 2, bottom: y + height / 2 });
  const shared = (a: Room, b: Room): number =>
    Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  let chosen: Point = places[0] ?? [0, 0];
  let least = Infinity;
  for (const place of places) {
    const covered = taken.reduce((sum, other) => sum + shared(room(place), other), 0);
    if (covered < least) [chosen, least] = [place, covered];
    if (least === 0) break;
  }
  taken.push(room(chosen));
  return chosen;
}

export class StickerLayer {
  /** Above the dots, in the same window as the diagram. */
  readonly svg: SVGSVGElement = document.createElementNS(SVG, "svg");
  private drawn: { sticker: Sticker; at: Point; texts: SVGTextElement[]; plate: SVGRectElement; width: number }[] = [];

  constructor() {
    this.svg.setAttribute("class", "circuit stickers");
    this.svg.setAttribute("aria-hidden", "true");
  }

  setLinks(links: LinkData[], boxes: DiagramComponent[], mode: StickerMode): void {
    this.svg.replaceChildren();
    const taken = boxes.map(({ at: [x, y], size: [w, h] }): Room => ({ left: x - w / 2, top: y - h / 2, right: x + w / 2, bottom: y + h / 2 }));
    this.drawn = links.flatMap((link) => stickersOf(link, mode).map((sticker) => this.add(sticker, link.kind, taken)));
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
        each.plate.setAttribute("x", String(each.at[0] - width / 2));
      }
    }
  }

  private add(sticker: Sticker, kind: string, taken: Room[]): (typeof this.drawn)[number] {
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", `sticker ${kind}`);
    const plate = document.createElementNS(SVG, "rect");
    const height = LINE * sticker.lines.length + 3;
    const at = freePlace(sticker.places, USUAL_WIDTH, height, taken);
    plate.setAttribute("y", String(at[1] - height / 2));
    plate.setAttribute("height", String(height));
    plate.setAttribute("rx", "3");
    const texts = sticker.lines.map((_, k) => {
      const text = document.createElementNS(SVG, "text");
      text.setAttribute("x", String(at[0]));
      text.setAttribute("y", String(at[1] - height / 2 + LINE * (k + 1) - 1));
      return text;
    });
    group.append(plate, ...texts);
    this.svg.append(group);
    return { sticker, at, texts, plate, width: 0 };
  }
}
