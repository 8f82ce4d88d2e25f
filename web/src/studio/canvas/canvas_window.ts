// The window of the canvas: which part of the drawing is seen. Wheel and pinch zoom, Shift and Ctrl as elsewhere.

import { fitWindow, panBy, reveal, zoomAt, type Extent, type ViewWindow } from "../../diagram/view_window";
import type { Point } from "./route_types";

const WHEEL = 0.0016;
const EMPTY: Extent = [-300, -200, 600, 400];
const MARGIN = 30;

export class CanvasWindow {
  view: ViewWindow = { x: -300, y: -200, scale: 1 };
  private fitted = true; // nobody has zoomed or panned
  private readonly sheet: Element;
  private readonly changed: () => void;
  private readonly extent: () => Extent | null;

  constructor(sheet: HTMLElement, extent: () => Extent | null, changed: () => void) {
    this.sheet = sheet;
    this.extent = extent;
    this.changed = changed;
    sheet.addEventListener("wheel", this.wheel, { passive: false });
  }

  get width(): number {
    return this.sheet.clientWidth;
  }

  get height(): number {
    return this.sheet.clientHeight;
  }

  fit(extent: Extent | null = this.extent()): void {
    this.fitted = true;
    if (this.width === 0) return;
    const [left, top, width, height] = extent ?? EMPTY;
    const wide = Math.max(width, 240);
    const high = Math.max(height, 160);
    const around: Extent = [left + width / 2 - wide / 2 - MARGIN, top + height / 2 - high / 2 - MARGIN, wide + 2 * MARGIN, high + 2 * MARGIN];
    this.view = fitWindow(around, this.width, this.height);
    this.changed();
  }

  /** The size of the pane has changed. */
  resized(): void {
    if (this.fitted) this.fit();
    else this.changed();
  }

  zoom(factor: number, at: Point = [this.width / 2, this.height / 2]): void {
    this.set(zoomAt(this.view, factor, at[0], at[1]));
  }

  pan(dx: number, dy: number): void {
    this.set(panBy(this.view, dx, dy));
  }

  reveal(at: Point): void {
    const next = reveal(this.view, at, this.width, this.height);
    if (next.x === this.view.x && next.y === this.view.y) return;
    this.view = next;
    this.changed();
  }

  /** Pixels of the sheet of a place of the drawing. */
  pixels(at: Point): Point {
    return [(at[0] - this.view.x) * this.view.scale, (at[1] - this.view.y) * this.view.scale];
  }

  /** The place of the drawing at pixels of the sheet. */
  place(pixels: Point): Point {
    return [this.view.x + pixels[0] / this.view.scale, this.view.y + pixels[1] / this.view.scale];
  }

  /** Pixels of the sheet at an event. */
  pixelsOf(event: { clientX: number; clientY: number }): Point {
    const box = this.sheet.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  placeOf(event: { clientX: number; clientY: number }): Point {
    return this.place(this.pixelsOf(event));
  }

  get middle(): Point {
    return this.place([this.width / 2, this.height / 2]);
  }

  private set(view: ViewWindow): void {
    this.fitted = false;
    this.view = view;
    this.changed();
  }

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) this.pan(-(event.deltaX || event.deltaY) * lines, 0);
    else this.zoom(Math.exp(-event.deltaY * lines * WHEEL * (event.ctrlKey ? 4 : 1)), this.pixelsOf(event));
  };
}
