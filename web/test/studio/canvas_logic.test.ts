import type { Sketch, SketchBox, SketchPort } from "../../src/messages";
import { describe, expect, it } from "vitest";
import stored from "../../fixtures/routes.json";
import { align } from "../../src/studio/canvas/alignment";
import { deletion, freePlace, placeOfDrop } from "../../src/studio/canvas/canvas_commands";
import { canvasKeyName } from "../../src/studio/canvas/canvas_keys";
import { CanvasModel, snapToGrid } from "../../src/studio/canvas/canvas_model";
import { bentPoints, inOrder } from "../../src/studio/canvas/canvas_tools";
import { asksForJoint, fittingPort, looseEnd, referencesFor, whyNot, type LooseEnd } from "../../src/studio/canvas/connect_rules";
import { asksFor } from "../../src/studio/canvas/place_fields";
import { routeQuickly } from "../../src/studio/canvas/quick_routes";
import type { RoutedLines, RoutePlan } from "../../src/studio/canvas/route_types";
import { boxName, freeName, linkName, portName } from "../../src/studio/canvas/spoken_names";
import { additionName, findAddition, kindChoices } from "../../src/studio/palette/kind_choices";
import type { Catalogue, CatalogueKind } from "../../src/studio/studio_types";

function port(name: string, kind: SketchPort["kind"], domain: string, at: [number, number], more: Partial<SketchPort> = {}): SketchPort {
  return { name, kind, domain, side: "right", at, reference: "", out: false, open: false, field: [name], offset: 0, edge: "", ...more };
}

function box(name: string, at: [number, number], ports: SketchPort[], more: Partial<SketchBox> = {}): SketchBox {
  return { name, owner: name, role: "part", kind: "resistor", label: name, value: "", at, size: [40, 40], svg: "", pinned: false, broken: null, spine: false, upright: false, inside: null, ports, ...more };
}

const battery = box("battery", [0, 0], [port("plus", "energy", "electrical", [20, 0])]);
const motor = box("motor", [200, 0], [port("plus", "energy", "electrical", [180, 0], { side: "left" }), port("shaft", "energy", "rotational", [220, 0])], { kind: "dc_motor" });
const arm = box("arm", [200, 200], [port("body", "vector", "", [180, 200], { side: "left", field: [], open: true })], { role: "SB", kind: "body" });
const leg = box("leg", [400, 200], [port("body", "vector", "", [380, 200], { side: "left", field: [], open: true })], { role: "SB", kind: "body" });
const hinge = box("hinge", [0, 200], [port("1", "vector", "", [-20, 200], { side: "left", reference: "world" }), port("2", "vector", "", [20, 200])], { role: "KN", kind: "revolute" });
const damping = box("hinge.damping", [0, 300], [], { owner: "hinge", role: "DC", kind: "damping" });
const target = box("target", [600, 0], [port("out", "information", "", [620, 0], { out: true })], { role: "signal", kind: "signal" });
const sketch: Sketch = {
  version: 1, extent: [0, 0, 0, 0], boxes: [battery, motor, arm, leg, hinge, damping, target],
  links: [
    { name: "bus", kind: "energy", domain: "electrical", label: "bus", ends: [{ component: "battery", port: "plus" }, { component: "motor", port: "plus" }], path: [[[20, 0], [180, 0]]], dots: [], edge: "", waypoints: [] },
    { name: "hinge.2", kind: "vector", domain: "", label: "", ends: [{ component: "hinge", port: "2" }, { component: "arm", port: "body" }], path: [[[20, 200], [90, 200]]], dots: [], edge: "", waypoints: [] },
  ],
};

function model(): CanvasModel {
  const made = new CanvasModel();
  made.take(sketch, new Set());
  return made;
}
const end = (of: SketchBox, k = 0): LooseEnd => looseEnd(of, of.ports[k]!);

describe("a dropped part", () => {
  it("stands where it was dropped, or beside the part that stands there", () => {
    expect(placeOfDrop(model(), [98, 99])).toEqual([100, 100]);
    const [x, y] = placeOfDrop(model(), [205, 5]);
    expect(Math.abs(x - 200) >= 60 || Math.abs(y) >= 60).toBe(true);
    expect(Math.hypot(x - 200, y)).toBeLessThan(160);
    expect(placeOfDrop(model(), [205, 5], [40, 40], new Set(["motor"]))).toEqual([200, 0]); // it is the part itself
  });
});

