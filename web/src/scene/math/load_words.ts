// Loads of joints at a time: vectors in world and joint axes, and the words of a hover.

import type { JointData, RunDocument, Vec3 } from "../../data/run_document";
import type { LoadPart } from "../../panel";
import { formatNumber, withPrefix } from "../../ui/numbers";
import type { Moment, PoseReader } from "./poses";
import { add, conjugate, length, rotate } from "./vectors";

export interface JointLoad {
  force: Vec3; // world axes
  moment: Vec3;
}

/** Whether a part can be shown: the kinetic one is the total less the static one. */
export function hasPart(document: RunDocument, part: LoadPart): boolean {
  const parts = document.header.loadParts;
  return part === "kinetic" ? parts.includes("total") && parts.includes("static") : parts.includes(part);
}

/** Reads loads of joints without copies. */
export class LoadReader {
  readonly document: RunDocument;
  private readonly arrays: Record<"total" | "static", Float32Array>;

  constructor(document: RunDocument) {
    this.document = document;
    this.arrays = { total: document.floats("loads.total"), static: document.floats("loads.static") };
  }

  /** Force and moment of a joint in world axes, linear between pictures; null where there is none. */
  read(joint: JointData, part: LoadPart, at: Moment): JointLoad | null {
    if (joint.load < 0 || !hasPart(this.document, part)) return null;
    const total = part === "static" ? null : this.six(this.arrays.total, joint.load, at);
    const still = part === "total" ? null : this.six(this.arrays.static, joint.load, at);
    const six = total === null ? still! : still === null ? total : total.map((x, k) => x - still[k]!);
    if (!six.every(Number.isFinite)) return null;
    return { force: [six[0]!, six[1]!, six[2]!], moment: [six[3]!, six[4]!, six[5]!] };
  }

  /** The same into six numbers; false where there is none. Whether the part is known is asked before, once for all joints. */
  readInto(out: Float64Array, joint: JointData, part: LoadPart, at: Moment): boolean {
    const { total, static: still } = this.arrays;
    const n = this.document.count;
    if (joint.load < 0) return false;
    for (let k = 0, index = joint.load * 6 * n + at.index; k < 6; k++, index += n) {
      let value = part === "static" ? 0 : between(total, index, at.share);
      if (part !== "total") value += (part === "static" ? 1 : -1) * between(still, index, at.share);
      if (!Number.isFinite(value)) return false;
      out[k] = value;
    }
    return true;
  }

  private six(array: Float32Array, row: number, at: Moment): number[] {
    return sixAt(array, row, this.document.count, at);
  }

  /** The greatest force and moment of all joints over the run, for the scale of arrows. */
  peaks(): { force: number; moment: number } {
    const peak = { force: 0, moment: 0 };
    for (const joint of this.document.header.joints) {
      if (joint.load < 0) continue;
      const known = joint.peak;
      peak.force = Math.max(peak.force, known ? known.force.value : this.greatest(joint.load, 0));
      peak.moment = Math.max(peak.moment, known ? known.moment.value : this.greatest(joint.load, 3));
    }
    return peak;
  }

  private greatest(row: number, from: number): number {
    const n = this.document.count;
    const values = this.arrays.total;
    let most = 0;
    for (let k = 0, at = (row * 6 + from) * n; k < n; k++, at++) {
      const size = Math.hypot(values[at]!, values[at + n]!, values[at + 2 * n]!);
      if (size > most) most = size;
    }
    return most;
  }
}

/** A number of an array, linear between pictures. */
function between(array: Float32Array, index: number, share: number): number {
  const a = array[index] ?? NaN;
  return share > 0 ? a + share * ((array[index + 1] ?? a) - a) : a;
}

/** Six numbers of a row of an array (rows, 6, n), linear between pictures. */
export function sixAt(array: Float32Array, row: number, n: number, at: Moment): number[] {
  const values: number[] = [];
  for (let k = 0; k < 6; k++) {
    const index = (row * 6 + k) * n + at.index;
    const a = array[index] ?? NaN;
    values.push(at.share > 0 ? a + at.share * ((array[index + 1] ?? a) - a) : a);
  }
  return values;
}

