import { describe, expect, it } from "vitest";
import { PacketError, decodeSeries, readPacket } from "../src/data/packet";
import { roundSpeed } from "../src/clock";
import { formatNumber, prettyUnit } from "../src/ui/numbers";

describe("packets", () => {
  it("reports data that are cut short", () => {
    expect(() => readPacket(new ArrayBuffer(2))).toThrow(PacketError);
  });

  it.each([2, 3])("give back numbers whose differences of order %d are stored", (order) => {
    const codes = [5, 9, 20, 60000, 3, 1];
    let stored = codes;
    for (let k = 0; k < order; k++) stored = stored.map((x, j) => (x - (j > 0 ? stored[j - 1]! : 0)) & 0xffff);
    const bytes = Uint8Array.from([...stored.map((x) => x & 255), ...stored.map((x) => x >> 8)]);
    const entry = { name: "s", dtype: "u2" as const, shape: [6], offset: 0, bytes: 12, encoding: "delta" as const, order };
    const arrays = new Map<string, Uint16Array | Float64Array>([["s", new Uint16Array(bytes.buffer)], ["s:low", new Float64Array([2])], ["s:step", new Float64Array([0.5])]]);
    expect([...decodeSeries(entry, arrays)]).toEqual(codes.map((k) => 2 + 0.5 * (k - 1)));
    expect(() => decodeSeries({ ...entry, order: 7 }, arrays)).toThrow(PacketError);
  });
});

describe("numbers", () => {
  it.each([[0, "0"], [1234.5678, "1235"], [-0.5, "−0.5"], [1e-7, "1e−7"], [2.5e9, "2.5e9"], [NaN, "–"]])(
    "%d is %s", (value, text) => expect(formatNumber(value)).toBe(text));
  it("writes units in type", () => expect(prettyUnit("N*m/s^2")).toBe("N·m/s²"));
});

describe("speed", () => {
  it.each([[0.002, 0.002], [0.37, 0.5], [2, 2], [8, 10], [0, 1]])("of %d is %d", (given, speed) =>
    expect(roundSpeed(given)).toBeCloseTo(speed, 12));
});
