import { describe, expect, it } from "vitest";
import type { LinkData, NumberArray, Point, RunHeader } from "../../src/data/run_document";
import { RunDocument } from "../../src/data/run_document";
import { litWith } from "../../src/diagram/diagram_items";
import { through } from "../../src/diagram/dot_layer";
import { componentPower, endPowers, plottable, seriesAt } from "../../src/diagram/link_reader";
import { density, dotsOn, dotWorth, energyText, LATTICE, referencePower, SPEED, threshold } from "../../src/diagram/power_flow";
import { arrowText, freePlace, quantityText, stickersOf } from "../../src/diagram/sticker_layer";
import { boxRows, titleOf } from "../../src/diagram/value_box";
import { fitWindow, keepInside, panBy, reveal, zoomAt } from "../../src/diagram/view_window";
import { labelPlace, placeOn, wirePieces } from "../../src/diagram/wire_graph";
import { syntheticRun } from "../support/synthetic_run";

/** A node with three ends: gear at the right gives 10 W, the joint above takes 9, the damper at the left 1. */
const node: LinkData = {
  name: "elbow.3", kind: "energy", domain: "rotational",
  ends: [{ component: "elbow", port: "3", at: [0, 40] }, { component: "damper", port: "1", at: [-80, 100] }, { component: "gear", port: "output", at: [80, 100] }],
  path: [[[-80, 100], [-80, 80], [80, 80], [80, 100]], [[0, 40], [0, 80]]],
  values: [
    { label: "speed", series: "elbow.u", unit: "rad/s", of: "" },
    { label: "moment", series: "elbow.3.moment", unit: "N*m", of: "elbow" },
    { label: "moment", series: "damper.1.moment", unit: "N*m", of: "damper" },
    { label: "moment", series: "gear.2.moment", unit: "N*m", of: "gear" },
  ],
  powers: ["elbow:3", "damper:1", "gear:output"].map((end, k) => ({ end, series: `p${k}`, sign: 1 })),
};
const names = ["elbow.u", "elbow.3.moment", "damper.1.moment", "gear.2.moment", "p0", "p1", "p2"];
const values = [2, 4.5, 0.5, -5, 9, 1, -10];

function run(): RunDocument {
  const header: Partial<RunHeader> = {
    series: names.map((name, row) => ({ name, unit: "", words: "", group: "links", parts: [], row })),
    diagram: { svg: "<svg/>", extent: [0, 0, 10, 10], links: [node], components: [] },
  };
  const made = syntheticRun({ header });
  const series = Float32Array.from(values.flatMap((value) => Array.from({ length: made.count }, () => value)));
  return new RunDocument(made.header, new Map<string, NumberArray>([["t", made.t], ["series", series]]));
}
const start = { index: 0, share: 0 };

describe("the lines of a link", () => {
  it("are split where another line ends on them", () => {
    const pieces = wirePieces(node);
    expect(pieces.map((piece) => [...piece.beyond].sort())).toEqual([[1, 2], [1], [2]]);
    expect(pieces.map((piece) => piece.length)).toEqual([40, 100, 100]);
    expect(pieces[0]!.points).toEqual([[0, 40], [0, 80]]);
  });
  it("carry what the ends beyond take in", () => {
    const pieces = wirePieces(node);
    expect(pieces.map((piece) => through(piece, endPowers(run(), node, start)))).toEqual([-9, 1, -10]);
  });
  it("lead from end to end", () => {
    const line: Point[] = [[0, 0], [10, 0], [10, 30]];
    expect(placeOn(line, 15)).toEqual({ at: [10, 5], along: [0, 1] });
    expect(labelPlace(line)).toEqual({ at: [10, 15], along: [0, 1], room: 30 });
    expect(wirePieces({ path: [], ends: node.ends })).toEqual([]);
  });
});

describe("dots", () => {
  it("are as many as there is power", () => {
    for (const share of [0.01, 0.1, 0.37, 0.9]) {
      const length = LATTICE * 20480;
      expect(dotsOn(length, 0, share).length / (length / LATTICE)).toBeCloseTo(share, 2);
    }
    expect(dotsOn(300, 0, 0)).toEqual([]);
    expect(density(3, 2) / density(1, 2)).toBeCloseTo(3, 12);
    expect(density(-1, 2)).toBe(density(1, 2));
  });
  it("are spread evenly", () => {
    const places = dotsOn(LATTICE * 1024, 0, 1 / 8).map(([s]) => s);
    const gaps = places.slice(1).map((s, k) => s - places[k]!);
    expect(new Set(gaps)).toEqual(new Set([8 * LATTICE]));
  });
  it("move with the phase, all by the same way", () => {
    const before = dotsOn(500, 10, 0.2).map(([s]) => s);
    const after = dotsOn(500, 11, 0.2).map(([s]) => s);
    expect(before.filter((s) => s < 499).every((s) => after.some((other) => Math.abs(other - s - 1) < 1e-9))).toBe(true);
  });
  it("that pass, times their worth, are the energy", () => {
    const reference = 7;
    const power = 5;
    const speed = 0.1; // seconds of the run for a second of watching
    const passing = (density(power, reference) / LATTICE) * SPEED; // dots for a second of watching
    expect((passing * dotWorth(reference, speed)) / speed).toBeCloseTo(power, 9);
  });
  it("have thresholds that are all different", () => {
    expect(new Set(Array.from({ length: 1024 }, (_, k) => threshold(k))).size).toBe(1024);
    expect(threshold(-1024)).toBe(threshold(0));
  });
  it("have a reference from the run", () => {
    expect(referencePower(run(), node.powers)).toBe(10);
    expect(referencePower(run(), [])).toBe(0);
  });
  it("say their worth in words", () => {
    expect([0.35, 14000, 1.9e-3, 0].map(energyText)).toEqual(["350 mJ", "14 kJ", "1.9 mJ", "0 J"]);
  });
});

