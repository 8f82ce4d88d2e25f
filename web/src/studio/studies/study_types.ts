// What the server says about studies; the same as src/kinode/studio/editor/studies.py.

export type AxisKind = "range" | "list" | "normal" | "uniform";

/** An axis as a person fills it in. */
export interface AxisForm {
  name: string;
  kind: AxisKind;
  first: string;
  second: string;
  count: string;
  values: string;
}

export interface StudyForm {
  axes: AxisForm[];
  design: string;
  n: string;
  keep: string[];
  until: string;
}

export interface FieldError {
  field: string; // "axes.0.first", "keep.1", "until"
  message: string;
}

export interface VaryingName {
  name: string;
  role: string;
  unit: string;
  value: number | null;
  first: string;
  second: string;
  words: string;
}

/** What a study of the model as it stands can vary and keep. */
export interface StudyAbout {
  why: string; // why there can be none yet
  names: VaryingName[];
  quantities: string[];
  reductions: string[];
  keep: string[];
  until: string;
  designs: string[];
  count: number;
  n: number;
}

export interface StudyCheck {
  errors: FieldError[];
  runs: number;
  seconds: number | null;
  note?: string;
}

export type StudyState = "running" | "done" | "stopped" | "failed" | "dropped";

export interface StudySummary {
  id: number;
  state: StudyState;
  words: string;
  title: string;
  runs: number;
  done: number;
  reached: number;
  seconds: number;
  rate: number;
  left: number | null;
  older: boolean;
}

export interface StudyAxis {
  name: string;
  title: string;
  unit: string;
  dim: string;
  values: number[];
  shown: { unit: string; factor: number };
}

export interface KeptResult {
  text: string;
  unit: string;
  bySize: boolean;
}

export interface StudyHeader extends StudySummary {
  dims: { name: string; length: number }[];
  axes: StudyAxis[];
  kept: KeptResult[];
  until: number | null;
  form: StudyForm;
  messages: Record<string, string>;
  command: string;
  python: string;
}

export const NOT_RUN = 0;
export const FAILED = 3;

export const DESIGN_WORDS: Record<string, string> = {
  grid: "Grid: every value with every other", latin: "Latin hypercube", sobol: "Sobol points", random: "Random samples",
};
export const KIND_WORDS: Record<AxisKind, string> = { range: "from, to", list: "list", normal: "normal", uniform: "uniform" };

/** How many runs a form means; NaN while it is not filled in. */
export function countRuns({ axes, design, n }: StudyForm): number {
  const drawn = ({ kind }: AxisForm): boolean => kind === "normal" || kind === "uniform" || (design !== "grid" && kind === "range");
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
