// Studies in words, and how many runs a form means.

import type { RawAxis, RawForm, StudySummary } from "../../messages";

export type AxisKind = RawAxis["kind"];

export const NOT_RUN = 0;
export const FAILED = 3;

export const DESIGN_WORDS: Record<string, string> = {
  grid: "Grid: every value with every other", latin: "Latin hypercube", sobol: "Sobol points", random: "Random samples",
};
export const KIND_WORDS: Record<AxisKind, string> = { range: "from, to", list: "list", normal: "normal", uniform: "uniform" };

/** How many runs a form means; NaN while it is not filled in. */
export function countRuns({ axes, design, n }: RawForm): number {
  const drawn = ({ kind }: RawAxis): boolean => kind === "normal" || kind === "uniform" || (design !== "grid" && kind === "range");
  let runs = axes.some(drawn) ? whole(n) : 1;
  for (const axis of axes) if (!drawn(axis)) runs *= axis.kind === "list" ? axis.values.split(",").filter((text) => text.trim() !== "").length : whole(axis.count);
  return axes.length === 0 ? NaN : runs;
}

function whole(text: string): number {
  return /^\s*\d+\s*$/.test(text) ? Number(text) : NaN;
}

/** A time as people say it: 0.4 s, 12 s, 3 min, 2 h. */
export function timeWords(seconds: number): string {
  if (seconds < 0.95) return `${Math.max(0.1, Math.round(seconds * 10) / 10)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`;
}

/** How far a study is, in one line. */
export function progressWords({ state, runs, done, reached, rate, left, seconds, words }: StudySummary): string {
  if (state === "running") return `${reached} of ${runs} runs${rate > 0 ? `, ${rateText(rate)}/s` : ""}${left === null ? "" : `, ${timeWords(left)} left`}`;
  if (state === "failed") return `It ended with ${done} of ${runs} runs: ${words}`;
  return state === "stopped" ? `Stopped: ${done} of ${runs} runs are done` : `${runs} runs in ${timeWords(seconds)}`;
}

function rateText(rate: number): string {
  return rate >= 10 ? String(Math.round(rate)) : String(Number(rate.toPrecision(2)));
}