describe("values", () => {
  it("are read at the cursor", () => {
    expect(seriesAt(run(), "elbow.u", { index: 2, share: 0.5 })).toBe(2);
    expect(seriesAt(run(), "absent", start)).toBeNaN();
    expect(endPowers(run(), node, start).reduce((a, b) => a + b)).toBe(0);
    expect(componentPower(run(), [node], "gear", start)).toBe(-10);
    expect(componentPower(run(), [node], "absent", start)).toBeNaN();
    expect(plottable(run(), ["p0", "p0", "absent"])).toEqual(["p0"]);
  });
  it("stand in the box of a link for every end", () => {
    const document = run();
    const rows = boxRows({ link: node }, document.header.diagram!, [{ document, role: "main", label: "" }], 0);
    expect(rows.map((row) => row.words)).toEqual([
      "speed", "moment, into elbow", "moment, into damper", "moment, into gear", "power into elbow", "power into damper", "power into gear",
    ]);
    expect(rows[3]!.values).toEqual([-5]);
    expect(titleOf({ link: node })).toEqual({ name: "elbow.3", words: "rotational link" });
  });
  it("light up with their net", () => {
    expect(litWith({ link: node }, run().header.diagram!)).toEqual(new Set(["l elbow.3", "c elbow", "c damper", "c gear"]));
  });
});

describe("stickers", () => {
  it("say the potential once and the flow at each end", () => {
    const said = stickersOf(node, "values").map((sticker) => sticker.lines.map((line) => line(run(), start)));
    expect(said).toEqual([["4.5 N·m"], ["2 rad/s", "0.5 N·m"], ["−5 N·m"]]);
  });
  it("say the power with its direction", () => {
    const said = stickersOf(node, "power").map((sticker) => sticker.lines[0]!(run(), start));
    expect(said).toEqual(["↑ 9 W", "← 1 W", "← 10 W"]);
    expect(stickersOf(node, "none")).toEqual([]);
    expect(arrowText([1, 0], 0)).toBe("");
  });
  it("have short texts", () => {
    expect([quantityText(111234, "N"), quantityText(4.13e6, "N"), quantityText(0.03914, "1"), quantityText(24, "V")]).toEqual(["111 kN", "4.13 MN", "0.0391", "24 V"]);
  });
  it("avoid each other", () => {
    const taken = [{ left: -10, top: -10, right: 10, bottom: 10 }];
    expect(freePlace([[0, 0], [100, 0]], 20, 10, taken)).toEqual([100, 0]);
    expect(freePlace([[0, 0], [100, 0]], 20, 10, taken)).toEqual([0, 0]);
  });
});

describe("the window", () => {
  it("fits the whole, or the width where the whole would be smaller than the least scale", () => {
    const wide = fitWindow([0, 0, 400, 200], 800, 800);
    expect(wide.scale).toBe(1.7);
    const tall = fitWindow([10, 20, 400, 4000], 400, 300, 0.82);
    expect(tall).toEqual({ x: 10 + 200 - 400 / 0.82 / 2, y: 20, scale: 0.82 });
    expect(fitWindow([10, 20, 400, 4000], 400, 300)).toEqual({ x: 10 + 200 - 400 / 0.075 / 2, y: 20, scale: 0.075 });
    expect(fitWindow([0, 0, 1600, 400], 400, 800, 0.82).scale).toBe(0.25);
  });
  it("zooms about a point and pans", () => {
    const view = { x: 5, y: 6, scale: 2 };
    const near = zoomAt(view, 2, 100, 50);
    expect(near.x + 100 / near.scale).toBeCloseTo(view.x + 100 / view.scale, 12);
    expect(panBy(view, 10, -20)).toEqual({ x: 0, y: 16, scale: 2 });
    expect(keepInside({ x: 1e6, y: 0, scale: 1 }, [0, 0, 100, 100], 200, 200).x).toBe(40);
    expect(reveal({ x: 0, y: 0, scale: 1 }, [500, 100], 200, 200).x).toBe(340);
  });
});
