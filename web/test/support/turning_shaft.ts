// A small run for tests: one arm on a turning shaft, whose load and causes are known in closed form.

import { RunDocument, type JointData, type NumberArray, type RunHeader, type SeriesInfo } from "../../src/data/run_document";

export const COUNT = 101;
export const RATE = 2 * Math.PI; // rad/s: one turn in a second

/** The shaft turns about z of the world; force: weight -30 N along y (static) and 40 N that turns with the shaft (kinetic). */
export function syntheticRun(changes: Partial<RunHeader> = {}): RunDocument {
  const t = Float64Array.from({ length: COUNT }, (_, k) => k / 50);
  const poses = new Float32Array(7 * COUNT);
  const total = new Float32Array(6 * COUNT);
  const still = new Float32Array(6 * COUNT);
  const series = new Float32Array(4 * COUNT);
  t.forEach((time, k) => {
    const angle = RATE * time;
    poses[3 * COUNT + k] = Math.cos(angle / 2);
    poses[6 * COUNT + k] = Math.sin(angle / 2);
    still[COUNT + k] = 30;
    total[k] = -40 * Math.cos(angle);
    total[COUNT + k] = 30 - 40 * Math.sin(angle);
    series[k] = angle;
    for (let part = 0; part < 3; part++) series[(1 + part) * COUNT + k] = [3, 4, 0][part]! * time;
  });
  const info = (name: string, unit: string, parts: string[], row: number, group: SeriesInfo["group"]): SeriesInfo => ({ name, unit, parts, row, group, words: "" });
  const header: RunHeader = {
    format: "kinode-run", version: 1, written: "test", name: "rotor", label: "rotor", digest: "1",
    run: { status: "done", message: "", from: 0, to: 2, component: "" }, size: 1, center: [0, 0, 0], up: [0, 0, 1], plane: null,
    bodies: [{ name: "arm", color: 0, mass: 1, com: [0, 0, 0], shapes: [], tip: null }], frames: [], joints: [shaft()], elements: [],
    loadParts: ["total", "static"], loadNotes: [],
    series: [info("shaft.q", "rad", [], 0, "coordinates"), info("arm.velocity", "m/s", ["x", "y", "z"], 1, "kept")],
    liveOnly: ["arm.acceleration"],
    events: [{ time: 0.5, kind: "mode", component: "brake", message: "sticks" }, { time: 0.501, kind: "mode", component: "brake", message: "slides" },
      { time: 1.5, kind: "jump", component: "brake", message: "brake opens" }],
    strips: [], badges: [], diagram: null, equations: null, causes: [{ joint: "shaft", by: "body", names: ["arm", "nothing"], array: "causes" }],
    bearings: [], parameters: [], facts: [], ...changes,
  };
  const causes = new Float32Array(12 * COUNT);
  for (let k = 0; k < 2 * COUNT; k++) causes[k] = total[k]! - still[k]!;
  const arrays = new Map<string, NumberArray>([["t", t], ["poses", poses], ["series", series], ["loads.total", total], ["loads.static", still], ["causes", causes]]);
  return new RunDocument(header, arrays);
}

export function shaft(): JointData {
  return {
    name: "shaft", kind: "revolute", symbol: "disc", parent: { body: -1, at: [0, 0, 0], quaternion: [1, 0, 0, 0] },
    child: { body: 0, at: [0, 0, 0], quaternion: [1, 0, 0, 0] }, axis: [0, 0, 1], freedoms: 1, shaft: true, grounded: true, load: 0,
    on: "arm", point: "shaft.child", axes: "shaft.parent", unique: [true, true, true, true, true, true], shared: "", leftOut: [],
    peak: null, coordinates: ["shaft.q"],
  };
}
