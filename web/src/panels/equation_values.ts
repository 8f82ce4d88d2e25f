// Values of the terms of an equation at the cursor, and their shares.

import type { EquationData, RunDocument } from "../data/run_document";

export interface TermValue {
  value: number;
  share: number; // of the largest term of the line in the whole run, -1 to 1
}

/** The largest size that a term of a line has in the run. */
export function lineScale(run: RunDocument, line: EquationData): number {
  let scale = 0;
  for (const { series } of line.terms) {
    const info = series === "" ? undefined : run.find(series);
    if (info === undefined) continue;
    for (const value of run.row(info.row)) if (Math.abs(value) > scale && Number.isFinite(value)) scale = Math.abs(value);
  }
  return scale;
}

export function termValues(run: RunDocument, line: EquationData, scale: number, t: number): TermValue[] {
  return line.terms.map(({ series }) => {
    const info = series === "" ? undefined : run.find(series);
    if (info === undefined) return { value: NaN, share: 0 };
    const value = run.valueAt(run.row(info.row), t);
    return { value, share: scale > 0 && Number.isFinite(value) ? Math.max(-1, Math.min(1, value / scale)) : 0 };
  });
}
