import type { PlaceData } from "../../src/messages";
import { describe, expect, it } from "vitest";
import type { Quat, Vec3 } from "../../src/data/run_document";
import { rotate, turnAbout, unit } from "../../src/scene/math/vectors";
import { axisKeys, directionOnSphere, snapDirection, turnAxis } from "../../src/studio/stage/axis_arrow";
import { placeGesture, parametersOf, placingWords } from "../../src/studio/stage/placing";

const STILL: Quat = [1, 0, 0, 0];
const close = (a: Vec3, b: Vec3): void => a.forEach((value, k) => expect(value).toBeCloseTo(b[k]!, 9));
const entry = (parameter: string, value: number) => ({ text: "", value, unit: "", parameter, off: "" });
const hinge: PlaceData = {
  kind: "joint", name: "hinge", body: -1, at: [0, 0, 0], quaternion: STILL, path: [], given: true, turnPath: [], off: "", turnOff: "", entries: [entry("", 0), entry("L", 1), entry("L", 2)], turns: [],
  axis: { text: "z", value: [0, 0, 1], off: "" },
};

describe("the arrow of a joint's axis", () => {
  it("snaps to axes that are near, either way", () => {
    expect(snapDirection(unit([0.1, 0, 1]))).toEqual([0, 0, 1]);
    expect(snapDirection(unit([0.05, -1, 0.05]))).toEqual([0, -1, 0]);
    close(snapDirection(unit([0.3, 0, 1])), unit([0.3, 0, 1]));
  });

  it("follows the pointer on a sphere, on the side where it is, and along its edge beside it", () => {
    const from: Vec3 = [0, 0, 10];
    close(directionOnSphere(from, [0, 0, -1], [0, 0, 0], 2, [0, 0, 1]), [0, 0, 1]);
    close(directionOnSphere(from, [0, 0, -1], [0, 0, 0], 2, [0, 0, -1]), [0, 0, -1]);
    close(directionOnSphere([1, 0, 10], [0, 0, -1], [0, 0, 0], 2, [0, 0, 1]), [0.5, 0, Math.sqrt(0.75)]);
    close(directionOnSphere([5, 0, 10], [0, 0, -1], [0, 0, 0], 2, [0, 0, 1]), [1, 0, 0]);
  });

  it("is written in the joint's own axes", () => {
    const turn = turnAbout([0, 0, 1], Math.PI / 2); // its x is the world's y
    const found = turnAxis([0, 0, 1], turn, { from: [0, 9, 10], along: [0, 0, -1] }, [0, 0, 0], 1);
    expect(found).toEqual([1, 0, 0]);
    close(rotate(turn, found), [0, 1, 0]);
  });

  it("has keys: letters, the other way, steps of a degree", () => {
    expect(axisKeys(hinge, "x", false)).toEqual([1, 0, 0]);
    expect(axisKeys(hinge, "-", false)).toEqual([0, 0, -1]);
    const stepped = axisKeys(hinge, "ArrowUp", false)!;
    expect(Math.acos(stepped[2])).toBeCloseTo(Math.PI / 180, 9);
    const about = axisKeys(hinge, "ArrowLeft", true)!; // it is along z: another axis turns it
    expect(Math.acos(about[2])).toBeCloseTo(Math.PI / 12, 9);
    expect(axisKeys(hinge, "a", false)).toBeNull();
    expect(axisKeys({ axis: { text: "", value: null, off: "" } }, "x", false)).toBeNull();
  });

  it("becomes one gesture", () => {
    const placing = { place: hinge, at: null, rpy: null, axis: [0, 1, 0] as Vec3, step: 1e-3, angleStep: 0.1 };
    expect(placeGesture(placing, false)).toEqual({ do: "place", what: { joint: "hinge" }, axis: [0, 1, 0] });
    expect(placingWords(placing)).toBe("axis of hinge: y");
    expect(parametersOf(placing)).toEqual([]);
    expect(parametersOf({ ...placing, axis: null, at: [0.5, 1.5, 2.5] })).toEqual(["L"]);
  });
});
