import type { SketchLink, VerifiedRow } from "../../src/messages";
import { describe, expect, it, vi } from "vitest";
import type { LinkData, Point } from "../../src/data/run_document";
import { type Ask, Overtaken, type Push } from "../../src/live/connection";
import { stepTo } from "../../src/studio/derivations/explain_panel";
import { formsOf } from "../../src/studio/derivations/formulas_panel";
import { PaneLink } from "../../src/studio/derivations/pane_link";
import { ownersOf } from "../../src/studio/derivations/symbol_marks";
import { differenceText, sortComparisons, summarize } from "../../src/studio/derivations/verify_panel";
import { joinLinks } from "../../src/studio/values/link_values";

describe("symbols and their parts", () => {
  const owners = { elbow: ["elbow"], "left.arm": ["left.arm"], left_arm: ["left.arm"], m: ["a", "b"], rotor: ["motor", "gear"] };

  it("finds the longest name that a word begins with", () => {
    expect(ownersOf("elbow", owners)).toEqual(["elbow"]);
    expect(ownersOf("elbow.2", owners)).toEqual(["elbow"]);
    expect(ownersOf("elbow, 3", owners)).toEqual(["elbow"]);
    expect(ownersOf("left_arm_x", owners)).toEqual(["left.arm"]);
    expect(ownersOf("rotor_speed", owners)).toEqual(["motor", "gear"]);
    expect(ownersOf("m", owners)).toEqual(["a", "b"]);
  });

  it("does not take a part of a word, nor what every object has", () => {
    expect(ownersOf("elbows", owners)).toEqual([]);
    expect(ownersOf("mass", owners)).toEqual([]);
    expect(ownersOf("constructor", owners)).toEqual([]);
    expect(ownersOf("", owners)).toEqual([]);
  });
});

const row = (one: string, two: string, difference: number | null, more: Partial<VerifiedRow> = {}): VerifiedRow =>
  ({ quantity: "accelerations", one, two, difference, tolerance: 1e-9, where: "state 0", ok: difference !== null && difference <= 1e-9, seconds: 0.1, ...more });

describe("comparisons", () => {
  it("writes differences, those that are no number too", () => {
    expect([0, 1.23e-15, null].map(differenceText)).toEqual(["0", "1.2e-15", "not a number"]);
  });

  it("puts what differs first", () => {
    const rows = [row("a", "b", 1e-15), row("a", "c", 1e-3), row("b", "c", null)];
    expect(sortComparisons(rows).map((each) => each.difference)).toEqual([null, 1e-3, 1e-15]);
    expect(sortComparisons(rows.slice(0, 1))).toEqual(rows.slice(0, 1));
  });

  it("has a row for each derivation with its worst comparison; an identity is no derivation", () => {
    const rows = [row("a", "b", 1e-15, { seconds: 0.2 }), row("a", "c", 1e-3, { seconds: 0.3 }), row("a", "symmetric", 1e-16, { seconds: null })];
    const found = summarize(rows);
    expect(found.map(({ name, worst, count, seconds }) => [name, worst.difference, count, seconds])).toEqual([["a", 1e-3, 3, null], ["b", 1e-15, 1, 0.2], ["c", 1e-3, 1, 0.3]]);
  });
});

describe("requests of panes", () => {
  const socket = (ask: (kind: string) => Promise<never> | Promise<Record<string, unknown>>): { link: PaneLink; push(message: Record<string, unknown>): void; asked: string[] } => {
    const asked: string[] = [];
    let hear: (message: Push) => void = () => {};
    const link = new PaneLink({
      ask: ((kind: string, fields?: { pane?: string }) => {
        asked.push(kind === "pane_stop" ? `stop ${fields?.pane}` : kind);
        return ask(kind);
      }) as unknown as Ask,
      onPush: (listener) => ((hear = listener), (): void => {}),
    });
    return { link, push: (message) => hear(message as unknown as Push), asked };
  };

  it("tells how far its own request is", async () => {
    let done: (answer: Record<string, unknown>) => void = () => {};
    const { link, push } = socket(() => new Promise<Record<string, unknown>>((resolve) => (done = resolve)));
    const told = vi.fn();
    const answer = link.ask("pane_explain", {}, told);
    push({ kind: "pane_progress", pane: "pane_explain", share: 0.5, words: "half" });
    push({ kind: "pane_progress", pane: "pane_report", share: 0.9, words: "other" });
    done({ steps: [] });
    expect(await answer).toEqual({ steps: [] });
    push({ kind: "pane_progress", pane: "pane_explain", share: 1, words: "late" });
    expect(told.mock.calls).toEqual([[0.5, "half"]]);
  });

  it("stops what is under way before it asks anew, and takes an end for none", async () => {
    const ends: (() => void)[] = [];
    const { link, asked } = socket((kind) => (kind === "pane_stop" ? Promise.resolve({}) : new Promise((_, reject) => ends.push(() => reject(new Overtaken("stopped"))))));
    const first = link.ask("pane_equations", {});
    const second = link.ask("pane_equations", {});
    for (const end of ends) end();
    expect([await first, await second]).toEqual([null, null]);
    expect(asked).toEqual(["pane_equations", "stop pane_equations", "pane_equations"]);
  });

  it("passes errors on", async () => {
    const { link } = socket(() => Promise.reject(new Error("no joint")));
    await expect(link.ask("pane_equations", {})).rejects.toThrow("no joint");
  });
});

describe("forms and steps", () => {
  it("offers the forms that there are", () => {
    const answer = { version: 1, heading: "", formulation: "", shape: "", operations: null, html: "", latex: "x", json: "{}" };
    expect(formsOf(answer).map(({ words }) => words)).toEqual(["LaTeX", "JSON"]);
    expect(formsOf(null)).toEqual([]);
  });

  it("stays within the steps", () => {
    expect([stepTo(0, -1, 3), stepTo(1, 1, 3), stepTo(2, 1, 3)]).toEqual([0, 2, 2]);
  });
});

describe("values on links", () => {
  const at: Record<string, Point> = { "motor:shaft": [0, 0], "gear:input": [10, 0] };
  const path = (): Point[][] => [[[0, 0], [10, 0]]];
  const place = ({ component, port }: { component: string; port: string }): Point | null => at[`${component}:${port}`] ?? null;
  const ends = [{ component: "gear", port: "input" }, { component: "motor", port: "shaft" }];
  const sketch: SketchLink = { name: "rotor", kind: "energy", domain: "rotational", label: "rotor", ends, edge: "", path: null, dots: [], waypoints: [] };
  const known: LinkData = { name: "rotor", kind: "energy", domain: "rotational", ends: ends.map((end) => ({ ...end, at: [99, 99] as Point })), path: [], values: [], powers: [] };

  it("takes the run's values and the canvas's lines", () => {
    const [joined] = joinLinks([sketch], [known], path, place);
    expect(joined!.ends.map((end) => end.at)).toEqual([[10, 0], [0, 0]]);
    expect(joined!.path).toEqual(path());
  });

  it("leaves out links that are others now", () => {
    expect(joinLinks([{ ...sketch, name: "new" }], [known], path, place)).toEqual([]);
    expect(joinLinks([{ ...sketch, ends: [...ends, { component: "brake", port: "a" }] }], [known], path, place)).toEqual([]);
    expect(joinLinks([sketch], [known], () => [], place)).toEqual([]);
  });
});
