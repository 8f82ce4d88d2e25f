// Every quantity a person can plot: those in the file, loads of joints in their own axes, and those a live server computes.

import type { LoadPart } from "../panel";
import type { JointData, RunDocument, SeriesInfo } from "../data/run_document";
import { intoJointAxes, magnitude, type Vector3Rows } from "./joint_axes";

export interface Quantity {
  name: string;
  unit: string; // SI
  words: string;
  group: string;
  parts: string[];
  units?: string[]; // of the parts, where they differ
  source: "file" | "joint" | "live";
}

export const SIZE = "size"; // the part that is a vector's magnitude
export const LOAD_PARTS: LoadPart[] = ["total", "static", "kinetic"];

const COMPONENTS = ["x", "y", "z"];
const UNIT_OF = { force: "N", moment: "N*m" } as const;
export type LoadKind = keyof typeof UNIT_OF;

/** What can be found by name in a run. */
export class QuantityList {
  readonly all: Quantity[];
  private readonly byName = new Map<string, Quantity>();

  constructor(run: RunDocument) {
    const header = run.header;
    this.all = header.series.map((info) => ({ ...info, source: "file" as const }));
    for (const quantity of this.all) this.byName.set(quantity.name, quantity);
    for (const joint of header.joints) if (joint.load >= 0) for (const each of loadQuantities(run, joint)) this.offer(each);
    for (const name of header.liveOnly)
      this.offer({ name, unit: "", words: "needs --live", group: "live", parts: [], source: "live" });
  }

  find(name: string): Quantity | undefined {
    return this.byName.get(name);
  }

  /** What a server has told of a name replaces the bare name. */
  learn(info: SeriesInfo): void {
    const known = this.byName.get(info.name);
    const { unit, words, parts, units } = info;
    if (known?.source === "live") Object.assign(known, { unit, words, parts, ...(units ? { units } : {}) });
    else this.offer({ ...info, source: "live" });
  }

  private offer(quantity: Quantity): void {
    if (this.byName.has(quantity.name)) return;
    this.byName.set(quantity.name, quantity);
    this.all.push(quantity);
  }
}

function loadQuantities(run: RunDocument, joint: JointData): Quantity[] {
  const shares = run.header.loadParts.includes("static") ? LOAD_PARTS : (["total"] as LoadPart[]);
  return (["force", "moment"] as const).flatMap((kind) =>
    shares.map((share) => ({
      name: loadName(joint.name, kind, share),
      unit: UNIT_OF[kind],
      words: `${share === "total" ? "" : `${share} part of the `}reaction ${kind} on ${joint.on}, in axes of ${joint.axes}`,
      group: "loads",
      parts: COMPONENTS,
      source: "joint" as const,
    })));
}

export function loadName(joint: string, kind: LoadKind, share: LoadPart): string {
  return `${joint}.reaction.${kind}${share === "total" ? "" : `.${share}`}`;
}

/** Load of a joint in the axes of its parent side, from a cache that lives as long as the run. */
export function jointLoad(run: RunDocument, joint: JointData, kind: LoadKind, share: LoadPart): Vector3Rows {
  return cached(run, `${joint.name} ${kind} ${share}`, () => intoJointAxes(run, joint, worldLoad(run, joint, kind, share)));
}

/** Load of a joint in world axes: three rows. */
export function worldLoad(run: RunDocument, joint: JointData, kind: LoadKind, share: LoadPart): Vector3Rows {
  const first = kind === "force" ? 0 : 3;
  const pick = (part: "total" | "static", k: number): Float32Array => run.load(joint.load, part, first + k);
  const rows = (part: "total" | "static"): Vector3Rows => [pick(part, 0), pick(part, 1), pick(part, 2)];
  if (share !== "kinetic") return rows(share);
  const total = rows("total");
  const still = rows("static");
  return total.map((row, k) => row.map((value, i) => value - still[k]![i]!)) as Vector3Rows;
}

export function jointLoadSize(run: RunDocument, joint: JointData, kind: LoadKind, share: LoadPart): Float32Array {
  return cached(run, `${joint.name} ${kind} ${share} ${SIZE}`, () => magnitude(jointLoad(run, joint, kind, share)));
}

/** The values of a quantity in a run, one row for each part; null if this run does not have it. */
export function findRows(run: RunDocument, quantity: Quantity): Float32Array[] | null {
  const info = run.find(quantity.name);
  if (info !== undefined) {
    const count = Math.max(1, info.parts.length);
    return Array.from({ length: count }, (_, k) => run.row(info.row + k));
  }
  if (quantity.source !== "joint") return null;
  const match = /^(.*)\.reaction\.(force|moment)(?:\.(static|kinetic))?$/.exec(quantity.name);
  const joint = run.header.joints.find((each) => each.name === match?.[1]);
  if (match === null || joint === undefined || joint.load < 0) return null;
  const share = (match[3] ?? "total") as LoadPart;
  if (share !== "total" && !run.header.loadParts.includes("static")) return null;
  return jointLoad(run, joint, match[2] as LoadKind, share);
}

/** One line of a quantity: a part by its name, the magnitude, or the number itself. */
export function findLine(run: RunDocument, quantity: Quantity, part: string): Float32Array | null {
  const rows = findRows(run, quantity);
  if (rows === null) return null;
  if (part === SIZE) return cached(run, `${quantity.name} ${SIZE}`, () => magnitude(rows));
  return rows[Math.max(0, quantity.parts.indexOf(part))] ?? null;
}

/** The SI unit of a part; a magnitude has that of the whole. */
export function unitOf(quantity: Quantity, part: string): string {
  return quantity.units?.[quantity.parts.indexOf(part)] ?? quantity.unit;
}

/** Whether a quantity is a vector that has a magnitude. */
export function isVector(quantity: Quantity): boolean {
  return quantity.parts.length > 1 && quantity.parts.every((part) => COMPONENTS.includes(part));
}

const caches = new WeakMap<RunDocument, Map<string, unknown>>();

function cached<T>(run: RunDocument, key: string, compute: () => T): T {
  let cache = caches.get(run);
  if (cache === undefined) caches.set(run, (cache = new Map<string, unknown>()));
  if (!cache.has(key)) cache.set(key, compute());
  return cache.get(key) as T;
}
