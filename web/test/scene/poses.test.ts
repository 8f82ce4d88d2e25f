import { drawnStretches } from "../../src/scene/trails";
import { describe, expect, it } from "vitest";
import { PoseReader, findBreaks } from "../../src/scene/math/poses";
import { conjugate, fromColumns, lookAgainst, multiply, rotate, turnAbout } from "../../src/scene/math/vectors";
import { syntheticRun } from "../support/synthetic_run";

describe("quaternions", () => {
  it("turn vectors and undo it", () => {
    const q = turnAbout([0, 0, 1], Math.PI / 2);
    rotate(q, [1, 0, 0]).forEach((x, k) => expect(x).toBeCloseTo([0, 1, 0][k]!, 12));
    multiply(q, conjugate(q)).forEach((x, k) => expect(x).toBeCloseTo([1, 0, 0, 0][k]!, 12));
  });

  it.each([[[1, 0, 0]], [[0, 0, -1]], [[-0.6, 0.8, 0]], [[0, -1, 0]]])("of a camera look against %j", (toward) => {
    const q = lookAgainst(toward as [number, number, number], [0, 0, 1]);
    rotate(q, [0, 0, 1]).forEach((x, k) => expect(x).toBeCloseTo(toward[k]!, 12));
    expect(Math.hypot(...q)).toBeCloseTo(1, 12);
  });

  it("come from columns for half turns too", () => {
    for (const axis of [[1, 0, 0], [0, 1, 0], [0, 0, 1]] as [number, number, number][]) {
      const q = turnAbout(axis, Math.PI);
      const back = fromColumns(rotate(q, [1, 0, 0]), rotate(q, [0, 1, 0]), rotate(q, [0, 0, 1]));
      expect(Math.abs(q.reduce((sum, x, k) => sum + x * back[k]!, 0))).toBeCloseTo(1, 12);
    }
  });
});

describe("poses between pictures", () => {
  const run = syntheticRun({ bodies: 2, pictures: 3, duration: 10 });

  it("turn at an even rate", () => {
    const poses = new PoseReader(run);
    poses.read(2.5);
    const p = poses.point(0, [1, 0, 0]);
    expect(p[0]).toBeCloseTo(Math.cos(0.25), 6);
    expect(p[1]).toBeCloseTo(Math.sin(0.25), 6);
    expect(poses.r[1]).toBeCloseTo(Math.sin(0.25), 6); // second entry of the first column
  });

  it("are the stored ones at stored times, and the last ones after the end", () => {
    const poses = new PoseReader(run);
    poses.read(99);
    expect(poses.position(1)[0]).toBeCloseTo(Math.cos(1), 6);
  });

  it("step at an event inside a stretch", () => {
    const stepped = syntheticRun({ bodies: 1, pictures: 3, duration: 10, header: { events: [{ time: 3, kind: "jump", component: "", message: "" }] } });
    const poses = new PoseReader(stepped);
    expect(poses.locate(2.9)).toEqual({ index: 0, share: 0 });
    expect(poses.locate(3.1)).toEqual({ index: 0, share: 1 });
    expect(poses.locate(7.5).share).toBeCloseTo(0.5, 12);
  });

  it("take no step at events on stored times", () => {
    expect([...findBreaks(Float64Array.of(0, 1, 2), [{ time: 1, kind: "mode" }])].every(Number.isNaN)).toBe(true);
    expect(findBreaks(Float64Array.of(0, 1, 2), [{ time: 1.5, kind: "mode" }])[1]).toBe(1.5);
  });

  it("of the world stand still", () => {
    const poses = new PoseReader(run);
    poses.read(5);
    expect(poses.point(-1, [1, 2, 3])).toEqual([1, 2, 3]);
  });
});

describe("paths", () => {
  it("are drawn around the present time where they are long", () => {
    expect(drawnStretches(90, 50, 100)).toEqual([0, 90]);
    expect(drawnStretches(400, 0, 100)).toEqual([0, 100]);
    expect(drawnStretches(400, 200, 100)).toEqual([120, 100]);
    expect(drawnStretches(400, 399, 100)).toEqual([300, 100]);
  });
});
