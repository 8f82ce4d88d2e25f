import { describe, expect, it } from "vitest";
import { buildStack, rankContributors, stackAlong } from "../src/panels/causes_stack";
import { eventAt } from "../src/panels/events_table";
import { acrossAxis, circles, polarData, tailStart } from "../src/panels/polar_data";
import { wordAt } from "../src/panels/strip_rows";
import { allSpeeds, eventWords, findTicks, formatTime, hasFailed, nextEvents, nextSpeed, stepTime } from "../src/panels/time_steps";
import { valueParts } from "../src/panels/values_panel";
import { QuantityList } from "../src/plots/quantities";
import { KEY_ACTIONS, keyName } from "../src/ui/keys";
import { COUNT, syntheticRun } from "./support/turning_shaft";

const run = syntheticRun();
const { events } = run.header;

describe("steps", () => {
  it("go from picture to picture, twice the same time being one", () => {
    const times = [0, 1, 1, 2, 3];
    expect(stepTime(times, 0, 1)).toBe(1);
    expect(stepTime(times, 1, 1)).toBe(2);
    expect(stepTime(times, 1.5, -1)).toBe(1);
    expect(stepTime(times, 1, -1)).toBe(0);
    expect(stepTime(times, 0.5, 10)).toBe(3);
    expect(stepTime(times, 0, -1)).toBe(0);
    expect(stepTime([], 5, 1)).toBe(5);
  });
  it("go from event to event", () => {
    expect(nextEvents(events, 0, 1, 2)[0]!.time).toBe(0.5);
    expect(nextEvents(events, 0.5, 1, 2)[0]!.time).toBe(0.501);
    expect(nextEvents(events, 2, -1, 2)[0]!.time).toBe(1.5);
    expect(nextEvents(events, 1.5, 1, 2)).toEqual([]);
  });
  it("of speed are 1, 2, 5 from 0.001 to 100", () => {
    expect(allSpeeds().length).toBe(16);
    expect(allSpeeds().slice(0, 5)).toEqual([0.001, 0.002, 0.005, 0.01, 0.02]);
    expect([nextSpeed(100, 1), nextSpeed(0.001, -1), nextSpeed(2, 1), nextSpeed(2, -1), nextSpeed(5, -1)]).toEqual([100, 0.001, 5, 1, 2]);
  });
  it("ticks that would cover each other are one", () => {
    expect(findTicks(events, 0, 2, 100).map((tick) => tick.events.length)).toEqual([2, 1]);
    expect(findTicks(events, 0, 2, 10_000).length).toBe(3);
  });
  it("words", () => {
    expect(eventWords(events[0]!)).toBe("brake: sticks");
    expect(eventWords(events[2]!)).toBe("brake opens");
    expect(eventWords({ ...events[0]!, message: "at t = 0.5 s brake: sticks" })).toBe("brake: sticks");
    expect([formatTime(0.35, 2), formatTime(0.0123456, 0.04), formatTime(12.3, 1000)]).toEqual(["0.350", "0.01235", "12"]);
    expect([hasFailed("done"), hasFailed("condition"), hasFailed("failed")]).toEqual([false, false, true]);
    expect([eventAt(events, 0.2, 2), eventAt(events, 0.5, 2), eventAt(events, 2, 2)]).toEqual([-1, 0, 2]);
  });
  it("the word of a strip where two stretches meet is the later", () => {
    const strip = { name: "brake", stretches: [[0, 1, "sticks"], [1, 2, "slides"]] as [number, number, string][], jumps: [] };
    expect([wordAt(strip, 0.5), wordAt(strip, 1), wordAt(strip, 3)]).toEqual(["sticks", "slides", ""]);
  });
});

