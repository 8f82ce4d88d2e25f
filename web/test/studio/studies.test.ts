import type { RawForm, StudyAbout, StudyHeader, StudySummary } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { LEVELS, SCALE, levelOf } from "../../src/studio/studies/color_scale";
import { cellAt, cellEdges } from "../../src/studio/studies/heat_map";
import { StudyData, axisText, correlation, shown, withUnit } from "../../src/studio/studies/study_data";
import { axisOf, completeKept, firstForm } from "../../src/studio/studies/study_form";
import { countRuns, progressWords, timeWords } from "../../src/studio/studies/study_types";

const header = (more: Partial<StudyHeader> = {}): StudyHeader => ({
  id: 1, state: "done", words: "", title: "n, q: 6 runs", runs: 6, done: 6, reached: 6, seconds: 2, rate: 3, left: null, older: false,
  dims: [{ name: "n", length: 3 }, { name: "q", length: 2 }],
  axes: [
    { name: "n", title: "n", unit: "1/s", dim: "n", values: [100, 200, 300], shown: { unit: "rpm", factor: Math.PI / 30 } },
    { name: "q", title: "q", unit: "rad", dim: "q", values: [0, 1], shown: { unit: "", factor: 1 } },
  ],
  kept: [{ text: "a|peak", unit: "N", bySize: true }, { text: "b|final", unit: "", bySize: false }],
  until: 1, form: { axes: [], design: "grid", n: "", keep: [], until: "" }, messages: { "5": "it flew apart" }, command: "", python: "", ...more,
});
const data = (): StudyData => new StudyData(header(), [1, 1, 1, 1, 0, 3], [5, -9, 2, 4, NaN, NaN, 1, 2, -3, 4, NaN, NaN]);

