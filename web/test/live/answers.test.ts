import type { Causes, CurvePush, Modes, RowsHeader, UpdateHeader } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { readPacket } from "../../src/data/packet";
import { stretch, stretchUnit } from "../../src/live/complex_plane";
import { modeWords, readModes, stillRun, swingRun } from "../../src/live/mode_data";
import { faultWords } from "../../src/live/model_banner";
import { ResponseData, ownResponses, responseChoices, snapTo } from "../../src/live/response_data";
import { changeWords, type LiveRun, fits, seriesOf, updateRun, withCauses, withRows } from "../../src/live/run_update";
import { valueNow } from "../../src/live/state_values";
import { roundTicks } from "../../src/live/svg";
import { packetBytes } from "../support/fake_socket";
import { syntheticRun } from "../support/synthetic_run";

const parameter = { name: "L", value: 1, unit: "m", words: "", low: null, high: null, structural: "", group: "parameters" };

describe("a run with new numbers", () => {
  const document = syntheticRun({ header: { parameters: [parameter], causes: [{ joint: "joint0", by: "body", names: ["a"], array: "c" }] } });
  const old: LiveRun = { document, arrays: new Map(), id: 0, lacking: false };
  const update = {
    run: { ...document.header.run, to: 2 }, events: [{ time: 1, kind: "jump", component: "x", message: "m" }], strips: [],
    peaks: [{ joint: "joint1", force: { value: 7, time: 0.5 }, moment: { value: 3, time: 0.2 } }], values: { L: 2 }, geometry: null, note: "", loadNotes: [], id: 5, rows: { of: 3, at: null as number[] | null },
  };

  it("has the new arrays, events, peaks and values; the rest stays", () => {
    const packet = readPacket<UpdateHeader>(packetBytes(update, { t: Float64Array.of(0, 2), poses: new Float32Array(42).fill(1) }));
    const { header, count, poses } = updateRun(old, packet).document;
    expect([count, poses.length, header.run.to, header.events.length]).toEqual([2, 42, 2, 1]);
    expect(header.joints[1]!.peak).toEqual({ force: { value: 7, time: 0.5 }, moment: { value: 3, time: 0.2 } });
    expect(header.joints[0]).toBe(document.header.joints[0]);
    expect(header.bodies).toBe(document.header.bodies);
    expect(header.parameters[0]!.value).toBe(2);
    expect([header.causes, header.badges]).toEqual([[], []]); // those of the old run
    expect(poses.buffer).toBe(packet.arrays.get("poses")!.buffer); // not copied
  });

  it("does not take an answer with other series than it knows", () => {
    const series = [{ name: "a", unit: "", words: "", group: "states" as const, parts: ["x", "y"], row: 1 }];
    const { header } = syntheticRun({ header: { series } });
    const answer = (of: number): boolean => fits(header, readPacket<UpdateHeader>(packetBytes({ ...update, rows: { of, at: [] } }, { t: Float64Array.of(0, 1) })));
    expect([answer(2), answer(3), answer(4)]).toEqual([false, true, false]);
  });

  it("does not know the rows that were not sent, until they come", () => {
    const t = Float64Array.of(0, 1);
    const packet = readPacket<UpdateHeader>(packetBytes({ ...update, rows: { of: 3, at: [2, 0] } }, { t, series: Float32Array.of(5, 6, 1, 2) }));
    const part = updateRun(old, packet);
    expect([...part.document.series]).toEqual([1, 2, NaN, NaN, 5, 6]);
    expect([part.id, part.lacking]).toEqual([5, true]);
    const whole = withRows(part, readPacket<RowsHeader>(packetBytes({ rows: { of: 3, at: null } }, { series: Float32Array.of(1, 2, 3, 4) })));
    expect([...whole.document.series]).toEqual([1, 2, 3, 4, NaN, NaN]); // terms of equations are asked for where they are shown
    expect(whole.lacking).toBe(false);
    expect(whole.document.poses).toEqual(part.document.poses);
  });

  it("finds the series of names and of their parts", () => {
    const series = [{ name: "a.q", unit: "", words: "", group: "states" as const, parts: ["x", "y"], row: 0 }];
    expect(seriesOf(syntheticRun({ header: { series } }), ["a.q.y", "a.q", "b.q"])).toEqual(["a.q"]);
  });

  it("takes geometry that a number moved, with the new peaks", () => {
    const joints = document.header.joints.map((joint) => ({ ...joint, parent: { ...joint.parent, at: [9, 9, 9] as [number, number, number] } }));
    const packet = readPacket<UpdateHeader>(packetBytes({ ...update, geometry: { bodies: document.header.bodies.slice(0, 2), joints } }, { t: Float64Array.of(0) }));
    const { header } = updateRun(old, packet).document;
    expect([header.bodies.length, header.joints[1]!.parent.at[0], header.joints[1]!.peak?.force.value]).toEqual([2, 9, 7]);
  });

  it("takes the breakdown of a joint's load in the place of an older one", () => {
    const packet = readPacket<Causes>(packetBytes({ joint: "joint0", by: "body", names: ["b"], array: "causes.body.joint0" }, { "causes.body.joint0": new Float32Array(66) }));
    const { header } = withCauses(old, packet).document;
    expect(header.causes).toEqual([{ joint: "joint0", by: "body", names: ["b"], array: "causes.body.joint0" }]);
  });

  it("says what differs", () => {
    expect(changeWords([])).toBe("as in the file");
    expect(changeWords([1, 2, 3, 4, 5].map((k) => ({ name: `a${k}`, text: "1" })))).toBe("a1 1, a2 1, a3 1 and 2 more");
  });

  it("has values by name, parts included", () => {
    const series = [{ name: "j.q", unit: "", words: "", group: "coordinates" as const, parts: ["x", "y"], row: 0 }];
    const run = syntheticRun({ pictures: 2, header: { series } });
    Object.assign(run, { series: Float32Array.of(0, 1, 4, 6) });
    expect([valueNow(run, "j.q.x", 0.5), valueNow(run, "j.q.y", 0.5), valueNow(run, "k", 0)]).toEqual([0.5, 5, NaN]);
  });
});