describe("keys", () => {
  it("are each used once", () => {
    const keys = KEY_ACTIONS.flatMap((action) => action.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });
  it("name Shift only before keys that are no signs", () => {
    expect(keyName({ key: "ArrowLeft", shiftKey: true })).toBe("Shift+ArrowLeft");
    expect(keyName({ key: "?", shiftKey: true })).toBe("?");
  });
});

describe("who loads a joint", () => {
  const joint = run.header.joints[0]!;
  const causes = run.header.causes[0]!;
  const ranks = rankContributors(run, causes);
  it("adds up to the magnitude at every time", () => {
    const stack = buildStack(run, joint, causes, ranks, "force")!;
    for (let k = 0; k < COUNT; k++) {
      const sum = stack.bands.reduce((total, band) => total + band.along[k]!, 0);
      expect(sum).toBeCloseTo(stack.size[k]!, 3);
    }
    expect(stack.bands[0]!.name).toBe("static part");
  });
  it("what relieves is below zero", () => {
    const one = (x: number): Float32Array[] => [Float32Array.of(x), Float32Array.of(0), Float32Array.of(0)];
    const { bands, size } = stackAlong(one(-3), [{ name: "a", rank: 0, rows: one(-5) }, { name: "b", rank: 1, rows: one(2) }]);
    expect([size[0], bands[0]!.high[0], bands[1]!.low[0], bands[1]!.high[0]]).toEqual([3, 5, 0, -2]);
  });
  it("needs causes or a static part", () => {
    const bare = syntheticRun({ loadParts: ["total"] });
    expect(buildStack(bare, joint, null, [], "force")).toBeNull();
    expect(buildStack(bare, joint, causes, ranks, "force")!.whole).toBe(false);
    expect(buildStack(run, joint, null, [], "force")!.bands.map((band) => band.name)).toEqual(["static part", "kinetic part"]);
  });
  it("ranks the largest first, and the rest is one", () => {
    expect(ranks).toEqual([0, -3]);
    const loads = Float32Array.from({ length: 9 * 6 * COUNT }, (_, k) => Math.floor(k / (6 * COUNT)) + 1);
    const names = Array.from({ length: 9 }, (_, k) => `b${k}`);
    const many = Object.assign(syntheticRun(), { floats: () => loads });
    expect(rankContributors(many, { ...causes, names })).toEqual([-2, -2, -2, -2, 4, 3, 2, 1, 0]);
  });
});

describe("around the shaft", () => {
  const joint = run.header.joints[0]!;
  it("unbalance is constant in rotating axes, weight in fixed ones", () => {
    const kinetic = polarData(run, joint, "kinetic");
    for (const k of [0, 20, 71]) {
      expect(kinetic.turning[0][k]).toBeCloseTo(40, 3);
      expect(kinetic.turning[1][k]).toBeCloseTo(0, 3);
    }
    expect(polarData(run, joint, "static").fixed[1][33]).toBeCloseTo(-30, 4);
    expect(kinetic.angle[COUNT - 1]).toBeCloseTo(4 * Math.PI, 3);
    expect(kinetic.peak).toBeCloseTo(40, 3);
  });
  it("takes directions across the axis as kinode does", () => {
    expect(acrossAxis([0, 0, 1])).toEqual([[1, 0, 0], [0, 1, 0]]);
    expect(acrossAxis([1, 0, 0])).toEqual([[0, 1, 0], [0, 0, 1]]);
    const [x, y] = acrossAxis([0.6, 0, 0.8]);
    expect(x[0] * y[0] + x[1] * y[1] + x[2] * y[2]).toBeCloseTo(0, 12);
    expect(x[0] * 0.6 + x[2] * 0.8).toBeCloseTo(0, 12);
  });
  it("draws round circles, and one turn as a tail", () => {
    expect(circles(396)).toEqual([100, 200, 300]);
    expect(circles(0)).toEqual([]);
    const { angle } = polarData(run, joint, "total");
    const tail = angle[100]! - angle[tailStart(angle, 100)]!;
    const picture = (2 * Math.PI) / 50; // the angle from one stored time to the next
    expect(tail).toBeGreaterThan(2 * Math.PI - 1.01 * picture);
    expect(tail).toBeLessThanOrEqual(2 * Math.PI);
    expect(tailStart(new Float32Array(80), 40)).toBe(30);
  });
});

describe("values", () => {
  it("has a row for each part, and the magnitude of vectors", () => {
    const list = new QuantityList(run);
    expect(valueParts(list.find("arm.velocity")!)).toEqual(["x", "y", "z", "size"]);
    expect(valueParts(list.find("shaft.q")!)).toEqual([""]);
  });
});
