// Two axes of a grid: a cell for each run, its color the value of a result. Cells that failed are hatched and crossed.

import { draw } from "../../live/svg";
import { formatNumber, prettyUnit } from "../../ui/numbers";
import { LEVELS, SCALE, levelOf } from "./color_scale";
import { BOX, type ChartActions, StudyChart, crossPath, drawFrame } from "./study_chart";
import { type StudyData, shown, shownUnit } from "./study_data";

const BAR = { width: 12, gap: 50 };
const MOST_TICKS = 6;

/** The edges of cells around values: halfway between them. */
export function cellEdges(values: readonly number[]): number[] {
  if (values.length === 1) return [values[0]! - 0.5, values[0]! + 0.5];
  const middle = values.slice(1).map((value, k) => (value + values[k]!) / 2);
  return [values[0]! - (middle[0]! - values[0]!), ...middle, values.at(-1)! + (values.at(-1)! - middle.at(-1)!)];
}

/** The cell that holds a value; -1 outside. */
export function cellAt(edges: readonly number[], value: number): number {
  const up = edges[0]! <= edges.at(-1)!;
  for (let k = 0; k + 1 < edges.length; k++) {
    const [low, high] = up ? [edges[k]!, edges[k + 1]!] : [edges[k + 1]!, edges[k]!];
    if (value >= low && value <= high) return k;
  }
  return -1;
}

interface Side {
  dim: number;
  values: number[];
  edges: number[];
}

export class HeatMap extends StudyChart {
  private readonly data: StudyData;
  private readonly kept: number;
  private readonly x: Side;
  private readonly y: Side;
  private readonly others: readonly number[];
  private toX: (value: number) => number = (value) => value;
  private toY: (value: number) => number = (value) => value;

  /** `others` is the place of the slice that is shown, with any number for the two axes. */
  constructor(data: StudyData, kept: number, axes: [number, number], others: readonly number[], actions: ChartActions) {
    super(`Heat map of ${data.header.kept[kept]?.text ?? ""}`, actions);
    this.data = data;
    this.kept = kept;
    this.others = others;
    [this.x, this.y] = axes.map((axis) => this.side(axis)) as [Side, Side];
    this.draw();
  }

  private side(axis: number): Side {
    const record = this.data.header.axes[axis]!;
    const values = record.values.map((value) => shown(record, value));
    return { dim: this.data.header.dims.findIndex(({ name }) => name === record.dim), values, edges: cellEdges(values) };
  }

  private runOf(i: number, j: number): number {
    const place = [...this.others];
    place[this.x.dim] = i;
    place[this.y.dim] = j;
    return this.data.runAt(place);
  }

  draw(): void {
    const { header } = this.data;
    const span = ({ dim, edges }: Side): { low: number; high: number; label: string; unit: string } => {
      const axis = header.axes.find((each) => each.dim === header.dims[dim]!.name)!;
      return { low: Math.min(...edges), high: Math.max(...edges), label: axis.title, unit: shownUnit(axis) };
    };
    const ticks = ({ values }: Side): number[] => values.filter((_, k) => k % Math.ceil(values.length / MOST_TICKS) === 0);
    const { frame, toX, toY } = drawFrame(span(this.x), span(this.y), { x: ticks(this.x), y: ticks(this.y) }, BOX.width - BAR.gap - BAR.width - 8);
    this.toX = toX;
    this.toY = toY;
    this.svg.replaceChildren(hatching(), ...this.cells(), frame, ...this.bar());
    this.drawCursor();
  }

  private cells(): SVGElement[] {
    const paths = Array.from({ length: LEVELS }, () => "");
    let [failed, crosses] = ["", ""];
    const range = this.data.range(this.kept);
    this.x.values.forEach((_, i) => this.y.values.forEach((__, j) => {
      const run = this.runOf(i, j);
      if (!this.data.isMade(run)) return;
      const [x0, x1, y0, y1] = [this.toX(this.x.edges[i]!), this.toX(this.x.edges[i + 1]!), this.toY(this.y.edges[j]!), this.toY(this.y.edges[j + 1]!)];
      const cell = `M${x0.toFixed(2)} ${y0.toFixed(2)}H${x1.toFixed(2)}V${y1.toFixed(2)}H${x0.toFixed(2)}Z`;
      const value = this.data.results[this.kept]![run]!;
      if (range !== null && Number.isFinite(value)) paths[levelOf(value, ...range)] += cell;
      else {
        failed += cell;
        crosses += crossPath((x0 + x1) / 2, (y0 + y1) / 2, Math.min(4, Math.abs(x1 - x0) / 3, Math.abs(y1 - y0) / 3));
      }
    }));
    return [...paths.flatMap((d, level) => (d === "" ? [] : [draw("path", { d, fill: SCALE[level]!, stroke: SCALE[level]!, "stroke-width": 0.4, "shape-rendering": "crispEdges" })])),
      draw("path", { d: failed, class: "failed-cells" }), draw("path", { d: crosses, class: "failed-marks" })];
  }

  private bar(): SVGElement[] {
    const range = this.data.range(this.kept);
    if (range === null) return [];
    const [low, high] = range;
    const x = BOX.width - BAR.gap - BAR.width;
    const height = BOX.height - BOX.bottom - BOX.top;
    const steps = SCALE.map((fill, k) => draw("rect", { x, width: BAR.width, y: BOX.top + height * (1 - (k + 1) / LEVELS), height: height / LEVELS + 0.5, fill }));
    const at = (share: number): SVGElement => draw("text", { x: x + BAR.width + 4, y: BOX.top + height * (1 - share) + (share === 1 ? 9 : share === 0 ? 0 : 4), class: "scale-number" }, formatNumber(low + share * (high - low)));
    return [...steps, ...(high > low ? [at(0), at(0.5), at(1)] : [at(0.5)]), draw("text", { x: x + BAR.width / 2, y: BOX.height - BOX.bottom + 17, "text-anchor": "middle", class: "scale-number" }, prettyUnit(this.data.header.kept[this.kept]!.unit))];
  }

  protected runNear(x: number, y: number): number {
    const index = (edges: readonly number[], place: (value: number) => number, at: number): number => cellAt(edges.map(place), at);
    const [i, j] = [index(this.x.edges, this.toX, x), index(this.y.edges, this.toY, y)];
    return i < 0 || j < 0 ? -1 : this.runOf(i, j);
  }

  protected runBeside(run: number, dx: number, dy: number): number {
    const place = this.data.place(run);
    const clamp = (value: number, length: number): number => Math.min(length - 1, Math.max(0, value));
    return this.runOf(clamp(place[this.x.dim]! + dx, this.x.values.length), clamp(place[this.y.dim]! + dy, this.y.values.length));
  }

  protected firstRun(): number {
    return this.runOf(0, 0);
  }

  protected placeOf(run: number): { x: number; y: number; width: number; height: number } | null {
    const place = this.data.place(run);
    if (place.some((index, k) => k !== this.x.dim && k !== this.y.dim && index !== this.others[k])) return null;
    const [i, j] = [place[this.x.dim]!, place[this.y.dim]!];
    const [x0, x1, y0, y1] = [this.toX(this.x.edges[i]!), this.toX(this.x.edges[i + 1]!), this.toY(this.y.edges[j]!), this.toY(this.y.edges[j + 1]!)];
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, width: Math.abs(x1 - x0), height: Math.abs(y1 - y0) };
  }
}

function hatching(): SVGElement {
  return draw("defs", {}, draw("pattern", { id: "study-failed", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, draw("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: "hatch" })));
}
