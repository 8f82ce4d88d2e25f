// One plot over time: uPlot makes axes and layout, the lines are drawn here, thinned to what the screen can show.
// The upright line is the clock: it is moved, never drawn anew.

import uPlot from "uplot";
import type { PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { formatNumber } from "../ui/numbers";
import { decimate, findRange, makeThinned, type Thinned } from "./decimate";
import { addPlotGestures } from "./plot_gestures";
import type { TimeWindow } from "./time_window";

export interface PlotLine {
  key: string;
  scale: string; // lines of one scale share an axis
  color: string;
  dash: number[];
  width: number;
  t: Float64Array;
  y: Float32Array;
  factor: number;
}

/** An area between two lines, both in the first scale. */
export interface PlotBand {
  color: string;
  hatched: boolean;
  t: Float64Array;
  low: Float32Array;
  high: Float32Array;
  factor: number;
}

export interface PlotContent {
  lines: PlotLine[];
  bands: PlotBand[];
  marks: number[]; // times of events
}

const MOST_BAND_POINTS = 1200;
const MANY_MARKS = 60; // beyond which marks would cover the lines

export class PlotView {
  readonly element = make("div", { class: "plot", tabindex: "0", role: "img" });
  highlighted = "";
  private readonly context: PlayerContext;
  private readonly window: TimeWindow;
  private readonly cursor = make("div", { class: "plot-cursor" });
  private content: PlotContent = { lines: [], bands: [], marks: [] };
  private scales: string[] = [];
  private chart: uPlot | null = null;
  private height = 180;
  private thinned: Thinned = makeThinned(64);
  private readonly ends: (() => void)[] = [];
  private readonly drawTask = makeFrameTask(() => this.draw());
  private readonly cursorTask = makeFrameTask(() => this.placeCursor());

  constructor(context: PlayerContext, window: TimeWindow) {
    this.context = context;
    this.window = window;
    this.ends.push(window.onChange(() => this.drawTask.request()), context.clock.onTime(() => this.cursorTask.request()));
    this.ends.push(addPlotGestures(this.element, {
      clock: context.clock, window, area: () => this.chart?.over ?? null,
    }));
  }

  /** What a screen reader says of the picture. */
  describe(words: string): void {
    if (this.element.getAttribute("aria-label") !== words) this.element.setAttribute("aria-label", words);
  }

  /** New lines; the chart stays if its axes are the same. */
  setContent(content: PlotContent): void {
    this.content = content;
    const scales = [...new Set(content.lines.map((line) => line.scale))];
    if (scales.length === 0) scales.push("");
    if (scales.join("\n") !== this.scales.join("\n")) {
      this.scales = scales;
      this.chart?.destroy();
      this.chart = null;
    }
    this.drawTask.request();
  }

  setHeight(height: number): void {
    if (height === this.height) return;
    this.height = height;
    this.resized();
  }

  resized(): void {
    const width = this.element.clientWidth;
    if (width === 0) return;
    if (this.chart !== null && (this.chart.width !== width || this.chart.height !== this.height))
      this.chart.setSize({ width, height: this.height });
    this.drawTask.request();
  }

  themeChanged(): void {
    this.chart?.destroy();
    this.chart = null;
    this.drawTask.request();
  }

  highlight(key: string): void {
    this.highlighted = key;
    this.drawTask.request();
  }

  /** The picture as it is, for PNG. */
  get canvas(): HTMLCanvasElement | null {
    this.drawTask.flush();
    return this.chart?.ctx.canvas ?? null;
  }

  destroy(): void {
    this.drawTask.cancel();
    this.cursorTask.cancel();
    for (const end of this.ends) end();
    this.chart?.destroy();
  }

  private draw(): void {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const data: uPlot.AlignedData = [[this.window.from, this.window.to], ...this.scales.map((scale) => this.range(scale))];
    if (this.chart === null) this.chart = this.makeChart(width, data);
    else this.chart.setData(data, true);
    this.placeCursor();
  }

  private makeChart(width: number, data: uPlot.AlignedData): uPlot {
    const style = getComputedStyle(this.element);
    const color = (name: string): string => style.getPropertyValue(name).trim() || "#888";
    const axis = (scale: string, side: uPlot.Axis.Side, grid: boolean): uPlot.Axis => ({
      scale, side, stroke: color("--muted"), font: "11px system-ui, sans-serif",
      grid: { show: grid, stroke: color("--line"), width: 0.7 }, ticks: { show: false }, gap: 4,
      size: side === 2 ? 22 : axisSize, values: (_, splits) => splits.map((value) => formatNumber(value, 6)),
      space: side === 2 ? 56 : 26,
    });
    const names = this.scales.map((_, k) => `y${k}`);
    const chart = new uPlot({
      width, height: this.height, cursor: { show: false }, legend: { show: false }, padding: [8, 16, 0, 2],
      scales: {
        x: { time: false, range: (_, low, high) => [low ?? 0, high ?? 1] },
        ...Object.fromEntries(names.map((name) => [name, { range: (_: uPlot, low: number, high: number) => [low, high] as [number, number] }])),
      },
      axes: [axis("x", 2, true), ...names.map((name, k) => axis(name, k % 2 === 0 ? 3 : 1, k === 0))],
      series: [{}, ...names.map((scale): uPlot.Series => ({ scale, paths: () => null, points: { show: false } }))],
      hooks: {
        draw: [(plot) => {
          if (this.scales.some((_, k) => plot.scales[`y${k}`] === undefined)) return; // a chart of other lines, about to go
          this.drawLines(plot);
          this.cursorTask.request(); // the axes may have moved
        }],
      },
    }, data, this.element);
    chart.over.append(this.cursor);
    return chart;
  }

  /** Least and greatest value of a scale in the shown stretch, with some air. */
  private range(scale: string): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    const include = (t: Float64Array, y: Float32Array, factor: number): void => {
      const [a, b] = findRange(t, y, this.window.from, this.window.to);
      if (a * factor < low) low = a * factor;
      if (b * factor > high) high = b * factor;
    };
    for (const line of this.content.lines) if (line.scale === scale) include(line.t, line.y, line.factor);
    if (scale === this.scales[0]) for (const band of this.content.bands) {
      include(band.t, band.low, band.factor);
      include(band.t, band.high, band.factor);
    }
    return airAround(low, high);
  }

  private drawLines(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const band of this.content.bands) this.drawBand(plot, band);
    this.drawMarks(plot, ratio);
    const stretches = Math.max(64, Math.ceil(bbox.width));
    if (this.thinned.x.length < 5 * stretches) this.thinned = makeThinned(stretches);
    ctx.lineJoin = "round";
    for (const line of this.content.lines) {
      const scale = `y${this.scales.indexOf(line.scale)}`;
      const points = decimate(line.t, line.y, this.window.from, this.window.to, stretches, this.thinned);
      ctx.strokeStyle = line.color;
      ctx.lineWidth = (line.key === this.highlighted ? 2 * line.width + 0.5 : line.width) * ratio;
      ctx.globalAlpha = this.highlighted !== "" && line.key !== this.highlighted ? 0.35 : 1;
      ctx.setLineDash(line.dash.map((length) => length * ratio));
      strokePoints(plot, points, scale, line.factor);
    }
    ctx.restore();
  }

  private drawMarks(plot: uPlot, ratio: number): void {
    const marks = this.content.marks.filter((t) => t >= this.window.from && t <= this.window.to);
    if (marks.length === 0 || marks.length > MANY_MARKS) return;
    const { ctx, bbox } = plot;
    ctx.strokeStyle = getComputedStyle(this.element).getPropertyValue("--muted").trim() || "#888";
    ctx.globalAlpha = 0.55;
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    ctx.beginPath();
    for (const t of marks) {
      const x = plot.valToPos(t, "x", true);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  private drawBand(plot: uPlot, band: PlotBand): void {
    const { ctx } = plot;
    const n = band.t.length;
    if (n < 2) return;
    const every = Math.max(1, Math.ceil((n * (this.window.to - this.window.from)) / ((this.context.clock.to - this.context.clock.from || 1) * MOST_BAND_POINTS)));
    const x = (k: number): number => plot.valToPos(band.t[k]!, "x", true);
    const y = (value: number): number => plot.valToPos(value * band.factor, "y0", true);
    ctx.beginPath();
    ctx.moveTo(x(0), y(band.low[0]!));
    for (let k = 0; k < n; k += every) ctx.lineTo(x(k), y(band.high[k]!));
    ctx.lineTo(x(n - 1), y(band.high[n - 1]!));
    ctx.lineTo(x(n - 1), y(band.low[n - 1]!));
    for (let k = n - 1 - ((n - 1) % every); k >= 0; k -= every) ctx.lineTo(x(k), y(band.low[k]!));
    ctx.closePath();
    ctx.globalAlpha = 0.78;
    ctx.fillStyle = band.hatched ? hatch(ctx, band.color) : band.color;
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  private placeCursor(): void {
    if (this.chart === null) return;
    const t = this.context.clock.t;
    const shown = t >= this.window.from && t <= this.window.to;
    this.cursor.style.visibility = shown ? "visible" : "hidden";
    if (shown) this.cursor.style.transform = `translateX(${this.chart.valToPos(t, "x").toFixed(1)}px)`;
  }
}

function strokePoints(plot: uPlot, points: Thinned, scale: string, factor: number): void {
  const { ctx } = plot;
  let down = false;
  ctx.beginPath();
  for (let k = 0; k < points.count; k++) {
    const value = points.y[k]!;
    if (Number.isNaN(value)) {
      down = false;
      continue;
    }
    const x = plot.valToPos(points.x[k]!, "x", true);
    const y = plot.valToPos(value * factor, scale, true);
    if (down) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    down = true;
  }
  ctx.stroke();
}

function axisSize(_: uPlot, values: string[] | null): number {
  return Math.max(34, 10 + 6.2 * Math.max(0, ...(values ?? []).map((value) => value.length)));
}

/** A range that is not empty, with a little room above and below; noise about a constant is not blown up. */
export function airAround(low: number, high: number): [number, number] {
  if (!(low <= high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const least = size > 0 ? 1e-5 * size : 1;
  const span = Math.max(high - low, least);
  const middle = (low + high) / 2;
  if (span === least) return [middle - (size > 0 ? 0.05 * size : 1), middle + (size > 0 ? 0.05 * size : 1)];
  return [low - 0.06 * span, high + 0.06 * span];
}

const hatches = new Map<string, CanvasPattern>();

function hatch(ctx: CanvasRenderingContext2D, color: string): CanvasPattern | string {
  const known = hatches.get(color);
  if (known !== undefined) return known;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  if (pen === null) return color;
  pen.strokeStyle = color;
  pen.globalAlpha = 0.3;
  pen.fillStyle = color;
  pen.fillRect(0, 0, 8, 8);
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.beginPath();
  for (const shift of [-8, 0, 8]) {
    pen.moveTo(shift, 8);
    pen.lineTo(shift + 8, 0);
  }
  pen.stroke();
  const pattern = ctx.createPattern(tile, "repeat");
  if (pattern === null) return color;
  hatches.set(color, pattern);
  return pattern;
}
