// Runs that Python wrote: the page finds the numbers that kinode gives, and opens data of earlier versions.

import { describe, expect, it } from "vitest";
import stored from "../fixtures/rotor.json";
import { PacketError, readPacket, runOf, unpack } from "../src/data/packet";
import type { JointData, RunDocument } from "../src/data/run_document";
import { updateRun } from "../src/live/run_update";
import { polarData } from "../src/panels/polar_data";
import type { LoadPart } from "../src/panel";
import { jointLoad, jointLoadSize, LOAD_PARTS, QuantityList, unitOf } from "../src/plots/quantities";

interface Numbers {
  force: number[][];
  moment: number[][];
  fixed: number[][];
  turning: number[][];
}

const rotor = stored as { joint: string; t: number[]; numbers: Record<LoadPart, Numbers>; packet: string };
const run: RunDocument = runOf(readPacket(await unpack(rotor.packet)));
const shaft: JointData = run.header.joints.find((joint) => joint.name === rotor.joint)!;
const at = rotor.t.map((t) => run.locate(t + 1e-9).index);

/** The largest difference between rows of a run at the stored times and numbers of kinode, over the largest number. */
function difference(rows: readonly Float32Array[], expected: number[][]): number {
  const size = Math.max(...expected.flat().map(Math.abs), 1e-9);
  return Math.max(...expected.flatMap((values, k) => values.map((value, c) => Math.abs(rows[c]![at[k]!]! - value)))) / size;
}

describe("loads of a rotor as kinode gives them", () => {
  it("has pictures at the stored times", () => rotor.t.forEach((t, k) => expect(run.t[at[k]!]).toBeCloseTo(t, 9)));
  for (const part of LOAD_PARTS) {
    const numbers = rotor.numbers[part];
    it(`${part}: in the joint's axes`, () => {
      expect(difference(jointLoad(run, shaft, "force", part), numbers.force)).toBeLessThan(1e-5);
      expect(difference(jointLoad(run, shaft, "moment", part), numbers.moment)).toBeLessThan(1e-5);
      const sizes = numbers.force.map((force) => [Math.hypot(...force)]);
      expect(difference([jointLoadSize(run, shaft, "force", part)], sizes)).toBeLessThan(1e-5);
    });
    it(`${part}: around the shaft, in fixed and in rotating axes`, () => {
      const polar = polarData(run, shaft, part);
      expect(difference(polar.fixed, numbers.fixed)).toBeLessThan(1e-5);
      expect(difference(polar.turning, numbers.turning)).toBeLessThan(1e-5);
    });
  }
});

const known = import.meta.glob<string>(["../../tests/known/player_*/pendulum.txt", "../../tests/known/stored/pages/pendulum.txt"], { query: "?raw", import: "default", eager: true });

it("knows data of version 1", () => expect(Object.keys(known).some((path) => path.includes("player_1/"))).toBe(true));

describe.each(Object.entries(known))("data of %s", async (_path: string, text: string) => {
  const data = await unpack(text);
  const packet = (): ReturnType<typeof readPacket> => readPacket(data);

  it("is a run: a rod that falls by its energy", () => {
    const old = runOf(packet());
    const [q, u] = ["pivot.q", "pivot.u"].map((name) => old.row(old.find(name)!.row)) as [Float32Array, Float32Array];
    q.forEach((angle, k) => expect(u[k]! ** 2).toBeCloseTo(-3 * 9.81 * Math.sin(angle), 3));
    expect(new QuantityList(old).find("pivot.reaction.force")?.unit).toBe("N");
  });
  it("is read by the live page, and takes new numbers", () => {
    const first = packet();
    const old = { document: runOf(first), arrays: first.arrays, id: 0, lacking: false };
    const { run: span, events, strips } = old.document.header;
    const header = { run: span, events, strips, peaks: [], values: { L: 2 }, geometry: null, note: "", loadNotes: [], id: 1, rows: { of: first.arrays.get("series")!.length / old.document.count, at: null } };
    const next = updateRun(old, { header, arrays: first.arrays });
    expect(next.document.header.parameters.find((each) => each.name === "L")?.value).toBe(2);
    expect(next.document.count).toBe(old.document.count);
  });
  it("is refused with a reason where it is of a later version", () => {
    const later = packet();
    expect(() => runOf({ ...later, header: { ...later.header, version: 99 } })).toThrow(PacketError);
  });
});

describe("units of parts", () => {
  const planar = { name: "sling.q", unit: "m", units: ["m", "m", "rad"], words: "", group: "coordinates", parts: ["x", "y", "angle"], source: "file" as const };
  it("are those of the part", () => expect(["x", "angle", ""].map((part) => unitOf(planar, part))).toEqual(["m", "rad", "m"]));
});
