// Places in a text: Python counts code points, the browser UTF-16 units.

import type { TextEdit } from "./studio_types";

const ASTRAL = /[\ud800-\udbff][\udc00-\udfff]/;

/** The UTF-16 offset of a code point. */
export function toUnits(text: string, points: number): number {
  if (!ASTRAL.test(text)) return points;
  let unit = 0;
  for (let k = 0; k < points && unit < text.length; k++) unit += isPair(text, unit) ? 2 : 1;
  return unit;
}

/** The code point at a UTF-16 offset. */
export function toPoints(text: string, units: number): number {
  if (!ASTRAL.test(text)) return units;
  let points = 0;
  for (let unit = 0; unit < units; points++) unit += isPair(text, unit) ? 2 : 1;
  return points;
}

function isPair(text: string, unit: number): boolean {
  const first = text.charCodeAt(unit);
  const second = text.charCodeAt(unit + 1);
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000;
}

export function editsToUnits(text: string, edits: readonly TextEdit[]): TextEdit[] {
  if (!ASTRAL.test(text)) return sorted(edits);
  return sorted(edits).map(([start, end, added]) => [toUnits(text, start), toUnits(text, end), added]);
}

export function editsToPoints(text: string, edits: readonly TextEdit[]): TextEdit[] {
  if (!ASTRAL.test(text)) return sorted(edits);
  return sorted(edits).map(([start, end, added]) => [toPoints(text, start), toPoints(text, end), added]);
}

function sorted(edits: readonly TextEdit[]): TextEdit[] {
  return [...edits].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/** The text with all edits done; they are UTF-16 offsets of the old text. */
export function applyUnits(text: string, edits: readonly TextEdit[]): string {
  let result = "";
  let at = 0;
  for (const [start, end, added] of sorted(edits)) {
    if (start < at || end < start || end > text.length) throw new RangeError(`an edit from ${start} to ${end} does not fit the text`);
    result += text.slice(at, start) + added;
    at = end;
  }
  return result + text.slice(at);
}

/** The text with all edits done; they are code points of the old text. */
export function applyPoints(text: string, edits: readonly TextEdit[]): string {
  return applyUnits(text, editsToUnits(text, edits));
}

/** One edit, in code points, that makes the second text of the first; none if they are equal. */
export function difference(old: string, now: string): TextEdit[] {
  if (old === now) return [];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  if (start > 0 && isPair(old, start - 1)) start--;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  if (end > 0 && old.length - end > 0 && isPair(old, old.length - end - 1)) end--;
  return [[toPoints(old, start), toPoints(old, old.length - end), now.slice(start, now.length - end)]];
}
