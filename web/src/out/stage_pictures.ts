// Pictures of the stage in any size, and of stage and plots together.

import type { Panel, PlayerContext } from "../panel";
import { formatNumber } from "../ui/numbers";

type Pen = OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D;

/** Draws pictures of times onto the whole canvas of a pen, until it is ended. */
export interface Painter {
  paint(t: number, pen: Pen): void;
  end(): void;
}

/** What is asked of the stage: pictures in a size. Null where a model has no bodies or the browser no WebGL. */
export interface PaintedView {
  painter(width: number, height: number, fine: boolean): Painter;
}

/** The 3D view of a stage, if it has one. */
export function viewOf(stage: Panel): PaintedView | null {
  const { view } = stage as Panel & { view?: PaintedView | null };
  return view !== null && view !== undefined && typeof view.painter === "function" ? view : null;
}

export function colorOf(context: PlayerContext, name: string): string {
  return getComputedStyle(context.root).getPropertyValue(name).trim() || (name === "--paper" ? "#ffffff" : "#1d2733");
}

/** One line in the lower left corner: the name of the run, and the time. */
export function drawCaption(pen: Pen, context: PlayerContext, t: number, size: number): void {
  const { height } = pen.canvas;
  const text = `${context.main.header.name}   t = ${captionTime(context, t)} s`;
  pen.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  pen.textBaseline = "alphabetic";
  pen.lineWidth = size / 4;
  pen.lineJoin = "round";
  pen.strokeStyle = colorOf(context, "--paper");
  pen.fillStyle = colorOf(context, "--ink");
  pen.strokeText(text, size, height - size);
  pen.fillText(text, size, height - size);
}

/** As many digits for all times of a run. */
function captionTime(context: PlayerContext, t: number): string {
  const { from, to } = context.main.header.run;
  const digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(to - from, 1e-9)))));
  return Number.isFinite(t) ? t.toFixed(digits) : formatNumber(t);
}

/** The stage at a time, on the whole canvas of the pen. */
export function drawStage(context: PlayerContext, painter: Painter, t: number, pen: Pen, caption: boolean): void {
  painter.paint(t, pen);
  if (caption) drawCaption(pen, context, t, Math.max(11, Math.round(pen.canvas.height / 36)));
}

/** The stage as it is shown, in the sharpness of this screen or better. */
export function stagePng(context: PlayerContext, view: PaintedView, box: DOMRect): Promise<Blob> {
  return toPng(stageCanvas(context, view, box));
}

function stageCanvas(context: PlayerContext, view: PaintedView, box: DOMRect): HTMLCanvasElement {
  const ratio = Math.max(2, devicePixelRatio || 1);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(2, Math.round(box.width * ratio));
  canvas.height = Math.max(2, Math.round(box.height * ratio));
  const painter = view.painter(canvas.width, canvas.height, true);
  drawStage(context, painter, context.clock.t, canvas.getContext("2d")!, true);
  painter.end();
  return canvas;
}

/** Stage and plots side by side, or one below the other where the page is narrow. */
export function wholePng(context: PlayerContext, view: PaintedView, box: DOMRect, plots: HTMLCanvasElement): Promise<Blob> {
  const left = stageCanvas(context, view, box);
  const beside = !context.root.classList.contains("narrow");
  const scale = beside ? Math.min(1.5, left.height / plots.height) : left.width / plots.width;
  const [width, height] = [plots.width * scale, plots.height * scale];
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(beside ? left.width + width : left.width);
  canvas.height = Math.round(beside ? Math.max(left.height, height) : left.height + height);
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = colorOf(context, "--paper");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(left, 0, 0);
  pen.drawImage(plots, beside ? left.width : 0, beside ? 0 : left.height, width, height);
  return toPng(canvas);
}

export function toPng(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((give, refuse) => {
    canvas.toBlob((blob) => (blob ? give(blob) : refuse(new Error("the picture could not be written"))), "image/png");
  });
}