describe("runs of a study", () => {
  it("finds places and runs in the order of the dimensions", () => {
    const study = data();
    expect([...Array(6).keys()].map((run) => study.place(run))).toEqual([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]);
    expect([...Array(6).keys()].map((run) => study.runAt(study.place(run)))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(study.values(3)).toEqual({ n: 200, q: 1 });
    expect(study.isGrid).toBe(true);
  });

  it("knows samples from a grid", () => {
    const axes = header().axes.map((axis) => ({ ...axis, dim: "run", values: [1, 2, 3] }));
    const study = new StudyData(header({ dims: [{ name: "run", length: 3 }], axes, runs: 3, messages: {} }), [1, 1, 1], [1, 2, 3, 4, 5, 6]);
    expect(study.isGrid).toBe(false);
    expect(study.columns.map(({ value }) => value(1))).toEqual([2 / (Math.PI / 30), 2, 2, 5]);
  });

  it("compares peaks by their size and other results by their value", () => {
    const study = data();
    expect([study.best(0, false), study.best(0, true)]).toEqual([2, 1]);
    expect([study.best(1, false), study.best(1, true)]).toEqual([2, 3]);
    expect(study.range(0)).toEqual([-9, 5]);
    expect(new StudyData(header({ messages: {} }), [0, 0, 0, 0, 0, 0], Array(12).fill(NaN)).best(0, true)).toBe(-1);
  });

  it("says what a run is, one that failed or is not made too", () => {
    const study = data();
    expect(study.words(3, 0)).toBe("n = 1909.86 rpm, q = 1 rad: a|peak = 4 N");
    expect(study.words(4, 0)).toContain("not run yet");
    expect(study.words(5, 0)).toContain("failed: it flew apart");
    expect(study.failures).toEqual([5]);
  });

  it("takes the runs of a chunk", () => {
    const study = data();
    study.take({ header: { id: 1, first: 4, messages: { "4": "slow" } }, arrays: new Map<string, Int32Array | Float64Array>([["status", Int32Array.of(1, 1)], ["results", Float64Array.of(7, 8, 70, 80)]]) });
    expect(study.results[0]!.slice(4)).toEqual(Float64Array.of(7, 8));
    expect(study.results[1]!.slice(4)).toEqual(Float64Array.of(70, 80));
    expect([study.isMade(4), study.isFailed(5), study.messages.get(4)]).toEqual([true, false, "slow"]);
    study.take({ header: { id: 1, first: 5, messages: {} }, arrays: new Map<string, Int32Array | Float64Array>([["status", Int32Array.of(3, 3)], ["results", new Float64Array(4)]]) }); // too many
    expect(study.isFailed(5)).toBe(false);
  });

  it("shows values in the unit that was typed", () => {
    const [speed, angle] = header().axes;
    expect(shown(speed!, 100 * Math.PI)).toBeCloseTo(3000, 10);
    expect([axisText(speed!, 100 * Math.PI), axisText(angle!, 0.5)]).toEqual(["3000 rpm", "0.5 rad"]);
    expect(withUnit(1234.5678, "N*m")).toBe("1234.6 N·m");
    expect(withUnit(NaN, "N")).toBe("–");
  });
});

describe("correlation", () => {
  const of = (values: number[]) => (run: number): number => values[run]!;
  it("is one on a line, zero for what does not go together", () => {
    expect(correlation(of([1, 2, 3]), of([2, 4, 6]), 3)).toBeCloseTo(1, 12);
    expect(correlation(of([1, 2, 3]), of([1e9 + 3, 1e9 + 2, 1e9 + 1]), 3)).toBeCloseTo(-1, 9);
    expect(correlation(of([-1, 0, 1]), of([1, 0, 1]), 3)).toBeCloseTo(0, 12);
  });

  it("leaves out runs that failed, and is nothing of constants or two runs", () => {
    expect(correlation(of([1, 2, 3, 4]), of([2, NaN, 6, 8]), 4)).toBeCloseTo(1, 12);
    expect(correlation(of([1, 2, 3]), of([5, 5, 5]), 3)).toBeNaN();
    expect(correlation(of([1, 2]), of([1, 2]), 2)).toBeNaN();
  });
});

describe("cells and colors", () => {
  it("has edges halfway between values, rising or falling, and around a single one", () => {
    expect(cellEdges([1, 2, 4])).toEqual([0.5, 1.5, 3, 5]);
    expect(cellEdges([4, 2])).toEqual([5, 3, 1]);
    expect(cellEdges([3])).toEqual([2.5, 3.5]);
  });

  it("finds the cell of a value", () => {
    expect([0.4, 0.6, 2, 4.9, 5.1].map((value) => cellAt([0.5, 1.5, 3, 5], value))).toEqual([-1, 0, 1, 2, -1]);
    expect([4.5, 1.5].map((value) => cellAt([5, 3, 1], value))).toEqual([0, 1]);
  });

  it("goes from dark to light evenly", () => {
    const light = (color: string): number => [1, 3, 5].reduce((sum, k, at) => sum + [0.2126, 0.7152, 0.0722][at]! * parseInt(color.slice(k, k + 2), 16), 0);
    expect(SCALE).toHaveLength(LEVELS);
    for (let k = 1; k < LEVELS; k++) expect(light(SCALE[k]!)).toBeGreaterThan(light(SCALE[k - 1]!));
    expect([0, 5, 10, 99].map((value) => levelOf(value, 0, 10))).toEqual([0, LEVELS / 2, LEVELS - 1, LEVELS - 1]);
    expect(levelOf(3, 3, 3)).toBe(LEVELS / 2);
  });
});

const about: StudyAbout = {
  why: "", version: 1, names: [{ name: "L", role: "parameter", unit: "m", value: 1, first: "0.5 m", second: "1.5 m", words: "" }], quantities: ["elbow.q", "elbow.reaction.force"], reductions: ["peak", "rms"],
  keep: ["elbow.reaction.force|peak"], until: "10 s", designs: ["grid", "latin"], count: 11, n: 64,
};

describe("the form", () => {
  it("begins with the first name over its range", () => {
    const form = firstForm(about);
    expect(form.axes).toEqual([{ name: "L", kind: "range", first: "0.5 m", second: "1.5 m", count: "11", values: "" }]);
    expect([form.keep, form.until, form.n]).toEqual([["elbow.reaction.force|peak"], "10 s", "64"]);
    expect(axisOf(about, "unknown").first).toBe("");
    expect(firstForm({ ...about, names: [] }).axes).toEqual([]);
  });

  it("completes quantities, and after the bar how they become a number", () => {
    expect(completeKept(about, "elb", 3)).toEqual({ from: 0, options: [{ label: "elbow.q", detail: "", apply: "elbow.q|peak" }, { label: "elbow.reaction.force", detail: "", apply: "elbow.reaction.force|peak" }] });
    expect(completeKept(about, "elbow.q|r", 9)).toEqual({ from: 8, options: [{ label: "peak", detail: "", apply: "peak" }, { label: "rms", detail: "", apply: "rms" }] });
    expect(completeKept(about, "elb|peak", 3).options[0]!.apply).toBe("elbow.q");
  });

  it("counts the runs that it means", () => {
    const form = (more: Partial<RawForm>): RawForm => ({ ...firstForm(about), ...more });
    const list = { name: "k", kind: "list" as const, first: "", second: "", count: "", values: "1, 2,, 3" };
    expect(countRuns(form({}))).toBe(11);
    expect(countRuns(form({ axes: [...firstForm(about).axes, list] }))).toBe(33);
    expect(countRuns(form({ axes: [...firstForm(about).axes, list], design: "latin", n: "20" }))).toBe(60);
    expect(countRuns(form({ axes: [] }))).toBeNaN();
    expect(countRuns(form({ axes: [{ ...firstForm(about).axes[0]!, count: "many" }] }))).toBeNaN();
  });

  it("says how long something takes", () => {
    expect([0.01, 0.42, 12.4, 100, 7200].map(timeWords)).toEqual(["0.1 s", "0.4 s", "12 s", "2 min", "2 h"]);
    const told = (more: Partial<StudySummary>): string => progressWords({ ...header(), ...more });
    expect(told({ state: "running", reached: 3, rate: 1.54, left: 2 })).toBe("3 of 6 runs, 1.5/s, 2 s left");
    expect(told({ state: "running", reached: 0, rate: 0, left: null })).toBe("0 of 6 runs");
    expect(told({ state: "stopped", done: 4 })).toBe("Stopped: 4 of 6 runs are done");
    expect(told({ state: "failed", done: 4, words: "why" })).toContain("why");
    expect(told({})).toBe("6 runs in 2 s");
  });
});
