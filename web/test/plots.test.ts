import type { LiveLink } from "../src/panel";
import { describe, expect, it } from "vitest";
import { decimate, findRange, sampleAt } from "../src/plots/decimate";
import { intoJointAxes } from "../src/plots/joint_axes";
import { rotate } from "../src/scene/math/vectors";
import { readAnswer, LiveSeries } from "../src/plots/live_series";
import { search } from "../src/plots/name_search";
import { addChoice, firstChoices, linesOf, PARTS, plotNumbers } from "../src/plots/plot_choice";
import { airAround } from "../src/plots/plot_view";
import { toCsv } from "../src/plots/plot_files";
import { findLine, jointLoadSize, QuantityList, SIZE } from "../src/plots/quantities";
import { TimeWindow } from "../src/plots/time_window";
import { suitableUnit, UnitChoices, unitsOf } from "../src/plots/unit_choice";
import { shaft, syntheticRun } from "./support/turning_shaft";

const many = 100_000;
const t = Float64Array.from({ length: many }, (_, k) => k / many);

describe("thinning", () => {
  it("keeps the peak of one sample", () => {
    const y = new Float32Array(many);
    y[77_777] = 5;
    y[12_345] = -3;
    const thin = decimate(t, y, 0, 1, 400);
    expect(thin.count).toBeLessThanOrEqual(5 * 400 + 16);
    const values = thin.y.subarray(0, thin.count);
    expect([Math.max(...values), Math.min(...values)]).toEqual([5, -3]);
    const x = thin.x.subarray(0, thin.count);
    expect(x[values.indexOf(5)]).toBe(t[77_777]);
    expect([...x].every((value, k) => k === 0 || value >= x[k - 1]!)).toBe(true);
  });
  it("keeps every point of a short line, and one beyond either edge", () => {
    const thin = decimate([0, 1, 2, 3, 4], [5, 6, 7, 8, 9], 1.5, 2.5, 100);
    expect([...thin.y.subarray(0, thin.count)]).toEqual([6, 7, 8, 9]);
  });
  it("keeps what is sparse where another stretch is dense", () => {
    const times = Float64Array.from({ length: 10_100 }, (_, k) => (k < 10_000 ? k * 1e-6 : 0.01 + (k - 9_999) * 0.0098));
    const y = Float32Array.from(times, (_, k) => k % 2);
    const thin = decimate(times, y, 0, 1, 500);
    expect([...thin.x.subarray(0, thin.count)].filter((x) => x > 0.011).length).toBe(100);
  });
  it("keeps gaps", () => {
    const y = new Float32Array(many).fill(1);
    y[50_000] = NaN;
    const thin = decimate(t, y, 0, 1, 100);
    const gaps = [...thin.x.subarray(0, thin.count)].filter((_, k) => Number.isNaN(thin.y[k]!));
    expect([...new Set(gaps)]).toEqual([t[50_000]]);
  });
  it("finds ranges and samples", () => {
    expect(findRange([0, 1, 2], [1, NaN, 4], 0, 2)).toEqual([1, 4]);
    expect(findRange([], [], 0, 1)).toEqual([NaN, NaN]);
    expect(sampleAt([0, 1, 1, 2], [0, 2, 10, 12], 0.5)).toBe(1);
    expect(sampleAt([0, 1, 1, 2], [0, 2, 10, 12], 1)).toBe(10);
    expect(airAround(3, 3)[0]).toBeLessThan(3);
    expect(airAround(NaN, NaN)).toEqual([-1, 1]);
  });
});

describe("loads in the joint's axes", () => {
  it("turns a vector by a quaternion", () => {
    const half = Math.SQRT1_2;
    rotate([half, 0, 0, half], [1, 0, 0]).forEach((value, k) => expect(value).toBeCloseTo([0, 1, 0][k]!, 12));
  });
  it("of a parent that turns the load turns back", () => {
    const run = syntheticRun();
    const onArm = { ...shaft(), parent: { body: 0, at: [0, 0, 0] as [number, number, number], quaternion: [1, 0, 0, 0] as [number, number, number, number] } };
    const rows = [0, 1, 2].map((k) => run.load(0, "total", k).map((value, i) => value - run.load(0, "static", k)[i]!)) as [Float32Array, Float32Array, Float32Array];
    const turned = intoJointAxes(run, onArm, rows);
    for (const k of [0, 13, 60]) {
      expect(turned[0][k]).toBeCloseTo(-40, 3);
      expect(turned[1][k]).toBeCloseTo(0, 3);
    }
  });
  it("static and kinetic parts are quantities with a magnitude", () => {
    const run = syntheticRun();
    const list = new QuantityList(run);
    const kinetic = list.find("shaft.reaction.force.kinetic")!;
    expect(findLine(run, kinetic, SIZE)![37]).toBeCloseTo(40, 3);
    expect(findLine(run, list.find("shaft.reaction.force.static")!, "y")![5]).toBe(30);
    expect(jointLoadSize(run, run.header.joints[0]!, "force", "static")[9]).toBe(30);
  });
  it("are not offered where the file has no static part", () => {
    expect(new QuantityList(syntheticRun({ loadParts: ["total"] })).find("shaft.reaction.force.kinetic")).toBeUndefined();
  });
});