describe("response curves", () => {
  const curve = (more: Partial<CurvePush>): CurvePush => ({ name: "L", of: "a|peak", unit: "N", values: [], results: [], failed: [], complete: false, ...more });

  it("gather points as they come, and know the least", () => {
    const data = new ResponseData("L", "a|peak", 0, 4);
    expect(data.take(curve({ name: "other", values: [1], results: [1] }))).toBe(false);
    data.take(curve({ values: [0, 4], results: [5, 9] }));
    data.take(curve({ values: [2, 3], results: [3, NaN], failed: [{ value: 3, message: "it locks" }], complete: true }));
    expect(data.done).toBe(true);
    expect(data.points).toEqual([{ value: 0, result: 5 }, { value: 2, result: 3 }, { value: 4, result: 9 }]);
    expect(data.least).toEqual({ value: 2, result: 3 });
    expect(data.failed).toEqual([{ value: 3, message: "it locks" }]);
    expect(data.stretches.map((stretch) => stretch.length)).toEqual([2, 1]); // broken at the failed run
    expect([data.at(1), data.at(5)]).toEqual([4, NaN]);
  });

  it("are clicked at their points, or between them", () => {
    const points = [{ value: 0 }, { value: 1 }, { value: 2 }];
    expect([snapTo(points, 1.04, 0.1), snapTo(points, 1.4, 0.1)]).toEqual([1, 1.4]);
  });

  it("offer what the server names, in words", () => {
    const { header } = syntheticRun();
    expect(ownResponses(header).slice(0, 2)).toEqual(["joint0.reaction.force|peak", "joint0.reaction.moment|peak"]);
    expect(responseChoices(header, ["joint0.reaction.moment|peak", "x.q|final"])).toEqual([
      { of: "joint0.reaction.moment|peak", words: "joint0: peak moment", group: "Loads of joints", unit: "N*m" },
      { of: "x.q|final", words: "x.q: at the end", group: "States", unit: "" },
    ]);
  });

  it("have round numbers at their side", () => {
    expect(roundTicks(0, 10, 3)).toEqual([0, 5, 10]);
    expect(roundTicks(191, 196, 3)).toEqual([192, 194, 196]);
    expect(roundTicks(2, 2, 3)).toEqual([2]);
  });
});

