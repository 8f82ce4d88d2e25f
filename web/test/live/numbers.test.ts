import { describe, expect, it } from "vitest";
import type { ParameterData } from "../../src/data/run_document";
import { groupNumbers, shortName } from "../../src/live/number_groups";
import { SLIDER_STEPS, fieldText, firstRange, firstUnit, makeRange, numberUnits, placeOf, readNumber, valueAt, widened } from "../../src/live/number_range";

function number(name: string, value: number, more: Partial<ParameterData> = {}): ParameterData {
  return { name, value, unit: "", words: "", low: null, high: null, structural: "", group: name.split(".")[0]!, ...more };
}

describe("ranges of sliders", () => {
  it("are the bounds, or half the value around it, or a turn around zero", () => {
    expect(firstRange(number("k", 5, { low: 1, high: 9 }))).toEqual({ low: 1, high: 9, log: false });
    expect(firstRange(number("k", 4))).toMatchObject({ low: 2, high: 6 });
    expect(firstRange(number("k", -4))).toMatchObject({ low: -6, high: -2 });
    expect(firstRange(number("q", 0, { unit: "rad" }))).toMatchObject({ low: -Math.PI, high: Math.PI });
    expect(firstRange(number("x", 0, { unit: "m" }), 6)).toMatchObject({ low: -3, high: 3 });
    expect(firstRange(number("k", 4, { low: 3 }))).toMatchObject({ low: 3, high: 6 });
  });

  it("go by factors over decades", () => {
    const range = makeRange(1e-3, 10);
    expect(range.log).toBe(true);
    expect(valueAt(SLIDER_STEPS / 2, range)).toBeCloseTo(0.1, 12);
    expect(placeOf(0.1, range)).toBe(SLIDER_STEPS / 2);
  });

  it("give back the place of their values, exact ends, and short decimals", () => {
    const range = makeRange(0.1, 2);
    for (let place = 0; place <= SLIDER_STEPS; place += 37) expect(placeOf(valueAt(place, range), range)).toBe(place);
    expect([valueAt(0, range), valueAt(SLIDER_STEPS, range)]).toEqual([0.1, 2]);
    expect(String(valueAt(333, range)).length).toBeLessThan(8);
  });

  it("grow with a value that was typed", () => {
    expect(widened(makeRange(0, 1), 3)).toMatchObject({ low: 0, high: 3 });
    expect(widened(makeRange(0, 1), 0.5)).toEqual(makeRange(0, 1));
  });
});

describe("typed numbers", () => {
  const degrees = firstUnit("rad");

  it("are in the shown unit, or in the one that is written", () => {
    expect(degrees.unit).toBe("deg");
    expect(readNumber("90", "rad", degrees)).toBeCloseTo(Math.PI / 2, 12);
    expect(readNumber("1.5 rad", "rad", degrees)).toBe(1.5);
    expect(readNumber("12 mm", "m", { unit: "m", factor: 1 })).toBeCloseTo(0.012, 12);
    expect(readNumber("−2,5e3", "N", { unit: "N", factor: 1 })).toBe(-2500);
    expect(readNumber("3 N·m", "N*m", { unit: "N*m", factor: 1 })).toBe(3);
    expect(readNumber("3 Nm", "N*m", { unit: "N*m", factor: 1 })).toBe(3);
  });

  it("that are none are refused with a reason", () => {
    const meter = { unit: "m", factor: 1 };
    expect(() => readNumber("abc", "m", meter)).toThrow('"abc" is not a number');
    expect(() => readNumber("", "m", meter)).toThrow("missing");
    expect(() => readNumber("3 kg", "m", meter)).toThrow("The unit kg is not known here; known are: m, mm");
  });

  it("are shown such that reading them gives them back", () => {
    for (const si of ["rad", "m", "kg", "N", "rad/s", "Ohm"]) for (const unit of numberUnits(si)) {
      expect(readNumber(fieldText(0.37, unit), si, unit)).toBeCloseTo(0.37, 5);
    }
  });
});

describe("groups", () => {
  const all = [number("arm.mass", 1), number("arm.com.y", 0, { structural: "zero" }), number("arm.com.x", 2), number("L", 3, { group: "parameters", words: "length of the bar" })];

  it("have parameters first, and what compiles anew last", () => {
    const groups = groupNumbers(all);
    expect(groups.map((group) => group.name)).toEqual(["parameters", "arm"]);
    expect(groups[1]!.rows.map((row) => row.name)).toEqual(["arm.mass", "arm.com.x", "arm.com.y"]);
  });

  it("are searched by all words, in names and notes", () => {
    expect(groupNumbers(all, "arm com").flatMap((group) => group.rows.map((row) => row.name))).toEqual(["arm.com.x", "arm.com.y"]);
    expect(groupNumbers(all, "BAR length").flatMap((group) => group.rows.map((row) => row.name))).toEqual(["L"]);
    expect(groupNumbers(all, "nothing")).toEqual([]);
  });

  it("leave the group out of names", () => {
    expect([shortName("arm.com.x", "arm"), shortName("L", "parameters")]).toEqual(["com.x", "L"]);
  });
});
