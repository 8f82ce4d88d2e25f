// Modes of small motions about the cursor's state, as the server answers, and as they are said.

import type { NumberArray, RunHeader } from "../data/run_document";
import { RunDocument } from "../data/run_document";
import type { Packet } from "../data/packet";
import type { Modes } from "../messages";
import { formatNumber } from "../ui/numbers";

export interface Eigenvalue {
  re: number;
  im: number;
}

export interface ModeRecord extends Eigenvalue {
  frequency: number; // rad/s
  damping: number;
  words: string;
  poses: NumberArray | null; // (bodies, 7, phases); null where no body moves
}

export interface ModesAnswer {
  eigenvalues: Eigenvalue[];
  modes: ModeRecord[];
}

export function readModes({ header, arrays }: Packet<Modes>): ModesAnswer {
  const modes = header.modes.map(({ eigenvalue: [re, im], frequency, damping, moves, poses }): ModeRecord => ({
    re, im: Math.abs(im), frequency, damping, words: moves, poses: arrays.get(poses) ?? null,
  }));
  return { eigenvalues: readEigenvalues(header.eigenvalues), modes };
}

/** Numbers that are none come as null. */
export function readEigenvalues(list: readonly [number | null, number | null][]): Eigenvalue[] {
  return list.map(([re, im]) => ({ re: re ?? NaN, im: im ?? NaN }));
}

/** What a mode does: how fast, and how it ends. */
export function modeWords({ re, im, frequency, damping }: ModeRecord): { rate: string; decay: string } {
  const still = 1e-9 * Math.max(frequency, 1);
  const rate = im > still ? `${formatNumber(frequency / (2 * Math.PI))} Hz` : "no oscillation";
  if (Math.abs(re) <= still) return { rate, decay: im > still ? "does not decay" : "stays where it is" };
  const ratio = im > still ? `, damping ${formatNumber(100 * damping, 3)} %` : "";
  return { rate, decay: re < 0 ? `decays in ${formatNumber(-1 / re, 3)} s${ratio}` : `grows in ${formatNumber(1 / re, 3)} s` };
}

/** One period of a mode as a run: the first picture again at the end, no loads, nothing else. */
export function swingRun(main: RunDocument, poses: NumberArray, period: number): RunDocument {
  const bodies = main.header.bodies.length;
  const phases = Math.floor(poses.length / (7 * Math.max(1, bodies)));
  const closed = new Float32Array(bodies * 7 * (phases + 1));
  for (let row = 0; row < bodies * 7; row++) {
    for (let k = 0; k < phases; k++) closed[row * (phases + 1) + k] = poses[row * phases + k]!;
    closed[row * (phases + 1) + phases] = poses[row * phases]!;
  }
  const t = Float64Array.from({ length: phases + 1 }, (_, k) => (period * k) / Math.max(1, phases));
  return new RunDocument(stillHeader(main.header, period), new Map<string, NumberArray>([["t", t], ["poses", closed]]));
}

/** The pose at a time, standing still for the length of a period. */
export function stillRun(main: RunDocument, t: number, period: number): RunDocument {
  const { index } = main.locate(t);
  const rows = main.header.bodies.length * 7;
  const poses = new Float32Array(rows * 2);
  for (let row = 0; row < rows; row++) poses[2 * row] = poses[2 * row + 1] = main.poses[row * main.count + index] ?? NaN;
  const bodies = main.header.bodies.map((body) => ({ ...body, tip: null }));
  const header = { ...stillHeader(main.header, period), bodies };
  return new RunDocument(header, new Map<string, NumberArray>([["t", Float64Array.of(0, period)], ["poses", poses]]));
}

function stillHeader(header: RunHeader, period: number): RunHeader {
  return {
    ...header, run: { ...header.run, status: "done", message: "", from: 0, to: period }, events: [], strips: [], series: [], causes: [], loadParts: [],
    joints: header.joints.map((joint) => ({ ...joint, load: -1, peak: null })),
  };
}
