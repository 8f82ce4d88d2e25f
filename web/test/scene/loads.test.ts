import { describe, expect, it } from "vitest";
import { LoadArrows, PEAK_SHARE } from "../../src/scene/arrows";
import { CameraRig } from "../../src/scene/camera_rig";
import { findFraming } from "../../src/scene/math/framing";
import { LoadReader, inJointAxes, loadWords, splitUnique, spokenLoad } from "../../src/scene/math/load_words";
import { PoseReader } from "../../src/scene/math/poses";
import { add, length, subtract } from "../../src/scene/math/vectors";
import { findPlace, overlaps } from "../../src/scene/overlay/labels";
import { nearJoints, segmentDistance } from "../../src/scene/picking";
import { withPrefix } from "../../src/ui/numbers";
import { syntheticRun } from "../support/synthetic_run";

const run = syntheticRun({ duration: 4 });
const joint = run.header.joints[1]!;

function at(t: number): PoseReader {
  const poses = new PoseReader(run);
  poses.read(t);
  return poses;
}

describe("loads", () => {
  const reader = new LoadReader(run);

  it("split into static and kinetic part", () => {
    const { moment } = at(1.3);
    const [total, still, kinetic] = (["total", "static", "kinetic"] as const).map((part) => reader.read(joint, part, moment)!.force);
    add(still!, kinetic!).forEach((x, k) => expect(x).toBeCloseTo(total![k]!, 5));
    expect(length(kinetic!)).toBeGreaterThan(0.1);
  });

  it("have no kinetic part without the static one", () => {
    const bare = syntheticRun({ header: { loadParts: ["total"] } });
    expect(new LoadReader(bare).read(bare.header.joints[0]!, "kinetic", { index: 0, share: 0 })).toBeNull();
  });

  it("keep their size in the axes of the joint", () => {
    const poses = at(2);
    const { force } = reader.read(joint, "total", poses.moment)!;
    expect(length(inJointAxes(joint, poses, force))).toBeCloseTo(length(force), 9);
    expect(inJointAxes(joint, poses, force)[0]).not.toBeCloseTo(force[0], 3);
  });

  it("part into what is unique and what is not", () => {
    const poses = at(2);
    const { sure, shared } = splitUnique(joint, poses, [1, 2, 3], 0);
    add(sure, shared).forEach((x, k) => expect(x).toBeCloseTo(k + 1, 12));
    expect(shared[2]).toBeCloseTo(3, 12);
    expect(Math.hypot(shared[0], shared[1])).toBeCloseTo(0, 12);
  });

  it("say value, body, point, axes, and why a component is hatched", () => {
    const poses = at(0);
    const words = loadWords(joint, poses, reader.read(joint, "total", poses.moment), "total");
    const spoken = spokenLoad(words);
    for (const part of ["joint1 · revolute", "on body1", "about joint1.child", "axes of joint1 on body0", "force z not unique", "least norm"]) {
      expect(spoken).toContain(part);
    }
    expect(words.lines[0]!.components.map((c) => c.unique)).toEqual([true, true, false]);
  });
});

describe("arrows", () => {
  const poses = at(0);
  const rig = new CameraRig(run.header, findFraming(run, new PoseReader(run)), poses);
  rig.setSize(800, 600);
  const arrows = new LoadArrows();
  arrows.setDocument(run);

  it("of the run's peak are 15 % of the size long", () => {
    let longest = 0;
    for (let k = 0; k < run.count; k++) {
      poses.read(run.t[k]!);
      arrows.place(poses, rig, "total", "");
      for (const arrow of arrows.drawn.filter((each) => each.joint.name === "joint0" && each.quantity === "force")) {
        longest = Math.max(longest, length(subtract(arrow.tip, arrow.start)));
      }
    }
    expect(longest).toBeCloseTo(PEAK_SHARE * run.header.size, 6);
  });

  it("stand at the joint, and two of them where a part is not unique", () => {
    poses.read(0);
    arrows.place(poses, rig, "total", "");
    const forces = arrows.drawn.filter((each) => each.joint === joint && each.quantity === "force");
    expect(forces.length).toBe(2);
    for (const arrow of forces) expect(arrow.start).toEqual(poses.place(joint.child));
    arrows.shown.force = false;
    arrows.place(poses, rig, "total", "");
    expect(arrows.drawn.some((each) => each.quantity === "force")).toBe(false);
    arrows.shown.force = true;
  });

  it("of causes are put tip to tail and end at the load", () => {
    poses.read(0);
    arrows.place(poses, rig, "total", "");
    const whole = arrows.drawn.filter((each) => each.joint.name === "joint0" && each.quantity === "force")[0]!;
    const array = "loads.static"; // a row for each cause: here the static loads of three joints
    arrows.setCauses({ joint: "joint0", names: ["a", "b", "c"], colors: ["#ff0000", "#00ff00", "#0000ff"], array });
    arrows.place(poses, rig, "total", "");
    const parts = arrows.drawn.filter((each) => each.joint.name === "joint0" && each.quantity === "force");
    expect(parts.map((part) => part.cause)).toEqual(["a", "b", "c"]);
    expect(parts[1]!.start).toEqual(parts[0]!.tip);
    // shares 3/4, 2/4, 1/4 of a third of the load
    expect(length(subtract(parts[2]!.tip, parts[0]!.start))).toBeCloseTo(0.5 * length(subtract(whole.tip, whole.start)), 5);
  });
});

describe("pointing", () => {
  it("finds joints that coincide", () => {
    const places = [{ name: "a", x: 10, y: 10 }, { name: "b", x: 12, y: 11 }, { name: "c", x: 60, y: 10 }];
    expect(nearJoints(places, 11, 10)).toEqual(["a", "b"]);
    expect(nearJoints(places, 30, 30)).toEqual([]);
  });

  it("measures the distance from a segment", () => {
    expect(segmentDistance(5, 3, { x: 0, y: 0 }, { x: 10, y: 0 })).toBe(3);
    expect(segmentDistance(-3, 4, { x: 0, y: 0 }, { x: 10, y: 0 })).toBe(5);
  });
});

describe("names", () => {
  const room = { x: 0, y: 0, width: 200, height: 100 };
  it("keep apart, and are left out where there is no room", () => {
    const first = findPlace(50, 50, 40, [], room)!;
    const second = findPlace(50, 50, 40, [first], room)!;
    expect(overlaps(first, second)).toBe(false);
    expect(findPlace(50, 50, 40, [room], room)).toBeNull();
  });

  it("of units have prefixes", () => {
    expect([withPrefix(194321, "N"), withPrefix(0.0079, "N·m"), withPrefix(0, "N"), withPrefix(999.9, "N")]).toEqual(["194 kN", "7.9 mN·m", "0 N", "1 kN"]);
  });
});
