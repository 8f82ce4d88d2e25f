// A run with new numbers: what the server answers to "set" put over the run that is shown. Nothing is copied but names.

import { type Packet, runOf } from "../data/packet";
import { type CausesData, type JointData, type NumberArray, type ParameterData, RunDocument, type RunHeader, type SeriesInfo } from "../data/run_document";
import type { Causes, LiveHeader, RowsHeader, UpdateHeader } from "../messages";

/** Header and arrays of a run, as they came. */
export interface LiveRun {
  document: RunDocument;
  arrays: Map<string, NumberArray>;
  /** Its number on the server. */
  id: number;
  /** Whether it has further series that were not sent. */
  lacking: boolean;
}

/** A whole run, as "open" and "model" send it. */
export function wholeRun(packet: Packet): LiveRun {
  const document = runOf(packet);
  return { document, arrays: packet.arrays, id: liveHeader(document.header).id, lacking: false };
}

export function liveHeader(header: RunHeader): LiveHeader {
  return (header as RunHeader & { live: LiveHeader }).live;
}

/** Joints with the peaks of the new run. */
export function withPeaks(joints: JointData[], peaks: UpdateHeader["peaks"]): JointData[] {
  if (peaks.length === 0) return joints;
  const byName = new Map(peaks.map((each) => [each.joint, each]));
  return joints.map((joint) => {
    const found = byName.get(joint.name);
    return found === undefined ? joint : { ...joint, peak: { force: found.force, moment: found.moment } };
  });
}

/** Parameters with the values in force; the same list where none changed. */
export function withValues(parameters: ParameterData[], values: Record<string, number>): ParameterData[] {
  let changed = false;
  const all = parameters.map((each) => {
    const value = values[each.name];
    if (value === undefined || value === each.value) return each;
    changed = true;
    return { ...each, value };
  });
  return changed ? all : parameters;
}

function countRows(series: readonly SeriesInfo[]): number {
  return series.reduce((most, { row, parts }) => Math.max(most, row + Math.max(1, parts.length)), 0);
}

/** Whether an answer has the rows of the series that the header knows. */
export function fits(header: RunHeader, packet: Packet<RowsHeader>): boolean {
  return packet.header.rows.of === countRows(header.series);
}

/** All rows of series from those that were sent; the others are not known. */
export function spreadRows(packet: Packet<RowsHeader>): NumberArray | undefined {
  const { rows } = packet.header;
  const sent = packet.arrays.get("series");
  if (sent === undefined) return undefined;
  const n = packet.arrays.get("t")?.length ?? 0;
  if (sent.length === rows.of * n && rows.at === null) return sent;
  const all = new Float32Array(rows.of * n).fill(NaN);
  if (rows.at === null) all.set(sent);
  else rows.at.forEach((row, k) => all.set(sent.subarray(k * n, (k + 1) * n), row * n));
  return all;
}

/** The series that give rows for names: of parts their whole. */
export function seriesOf(run: RunDocument, names: readonly string[]): string[] {
  const known = names.map((name) => (run.find(name) ? name : name.slice(0, name.lastIndexOf("."))));
  return [...new Set(known.filter((name) => run.find(name)))];
}

/** Bodies and joints that a changed number moved; what the server did not send stays. */
export function updateRun(old: LiveRun, packet: Packet<UpdateHeader>): LiveRun {
  const update = packet.header;
  const known = old.document.header;
  const geometry = update.geometry ?? {};
  const header: RunHeader = {
    ...known, ...geometry, run: update.run, events: update.events, strips: update.strips,
    joints: withPeaks(geometry.joints ?? known.joints, update.peaks),
    parameters: withValues(known.parameters, update.values), badges: [], causes: [], bearings: [],
    loadNotes: update.loadNotes,
  };
  const series = spreadRows(packet);
  const arrays = series === undefined ? packet.arrays : new Map(packet.arrays).set("series", series);
  return { document: new RunDocument(header, arrays), arrays, id: update.id, lacking: update.rows.at !== null };
}

/** More of the model of a run: where it is the same run, its checks and breakdowns stay, and those asked for belong to it. */
export function withMore(old: LiveRun, more: LiveRun): LiveRun {
  if (old.id !== more.id) return more;
  const { run, badges, causes } = old.document.header;
  const kept = causes.flatMap(({ array }) => [...old.arrays].filter(([name]) => name === array));
  const arrays = new Map([...more.arrays, ...kept]);
  return { ...more, document: new RunDocument({ ...more.document.header, run, badges, causes }, arrays), arrays };
}

/** The run with all its series. */
export function withRows(old: LiveRun, packet: Packet<RowsHeader>): LiveRun {
  const series = spreadRows({ header: packet.header, arrays: new Map(packet.arrays).set("t", old.document.t) });
  if (series === undefined) return old;
  const arrays = new Map(old.arrays).set("series", series);
  return { ...old, document: new RunDocument(old.document.header, arrays), arrays, lacking: false };
}

/** The run with one more breakdown of a joint's load. */
export function withCauses(old: LiveRun, packet: Packet<Causes>): LiveRun {
  const causes = packet.header;
  const array = packet.arrays.get(causes.array);
  if (array === undefined) return old;
  const arrays = new Map(old.arrays).set(causes.array, array);
  const record: CausesData = { joint: causes.joint, by: causes.by, names: causes.names, array: causes.array };
  const others = old.document.header.causes.filter((each) => each.joint !== record.joint || each.by !== record.by);
  return { ...old, document: new RunDocument({ ...old.document.header, causes: [...others, record] }, arrays), arrays };
}

/** The values that differ, in a few words: "mass 3.2, L 0.6". */
export function changeWords(changed: { name: string; text: string }[], most = 3): string {
  const shown = changed.slice(0, most).map(({ name, text }) => `${name} ${text}`);
  const left = changed.length - shown.length;
  return shown.length === 0 ? "as in the file" : shown.join(", ") + (left > 0 ? ` and ${left} more` : "");
}
