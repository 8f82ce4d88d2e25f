// The window of the diagram: fits, zooms by wheel and pinch, pans by dragging.

import { fitWindow, keepInside, panBy, reveal, zoomAt, type Extent, type ViewWindow } from "./view_window";

const WHEEL = 0.0016;
const CLICK = 4; // pixels: a longer drag is no click

export class DiagramWindow {
  view: ViewWindow = { x: 0, y: 0, scale: 1 };
  extent: Extent = [0, 0, 100, 100];
  dragged = false; // the last press was a drag, not a click
  private fitted = true; // nobody has zoomed or panned
  private readonly pointers = new Map<number, [number, number]>();
  private readonly sheet: HTMLElement;
  private readonly changed: () => void;

  constructor(sheet: HTMLElement, changed: () => void) {
    this.sheet = sheet;
    this.changed = changed;
    sheet.addEventListener("wheel", this.wheel, { passive: false });
    sheet.addEventListener("pointerdown", this.down);
    sheet.addEventListener("pointermove", this.move);
    for (const name of ["pointerup", "pointercancel", "pointerleave"] as const) sheet.addEventListener(name, this.up);
  }

  fit(): void {
    this.fitted = true;
    if (this.sheet.clientWidth > 0) this.set(fitWindow(this.extent, this.sheet.clientWidth, this.sheet.clientHeight), true);
  }

  /** The size of the pane has changed. */
  resized(): void {
    if (this.fitted) this.fit();
    else this.changed();
  }

  zoom(factor: number): void {
    this.set(zoomAt(this.view, factor, this.sheet.clientWidth / 2, this.sheet.clientHeight / 2));
  }

  reveal(at: [number, number]): void {
    this.set(reveal(this.view, at, this.sheet.clientWidth, this.sheet.clientHeight), this.fitted);
  }

  /** Pixels of the sheet of a place of the diagram. */
  pixels(at: [number, number]): [number, number] {
    return [(at[0] - this.view.x) * this.view.scale, (at[1] - this.view.y) * this.view.scale];
  }

  private set(view: ViewWindow, fitted = false): void {
    this.fitted = fitted;
    this.view = fitted ? view : keepInside(view, this.extent, this.sheet.clientWidth, this.sheet.clientHeight);
    this.changed();
  }

  private place(event: MouseEvent): [number, number] {
    const box = this.sheet.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey) this.set(panBy(this.view, -event.deltaY * lines, 0));
    else this.set(zoomAt(this.view, Math.exp(-event.deltaY * lines * WHEEL), ...this.place(event)));
  };

  private readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.dragged = this.pointers.size > 1;
    this.start = this.place(event);
  };

  private start: [number, number] = [0, 0];

  private readonly move = (event: PointerEvent): void => {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = this.place(event);
    if (!this.dragged && Math.hypot(now[0] - this.start[0], now[1] - this.start[1]) < CLICK) return;
    if (!this.dragged) this.sheet.setPointerCapture(event.pointerId);
    this.dragged = true;
    this.sheet.classList.add("dragging");
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.pointers.set(event.pointerId, now);
    const other = others[0];
    if (other === undefined) {
      this.set(panBy(this.view, now[0] - before[0], now[1] - before[1]));
      return;
    }
    const apart = (p: [number, number]): number => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
    const middle: [number, number] = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    const moved = panBy(this.view, (now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.set(zoomAt(moved, apart(now) / apart(before), ...middle));
  };

  private readonly up = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.sheet.classList.remove("dragging");
  };
}