describe("modes", () => {
  it("are read with eigenvalues and poses", () => {
    const bytes = packetBytes({
      eigenvalues: [[-1, 2], [-1, -2]],
      modes: [{ eigenvalue: [-1, 2], frequency: Math.sqrt(5), damping: 0.447, moves: "a.q", poses: "mode.0" }, { eigenvalue: [-3, 0], frequency: 3, damping: 1, moves: "", poses: "" }],
    }, { "mode.0": new Float32Array(21 * 4) });
    const { eigenvalues, modes } = readModes(readPacket<Modes>(bytes));
    expect(eigenvalues).toEqual([{ re: -1, im: 2 }, { re: -1, im: -2 }]);
    expect([modes[0]!.im, modes[0]!.words, modes[0]!.poses?.length, modes[1]!.re, modes[1]!.poses]).toEqual([2, "a.q", 84, -3, null]);
  });

  it("say how they go", () => {
    const mode = (frequency: number, damping: number): { rate: string; decay: string } => modeWords({ re: -damping * frequency, im: frequency * Math.sqrt(1 - damping ** 2), frequency, damping, words: "", poses: null });
    expect(mode(2 * Math.PI, 0)).toEqual({ rate: "1 Hz", decay: "does not decay" });
    expect(mode(2, 1)).toEqual({ rate: "no oscillation", decay: "decays in 0.5 s" });
    expect(mode(2, -1)).toEqual({ rate: "no oscillation", decay: "grows in 0.5 s" });
    expect(mode(0, 1)).toEqual({ rate: "no oscillation", decay: "stays where it is" });
    expect(mode(10, 0.1).decay).toBe("decays in 1 s, damping 10 %");
  });

  it("swing through a closed period without loads, about a pose that stands still", () => {
    const main = syntheticRun();
    const swing = swingRun(main, Float32Array.from({ length: 21 * 4 }, (_, k) => k), 1.6);
    expect([swing.count, swing.t[4], swing.poses[0], swing.poses[4], swing.poses[5]]).toEqual([5, 1.6, 0, 0, 4]);
    expect(swing.header.joints.every((joint) => joint.load === -1)).toBe(true);
    const still = stillRun(main, 1, 1.6);
    expect([still.poses[0], still.poses[1]]).toEqual([main.poses[10], main.poses[10]]);
  });

  it("are drawn so that small ones are seen beside large ones", () => {
    expect(stretchUnit([{ re: -1, im: 0 }, { re: -2, im: 0 }])).toBe(20);
    const unit = stretchUnit([{ re: -1, im: 0 }, { re: -1000, im: 0 }]);
    expect(unit).toBe(1);
    expect(stretch(1000, unit) / stretch(1, unit)).toBeLessThan(10);
  });
});

describe("faults of the model", () => {
  it("are told with file, line and part", () => {
    expect(faultWords({ message: "must be positive", line: 9, component: "arm", field: "mass" }, "/home/a/arm.yaml")).toEqual({ place: "arm.yaml, line 9, arm.mass", message: "must be positive" });
    expect(faultWords({ message: "no bodies", line: null, component: null }, "")).toEqual({ place: "", message: "no bodies" });
  });
});
