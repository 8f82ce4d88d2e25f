// The window of the canvas: which part of the drawing is seen.

import { PaneWindow } from "../../diagram/pane_window";
import { fitWindow, type Extent, type ViewWindow } from "../../diagram/view_window";
import type { Point } from "./route_types";

const EMPTY: Extent = [-300, -200, 600, 400];
const LEAST = [240, 160] as const; // width and height that are shown of a smaller drawing
const MARGIN = 30;

export class CanvasWindow extends PaneWindow {
  private readonly extent: () => Extent | null;

  constructor(sheet: HTMLElement, extent: () => Extent | null, changed: () => void) {
    super(sheet, changed);
    this.extent = extent;
  }

  protected fittedView(): ViewWindow {
    const [left, top, width, height] = this.extent() ?? EMPTY;
    const wide = Math.max(width, LEAST[0]) + 2 * MARGIN;
    const high = Math.max(height, LEAST[1]) + 2 * MARGIN;
    return fitWindow([left + width / 2 - wide / 2, top + height / 2 - high / 2, wide, high], this.width, this.height);
  }

  /** The place of the drawing at pixels of the sheet. */
  place(pixels: Point): Point {
    return [this.view.x + pixels[0] / this.view.scale, this.view.y + pixels[1] / this.view.scale];
  }

  placeOf(event: { clientX: number; clientY: number }): Point {
    return this.place(this.pixelsOf(event));
  }

  get middle(): Point {
    return this.place([this.width / 2, this.height / 2]);
  }
}
