// The window of the diagram: moved by dragging, and never away from the whole diagram.

import { PaneWindow } from "./pane_window";
import { fitWindow, keepInside, READABLE, type Extent, type ViewWindow } from "./view_window";

const CLICK = 4; // pixels: a longer drag is no click

export class DiagramWindow extends PaneWindow {
  extent: Extent = [0, 0, 100, 100];
  dragged = false; // the last press was a drag, not a click
  private readonly pointers = new Map<number, [number, number]>();
  private start: [number, number] = [0, 0];

  constructor(sheet: HTMLElement, changed: () => void) {
    super(sheet, changed);
    sheet.addEventListener("pointerdown", this.down);
    sheet.addEventListener("pointermove", this.move);
    for (const name of ["pointerup", "pointercancel", "pointerleave"] as const) sheet.addEventListener(name, this.up);
  }

  protected fittedView(): ViewWindow {
    return fitWindow(this.extent, this.width, this.height, READABLE);
  }

  protected override limit(view: ViewWindow): ViewWindow {
    return keepInside(view, this.extent, this.width, this.height);
  }

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.start = this.pixelsOf(event);
    this.pointers.set(event.pointerId, this.start);
    this.dragged = this.pointers.size > 1;
  };

  private readonly move = (event: PointerEvent): void => {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = this.pixelsOf(event);
    if (!this.dragged && Math.hypot(now[0] - this.start[0], now[1] - this.start[1]) < CLICK) return;
    if (!this.dragged) this.sheet.setPointerCapture(event.pointerId);
    this.dragged = true;
    this.sheet.classList.add("dragging");
    this.pointers.set(event.pointerId, now);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) this.pan(now[0] - before[0], now[1] - before[1]);
    else this.pinch(before, now, other);
  };

  private readonly up = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.sheet.classList.remove("dragging");
  };
}
