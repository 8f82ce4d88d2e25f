import { describe, expect, it } from "vitest";
import { RunDocument, type EquationData, type NumberArray } from "../../src/data/run_document";
import { lineScale, termValues } from "../../src/panels/equation_values";
import { syntheticRun } from "../support/synthetic_run";

const term = (series: string, side: "left" | "right") => ({ mathml: "<math/>", series, sign: "+", side });
const line: EquationData = { name: "elbow", title: "", mathml: "", unit: "N*m", terms: [term("a", "left"), term("b", "left"), term("", "right"), term("c", "right")] };

function run(): RunDocument {
  const made = syntheticRun({ pictures: 3, duration: 2 });
  made.header.series.push(...["a", "b", "c"].map((name, row) => ({ name, unit: "N*m", words: "", group: "terms" as const, parts: [], row })));
  const series = Float32Array.from([0, 2, 4, 1, -1, -8, 1, 1, -4]);
  return new RunDocument(made.header, new Map<string, NumberArray>([["t", made.t], ["series", series]]));
}

describe("terms of an equation", () => {
  it("are measured by the largest in the run", () => {
    expect(lineScale(run(), line)).toBe(8);
  });
  it("have values between stored times, and shares with sign", () => {
    const values = termValues(run(), line, 8, 1.5);
    expect(values.map((each) => each.value)).toEqual([3, -4.5, NaN, -1.5]);
    expect(values.map((each) => each.share)).toEqual([0.375, -0.5625, 0, -0.1875]);
  });
});
