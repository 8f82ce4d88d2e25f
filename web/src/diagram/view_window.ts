// Zoom and pan: which part of the diagram is in the window.

export type Extent = [number, number, number, number]; // left, top, width, height

export interface ViewWindow {
  x: number; // of the diagram at the left edge
  y: number;
  scale: number; // pixels for a unit
}

export const READABLE = 0.82; // pixels for a unit at which names can be read
const LEAST = 0.08;
const MOST = 8;

/** The whole diagram; one that would be smaller than the least scale has its full width and begins at the top. */
export function fitWindow(extent: Extent, width: number, height: number, least = 0): ViewWindow {
  const [left, top, w, h] = extent;
  const byWidth = width / w;
  const scale = Math.min(1.7, Math.max(Math.min(byWidth, height / h), Math.min(byWidth, least)));
  const x = left + w / 2 - width / scale / 2;
  const y = h * scale > height ? top : top + h / 2 - height / scale / 2;
  return { x, y, scale };
}

/** Larger by a factor; the point (px, py) of the window stays where it is. */
export function zoomAt(view: ViewWindow, factor: number, px: number, py: number): ViewWindow {
  const scale = Math.min(MOST, Math.max(LEAST, view.scale * factor));
  return { x: view.x + px / view.scale - px / scale, y: view.y + py / view.scale - py / scale, scale };
}

export function panBy(view: ViewWindow, dx: number, dy: number): ViewWindow {
  return { ...view, x: view.x - dx / view.scale, y: view.y - dy / view.scale };
}

/** Keeps some of the diagram in the window. */
export function keepInside(view: ViewWindow, extent: Extent, width: number, height: number): ViewWindow {
  const [left, top, w, h] = extent;
  const margin = 60 / view.scale;
  const x = Math.min(left + w - margin, Math.max(left - width / view.scale + margin, view.x));
  const y = Math.min(top + h - margin, Math.max(top - height / view.scale + margin, view.y));
  return { ...view, x, y };
}

/** The window moved as little as needed to show a place. */
export function reveal(view: ViewWindow, at: [number, number], width: number, height: number): ViewWindow {
  const margin = 40 / view.scale;
  const x = Math.min(at[0] - margin, Math.max(view.x, at[0] + margin - width / view.scale));
  const y = Math.min(at[1] - margin, Math.max(view.y, at[1] + margin - height / view.scale));
  return { ...view, x, y };
}
