// One axis: the value of a result over it, a line with its points; with further axes, a slice. Failed runs are crosses.

import { draw } from "../../live/svg";
import { BOX, type ChartActions, StudyChart, crossPath, drawFrame, widen } from "./study_chart";
import { type StudyData, shown, shownUnit } from "./study_data";

const MOST_DOTS = 120;

export class LineChart extends StudyChart {
  private readonly data: StudyData;
  private readonly kept: number;
  private readonly axis: number;
  private readonly dim: number;
  private readonly others: readonly number[];
  private readonly order: number[];
  private toX: (value: number) => number = (value) => value;
  private toY: (value: number) => number = (value) => value;

  constructor(data: StudyData, kept: number, axis: number, others: readonly number[], actions: ChartActions) {
    super(`Lines of ${data.header.kept[kept]?.text ?? ""} over ${data.header.axes[axis]?.title ?? ""}`, actions);
    this.data = data;
    this.kept = kept;
    this.axis = axis;
    this.others = others;
    const { header } = data;
    this.dim = header.dims.findIndex(({ name }) => name === header.axes[axis]!.dim);
    const { values } = header.axes[axis]!;
    this.order = [...values.keys()].sort((a, b) => values[a]! - values[b]!);
    this.draw();
  }

  private runOf(index: number): number {
    const place = [...this.others];
    place[this.dim] = index;
    return this.data.runAt(place);
  }

  draw(): void {
    const axis = this.data.header.axes[this.axis]!;
    const kept = this.data.header.kept[this.kept]!;
    const xs = axis.values.map((value) => shown(axis, value));
    const [low, high] = widen(...(this.data.range(this.kept) ?? [0, 1]));
    const room = widen(Math.min(...xs), Math.max(...xs), 0.02);
    const { frame, toX, toY } = drawFrame({ low: room[0], high: room[1], label: axis.title, unit: shownUnit(axis) }, { low, high, label: kept.text, unit: kept.unit });
    this.toX = toX;
    this.toY = toY;
    let [line, dots, crosses, pen] = ["", "", "", "M"];
    for (const index of this.order) {
      const run = this.runOf(index);
      const value = this.data.results[this.kept]![run]!;
      if (Number.isFinite(value)) {
        line += `${pen}${toX(xs[index]!).toFixed(2)} ${toY(value).toFixed(2)}`;
        dots += `M${toX(xs[index]!).toFixed(2)} ${toY(value).toFixed(2)}h0`;
        pen = "L";
      } else {
        if (this.data.isMade(run)) crosses += crossPath(toX(xs[index]!), BOX.height - BOX.bottom - 6);
        pen = "M";
      }
    }
    this.svg.replaceChildren(frame, draw("path", { d: line, class: "chart-line" }), ...(this.order.length <= MOST_DOTS ? [draw("path", { d: dots, class: "chart-dots" })] : []), draw("path", { d: crosses, class: "failed-marks" }));
    this.drawCursor();
  }

  protected runNear(x: number): number {
    const axis = this.data.header.axes[this.axis]!;
    const away = (index: number): number => Math.abs(this.toX(shown(axis, axis.values[index]!)) - x);
    return this.runOf(this.order.reduce((best, index) => (away(index) < away(best) ? index : best), this.order[0]!));
  }

  protected runBeside(run: number, dx: number, dy: number): number {
    const at = this.order.indexOf(this.data.place(run)[this.dim]!);
    return this.runOf(this.order[Math.min(this.order.length - 1, Math.max(0, at + dx + dy))]!);
  }

  protected firstRun(): number {
    return this.runOf(this.order[0]!);
  }

  protected placeOf(run: number): { x: number; y: number } | null {
    const place = this.data.place(run);
    if (place.some((index, k) => k !== this.dim && index !== this.others[k])) return null;
    const axis = this.data.header.axes[this.axis]!;
    const value = this.data.results[this.kept]![run]!;
    return { x: this.toX(shown(axis, axis.values[place[this.dim]!]!)), y: Number.isFinite(value) ? this.toY(value) : BOX.height - BOX.bottom - 6 };
  }
}
