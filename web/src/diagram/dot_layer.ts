// The dots of power on a canvas above the diagram.

import type { LinkData, RunDocument } from "../data/run_document";
import { endPowers, type Cursor } from "./link_reader";
import { density, dotsOn, SPEED } from "./power_flow";
import type { ViewWindow } from "./view_window";
import { placeOn, wirePieces, type WirePiece } from "./wire_graph";

const LONGEST_STEP = 0.25; // s of watching: a longer step is a jump, and dots stay
const RADIUS = 2.1;

interface Flow {
  link: LinkData;
  pieces: WirePiece[];
  phases: number[];
  seeds: number[];
}

export class DotLayer {
  readonly canvas: HTMLCanvasElement;
  shown = true;
  reference = 0;
  moving = true;
  private flows: Flow[] = [];

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
  }

  setLinks(links: LinkData[]): void {
    this.flows = links
      .filter((link) => link.powers.length > 0)
      .map((link, k) => {
        const pieces = wirePieces(link);
        return { link, pieces, phases: pieces.map(() => 0), seeds: pieces.map((_, j) => (k * 37 + j * 11) * 8 + 5) };
      });
  }

  /** Moves the dots by a step of the run's time, watched at a speed. */
  advance(run: RunDocument, cursor: Cursor, step: number, speed: number): void {
    const watched = step / speed;
    if (!this.moving || Math.abs(watched) > LONGEST_STEP) return;
    for (const flow of this.flows) {
      const powers = endPowers(run, flow.link, cursor);
      flow.pieces.forEach((piece, k) => {
        flow.phases[k] = flow.phases[k]! + Math.sign(through(piece, powers)) * SPEED * watched;
      });
    }
  }

  draw(run: RunDocument, cursor: Cursor, view: ViewWindow, color: string, arrows: boolean): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio);
    const height = Math.round(this.canvas.clientHeight * ratio);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const pen = this.canvas.getContext("2d");
    if (pen === null) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!this.shown) return;
    const scale = view.scale * ratio;
    pen.setTransform(scale, 0, 0, scale, -view.x * scale, -view.y * scale);
    pen.fillStyle = color;
    for (const flow of this.flows) {
      const powers = endPowers(run, flow.link, cursor);
      flow.pieces.forEach((piece, k) => {
        const power = through(piece, powers);
        const share = density(power, this.reference);
        for (const [s, strength] of dotsOn(piece.length, flow.phases[k]!, share, flow.seeds[k]!)) {
          const { at } = placeOn(piece.points, s);
          pen.globalAlpha = strength;
          pen.beginPath();
          pen.arc(at[0], at[1], RADIUS, 0, 2 * Math.PI);
          pen.fill();
        }
        if (arrows && share > 0.004) drawArrow(pen, piece, Math.sign(power));
      });
    }
    pen.globalAlpha = 1;
  }
}

/** Power through a piece toward its far side. */
export function through(piece: WirePiece, powers: number[]): number {
  let total = 0;
  for (const k of piece.beyond) total += powers[k] ?? 0;
  return Number.isFinite(total) ? total : 0;
}

/** The direction, for a picture that stands still. */
function drawArrow(pen: CanvasRenderingContext2D, piece: WirePiece, sign: number): void {
  const { at, along } = placeOn(piece.points, piece.length * (sign > 0 ? 0.86 : 0.14));
  const [dx, dy] = [along[0] * sign, along[1] * sign];
  pen.globalAlpha = 1;
  pen.beginPath();
  pen.moveTo(at[0] + 6 * dx, at[1] + 6 * dy);
  pen.lineTo(at[0] - 3 * dx - 5 * dy, at[1] - 3 * dy + 5 * dx);
  pen.lineTo(at[0] - 3 * dx + 5 * dy, at[1] - 3 * dy - 5 * dx);
  pen.closePath();
  pen.fill();
}
