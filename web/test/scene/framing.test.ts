import { describe, expect, it } from "vitest";
import type { RunDocument, Vec3 } from "../../src/data/run_document";
import { CameraRig } from "../../src/scene/camera_rig";
import { extent, findFraming, fitView, roundLength, viewAxes } from "../../src/scene/math/framing";
import { findPlate, hull } from "../../src/scene/math/plate_shape";
import { PoseReader } from "../../src/scene/math/poses";
import { conjugate, rotate } from "../../src/scene/math/vectors";
import { syntheticRun } from "../support/synthetic_run";

function rigOf(run: RunDocument): { rig: CameraRig; poses: PoseReader } {
  const poses = new PoseReader(run);
  const framing = findFraming(run, poses);
  poses.read(0);
  const rig = new CameraRig(run.header, framing, poses);
  rig.setSize(800, 600);
  rig.fit(poses);
  rig.update(poses);
  return { rig, poses };
}

describe("views", () => {
  it.each([["+x", [1, 0, 0]], ["-y", [0, -1, 0]], ["+z", [0, 0, 1]]] as const)("from %s", (name, toward) => {
    rotate(viewAxes(name, [0, 0, 1], null), [0, 0, 1]).forEach((x, k) => expect(x).toBeCloseTo(toward[k]!, 12));
  });

  it("keep up upwards", () => {
    const up = rotate(conjugate(viewAxes("iso", [0, 1, 0], null)), [0, 1, 0]);
    expect(up[0]).toBeCloseTo(0, 12);
    expect(up[1]).toBeGreaterThan(0.5);
  });

  it("fit all points, wide or narrow", () => {
    const points: Vec3[] = [[0, 0, 0], [4, 0, 0], [0, 1, 0]];
    expect(fitView(points, [1, 0, 0, 0], 2, 0)).toEqual({ target: [2, 0.5, 0], height: 2 });
    expect(fitView(points, [1, 0, 0, 0], 0.5, 0).height).toBe(8);
  });

  it("have a scale bar of a round length", () => {
    expect(roundLength(0.7)).toEqual({ length: 0.5, words: "0.5 m" });
    expect(roundLength(0.03).words).toBe("20 mm");
    expect(roundLength(2400).words).toBe("2 km");
  });
});

