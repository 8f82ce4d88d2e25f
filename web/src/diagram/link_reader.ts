// The values on a link at a time: potentials, flows into components, powers at its ends.

import type { LinkData, PowerEnd, RunDocument } from "../data/run_document";

export interface Cursor {
  index: number;
  share: number;
}

/** A value of a series of single numbers at a cursor; not a number if the run does not have it. */
export function seriesAt(run: RunDocument, name: string, cursor: Cursor): number {
  const info = run.find(name);
  if (info === undefined || info.parts.length > 0) return NaN;
  const row = run.row(info.row);
  const a = row[cursor.index] ?? NaN;
  if (cursor.share === 0) return a;
  return a + cursor.share * ((row[cursor.index + 1] ?? a) - a);
}

/** Power into the components at the ends of a link, in the order of its ends. */
export function endPowers(run: RunDocument, link: LinkData, cursor: Cursor): number[] {
  return link.ends.map((end) => powerInto(run, link.powers, `${end.component}:${end.port}`, cursor));
}

function powerInto(run: RunDocument, powers: PowerEnd[], end: string, cursor: Cursor): number {
  let total = 0;
  let known = false;
  for (const power of powers) {
    if (power.end !== end) continue;
    total += power.sign * seriesAt(run, power.series, cursor);
    known = true;
  }
  return known ? total : NaN;
}

/** Power into a component through all its links. */
export function componentPower(run: RunDocument, links: LinkData[], name: string, cursor: Cursor): number {
  let total = 0;
  let known = false;
  for (const link of links) {
    link.ends.forEach((end, k) => {
      if (end.component !== name || link.powers.length === 0) return;
      total += endPowers(run, link, cursor)[k]!;
      known = true;
    });
  }
  return known ? total : NaN;
}

/** All names of series that a link shows and that the run holds. */
export function plottable(run: RunDocument, names: string[]): string[] {
  return [...new Set(names)].filter((name) => run.find(name) !== undefined);
}
