// What the server says of another model that the document is compared with.

import type { SketchBox } from "../studio_types";

export type RowChange = "added" | "removed" | "renamed" | "changed";

/** One difference, from the other model to this one. */
export interface ComparedRow {
  change: RowChange;
  section: string;
  part: string;
  field: string;
  before: string;
  after: string;
  line_before: number | null;
  line_after: number | null;
  old_part: string;
  percent: number | null;
  link: boolean;
}

export interface ComparedModels {
  label: string;
  verdict: string;
  version: number;
  rows: ComparedRow[];
  /** Boxes of parts that the other model alone has. */
  ghosts: SketchBox[];
}

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

export interface CompareChoices {
  files: string[];
  /** The last commit in words; empty where there is none, and why. */
  commit: string;
  why: string;
  saved: boolean;
}

/** What the document is compared with. */
export type CompareOther = { file: string } | { commit: string } | { saved: true } | { text: string; label: string };

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
