// Modes of components as strips under the time bar: sticking, sliding, on, off. Each says its word at the clock.

import type { StripData } from "../data/run_document";
import type { PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { lineColor } from "../ui/line_colors";

const HEIGHT = 16;

interface Row {
  element: HTMLElement;
  name: HTMLElement;
  canvas: HTMLCanvasElement;
  word: HTMLElement;
  strip: StripData;
}

/** The word of a strip at a time: of two stretches that meet, the later. */
export function wordAt(strip: StripData, t: number): string {
  let word = "";
  for (const [from, to, name] of strip.stretches) if (t >= from && t <= to) word = name;
  return word;
}

export class StripRows {
  readonly element = make("div", { class: "strips", role: "group", "aria-label": "Modes of components" });
  private readonly context: PlayerContext;
  private rows: Row[] = [];
  private readonly painting = makeFrameTask(() => this.paint());

  constructor(context: PlayerContext) {
    this.context = context;
  }

  get count(): number {
    return this.context.main.header.strips.length;
  }

  update(): void {
    const strips = this.context.main.header.strips;
    while (this.rows.length > strips.length) this.rows.pop()!.element.remove();
    strips.forEach((strip, k) => {
      const row = this.rows[k] ?? this.addRow(strip);
      row.strip = strip;
      if (row.name.textContent !== strip.name) row.name.textContent = row.name.title = strip.name;
    });
    this.painting.request();
    this.showTime();
  }

  showTime(): void {
    if (this.element.hidden) return;
    for (const row of this.rows) {
      const word = wordAt(row.strip, this.context.clock.t);
      if (row.word.textContent !== word) row.word.textContent = word;
    }
  }

  destroy(): void {
    this.painting.cancel();
  }

  private addRow(strip: StripData): Row {
    const name = make("span", { class: "gutter" });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const word = make("output", { class: "gutter word", "aria-live": "off" });
    const element = make("div", { class: "strip" }, name, make("div", { class: "strip-run" }, canvas), word);
    const row = { element, name, canvas, word, strip };
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const t = this.context.clock.from + ((event.clientX - box.left) / box.width) * (this.context.clock.to - this.context.clock.from);
      canvas.title = `${row.strip.name}: ${wordAt(row.strip, t)}`;
    });
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      this.context.clock.seek(this.context.clock.from + ((event.clientX - box.left) / box.width) * (this.context.clock.to - this.context.clock.from));
    });
    this.rows.push(row);
    this.element.append(element);
    return row;
  }

  private paint(): void {
    if (this.element.hidden) return;
    const style = getComputedStyle(this.context.root);
    const ink = style.getPropertyValue("--ink").trim();
    for (const row of this.rows) this.paintRow(row, ink);
  }

  private paintRow(row: Row, ink: string): void {
    const ratio = devicePixelRatio || 1;
    const width = row.canvas.clientWidth;
    if (width === 0) return;
    if (row.canvas.width !== Math.round(width * ratio)) row.canvas.width = Math.round(width * ratio);
    row.canvas.height = HEIGHT * ratio;
    const pen = row.canvas.getContext("2d");
    if (pen === null) return;
    pen.scale(ratio, ratio);
    const { from, to } = this.context.clock;
    const x = (t: number): number => ((t - from) / (to - from || 1)) * width;
    const words = [...new Set(row.strip.stretches.map((stretch) => stretch[2]))].sort();
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const [start, end, word] of row.strip.stretches) {
      const left = x(start);
      const size = Math.max(0.6, x(end) - left - 0.6);
      pen.globalAlpha = 0.38;
      pen.fillStyle = lineColor(words.indexOf(word), this.context.theme);
      pen.fillRect(left, 1, size, HEIGHT - 2);
      pen.globalAlpha = 1;
      if (size < pen.measureText(word).width + 6) continue;
      pen.fillStyle = ink;
      pen.fillText(word, left + 3, HEIGHT / 2 + 0.5);
    }
    pen.fillStyle = ink;
    for (const jump of row.strip.jumps) pen.fillRect(x(jump) - 0.5, 0, 1, HEIGHT);
  }
}
