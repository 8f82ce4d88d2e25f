import { describe, expect, it } from "vitest";
import type { JointData, Vec3 } from "../../src/data/run_document";
import { followPointer, screwingPoint, slidingPoint, turningPoint } from "../../src/live/drag_math";
import { findHandles, jointOfBody, numberTarget, startNames, startTarget } from "../../src/live/drag_targets";
import { PoseReader } from "../../src/scene/math/poses";
import { syntheticRun } from "../support/synthetic_run";

/** A camera that looks along -z with 100 pixels for a meter. */
const flat = ([x, y]: Vec3): { x: number; y: number } => ({ x: 400 + 100 * x, y: 300 - 100 * y });
/** The same from a slant, in perspective. */
const slanted = ([x, y, z]: Vec3): { x: number; y: number } => {
  const depth = 10 - 0.6 * x - 0.8 * z;
  return { x: 400 + (800 * (0.8 * x - 0.6 * z)) / depth, y: 300 - (800 * y) / depth };
};

describe("numbers that follow the pointer", () => {
  it("turn a point about its joint, beyond half a turn", () => {
    const point = turningPoint([1, 0, 0], [0, 0, 0], [0, 0, 1], 0);
    let angle = [0];
    for (let k = 1; k <= 24; k++) angle = followPointer(point, flat, angle, flat([Math.cos(0.2 * k), Math.sin(0.2 * k), 0]), [1e-3]);
    expect(angle[0]).toBeCloseTo(4.8, 3);
  });

  it("turn to the nearest place where the pointer leaves the circle", () => {
    const point = turningPoint([1, 0, 0], [0, 0, 0], [0, 0, 1], 0.5);
    const [angle] = followPointer(point, flat, [0.5], flat([2, 2, 0]), [1e-3]);
    expect(angle! - 0.5).toBeCloseTo(Math.PI / 4, 2);
  });

  it("slide along an axis that is seen from a slant", () => {
    const axis: Vec3 = [0.6, 0.64, 0.48];
    const point = slidingPoint([0.2, 0.1, 0], [axis], [3]);
    const [q] = followPointer(point, slanted, [3], slanted(point([3.7])), [1e-3]);
    expect(q).toBeCloseTo(3.7, 3);
  });

  it("move in the plane of the screen where three numbers are free", () => {
    const point = slidingPoint([0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]);
    const values = followPointer(point, flat, [0, 0, 0], { x: 450, y: 280 }, [1e-3, 1e-3, 1e-3]);
    expect(values[0]).toBeCloseTo(0.5, 3);
    expect(values[1]).toBeCloseTo(0.2, 3);
    expect(values[2]).toBe(0);
  });

  it("keep a number whose axis points at the viewer", () => {
    const point = slidingPoint([0, 0, 0], [[0, 0, 1]], [2]);
    expect(followPointer(point, flat, [2], { x: 450, y: 280 }, [1e-3])).toEqual([2]);
  });

  it("turn and travel at once", () => {
    const point = screwingPoint([1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0]);
    const goal = point([0.3, 0.4]);
    const found = followPointer(point, slanted, [0, 0], slanted(goal), [1e-3, 1e-3]);
    expect(found[0]).toBeCloseTo(0.3, 2);
    expect(found[1]).toBeCloseTo(0.4, 2);
  });
});

describe("what can be dragged", () => {
  const run = syntheticRun();
  const poses = new PoseReader(run);
  poses.read(0);

  it("walks up from a body to a joint whose start can be set", () => {
    const { header } = run;
    expect(jointOfBody(header, 2, () => true)?.name).toBe("joint2");
    expect(jointOfBody(header, 2, (name) => name === "joint0.q")?.name).toBe("joint0");
    expect(jointOfBody(header, 2, () => false)).toBeNull();
  });

  it("names the initial values of joints by their kind", () => {
    const joint = run.header.joints[0]!;
    const of = (kind: string): string[] => startNames({ ...joint, kind } as JointData);
    expect(of("revolute")).toEqual(["joint0.q"]);
    expect(of("planar")).toEqual(["joint0.q.x", "joint0.q.y"]);
    expect(of("free")).toEqual(["joint0.q.x", "joint0.q.y", "joint0.q.z"]);
    expect(of("spherical")).toEqual([]);
  });

  it("turns a grabbed body about the joint's axis, from the value in force", () => {
    const target = startTarget(run.header.joints[1]!, [1, 0.5, 0], run, poses, () => 0.3)!;
    expect([target.names, target.values]).toEqual([["joint1.q"], [0.3]]);
    const [x, y] = target.point([0.3 + Math.PI / 2]);
    expect([x, y].map((value) => Math.round(1e6 * value) / 1e6)).toEqual([0.5, 0]);
    expect(startTarget(run.header.joints[1]!, [1, 0.5, 0], run, poses, () => undefined)).toBeNull(); // no such series
  });

  it("offers mass centers and places of joints that are numbers, and only the numbers that can be dragged", () => {
    const numbers: Record<string, number> = { "body1.com.x": 0.5, "joint2.a.at.x": 1, "joint2.a.at.y": 0.1 };
    const number = (name: string): number | undefined => numbers[name];
    const handles = findHandles(run.header, number);
    expect(handles.map((handle) => handle.prefix)).toEqual(["body1.com", "joint2.a.at"]);
    const target = numberTarget(handles[0]!.label, handles[0]!.prefix, handles[0]!.place, poses, number, 3)!;
    expect(target.names).toEqual(["body1.com.x"]);
    expect(target.point([0.7])[0]).toBeCloseTo(1.7, 6);
  });
});
