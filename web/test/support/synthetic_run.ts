// A small run made by hand: a chain of bodies that turn about z, each one at the end of the last.

import { RunDocument, type BodyData, type JointData, type NumberArray, type Quat, type RunHeader, type Vec3 } from "../../src/data/run_document";

export interface SyntheticOptions {
  bodies?: number;
  pictures?: number;
  duration?: number;
  header?: Partial<RunHeader>;
}

const IDENTITY: Quat = [1, 0, 0, 0];

function body(k: number): BodyData {
  return {
    name: `body${k}`, color: k % 8, mass: 1, com: [0.5, 0, 0], tip: null,
    shapes: [{ kind: (["box", "cylinder", "capsule"] as const)[k % 3]!, sizes: k % 3 === 0 ? [1, 0.1, 0.1] : [0.06, 0.8], at: [0.5, 0, 0], quaternion: [Math.SQRT1_2, 0, Math.SQRT1_2, 0] }],
  };
}

function joint(k: number): JointData {
  return {
    name: `joint${k}`, kind: "revolute", symbol: "revolute", axis: [0, 0, 1], freedoms: 1, shaft: true, grounded: k === 0, load: k,
    parent: { body: k - 1, at: [k === 0 ? 0 : 1, 0, 0], quaternion: IDENTITY }, child: { body: k, at: [0, 0, 0], quaternion: IDENTITY },
    on: `body${k}`, point: `joint${k}.child`, axes: "world", unique: [true, true, k % 2 === 0, true, true, true], shared: k % 2 === 0 ? "" : "least norm",
    leftOut: [], peak: null, coordinates: [`joint${k}.q`],
  };
}

/** Body k is turned by (k + 1) * 0.1 * t about z. */
export function syntheticRun({ bodies = 3, pictures = 11, duration = 1, header = {} }: SyntheticOptions = {}): RunDocument {
  const t = Float64Array.from({ length: pictures }, (_, k) => (duration * k) / Math.max(1, pictures - 1));
  const poses = new Float32Array(bodies * 7 * pictures);
  const loads = new Float32Array(bodies * 6 * pictures);
  t.forEach((time, i) => {
    let at: Vec3 = [0, 0, 0];
    for (let k = 0; k < bodies; k++) {
      const angle = (k + 1) * 0.1 * time;
      const set = (c: number, value: number): void => { poses[(k * 7 + c) * pictures + i] = value; };
      at.forEach((x, c) => set(c, x));
      set(3, Math.cos(angle / 2));
      set(6, Math.sin(angle / 2));
      at = [at[0] + Math.cos(angle), at[1] + Math.sin(angle), 0];
      for (let c = 0; c < 6; c++) loads[(k * 6 + c) * pictures + i] = (c + 1) * (bodies - k) * Math.cos(time + c);
    }
  });
  const full: RunHeader = {
    format: "kinode-run", version: 1, written: "test", name: "chain", label: "", digest: "x",
    run: { status: "done", message: "", from: 0, to: duration, component: "" },
    size: bodies, center: [bodies / 2, 0, 0], up: [0, 0, 1], plane: null,
    bodies: Array.from({ length: bodies }, (_, k) => body(k)), frames: [], joints: Array.from({ length: bodies }, (_, k) => joint(k)),
    elements: [], loadParts: ["total", "static"], loadNotes: [], series: [], liveOnly: [], events: [], strips: [], badges: [], diagram: null,
    equations: null, causes: [], bearings: [], parameters: [], facts: [], ...header,
  };
  const still = loads.map((x) => x / 4);
  const arrays = new Map<string, NumberArray>([["t", t], ["poses", poses], ["series", new Float32Array(0)], ["loads.total", loads], ["loads.static", still]]);
  return new RunDocument(full, arrays);
}
