// The window of a drawing in its pane: fits, zooms by wheel and by two fingers, pans.

import { panBy, reveal, zoomAt, type ViewWindow } from "./view_window";

type Point = [number, number];

const WHEEL = 0.0016;
const LINE = 16; // pixels of a line that a wheel turns by
const PINCH = 4; // a pinch on a trackpad comes as small turns of the wheel with Ctrl

export abstract class PaneWindow {
  view: ViewWindow = { x: 0, y: 0, scale: 1 };
  protected readonly sheet: HTMLElement;
  private readonly changed: () => void;
  private fitted = true; // nobody has zoomed or panned

  constructor(sheet: HTMLElement, changed: () => void) {
    this.sheet = sheet;
    this.changed = changed;
    sheet.addEventListener("wheel", this.wheel, { passive: false });
  }

  /** The view that fits the drawing. */
  protected abstract fittedView(): ViewWindow;

  /** How far the view may go. */
  protected limit(view: ViewWindow): ViewWindow {
    return view;
  }

  get width(): number {
    return this.sheet.clientWidth;
  }

  get height(): number {
    return this.sheet.clientHeight;
  }

  fit(): void {
    this.fitted = true;
    if (this.width === 0) return;
    this.view = this.fittedView();
    this.changed();
  }

  /** The size of the pane has changed. */
  resized(): void {
    if (this.fitted) this.fit();
    else this.changed();
  }

  zoom(factor: number, at: Point = [this.width / 2, this.height / 2]): void {
    this.set(zoomAt(this.view, factor, ...at));
  }

  pan(dx: number, dy: number): void {
    this.set(panBy(this.view, dx, dy));
  }

  /** One of two fingers has moved. */
  pinch(before: Point, now: Point, other: Point): void {
    const apart = (point: Point): number => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    const moved = panBy(this.view, (now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.set(zoomAt(moved, apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2));
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

  /** Pixels of the sheet at an event. */
  pixelsOf(event: { clientX: number; clientY: number }): Point {
    const box = this.sheet.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private set(view: ViewWindow): void {
    this.fitted = false;
    this.view = this.limit(view);
    this.changed();
  }

  private readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? LINE : 1;
    if (event.shiftKey) this.pan(-(event.deltaX || event.deltaY) * lines, 0);
    else this.zoom(Math.exp(-event.deltaY * lines * WHEEL * (event.ctrlKey ? PINCH : 1)), this.pixelsOf(event));
  };
}
