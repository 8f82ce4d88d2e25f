import { describe, expect, it } from "vitest";
import { axisOnScreen, axisTravel, axisWords, circle, facingPair, meetPlane, planeTravel, quaternionOfRpy, ringTurn, roundStep, rpyOfQuaternion, snap, turnedRpy } from "../../src/studio/stage/gizmo_math";
import { rotate } from "../../src/scene/math/vectors";
import type { Vec3 } from "../../src/data/run_document";

// 200 pixels for a meter, seen from +z with x to the right and y upwards
const project = ([x, y]: Vec3): { x: number; y: number } => ({ x: 100 + 200 * x, y: 100 - 200 * y });

describe("moving along axes", () => {
  it("follows the pointer along an axis, whatever it does across", () => {
    const along = axisOnScreen(project, [0, 0, 0], [0, 1, 0], 0.1);
    expect(axisTravel(along, { x: 10, y: 10 }, { x: 80, y: -30 }, 200)).toBeCloseTo(0.2, 12);
  });
  it("leaves an axis that points at the viewer", () => {
    const along = axisOnScreen(project, [0, 0, 0], [0, 0, 1], 0.1);
    expect(axisTravel(along, { x: 0, y: 0 }, { x: 50, y: 50 }, 200)).toBe(0);
  });
  it("moves in the plane of two axes", () => {
    const [u, v] = [axisOnScreen(project, [0, 0, 0], [1, 0, 0], 0.1), axisOnScreen(project, [0, 0, 0], [0, 1, 0], 0.1)];
    const [a, b] = planeTravel(u, v, { x: 0, y: 0 }, { x: 20, y: -60 });
    expect([a, b]).toEqual([expect.closeTo(0.1, 12), expect.closeTo(0.3, 12)]);
    expect(planeTravel(u, u, { x: 0, y: 0 }, { x: 20, y: 20 })).toEqual([0, 0]);
  });
  it("takes the plane that faces the viewer", () => {
    expect(facingPair([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.1, 0.2, 0.9])).toEqual([0, 1]);
    expect(facingPair([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [-0.9, 0.2, 0.1])).toEqual([1, 2]);
  });
  it("snaps to steps, and finds round ones", () => {
    expect(snap(0.0234, 0.01)).toBeCloseTo(0.02, 12);
    expect(snap(0.0234, 0)).toBe(0.0234);
    expect([roundStep(0.0034), roundStep(0.001), roundStep(7)]).toEqual([0.001, 0.001, 1]);
  });
});

describe("turning", () => {
  it("turns with the pointer, and against it from behind", () => {
    const center = { x: 0, y: 0 };
    expect(ringTurn(center, { x: 10, y: 0 }, { x: 0, y: -10 }, 1)).toBeCloseTo(Math.PI / 2, 12);
    expect(ringTurn(center, { x: 10, y: 0 }, { x: 0, y: -10 }, -1)).toBeCloseTo(-Math.PI / 2, 12);
    expect(ringTurn(center, { x: -10, y: -1 }, { x: -10, y: 1 }, 1)).toBeLessThan(0.3); // across the cut
  });
  it("goes from angles to quaternions and back", () => {
    for (const rpy of [[0.3, -0.4, 1.2], [0, 0, -2], [3, 1, 0.1]] as [number, number, number][]) {
      rpyOfQuaternion(quaternionOfRpy(rpy)).forEach((angle, k) => expect(angle).toBeCloseTo(rpy[k]!, 10));
    }
    const upright = quaternionOfRpy([0.4, Math.PI / 2, 0]);
    const again = quaternionOfRpy(rpyOfQuaternion(upright));
    rotate(again, [1, 2, 3]).forEach((value, k) => expect(value).toBeCloseTo(rotate(upright, [1, 2, 3])[k]!, 6));
  });
  it("turns about the body's own axes", () => {
    const turned = turnedRpy([0.5, 0, 0], 2, 0.7);
    const expected = rotate(quaternionOfRpy([0, 0, 0.7]), rotate(quaternionOfRpy([0.5, 0, 0]), [1, 2, 3]));
    rotate(quaternionOfRpy(turned), [1, 2, 3]).forEach((value, k) => expect(value).toBeCloseTo(expected[k]!, 10));
  });
  it("draws rings across their axis", () => {
    for (const axis of [[0, 0, 1], [1, 0, 0], [0, 0.6, 0.8]] as Vec3[]) {
      for (const p of circle([1, 2, 3], axis, 0.5)) {
        const d: Vec3 = [p[0] - 1, p[1] - 2, p[2] - 3];
        expect(Math.hypot(...d)).toBeCloseTo(0.5, 10);
        expect(d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2]).toBeCloseTo(0, 10);
      }
    }
  });
});

describe("planes and words", () => {
  it("meets the ground", () => {
    expect(meetPlane([0, 0, 2], [0.6, 0, -0.8], [0, 0, 0], [0, 0, 1])).toEqual([expect.closeTo(1.5, 12), 0, expect.closeTo(0, 12)]);
    expect(meetPlane([0, 0, 2], [1, 0, 0], [0, 0, 0], [0, 0, 1])).toBeNull();
  });
  it("names axes", () => {
    expect(axisWords([0, 0, -1])).toBe("-z");
    expect(axisWords([0.6, 0.8, 0])).toBe("[0.6, 0.8, 0]");
  });
});
