// Plots as files: the numbers as CSV, the picture as PNG.

import { make } from "../ui/elements";
import { firstFrom } from "./decimate";

export interface Column {
  label: string; // with its unit: "elbow.q [deg]"
  run: string;
  t: Float64Array;
  y: Float32Array;
  factor: number;
}

/** Comma-separated values: one column of times for each run, then its quantities, of the stretch that is shown. */
export function toCsv(columns: Column[], from: number, to: number): string {
  const blocks = new Map<Float64Array, Column[]>();
  for (const column of columns) {
    const block = blocks.get(column.t);
    if (block === undefined) blocks.set(column.t, [column]);
    else block.push(column);
  }
  const several = blocks.size > 1;
  const head: string[] = [];
  const cells: ((row: number) => string)[] = [];
  let rows = 0;
  for (const [t, block] of blocks) {
    const first = firstFrom(t, from);
    let last = firstFrom(t, to);
    while (last < t.length && t[last]! <= to) last++;
    rows = Math.max(rows, last - first);
    const cell = (row: number, value: (k: number) => number): string => (first + row < last ? numberText(value(first + row)) : "");
    head.push(`t [s]${several ? ` (${block[0]!.run})` : ""}`);
    cells.push((row) => cell(row, (k) => t[k]!));
    for (const column of block) {
      head.push(`${column.label}${several ? ` (${column.run})` : ""}`);
      cells.push((row) => cell(row, (k) => column.y[k]! * column.factor));
    }
  }
  const lines = [head.map(quote).join(",")];
  for (let row = 0; row < rows; row++) lines.push(cells.map((cell) => cell(row)).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function numberText(value: number): string {
  return Number.isNaN(value) ? "" : String(Number(value.toPrecision(9)));
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export interface PicturePart {
  canvas: HTMLCanvasElement;
  legend: { text: string; color: string; dash: number[] }[];
}

/** The plots one below the other with their legends, on paper of the theme's color. */
export function drawPicture(parts: PicturePart[], title: string, paper: string, ink: string): HTMLCanvasElement {
  const ratio = devicePixelRatio || 1;
  const width = Math.max(...parts.map((part) => part.canvas.width));
  const line = 18 * ratio;
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = 2 * line + parts.reduce((sum, part) => sum + part.canvas.height + part.legend.length * line + line / 2, 0);
  const pen = picture.getContext("2d")!;
  pen.fillStyle = paper;
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.textBaseline = "middle";
  pen.fillStyle = ink;
  pen.font = `600 ${13 * ratio}px system-ui, sans-serif`;
  pen.fillText(title, 8 * ratio, line);
  pen.font = `${12 * ratio}px system-ui, sans-serif`;
  let y = 1.75 * line;
  for (const part of parts) {
    for (const item of part.legend) {
      pen.strokeStyle = item.color;
      pen.lineWidth = 2 * ratio;
      pen.setLineDash(item.dash.map((length) => length * ratio));
      pen.beginPath();
      pen.moveTo(10 * ratio, y + line / 2);
      pen.lineTo(34 * ratio, y + line / 2);
      pen.stroke();
      pen.fillText(item.text, 42 * ratio, y + line / 2);
      y += line;
    }
    pen.drawImage(part.canvas, 0, y);
    y += part.canvas.height + line / 2;
  }
  return picture;
}

/** Gives a file to the person. */
export function saveFile(content: Blob, name: string, root: HTMLElement): void {
  const link = make("a", { href: URL.createObjectURL(content), download: name, hidden: "" });
  root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name that every system takes for a file. */
export function fileName(name: string, ending: string): string {
  return `${name.replace(/[^\w.-]+/g, "_") || "run"}.${ending}`;
}
