import { yaml } from "@codemirror/lang-yaml";
import { ChangeSet, EditorState, Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { asEditor, fromEditor, toEditor, withFileEnds } from "../../src/studio/text/line_ends";
import { findParts, partAt } from "../../src/studio/text/part_lines";
import { TextSync } from "../../src/studio/text/text_sync";
import { applyPoints } from "../../src/studio/text_positions";
import type { TextEdit } from "../../src/studio/studio_types";

/** Numbers that look random and are the same in each run. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

describe("ends of lines", () => {
  it("counts an end of two characters as one of the editor", () => {
    const text = "a\r\nbc\r\n\r\nd";
    const editor = asEditor(text);
    expect(editor).toBe("a\nbc\n\nd");
    for (let place = 0; place <= editor.length; place++) {
      const offset = fromEditor(text, place);
      expect(asEditor(text.slice(0, offset))).toBe(editor.slice(0, place));
      expect(toEditor(text, offset)).toBe(place);
    }
    expect(withFileEnds(text, "x\ny")).toBe("x\r\ny");
    expect(withFileEnds("a\nb", "x\ny")).toBe("x\ny");
  });
});

/** An editor of one page: its text, and how it is changed. */
class FakeEditor {
  doc: Text;
  readonly sync: TextSync;

  constructor(text: string) {
    this.doc = Text.of(asEditor(text).split("\n"));
    this.sync = new TextSync(text);
  }

  type(from: number, to: number, insert: string): void {
    const change = ChangeSet.of({ from, to, insert: Text.of(insert.split("\n")) }, this.doc.length);
    this.doc = change.apply(this.doc);
    this.sync.typed(change);
  }

  hear(edits: TextEdit[], after: string): void {
    this.doc = this.sync.others(edits, after).apply(this.doc);
  }
}

describe("the editor and the one text", () => {
  it("sends what was typed as edits of the server's text, in code points and with the file's ends of lines", () => {
    const editor = new FakeEditor("a: 😀\r\nb: 2\r\n");
    editor.type(9, 9, "2\nc: 3"); // after "b: 2"
    editor.type(0, 1, "A");
    expect(editor.sync.takeWaiting()).toEqual([[0, 1, "A"], [9, 9, "2\r\nc: 3"]]);
    expect(editor.sync.takeWaiting()).toBeNull();
    editor.sync.refused();
    expect(editor.sync.hasWaiting).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])("has the server's text in the end, whatever was typed and changed elsewhere (%i)", (seed) => {
    const random = makeRandom(seed);
    const pieces = ["x", "\n", "😀", "key: 1\n", ""];
    let server = seed % 2 === 0 ? "bodies:\r\n  arm: {mass: 2}\r\n" : "bodies:\n  arm: {mass: 2}\n";
    const editor = new FakeEditor(server);
    let sent: TextEdit[] | null = null;
    for (let step = 0; step < 120; step++) {
      const what = random(4);
      if (what < 2) {
        const from = random(editor.doc.length + 1);
        editor.type(from, Math.min(editor.doc.length, from + random(4)), pieces[random(pieces.length)]!);
      } else if (what === 2 && sent === null) sent = editor.sync.takeWaiting();
      else if (what === 2 && sent !== null) {
        server = applyPoints(server, sent); // the server takes it as it was sent: nobody else came between
        editor.sync.taken(server);
        sent = null;
      } else if (sent === null) {
        const points = [...server];
        let start = random(points.length + 1);
        if (points[start - 1] === "\r") start--; // gestures leave ends of lines whole
        const added = withFileEnds(server, pieces[random(pieces.length)]!);
        const after = applyPoints(server, [[start, start, added]]);
        editor.hear([[start, start, added]], after);
        server = after;
      }
      expect(editor.doc.toString()).toBe(editor.sync.expected().toString());
    }
    if (sent !== null) editor.sync.taken((server = applyPoints(server, sent)));
    const last = editor.sync.takeWaiting();
    if (last !== null) editor.sync.taken((server = applyPoints(server, last)));
    expect(editor.doc.toString()).toBe(asEditor(server));
    expect(editor.sync.isEven).toBe(true);
  });

  it("carries what is under way over a change that came first", () => {
    const editor = new FakeEditor("one two");
    editor.type(7, 7, " three");
    editor.sync.takeWaiting();
    editor.type(0, 0, "zero ");
    editor.hear([[3, 3, "!"]], "one! two");
    expect(editor.doc.toString()).toBe("zero one! two three");
    editor.sync.taken("one! two three");
    expect(editor.sync.takeWaiting()).toEqual([[0, 0, "zero "]]);
  });
});

describe("parts in the text", () => {
  const text = [
    "# an arm", "name: arm", "parameters: {L: 1 m}", "bodies:", "  upper: {mass: 2}   # a comment", "  lower:", "    mass: 1", "joints: {elbow: {kind: revolute, between: [upper, lower]}}",
    "run: {until: 1 s}", "",
  ].join("\n");
  const state = EditorState.create({ doc: text, extensions: [yaml()] });
  const parts = findParts(state);

  it("finds them in block and flow style", () => {
    expect(parts.map(({ section, name }) => `${section}.${name}`)).toEqual(["parameters.L", "bodies.upper", "bodies.lower", "joints.elbow"]);
    const lower = parts[2]!;
    expect(state.sliceDoc(lower.from, lower.to).trim()).toBe("lower:\n    mass: 1");
  });

  it("tells the part at a place, and in its line", () => {
    expect(partAt(parts, text.indexOf("mass: 1"), state)?.name).toBe("lower");
    expect(partAt(parts, text.indexOf("a comment"), state)?.name).toBe("upper");
    expect(partAt(parts, text.indexOf("until"), state)).toBeNull();
  });
});
