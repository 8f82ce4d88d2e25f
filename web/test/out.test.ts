import { describe, expect, it } from "vitest";
import { RunDocument, type RunHeader } from "../src/data/run_document";
import type { Film } from "../src/out/bytes";
import { bitRate, evenSize, findFault, pictureCount, timeOf } from "../src/out/film_times";
import { upright, usableRows, writeGlb } from "../src/out/glb_file";
import { writeMp4 } from "../src/out/mp4_file";
import { writeWebm } from "../src/out/webm_file";

const PLAN = { from: 1, to: 3, speed: 2, rate: 25 };

describe("pictures of a film", () => {
  it("are as many as the span needs, the last at its end", () => {
    expect(pictureCount(PLAN)).toBe(26);
    expect(timeOf(PLAN, 0)).toBe(1);
    expect(timeOf(PLAN, 25)).toBeCloseTo(3, 12);
    expect(timeOf(PLAN, 99)).toBe(3);
  });
  it.each([[{ to: 1 }, "end after"], [{ speed: 0 }, "speed"], [{ speed: NaN }, "speed"], [{ rate: 0.5 }, "1 to 120"], [{ speed: 1e-6 }, "36000"]])(
    "%o is refused", (change, words) => expect(findFault({ ...PLAN, ...change })).toContain(words));
  it("have even sizes", () => expect(evenSize(641, 361)).toEqual([642, 362]));
  it("have a bounded bit rate", () => expect([bitRate(64, 64, 10), bitRate(4000, 4000, 60)]).toEqual([1e6, 2e7]));
});

function film(codec: Film["codec"]): Film {
  const pictures = [0, 1, 2].map((index) => ({ data: Uint8Array.of(9, index, 7), key: index !== 1, index }));
  return { codec, width: 320, height: 180, rate: 10, description: codec === "avc1" ? Uint8Array.of(1, 100, 0, 51) : null, pictures };
}

/** Boxes of an MP4: name, where the content begins, where it ends. */
function boxes(data: Uint8Array, from = 0, to = data.length): [string, number, number][] {
  const found: [string, number, number][] = [];
  const view = new DataView(data.buffer);
  for (let at = from; at < to; ) {
    const size = view.getUint32(at);
    found.push([String.fromCharCode(...data.subarray(at + 4, at + 8)), at + 8, at + size]);
    at += size;
  }
  return found;
}

describe("MP4", () => {
  const data = writeMp4(film("avc1"));
  const inside = (path: string): [string, number, number] => path.split("/").reduce<[string, number, number]>(
    ([, from, to], name) => boxes(data, from, to).find((box) => box[0] === name)!, ["", 0, data.length]);
  it("has its index before the data", () => expect(boxes(data).map((box) => box[0])).toEqual(["ftyp", "moov", "mdat"]));
  it("says where the first picture is", () => {
    const [, at] = inside("moov/trak/mdia/minf/stbl/stco");
    const start = new DataView(data.buffer).getUint32(at + 8);
    expect(start).toBe(inside("mdat")[1]);
    expect([...data.subarray(start, start + 9)]).toEqual([9, 0, 7, 9, 1, 7, 9, 2, 7]);
  });
  it("counts whole pictures that others build on", () => {
    const [, at] = inside("moov/trak/mdia/minf/stbl/stss");
    const view = new DataView(data.buffer);
    expect([view.getUint32(at + 4), view.getUint32(at + 8), view.getUint32(at + 12)]).toEqual([2, 1, 3]);
  });
  it("takes H.264 alone", () => expect(() => writeMp4(film("vp9"))).toThrow("H.264"));
});

describe("WebM", () => {
  const data = writeWebm(film("vp9"));
  const places = (bytes: number[]): number[] => [...data.keys()].filter((at) => bytes.every((byte, k) => data[at + k] === byte));
  it("begins a cluster at every whole picture, and its cues say where", () => {
    const clusters = places([0x1f, 0x43, 0xb6, 0x75]);
    expect(clusters).toHaveLength(2);
    const segment = places([0x18, 0x53, 0x80, 0x67])[0]!;
    const sizeWidth = Math.clz32(data[segment + 4]!) - 24 + 1;
    const cues = places([0xf1, 0x88]).map((at) => Number(new DataView(data.buffer).getBigUint64(at + 2)));
    expect(cues).toEqual(clusters.map((at) => at - (segment + 4 + sizeWidth)));
  });
  it("is as long as it says", () => {
    const segment = places([0x18, 0x53, 0x80, 0x67])[0]!;
    const width = Math.clz32(data[segment + 4]!) - 24 + 1;
    let size = data[segment + 4]! & (0xff >> width);
    for (let k = 1; k < width; k++) size = size * 256 + data[segment + 4 + k]!;
    expect(segment + 4 + width + size).toBe(data.length);
  });
});

describe("glTF", () => {
  it.each([[[0, 0, 1]], [[0, 1, 0]], [[0, -1, 0]], [[1, 0, 0]], [[0.6, 0, -0.8]]])("%o becomes y", (up) => {
    const [x, y, z, w] = upright(up as [number, number, number]);
    const [a, b, c] = up as [number, number, number];
    // v + 2 u x (u x v + w v)
    const t = [y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c] as const;
    const turned = [a + 2 * (y * t[2] - z * t[1]), b + 2 * (z * t[0] - x * t[2]), c + 2 * (x * t[1] - y * t[0])];
    [0, 1, 0].forEach((value, k) => expect(turned[k]).toBeCloseTo(value, 9));
  });
  it("leaves out pictures without numbers and times that do not grow", () => {
    const run = tinyRun([0, 1, 1, 2], [0, 1, 1, NaN]);
    expect(usableRows(run)).toEqual([0, 1]);
    const data = writeGlb(run);
    expect(String.fromCharCode(...data.subarray(0, 4))).toBe("glTF");
    expect(new DataView(data.buffer).getUint32(8, true)).toBe(data.length);
  });
});

function tinyRun(t: number[], x: number[]): RunDocument {
  const still = (value: number): number[] => t.map(() => value);
  const poses = Float32Array.from([...x, ...still(0), ...still(0), ...still(1), ...still(0), ...still(0), ...still(0)]);
  const shapes = [{ kind: "box", sizes: [1, 1, 1], at: [0, 0, 0], quaternion: [1, 0, 0, 0] }];
  const header = { name: "tiny", written: "test", up: [0, 0, 1], series: [], bodies: [{ name: "b", color: 0, mass: 1, com: [0, 0, 0], shapes, tip: null }] };
  return new RunDocument(header as unknown as RunHeader, new Map<string, Float32Array | Float64Array>([["t", Float64Array.from(t)], ["poses", poses]]));
}