/** A vector in the axes of the joint on its parent. */
export function inJointAxes(joint: JointData, poses: PoseReader, vector: Vec3): Vec3 {
  return rotate(conjugate(poses.turn(joint.parent)), vector);
}

/** A vector split into components that are unique and those that are not, in world axes. */
export function splitUnique(joint: JointData, poses: PoseReader, vector: Vec3, from: 0 | 3): { sure: Vec3; shared: Vec3 } {
  const flags = [0, 1, 2].map((k) => joint.unique[from + k] ?? true);
  if (flags.every(Boolean)) return { sure: vector, shared: [0, 0, 0] };
  const local = inJointAxes(joint, poses, vector);
  const sure = rotate(poses.turn(joint.parent), local.map((x, k) => (flags[k] ? x : 0)) as Vec3);
  return { sure, shared: add(vector, sure, -1) };
}

const PART_WORDS: Record<LoadPart, string> = { total: "", static: "static part of the ", kinetic: "kinetic part of the " };

export interface LoadLine {
  what: string; // "force"
  value: string; // "12.3 N"
  components: { axis: string; value: string; unique: boolean }[];
}

export interface LoadWords {
  title: string;
  lines: LoadLine[];
  notes: string[];
}

/** What a hover says of a joint's load. */
export function loadWords(joint: JointData, poses: PoseReader, load: JointLoad | null, part: LoadPart): LoadWords {
  const title = `${joint.name} · ${joint.kind.replaceAll("_", " ")}`;
  if (joint.load < 0) return { title, lines: [], notes: ["carries no load"] };
  if (load === null) return { title, lines: [], notes: [part === "total" ? "no load at this time" : `the ${part} part is not known`] };
  const lines = ([["force", "N", 0], ["moment", "N·m", 3]] as const).map(([what, symbol, from]): LoadLine => {
    const local = inJointAxes(joint, poses, load[what]);
    return {
      what: PART_WORDS[part] + what,
      value: withPrefix(length(load[what]), symbol, 4),
      components: local.map((x, k) => ({
        axis: "xyz"[k]!, value: formatNumber(snap(x, length(load[what]))), unique: joint.unique[from + k] ?? true,
      })),
    };
  });
  const parent = joint.parent.body < 0 ? "world" : (poses.document.header.bodies[joint.parent.body]?.name ?? "its parent");
  const notes = [`on ${joint.on}, about ${joint.point}`, `x y z: axes of ${joint.name} on ${parent}`];
  if (!joint.unique.every(Boolean)) notes.push(uniqueWords(joint));
  for (const left of joint.leftOut) notes.push(`without ${left.replace(/^without /, "")}`);
  return { title, lines, notes };
}

/** Which components are not unique, why, and how they are shared. */
export function uniqueWords(joint: JointData): string {
  const letters = (from: number): string => ["x", "y", "z"].filter((_, k) => joint.unique[from + k] === false).join(" ");
  const parts = [["force", letters(0)], ["moment", letters(3)]].filter(([, which]) => which !== "");
  const which = parts.map(([what, axes]) => `${what} ${axes}`).join(", ");
  const how = joint.shared === "" ? "" : `; shared by ${joint.shared}`;
  return `hatched: ${which} not unique, more joints hold than are needed${how}`;
}

/** Rounding of 32-bit numbers is not a load. */
function snap(x: number, size: number): number {
  return Math.abs(x) < 1e-6 * size ? 0 : x;
}

/** The same in one sentence, for screen readers. */
export function spokenLoad(words: LoadWords): string {
  const lines = words.lines.map((line) => {
    const parts = line.components.map((c) => `${c.axis} ${c.value}${c.unique ? "" : " (not unique)"}`);
    return `${line.what} ${line.value}: ${parts.join(", ")}`;
  });
  return [words.title, ...lines, ...words.notes].join(". ");
}
