// Who loads a joint: contributions as components along their sum, so that the stack adds up to its magnitude.
// A contribution that relieves the joint is below zero. The same rule as kinode's own plots.

import type { CausesData, JointData, RunDocument } from "../data/run_document";
import { worldLoad, type LoadKind } from "../plots/quantities";

export const STATIC = "static part";
export const REMAINDER = "all others";
export const MOST_BANDS = 6; // contributors that are named
const NEGLIGIBLE = 1e-12; // of the square of the largest: what is less has no band

export interface StackBand {
  name: string;
  rank: number; // number of its color; -1 the static part, -2 the remainder
  along: Float32Array;
  low: Float32Array;
  high: Float32Array;
}

export interface Stack {
  bands: StackBand[];
  size: Float32Array; // magnitude of the sum
  whole: boolean; // whether the sum is the whole load, not its kinetic part alone
}

type Rows = Float32Array[];

/** Rows x, y, z of each contributor. */
export function contributions(run: RunDocument, causes: CausesData, kind: LoadKind): Rows[] {
  const all = run.floats(causes.array);
  const n = run.count;
  const first = kind === "force" ? 0 : 3;
  return causes.names.map((_, row) => [0, 1, 2].map((k) => {
    const at = (row * 6 + first + k) * n;
    return all.subarray(at, at + n);
  }));
}

/** Ranks of the contributors: the largest have colors of their own, the rest is one (-2), nothing is none (-3). Force and moment share them. */
export function rankContributors(run: RunDocument, causes: CausesData): number[] {
  const weigh = (kind: LoadKind): number[] => {
    const peaks = contributions(run, causes, kind).map((rows) => Math.max(0, ...squares(rows)));
    const most = Math.max(...peaks, 1e-300);
    return peaks.map((peak) => peak / most);
  };
  const force = weigh("force");
  const moment = weigh("moment");
  const order = causes.names.map((_, k) => k).sort((a, b) => Math.max(force[b]!, moment[b]!) - Math.max(force[a]!, moment[a]!));
  const weighty = order.filter((k) => Math.max(force[k]!, moment[k]!) > NEGLIGIBLE);
  const named = weighty.length <= MOST_BANDS ? MOST_BANDS : MOST_BANDS - 1;
  const ranks = new Array<number>(causes.names.length).fill(-3);
  weighty.forEach((k, rank) => (ranks[k] = rank < named ? rank : -2));
  return ranks;
}

function squares(rows: Rows): number[] {
  const every = Math.max(1, Math.floor(rows[0]!.length / 2000));
  const sums: number[] = [];
  for (let k = 0; k < rows[0]!.length; k += every) sums.push(rows.reduce((sum, row) => sum + row[k]! ** 2, 0));
  return sums;
}

/** The stack of a joint's force or moment. Without causes the kinetic part is one band. */
export function buildStack(run: RunDocument, joint: JointData, causes: CausesData | null, ranks: number[], kind: LoadKind): Stack | null {
  const parts: { name: string; rank: number; rows: Rows }[] = [];
  const whole = run.header.loadParts.includes("static");
  if (whole) parts.push({ name: STATIC, rank: -1, rows: worldLoad(run, joint, kind, "static") });
  if (causes === null) {
    if (!whole) return null;
    parts.push({ name: "kinetic part", rank: 0, rows: worldLoad(run, joint, kind, "kinetic") });
  } else {
    const given = contributions(run, causes, kind);
    causes.names.forEach((name, k) => ranks[k]! >= 0 && parts.push({ name, rank: ranks[k]!, rows: given[k]! }));
    const rest = given.filter((_, k) => ranks[k] === -2);
    if (rest.length > 0) parts.push({ name: REMAINDER, rank: -2, rows: sumRows(rest, run.count) });
  }
  parts.sort((a, b) => order(a.rank) - order(b.rank));
  const total = whole ? worldLoad(run, joint, kind, "total") : sumRows(parts.map((part) => part.rows), run.count);
  return { ...stackAlong(total, parts), whole };
}

function order(rank: number): number {
  return rank === -1 ? -1 : rank === -2 ? Infinity : rank;
}

function sumRows(all: Rows[], n: number): Rows {
  return [0, 1, 2].map((c) => {
    const sum = new Float32Array(n);
    for (const rows of all) for (let k = 0; k < n; k++) sum[k]! += rows[c]![k]!;
    return sum;
  });
}

/** Components along the total, piled up: what loads above zero, what relieves below. */
export function stackAlong(total: Rows, parts: { name: string; rank: number; rows: Rows }[]): { bands: StackBand[]; size: Float32Array } {
  const n = total[0]!.length;
  const size = new Float32Array(n);
  for (let k = 0; k < n; k++) size[k] = Math.hypot(total[0]![k]!, total[1]![k]!, total[2]![k]!);
  const up = new Float32Array(n);
  const down = new Float32Array(n);
  const bands = parts.map(({ name, rank, rows }) => {
    const along = new Float32Array(n);
    const low = new Float32Array(n);
    const high = new Float32Array(n);
    for (let k = 0; k < n; k++) {
      const dot = rows[0]![k]! * total[0]![k]! + rows[1]![k]! * total[1]![k]! + rows[2]![k]! * total[2]![k]!;
      const value = size[k]! > 0 ? dot / size[k]! : 0;
      along[k] = value;
      const pile = value >= 0 ? up : down;
      low[k] = pile[k]!;
      pile[k]! += value;
      high[k] = pile[k]!;
    }
    return { name, rank, along, low, high };
  });
  return { bands, size };
}
