import type { PlaceData, PlaceEntry, ShapeData } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { shapeGesture } from "../../src/studio/stage/shape_form";
import { bodyFields, typedPlace } from "../../src/studio/stage/join_tools";
import { typedGesture } from "../../src/studio/stage/place_fields_bar";

const shape: ShapeData = { name: "arm", solid: "box", fields: [{ name: "x", text: "1 m", words: "" }, { name: "mass", text: "2 kg", words: "" }, { name: "density", text: null, words: "" }], kinds: {}, missing: {}, properties: [], columns: [], differs: [] };

describe("shapes", () => {
  it("writes a size, and takes one out", () => {
    expect(shapeGesture(shape, "x", "30 cm")).toEqual({ do: "set", name: "arm", path: ["shape", "box", "x"], value: "30 cm" });
    expect(shapeGesture(shape, "mass", "")).toEqual({ do: "set", name: "arm", path: ["shape", "box", "mass"], value: null });
  });
  it("lets density take the place of mass in one step", () => {
    expect(shapeGesture(shape, "density", "2700 kg/m^3")).toMatchObject({ do: "all", gestures: [{ path: ["shape", "box", "density"], value: "2700 kg/m^3" }, { path: ["shape", "box", "mass"], value: null }] });
  });
});

describe("places that are typed", () => {
  it("reads frames, bodies and points", () => {
    expect(typedPlace("arm.tip").side).toEqual({ frame: "arm.tip" });
    expect(typedPlace("world").side).toEqual({ body: "world" });
    expect(typedPlace("arm [0.2, 0, -0.1]")).toMatchObject({ body: "arm", side: { body: "arm", at: [0.2, 0, -0.1] } });
    expect(typedPlace("arm at (1, 2, 3)").side).toEqual({ body: "arm", at: [1, 2, 3] });
  });
  it("makes bars of any length", () => {
    expect(bodyFields(0.4)).toEqual({ shape: "{box: {x: 0.4 m, y: 0.05 m, z: 0.05 m, mass: 1 kg, at: [0.2 m, 0, 0]}}", frames: "{tip: [0.4 m, 0, 0]}" });
  });
});

describe("numbers of a place", () => {
  const entry = (text: string): PlaceEntry => ({ text, value: 0, unit: "", parameter: "", off: "" });
  const place = { kind: "frame", name: "arm.tip", path: ["bodies", "arm", "frames", "tip"], turnPath: ["bodies", "arm", "frames", "tip", "rpy"], given: true, entries: [entry("L"), entry("0"), entry("0")], turns: [entry("0"), entry("0"), entry("0")] } as unknown as PlaceData;
  it("writes one number of a list that is there", () => {
    expect(typedGesture(place, "20 mm", false, 1)).toEqual({ do: "set", name: "", path: ["bodies", "arm", "frames", "tip", 1], value: "20 mm" });
  });
  it("writes a list that is not there, and axes beside a position", () => {
    expect(typedGesture({ ...place, given: false }, "20 mm", false, 1)).toMatchObject({ path: ["bodies", "arm", "frames", "tip"], value: "[L, 20 mm, 0]" });
    expect(typedGesture(place, "30 deg", true, 2)).toMatchObject({ path: ["bodies", "arm", "frames", "tip"], value: "{at: [L, 0, 0], rpy: [0, 0, 30 deg]}" });
  });
});