describe("ports", () => {
  it("fit by kind and domain", () => {
    expect(whyNot(end(battery), end(motor))).toBe("");
    expect(whyNot(end(battery), end(motor, 1))).toBe("battery.plus is electrical, motor.shaft is rotational.");
    expect(whyNot(end(battery), end(arm))).toContain("energy link");
    expect(whyNot(end(hinge, 1), end(arm))).toBe("");
    expect(whyNot(end(hinge), end(hinge, 1))).toContain("leads to a body");
    expect(whyNot(end(target), end(target))).toBe("This is the same port.");
    expect(asksForJoint(end(arm), end(leg))).toBe(true);
    expect(asksForJoint(end(arm), end(arm))).toBe(false);
  });
  it("may be connected to the reference of their domain", () => {
    expect(referencesFor(end(battery))).toEqual(["gnd"]);
    expect(referencesFor(end(motor, 1))).toEqual(["world"]);
    expect(referencesFor(end(hinge))).toEqual(["world"]);
    expect(referencesFor(end(target))).toEqual([]);
  });
});

describe("the drawing", () => {
  it("knows lines that reach their ports", () => {
    const drawn = model();
    expect(drawn.lines.get("bus")!.path).toEqual([[[20, 0], [180, 0]]]);
    expect(drawn.lines.has("hinge.2")).toBe(false); // the path that was given ends short of the body
    drawn.move([["motor", [200, 50]]]);
    expect(drawn.reaches("bus")).toBe(false);
    expect(drawn.portAt({ component: "motor", port: "plus" })).toEqual([180, 50]);
  });
  it("keeps places that are not answered yet", () => {
    const drawn = model();
    drawn.move([["motor", [300, 50]], ["arm", [10, 10]]]);
    drawn.take(sketch, new Set(["motor"]));
    expect([drawn.at("motor"), drawn.at("arm")]).toEqual([[300, 50], [200, 200]]);
    expect(drawn.plan().boxes.find((each) => each.name === "motor")!.ports[0]!.at).toEqual([280, 50]);
  });
  it("has neighbors in four directions", () => {
    const drawn = model();
    expect(drawn.neighbor("battery", [1, 0])).toBe("motor");
    expect(drawn.neighbor("motor", [0, 1])).toBe("arm");
    expect(drawn.neighbor("battery", [0, -1])).toBe(null);
    expect(drawn.inside([-30, -30, 230, 30])).toEqual(["battery", "motor"]);
    expect(drawn.touched(["arm"])).toEqual(new Set(["hinge.2"]));
  });
  it("has free places", () => {
    const [x, y] = freePlace(model(), [0, 0]);
    expect(Math.abs(x) >= 60 || Math.abs(y) >= 60).toBe(true);
    expect(snapToGrid([14.9, -5])).toEqual([10, 0]);
  });
});

describe("deleting", () => {
  it("takes fields of joints out, and components away", () => {
    const drawn = model();
    expect(deletion([damping], null, drawn)).toEqual({ do: "set", name: "hinge", path: ["damping"], value: null });
    expect(deletion([damping, hinge], null, drawn)).toEqual({ do: "delete", names: ["hinge"] });
    expect(deletion([], null, drawn)).toBe(null);
  });
  it("disconnects the ends of a link", () => {
    const drawn = model();
    expect(deletion([], drawn.links.get("bus")!, drawn)).toEqual({ do: "disconnect", component: "motor", port: "plus" });
    expect(deletion([], drawn.links.get("hinge.2")!, drawn)).toEqual({ do: "disconnect", component: "hinge", port: "2" });
  });
});

describe("aligning", () => {
  const parts = [{ name: "a", at: [0, 0] as [number, number], size: [40, 40] as [number, number] }, { name: "b", at: [100, 30] as [number, number], size: [60, 40] as [number, number] },
    { name: "c", at: [300, 10] as [number, number], size: [40, 40] as [number, number] }];
  it("moves only what must be moved", () => {
    expect(align(parts, "top")).toEqual({ b: [100, 0], c: [300, 0] });
    expect(align(parts, "left")).toEqual({ b: [10, 30], c: [0, 10] });
    expect(align(parts, "across")).toEqual({ b: [150, 30] });
  });
});

