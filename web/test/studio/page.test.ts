import { describe, expect, it } from "vitest";
import { fits } from "../../src/studio/inspector/field_row";
import { keptText } from "../../src/studio/inspector/live_slider";
import { readTarget } from "../../src/studio/inspector/port_rows";
import { limitSizes, readSizes } from "../../src/studio/panes";
import { placeWords } from "../../src/studio/problems/problems_panel";
import { findInRun } from "../../src/studio/run_link";
import { withEnding } from "../../src/studio/save_dialog";
import { pageAction } from "../../src/studio/studio_keys";
import type { Player } from "../../src/player";

const press = (key: string, held: { ctrl?: boolean; shift?: boolean } = {}): { key: string; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean; altKey: boolean } =>
  ({ key, ctrlKey: held.ctrl ?? false, metaKey: false, shiftKey: held.shift ?? false, altKey: false });

describe("panes", () => {
  it("takes sizes that were kept, and those of the start for what is no number", () => {
    expect(readSizes('{"palette": 300, "side": "wide", "run": 0.2}')).toEqual({ palette: 300, side: 380, run: 0.2 });
    expect(readSizes("no JSON")).toEqual(readSizes(null));
  });

  it("leaves room for the drawing", () => {
    expect(limitSizes({ palette: 900, side: 2000, run: 2 }, 1000)).toEqual({ palette: 400, side: 600, run: 0.85 });
    expect(limitSizes({ palette: -5, side: 0, run: -1 }, 1000)).toEqual({ palette: 0, side: 240, run: 0 });
  });
});

describe("keys of the page", () => {
  it("has one undo, but leaves fields their own", () => {
    expect(pageAction(press("z", { ctrl: true }), false)).toBe("undo");
    expect(pageAction(press("Z", { ctrl: true, shift: true }), false)).toBe("redo");
    expect(pageAction(press("y", { ctrl: true }), false)).toBe("redo");
    expect(pageAction(press("z", { ctrl: true }), true)).toBeNull();
    expect(pageAction(press("s", { ctrl: true }), true)).toBe("save");
    expect(pageAction(press("?"), true)).toBeNull();
    expect(pageAction(press("F6", { shift: true }), true)).toBe("previousPane");
  });
});

describe("words of the page", () => {
  it("names the place of a problem", () => {
    expect(placeWords({ line: 12, component: "motor", field: "shaft", port: null })).toBe("line 12, motor.shaft:");
    expect(placeWords({ line: null, component: "motor", field: null, port: "plus" })).toBe("motor.plus:");
    expect(placeWords({ line: null, component: null, field: null, port: null })).toBe("");
  });

  it("gives files their ending", () => {
    expect(withEnding(" arm ")).toBe("arm.yaml");
    expect(withEnding("arm.yml")).toBe("arm.yml");
    expect(withEnding("  ")).toBeNull();
  });
});

describe("the inspector", () => {
  it("shows an error at the field it names, or at the field it is a part of", () => {
    expect(fits("mass", { name: "mass", path: ["mass"] })).toBe(true);
    expect(fits("shape.box.size", { name: "shape", path: ["shape"] })).toBe(true);
    expect(fits("limits[0]", { name: "limits", path: ["limits"] })).toBe(true);
    expect(fits("masses", { name: "mass", path: ["mass"] })).toBe(false);
  });

  it("reads where a port is connected to", () => {
    expect(readTarget("motor:plus")).toEqual({ component: "motor", port: "plus" });
    expect(readTarget("link:bus")).toEqual({ link: "bus" });
    expect(readTarget("reference:gnd")).toEqual({ reference: "gnd" });
  });

  it("writes a number that is kept with its unit, unless the file has a bare number there", () => {
    expect(keptText(0.5, "kg", "2 kg")).toBe("0.5 kg");
    expect(keptText(0.5, "kg", "2")).toBe("0.5");
    expect(keptText(-1e-7, "N*m", "-2e-7 N*m")).toBe("-1e-7 N*m");
    expect(keptText(61, "1", "60")).toBe("61");
  });
});

describe("the run beside the drawing", () => {
  it("finds a component, or what it belongs to", () => {
    const named = (name: string): { name: string } => ({ name });
    const player = { main: { header: { joints: [named("elbow")], bodies: [named("arm")], elements: [named("spring")] } } } as unknown as Pick<Player, "main">;
    expect(findInRun(player, "elbow.damping")).toEqual({ kind: "joint", name: "elbow" });
    expect(findInRun(player, "arm")).toEqual({ kind: "body", name: "arm" });
    expect(findInRun(player, "motor")).toEqual({ kind: "none", name: "" });
  });
});