describe("the camera", () => {
  it("shows every point of the model", () => {
    for (const plane of [null, { right: [1, 0, 0], up: [0, 1, 0], toward: [0, 0, 1] } as const]) {
      const run = syntheticRun({ header: { plane: plane === null ? null : { right: [1, 0, 0], up: [0, 1, 0], toward: [0, 0, 1] } } });
      const { rig, poses } = rigOf(run);
      for (const point of findFraming(run, new PoseReader(run)).points) expect(rig.project(point).visible).toBe(true);
      expect(rig.state.projection).toBe(plane === null ? "perspective" : "orthographic");
      rig.update(poses);
    }
  });

  it("projects as its matrices do: the middle of the screen is the target", () => {
    const { rig } = rigOf(syntheticRun());
    const { x, y } = rig.project(rig.target);
    expect(x).toBeCloseTo(400, 6);
    expect(y).toBeCloseTo(300, 6);
  });

  it("holds what is under the pointer while zooming in orthographic views", () => {
    const { rig, poses } = rigOf(syntheticRun());
    rig.setView({ projection: "orthographic", view: "+z" }, poses);
    rig.update(poses);
    const point: Vec3 = [1, 0.2, 0];
    const before = rig.project(point);
    rig.zoom(1.7, before.x - 400, before.y - 300);
    rig.update(poses);
    expect(rig.project(point).x).toBeCloseTo(before.x, 6);
    expect(rig.project(point).y).toBeCloseTo(before.y, 6);
  });

  it("riding on a body sees it standing still", () => {
    const { rig, poses } = rigOf(syntheticRun({ duration: 10 }));
    rig.setView({ reference: { kind: "ride", name: "body1" } }, poses);
    const seen = [0, 4, 9].map((t) => {
      poses.read(t);
      rig.update(poses);
      return rig.project(poses.point(1, [0.3, 0.1, 0]));
    });
    for (const place of seen) {
      expect(place.x).toBeCloseTo(seen[0]!.x, 3);
      expect(place.y).toBeCloseTo(seen[0]!.y, 3);
    }
  });

  it("keeps the picture when it starts to ride", () => {
    const { rig, poses } = rigOf(syntheticRun({ duration: 10 }));
    poses.read(7);
    rig.update(poses);
    const before = rig.project([1, 0, 0]);
    rig.setView({ reference: { kind: "ride", name: "body2" } }, poses);
    rig.update(poses);
    expect(rig.project([1, 0, 0]).x).toBeCloseTo(before.x, 6);
  });

  it("follows a model that travels, and no other", () => {
    const run = syntheticRun({ bodies: 1 });
    for (let k = 0; k < run.count; k++) run.poses[k] = 10 * k; // x of the body
    expect(findFraming(run, new PoseReader(run)).travels).toBe(true);
    expect(rigOf(run).rig.state.reference.kind).toBe("model");
    expect(rigOf(syntheticRun()).rig.state.reference.kind).toBe("world");
  });

  it("is chosen anew for a model of another kind, unless somebody has turned it", () => {
    const aside = syntheticRun({ header: { plane: { right: [1, 0, 0], up: [0, 0, 1], toward: [0, -1, 0] } } });
    const flat = syntheticRun({ header: { up: [0, 1, 0], plane: { right: [1, 0, 0], up: [0, 1, 0], toward: [0, 0, 1] } } });
    const poses = new PoseReader(flat);
    const toward = (rig: CameraRig): Vec3 => rotate(rig.state.quaternion, [0, 0, 1]);
    const untouched = rigOf(aside).rig;
    untouched.zoom(1.5); // nearer is no other side
    expect(untouched.setHeader(flat.header, () => findFraming(flat, poses), poses)).toBe(true);
    toward(untouched).forEach((x, k) => expect(x).toBeCloseTo([0, 0, 1][k]!, 12)); // the mechanism moves in the picture, not across it
    for (const point of findFraming(flat, poses).points) {
      untouched.update(poses);
      expect(untouched.project(point).visible).toBe(true);
    }
    expect(untouched.setHeader({ ...flat.header, size: 2 }, () => findFraming(flat, poses), poses)).toBe(false);
    const turned = rigOf(aside).rig;
    turned.orbit(0.1, 0.1);
    const before = turned.state;
    expect(turned.setHeader(flat.header, () => findFraming(flat, poses), poses)).toBe(false);
    expect(turned.state).toBe(before);
  });

  it("does not tip over", () => {
    const { rig } = rigOf(syntheticRun());
    for (let k = 0; k < 100; k++) rig.orbit(0.1, 0.2);
    expect(rotate(rig.state.quaternion, [0, 1, 0])[2]).toBeGreaterThan(0);
  });
});

describe("bodies without a shape", () => {
  it("are a bar between two points, and along a line", () => {
    expect(findPlate([[0, 0, 0], [1, 0, 0]])).toEqual({ bars: [[[0, 0, 0], [1, 0, 0]]], triangles: [] });
    const bars = findPlate([[2, 0, 0], [0, 0, 0], [1, 0.01, 0]]).bars;
    expect(bars.map(([a, b]) => [a[0], b[0]])).toEqual([[0, 1], [1, 2]]);
  });

  it("are a plate within the hull of their points", () => {
    const shape = findPlate([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [1, 1, 0]]);
    expect(shape.bars.length).toBe(4);
    expect(shape.triangles.length).toBe(4);
  });

  it("reach points off the plate by bars", () => {
    expect(findPlate([[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [2, 2, 1]]).bars.length).toBe(5);
  });

  it("have a hull with its corners in order", () => {
    expect(hull([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]).sort()).toEqual([0, 1, 2, 3]);
    expect(extent([[0, 0, 0], [3, 4, 0]])).toBe(5);
  });
});