describe("search", () => {
  const all = new QuantityList(syntheticRun()).all;
  it("finds by beginning, part and letters", () => {
    expect(search("shaft.q", all)[0]!.name).toBe("shaft.q");
    expect(search("velo", all)[0]!.name).toBe("arm.velocity");
    expect(search("moment stat", all)[0]!.name).toBe("shaft.reaction.moment.static");
    expect(search("zzz", all)).toEqual([]);
  });
  it("lists what needs the live server", () => expect(search("accel", all)[0]!.source).toBe("live"));
});

describe("choices", () => {
  const run = syntheticRun();
  const list = new QuantityList(run);
  it("begin with the coordinates", () => expect(firstChoices(run, list)).toEqual([{ name: "shaft.q", show: "", plot: 0 }]));
  it("put one unit on one plot", () => {
    const choices = firstChoices(run, list);
    for (const name of ["shaft.reaction.force", "arm.velocity", "shaft.reaction.force.static"]) addChoice(choices, list, name);
    expect(choices.map((each) => each.plot)).toEqual([0, 1, 2, 1]);
    expect(plotNumbers(choices)).toEqual([0, 1, 2]);
    expect(choices[1]!.show).toBe(SIZE);
    expect(linesOf({ name: "arm.velocity", show: PARTS, plot: 0 }, list.find("arm.velocity")!).map((line) => line.label)).toEqual(
      ["arm.velocity.x", "arm.velocity.y", "arm.velocity.z"]);
    expect(addChoice(choices, list, "shaft.q")).toBeNull();
    expect(addChoice(choices, list, "no.such")).toBeNull();
  });
});

describe("units", () => {
  it("are those that suit", () => {
    expect(suitableUnit("N", 52_000).unit).toBe("kN");
    expect(suitableUnit("N", 300).factor).toBe(1);
    expect(suitableUnit("m", 52_000).unit).toBe("m");
    expect(unitsOf("rad/s").map((each) => each.unit)).toEqual(["rad/s", "rpm", "deg/s"]);
  });
  it("can be chosen", () => {
    const units = new UnitChoices();
    units.choose("rad/s", "rpm");
    expect(100 * Math.PI * units.find("rad/s").factor).toBeCloseTo(3000, 9);
    units.choose("rad/s", "bananas");
    expect(units.find("rad/s").unit).toBe("rpm");
  });
});

describe("the stretch of time", () => {
  it("zooms about a point, pans, and stays in the run", () => {
    const window = new TimeWindow({ from: 0, to: 10 });
    window.zoom(0.5, 2);
    expect([window.from, window.to]).toEqual([1, 6]);
    window.pan(10);
    expect([window.from, window.to]).toEqual([5, 10]);
    window.zoom(100, 7);
    expect([window.from, window.to, window.zoomed]).toEqual([0, 10, false]);
  });
});

describe("files", () => {
  it("writes columns with units, and times of their own for other runs", () => {
    const a = Float64Array.from([0, 1, 2]);
    const b = Float64Array.from([0, 2]);
    const column = { label: "x [mm]", run: "one", t: a, y: Float32Array.from([1, 2, NaN]), factor: 1000 };
    expect(toCsv([column], 0, 2)).toBe("t [s],x [mm]\r\n0,1000\r\n1,2000\r\n2,\r\n");
    expect(toCsv([column, { ...column, run: "a, b", t: b, y: Float32Array.from([5, 6]) }], 1, 2).split("\r\n").slice(0, 3)).toEqual(
      ['t [s] (one),x [mm] (one),"t [s] (a, b)","x [mm] (a, b)"', "1,2000,2,6000", "2,,,"]);
  });
});

describe("live series", () => {
  const answer = {
    header: { series: [{ name: "a.b", unit: "m", words: "", group: "kept", parts: ["x", "y"], row: 0 }] },
    arrays: new Map<string, Float64Array | Float32Array>([["t", Float64Array.from([0, 1])], ["series", Float32Array.from([1, 2, 3, 4])]]),
  };
  it("reads an answer", () => expect([...readAnswer(answer)[0]!.rows[1]!]).toEqual([3, 4]));
  it("asks again for a new run, one question at a time", async () => {
    const asked: unknown[] = [];
    let release: (() => void)[] = [];
    const ask = ((_: string, fields: { names: string[] }) => new Promise((done) => { asked.push(fields.names); release.push(() => done(answer)); })) as unknown as LiveLink["ask"];
    const link: LiveLink = { ask, onPush: () => () => undefined };
    const live = new LiveSeries(link, () => undefined, () => undefined);
    live.want(["a.b"], syntheticRun());
    live.want(["a.b"], syntheticRun());
    live.want(["a.b"], syntheticRun());
    expect(asked.length).toBe(1);
    release[0]!();
    await new Promise((done) => setTimeout(done, 0));
    expect(asked.length).toBe(2);
    expect(live.find("a.b")!.info.unit).toBe("m");
  });
});