describe("wires", () => {
  it("are bent along a stretch", () => {
    expect(bentPoints([[0, 0], [0, 100]], [60, 40])).toEqual([[60, 20], [60, 80]]);
    expect(bentPoints([[0, 100], [0, 0]], [60, 40])).toEqual([[60, 80], [60, 20]]);
    expect(bentPoints([[0, 0], [40, 0]], [20, 30])).toEqual([[20, 30]]);
    expect(inOrder([[90, 0], [10, 0], [50, 0]], [0, 0])).toEqual([[10, 0], [50, 0], [90, 0]]);
  });
  it("follow at once, around what is near", () => {
    const { plan, lines } = (stored as unknown as Record<string, { plan: RoutePlan; lines: Record<string, RoutedLines> }>)["motor_axis"]!;
    const known = new Map(Object.entries(lines));
    const motorLinks = new Set(plan.links.filter((link) => link.ends.some((each) => each.component === "motor")).map((link) => link.name));
    const boxes = plan.boxes.map((each) => (each.name !== "motor" ? each : {
      ...each, at: [each.at[0] + 30, each.at[1]] as [number, number], ports: each.ports.map((one) => ({ ...one, at: [one.at[0] + 30, one.at[1]] as [number, number] })),
    }));
    const quick = routeQuickly({ ...plan, boxes }, motorLinks, known);
    expect(new Set(Object.keys(quick))).toEqual(motorLinks);
    for (const { path } of Object.values(quick)) for (const line of path) for (let k = 0; k + 1 < line.length; k++) expect(line[k]![0] === line[k + 1]![0] || line[k]![1] === line[k + 1]![1]).toBe(true);
  });
});

describe("words", () => {
  it("name parts, ports and links", () => {
    expect(boxName(motor, true)).toBe("motor, dc motor, selected");
    expect(boxName({ ...hinge, broken: "no body" })).toBe("hinge, revolute, joint, no body");
    expect(portName(battery, battery.ports[0]!)).toBe("port plus of battery (resistor), electrical energy link");
    expect(portName(hinge, hinge.ports[0]!)).toBe("port 1 of hinge (revolute), vector link, connected to world");
    expect(linkName(sketch.links[0]!)).toBe("electrical energy link bus: battery plus, motor plus");
  });
  it("give free names", () => {
    expect(freeName({ kind: "resistor" }, "elements:\n  resistor: {}\n  resistor_2: {}", [])).toBe("resistor_3");
    expect(freeName({ kind: "body" }, "", ["arm"])).toBe("body");
  });
  it("name keys", () => {
    const press = { key: "Z", ctrlKey: true, metaKey: false, shiftKey: true };
    expect(canvasKeyName(press)).toBe("Ctrl+Shift+z");
    expect(canvasKeyName({ ...press, ctrlKey: false })).toBe("z");
    expect(canvasKeyName({ ...press, key: "F2", ctrlKey: false })).toBe("F2");
  });
});

describe("kinds", () => {
  const field = (name: string, shape: string, required = true): CatalogueKind["fields"][number] => ({ name, required, default: null, unit: null, doc: `${name} side: more`, shape });
  const kinds: CatalogueKind[] = [
    { kind: "resistor", section: "elements", title: "resistor", domain: "electrical", words: "", symbol: "", keywords: [], fields: [field("plus", "port")],
      ports: [{ name: "plus", kind: "energy", domain: "electrical" }, { name: "minus", kind: "energy", domain: "electrical" }] },
    { kind: "brake", section: "elements", title: "brake", domain: "forces", words: "", symbol: "", keywords: [], fields: [field("joint", "joint")], ports: [{ name: "joint", kind: "energy", domain: "" }] },
    { kind: "revolute", section: "joints", title: "revolute", domain: "mechanism", words: "", symbol: "", keywords: [], fields: [field("a", "frame"), field("b", "frame"), field("q", "initial", false)],
      ports: [{ name: "1", kind: "vector", domain: "" }, { name: "2", kind: "vector", domain: "" }] },
  ];
  const catalogue: Catalogue = { domains: [], kinds, groups: [{ name: "pid_loop", words: "" }] };
  it("offer the port that fits", () => {
    expect(kinds.map((kind) => fittingPort(kind, end(battery))?.name ?? null)).toEqual(["plus", null, null]);
    expect(fittingPort(kinds[2]!, end(arm))?.name).toBe("1");
  });
  it("say what they stand between", () => {
    expect(asksFor(kinds[2]!)).toEqual([{ field: "a", shape: "frame", words: "a side" }, { field: "b", shape: "frame", words: "b side" }]);
    expect(asksFor(kinds[0]!)).toEqual([]);
  });
  it("are dragged by their names", () => {
    for (const { value } of kindChoices(catalogue)) expect(findAddition(catalogue, additionName(value))).toEqual(value);
    expect(findAddition(catalogue, "group pid_loop")).toEqual({ group: "pid_loop" });
    expect(findAddition(catalogue, "kind nothing")).toBe(null);
  });
});
