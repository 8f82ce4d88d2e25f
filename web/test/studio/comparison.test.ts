// What differs from another model, in words and marks.

import type { ComparedRow } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { type RowChange, lineWords, marksOf, partWords, percentWords, valueWords } from "../../src/studio/comparison/compare_types";
import { TINTS, gonePoints, tintsOf } from "../../src/studio/comparison/compared_stage";

const row = (more: Partial<ComparedRow>): ComparedRow => ({
  change: "changed", section: "elements", part: "wire", field: "resistance", before: "20 Ohm", after: "30 Ohm", line_before: 7, line_after: 9, old_part: "wire", percent: 50, link: false, ...more,
});

describe("differences in 3D", () => {
  it("gives bodies that came or changed a color; those that are gone have none, but a place and a sign", () => {
    const changes = new Map<string, RowChange>([["new", "added"], ["arm", "changed"], ["old", "removed"]]);
    expect([...tintsOf({ changes }).keys()]).toEqual(["new", "arm"]);
    expect(new Set(Object.values(TINTS)).size).toBe(4);
    const packet = { header: { bodies: [{ name: "a" }, { name: "b" }] }, arrays: new Map([["poses", Float32Array.of(1, 2, 3, 1, 0, 0, 0, 4, 5, 6, 1, 0, 0, 0)]]) };
    expect(gonePoints(packet)).toEqual([{ name: "a", sign: "−", change: "removed", point: [1, 2, 3] }, { name: "b", sign: "−", change: "removed", point: [4, 5, 6] }]);
  });
});

describe("a row", () => {
  it("says both values, and the change in per cent", () => {
    expect(valueWords(row({}))).toBe("20 Ohm → 30 Ohm (+50 %)");
    expect(valueWords(row({ before: "", percent: null }))).toBe("default → 30 Ohm");
    expect(valueWords(row({ change: "added", before: "", after: "{kind: fuse}" }))).toBe("{kind: fuse}");
    expect(valueWords(row({ change: "removed", before: "{kind: fuse}", after: "" }))).toBe("{kind: fuse}");
  });

  it("names part, field and lines", () => {
    expect(partWords(row({}))).toBe("wire.resistance");
    expect(partWords(row({ part: "", field: "gravity" }))).toBe("model.gravity");
    expect([lineWords(row({})), lineWords(row({ line_before: 9 })), lineWords(row({ line_before: null, line_after: null }))]).toEqual(["line 7 → 9", "line 9", ""]);
  });

  it("has a percentage that can be read", () => {
    expect([0, 33.333333, -0.1234, 123456].map(percentWords)).toEqual(["=", "+33.3 %", "−0.123 %", "+1.2e+5 %"]);
  });
});

describe("marks", () => {
  it("are one for a part, the strongest", () => {
    const rows = [row({}), row({ change: "renamed", field: "" }), row({ part: "coil", change: "added", field: "" }), row({ part: "coil" })];
    const { changes } = marksOf({ rows, ghosts: [] });
    expect([...changes]).toEqual([["wire", "renamed"], ["coil", "added"]]);
  });
});
