// Values of states and coordinates of a run by name, parts included: "flight.q.x".

import type { RunDocument } from "../data/run_document";

/** The value at a time; NaN if the run has no such state. */
export function valueNow(run: RunDocument, name: string, t: number): number {
  const whole = run.find(name);
  if (whole !== undefined && whole.parts.length === 0) return run.valueAt(run.row(whole.row), t);
  const dot = name.lastIndexOf(".");
  const series = run.find(name.slice(0, dot));
  const part = series?.parts.indexOf(name.slice(dot + 1)) ?? -1;
  return series === undefined || part < 0 ? NaN : run.valueAt(run.row(series.row + part), t);
}
