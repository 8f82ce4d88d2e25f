// Samples: one column of a study over another, a point for each run. Failed runs are crosses at the foot.

import { draw } from "../../live/svg";
import { BOX, type ChartActions, StudyChart, crossPath, drawFrame, widen } from "./study_chart";
import type { StudyColumn, StudyData } from "./study_data";

const NEAR = 18; // px of the drawing

export class ScatterChart extends StudyChart {
  private readonly data: StudyData;
  private readonly columns: [StudyColumn, StudyColumn];
  private order: number[] = [];
  private toX: (value: number) => number = (value) => value;
  private toY: (value: number) => number = (value) => value;

  constructor(data: StudyData, columns: [StudyColumn, StudyColumn], actions: ChartActions) {
    super(`${columns[1].label} over ${columns[0].label}, a point for each run`, actions);
    this.data = data;
    this.columns = columns;
    this.draw();
  }

  draw(): void {
    const [x, y] = this.columns;
    const made = [...this.data.status.keys()].filter((run) => this.data.isMade(run));
    const span = (column: StudyColumn): [number, number] => {
      const values = made.map((run) => column.value(run)).filter(Number.isFinite);
      return values.length === 0 ? [0, 1] : widen(values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b)));
    };
    const [[xLow, xHigh], [yLow, yHigh]] = [span(x), span(y)];
    const { frame, toX, toY } = drawFrame({ low: xLow, high: xHigh, label: x.label, unit: x.unit }, { low: yLow, high: yHigh, label: y.label, unit: y.unit });
    this.toX = toX;
    this.toY = toY;
    let [dots, crosses] = ["", ""];
    for (const run of made) {
      const { x: px, y: py } = this.placeOf(run);
      if (Number.isFinite(x.value(run)) && Number.isFinite(y.value(run))) dots += `M${px.toFixed(1)} ${py.toFixed(1)}h0`;
      else crosses += crossPath(px, py);
    }
    this.order = made.sort((a, b) => this.placeOf(a).x - this.placeOf(b).x);
    this.svg.replaceChildren(frame, draw("path", { d: dots, class: "chart-dots samples" }), draw("path", { d: crosses, class: "failed-marks" }));
    this.drawCursor();
  }

  protected runNear(x: number, y: number): number {
    let [best, least] = [-1, NEAR * NEAR];
    for (const run of this.order) {
      const place = this.placeOf(run);
      const away = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (away < least) [best, least] = [run, away];
    }
    return best;
  }

  protected runBeside(run: number, dx: number, dy: number): number {
    const at = this.order.indexOf(run) + dx + dy;
    return this.order[Math.min(this.order.length - 1, Math.max(0, at))] ?? run;
  }

  protected firstRun(): number {
    return this.order[0] ?? -1;
  }

  protected placeOf(run: number): { x: number; y: number } {
    const [x, y] = this.columns.map((column) => column.value(run)) as [number, number];
    return { x: Number.isFinite(x) ? this.toX(x) : BOX.left + 6, y: Number.isFinite(y) ? this.toY(y) : BOX.height - BOX.bottom - 6 };
  }
}
