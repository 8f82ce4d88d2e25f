import { describe, expect, it } from "vitest";
import { PacketError, readPacket } from "../src/data/packet";
import { roundSpeed } from "../src/clock";
import { formatNumber, prettyUnit } from "../src/ui/numbers";

describe("packets", () => {
  it("reports data that are cut short", () => {
    expect(() => readPacket(new ArrayBuffer(2))).toThrow(PacketError);
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
