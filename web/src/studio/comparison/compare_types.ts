// What the server says of another model that the document is compared with.

import type { ComparedModels, ComparedRow, Requests, SketchBox } from "../../messages";

export type RowChange = ComparedRow["change"];

export interface ComparedPeak {
  part: string;
  quantity: string;
  name: string;
  unit: string;
  before: number | null;
  after: number | null;
  time_before: number | null;
  time_after: number | null;
  percent: number | null;
}

/** What the document is compared with. */
export type CompareOther = Requests["compare"]["fields"]["other"];

export const SIGNS: Record<RowChange, string> = { added: "+", removed: "−", renamed: "»", changed: "~" };

/** Tells the drawing which parts differ, and what is not there; null where nothing is compared. */
export const COMPARED_EVENT = "kinode-compared";

export interface ComparedMarks {
  changes: ReadonlyMap<string, RowChange>;
  ghosts: readonly SketchBox[];
  /** The model that it is compared with. */
  other?: CompareOther;
}

/** What each part is marked with: a part that came stays so, whatever its fields. */
export function marksOf({ rows, ghosts }: Pick<ComparedModels, "rows" | "ghosts">): ComparedMarks {
  const changes = new Map<string, RowChange>();
  const rank: RowChange[] = ["changed", "renamed", "removed", "added"];
  for (const { part, change } of rows) {
    const known = changes.get(part);
    if (known === undefined || rank.indexOf(change) > rank.indexOf(known)) changes.set(part, change);
  }
  return { changes, ghosts };
}

/** "20 Ohm → 30 Ohm (+50 %)" */
export function valueWords({ change, before, after, percent }: ComparedRow): string {
  if (change === "added") return after;
  if (change === "removed") return before;
  return `${before || "default"} → ${after || "default"}${percent === null ? "" : ` (${percentWords(percent)})`}`;
}

export function percentWords(percent: number): string {
  if (percent === 0) return "=";
  const size = Math.abs(percent);
  const text = size >= 1e4 ? percent.toExponential(1) : String(Number(percent.toPrecision(3)));
  return `${percent > 0 ? "+" : ""}${text} %`.replace("-", "−");
}

export function lineWords({ line_before: before, line_after: after }: ComparedRow): string {
  const known = [before, after].filter((line) => line !== null);
  if (known.length === 0) return "";
  return `line ${[...new Set(known)].join(" → ")}`;
}

export function partWords({ part, field }: Pick<ComparedRow, "part" | "field">): string {
  return [part === "" ? "model" : part, field].filter((each) => each !== "").join(".");
}
