// The runs of a study: what varied, what was kept, by the number of the run; and what follows from them.

import type { StudyAxis, StudyChunk, StudyHeader } from "../../messages";
import type { Packet } from "../../data/packet";
import { formatNumber, prettyUnit } from "../../ui/numbers";
import { FAILED, NOT_RUN } from "./study_types";

/** A column of a study: an axis or a result, in the unit that is shown. */
export interface StudyColumn {
  label: string;
  unit: string;
  value(run: number): number;
}

export class StudyData {
  readonly header: StudyHeader;
  readonly status: Int32Array;
  readonly results: Float64Array[];
  readonly messages: Map<number, string>;
  private readonly strides: number[];

  constructor(header: StudyHeader, status: ArrayLike<number>, results: ArrayLike<number>) {
    this.header = header;
    const { runs, kept, dims } = header;
    this.status = Int32Array.from(status);
    const all = Float64Array.from(results);
    this.results = kept.map((_, k) => all.subarray(k * runs, (k + 1) * runs));
    this.messages = new Map(Object.entries(header.messages).map(([run, words]) => [Number(run), words]));
    this.strides = dims.map((_, k) => dims.slice(k + 1).reduce((size, { length }) => size * length, 1));
  }

  static of(packet: Packet<StudyHeader>): StudyData {
    return new StudyData(packet.header, packet.arrays.get("status") ?? [], packet.arrays.get("results") ?? []);
  }

  /** Takes runs that were made just now. */
  take(packet: Packet<StudyChunk>): void {
    const { first, messages } = packet.header;
    const status = packet.arrays.get("status") ?? new Int32Array(0);
    const rows = packet.arrays.get("results") ?? new Float64Array(0);
    const count = status.length;
    if (first < 0 || first + count > this.status.length) return;
    this.status.set(status as ArrayLike<number>, first);
    this.results.forEach((row, k) => row.set((rows as Float64Array).subarray(k * count, (k + 1) * count), first));
    for (const [run, words] of Object.entries(messages)) this.messages.set(Number(run), words);
  }

  // -- where a run is --------------------------------------------------------------------------------------------
  /** Whether every axis is a dimension of its own. */
  get isGrid(): boolean {
    return this.header.axes.every(({ dim, title }) => dim === title);
  }

  get runs(): number {
    return this.status.length;
  }

  place(run: number): number[] {
    return this.header.dims.map(({ length }, k) => Math.floor(run / this.strides[k]!) % length);
  }

  runAt(place: readonly number[]): number {
    return place.reduce((run, index, k) => run + index * this.strides[k]!, 0);
  }

  // -- values ----------------------------------------------------------------------------------------------------
  /** The value of an axis in a run, SI. */
  axisValue(axis: StudyAxis, run: number): number {
    const dim = this.header.dims.findIndex(({ name }) => name === axis.dim);
    return axis.values[this.place(run)[dim] ?? 0] ?? NaN;
  }

  /** The columns of all runs: what varied, then what was kept. */
  get columns(): StudyColumn[] {
    const axes = this.header.axes.map((axis) => ({ label: axis.title, unit: shownUnit(axis), value: (run: number) => shown(axis, this.axisValue(axis, run)) }));
    const kept = this.header.kept.map(({ text, unit }, k) => ({ label: text, unit, value: (run: number) => this.results[k]![run] ?? NaN }));
    return [...axes, ...kept];
  }

  /** What varied in a run, SI, by name. */
  values(run: number): Record<string, number> {
    return Object.fromEntries(this.header.axes.map((axis) => [axis.name, this.axisValue(axis, run)]));
  }

  isMade(run: number): boolean {
    return this.status[run] !== NOT_RUN;
  }

  isFailed(run: number): boolean {
    return this.status[run] === FAILED;
  }

  get failures(): number[] {
    return [...this.status.keys()].filter((run) => this.isFailed(run));
  }

  /** Least and greatest finite value of a result; null where there is none yet. */
  range(kept: number): [number, number] | null {
    let [low, high] = [Infinity, -Infinity];
    for (const value of this.results[kept] ?? []) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    return low <= high ? [low, high] : null;
  }

  /** The run with the least or the greatest value of a result; peaks are compared by their size. -1: there is none. */
  best(kept: number, greatest: boolean): number {
    const bySize = this.header.kept[kept]?.bySize ?? false;
    let [found, most] = [-1, NaN];
    (this.results[kept] ?? []).forEach((value, run) => {
      const size = bySize ? Math.abs(value) : value;
      if (Number.isFinite(size) && (found < 0 || (greatest ? size > most : size < most))) [found, most] = [run, size];
    });
    return found;
  }

  /** A run in words: what varied, what came out. */
  words(run: number, kept: number): string {
    const where = this.header.axes.map((axis) => `${axis.title} = ${axisText(axis, this.axisValue(axis, run))}`).join(", ");
    const { text, unit } = this.header.kept[kept]!;
    const value = this.results[kept]![run]!;
    const what = !this.isMade(run) ? "not run yet" : this.isFailed(run) ? `failed: ${this.messages.get(run) ?? ""}` : `${text} = ${withUnit(value, unit)}`;
    return `${where}: ${what}`;
  }
}

/** A value of an axis in the unit that it was typed in. */
export function shown({ shown: { factor } }: StudyAxis, value: number): number {
  return value / factor;
}

export function shownUnit(axis: StudyAxis): string {
  return axis.shown.unit === "" ? axis.unit : axis.shown.unit;
}

export function axisText(axis: StudyAxis, value: number): string {
  return withUnit(Number(shown(axis, value).toPrecision(12)), shownUnit(axis), 6);
}

export function withUnit(value: number, unit: string, digits = 5): string {
  const sign = prettyUnit(unit === "1" ? "" : unit);
  return sign === "" || Number.isNaN(value) ? formatNumber(value, digits) : `${formatNumber(value, digits)} ${sign}`;
}

/** Pearson's correlation of the runs in which both are finite; NaN for less than three, or where one is constant. */
export function correlation(one: (run: number) => number, two: (run: number) => number, runs: number): number {
  let [n, sx, sy, sxx, syy, sxy] = [0, 0, 0, 0, 0, 0];
  const [x0, y0] = firstPair(one, two, runs);
  for (let run = 0; run < runs; run++) {
    const [x, y] = [one(run) - x0, two(run) - y0];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    n++;
    sx += x;
    sy += y;
    sxx += x * x;
    syy += y * y;
    sxy += x * y;
  }
  const [vx, vy] = [sxx - (sx * sx) / n, syy - (sy * sy) / n];
  if (n < 3 || !(vx > 1e-24 * sxx) || !(vy > 1e-24 * syy)) return NaN;
  return Math.max(-1, Math.min(1, (sxy - (sx * sy) / n) / Math.sqrt(vx * vy)));
}

function firstPair(one: (run: number) => number, two: (run: number) => number, runs: number): [number, number] {
  for (let run = 0; run < runs; run++) if (Number.isFinite(one(run)) && Number.isFinite(two(run))) return [one(run), two(run)];
  return [0, 0];
}
