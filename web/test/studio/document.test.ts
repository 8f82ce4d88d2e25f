import { describe, expect, it } from "vitest";
import { LiveConnection } from "../../src/live/connection";
import { type DocumentNews, StudioDocument } from "../../src/studio/document";
import type { TextEdit } from "../../src/studio/studio_types";
import { applyPoints, difference, editsToPoints, editsToUnits, toPoints, toUnits } from "../../src/studio/text_positions";
import { FakeSocket } from "../support/fake_socket";

const SKETCH = { version: 1, extent: [0, 0, 1, 1], boxes: [], links: [] };
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function openedAnswer(seq: number, text: string, version: number): Record<string, unknown> {
  return {
    seq, kind: "studio_open", document: { text, version, dirty: false, canUndo: false, canRedo: false, file: "arm.yaml", recovered: null },
    sketch: SKETCH, catalogue: { domains: [], kinds: [], groups: [] }, standing: { number: 1, version: 1, whole: true, problems: [], run: { state: "shown", words: "" }, proof: { state: "asleep", words: "" } }, settings: { readOnly: false },
  };
}

async function openDocument(text = "bodies: {}\n"): Promise<{ socket: FakeSocket; document: StudioDocument; news: DocumentNews[] }> {
  const socket = new FakeSocket();
  const document = new StudioDocument(new LiveConnection(() => socket));
  socket.open();
  const opening = document.open();
  socket.answer(openedAnswer(1, text, 1));
  await opening;
  const news: DocumentNews[] = [];
  document.listen((each) => news.push(each));
  return { socket, document, news };
}

describe("places in a text", () => {
  it("counts code points as Python does", () => {
    const text = "a😀b😀c";
    expect([0, 1, 2, 3, 4, 5].map((k) => toUnits(text, k))).toEqual([0, 1, 3, 4, 6, 7]);
    expect([0, 1, 3, 4, 6, 7].map((k) => toPoints(text, k))).toEqual([0, 1, 2, 3, 4, 5]);
    const edits: TextEdit[] = [[4, 5, "C"], [1, 2, "x"]];
    expect(applyPoints(text, edits)).toBe("axb😀C");
    expect(editsToPoints(text, editsToUnits(text, edits))).toEqual([[1, 2, "x"], [4, 5, "C"]]);
  });

  it("refuses edits that lie outside or over one another", () => {
    expect(() => applyPoints("abc", [[2, 5, ""]])).toThrow(RangeError);
    expect(() => applyPoints("abc", [[0, 2, ""], [1, 3, ""]])).toThrow(RangeError);
  });

  it("finds the one edit between two texts, and never cuts a character", () => {
    const texts = ["", "a", "aa", "aaa", "ab", "ba", "a😀", "a😁", "😀a", "😁a", "x😀😁y", "x😁😀y", "😀😀", "😀"];
    for (const old of texts) for (const now of texts) {
      const edits = difference(old, now);
      expect(applyPoints(old, edits)).toBe(now);
      for (const [, , added] of edits) expect(() => encodeURIComponent(added)).not.toThrow();
    }
  });
});

describe("the document of the page", () => {
  it("sends one change after the other, each with the version that the last one gave", async () => {
    const { socket, document, news } = await openDocument("abc");
    const first = document.gesture({ do: "text", edits: [[0, 0, "x"]] });
    const second = document.gesture({ do: "delete", names: ["arm"] });
    await tick();
    expect(socket.sent.slice(1)).toEqual([{ seq: 2, kind: "gesture", version: 1, gesture: { do: "text", edits: [[0, 0, "x"]] } }]);
    socket.answer({ seq: 2, kind: "gesture", version: 2, edits: [[0, 0, "x"]], dirty: true, canUndo: true, canRedo: false });
    await first;
    await tick();
    expect(socket.sent[2]).toMatchObject({ kind: "gesture", version: 2 });
    socket.answer({ seq: 3, kind: "gesture", version: 3, edits: [[1, 2, ""]], words: "deleted arm", dirty: true, canUndo: true, canRedo: false });
    expect((await second).words).toBe("deleted arm");
    expect(document).toMatchObject({ text: "xbc", version: 3, dirty: true });
    expect(news.filter((each) => each.kind === "text")).toEqual([
      { kind: "text", before: "abc", edits: [[0, 0, "x"]], own: true }, { kind: "text", before: "xabc", edits: [[1, 2, ""]], own: true },
    ]);
  });

  it("keeps the later record of how the model stands, whichever way it came", async () => {
    const { socket, document, news } = await openDocument("abc");
    const standing = (number: number, state: string): Record<string, unknown> =>
      ({ number, version: 1, whole: true, problems: [], run: { state, words: "" }, proof: { state: "asleep", words: "" } });
    socket.answer({ kind: "standing", ...standing(6, "shown") });
    socket.answer({ kind: "standing", ...standing(5, "running") });
    const opening = document.open();
    socket.answer({ ...openedAnswer(2, "abc", 1), standing: standing(4, "running") }); // written before the push, and sent after it
    await opening;
    expect(document.standing.run.state).toBe("shown");
    expect(news.filter(({ kind }) => kind === "standing").length).toBe(1);
    expect(document.labels.run).toBe("run is up to date");
  });

  it("takes an edit once, though it is answered and pushed, in either order", async () => {
    const { socket, document } = await openDocument("abc");
    const asked = document.gesture({ do: "text", edits: [[3, 3, "!"]] });
    await tick();
    socket.answer({ kind: "document", version: 2, edits: [[0, 0, "other "]], origin: "1", dirty: true, canUndo: true, canRedo: false });
    socket.answer({ kind: "document", version: 3, edits: [[9, 9, "!"]], origin: "0", dirty: true, canUndo: true, canRedo: false });
    expect(document.text).toBe("abc"); // held until the answer says which change was the page's own
    socket.answer({ seq: 2, kind: "gesture", version: 3, edits: [[9, 9, "!"]] });
    await asked;
    socket.answer({ kind: "document", version: 3, edits: [[9, 9, "!"]] });
    expect(document).toMatchObject({ text: "other abc!", version: 3 });
  });

  it("asks for the whole document where a version is missing", async () => {
    const { socket, document } = await openDocument("abc");
    socket.answer({ kind: "document", version: 4, edits: [[0, 1, ""]] });
    await tick();
    expect(socket.sent[1]).toMatchObject({ kind: "studio_open" });
    socket.answer(openedAnswer(2, "whole", 4));
    await tick();
    expect(document).toMatchObject({ text: "whole", version: 4 });
  });

  it("goes on after a refused gesture", async () => {
    const { socket, document } = await openDocument("abc");
    const wrong = document.gesture({ do: "rename", name: "a", to: "1" });
    const right = document.undo();
    await tick();
    socket.answer({ seq: 2, error: { message: "a name begins with a letter" } });
    await expect(wrong).rejects.toThrow("begins with a letter");
    await tick();
    expect(socket.sent[2]).toMatchObject({ kind: "undo" });
    socket.answer({ seq: 3, kind: "undo", version: 2, edits: [[0, 3, ""]], canUndo: false, canRedo: true });
    await right;
    expect(document).toMatchObject({ text: "", state: { canRedo: true, canUndo: false } });
  });

  it("tells of a text that the server has no longer when it comes back", async () => {
    const { socket, document, news } = await openDocument("saved");
    socket.answer({ kind: "document", version: 2, edits: [[5, 5, " and more"]] });
    const opening = document.open("saved and more");
    socket.answer(openedAnswer(2, "saved", 1));
    await opening;
    expect(news.at(-1)).toEqual({ kind: "opened", mine: "saved and more", other: false });
    expect(document.text).toBe("saved");
    const back = document.replaceText("saved and more");
    await tick();
    expect(socket.sent[2]).toMatchObject({ gesture: { do: "text", edits: [[5, 5, " and more"]] } });
    socket.answer({ seq: 3, version: 2, edits: [[5, 5, " and more"]] });
    await back;
    expect(document.text).toBe("saved and more");
  });

  it("goes on with what was typed while the connection was cut", async () => {
    const { socket, document, news } = await openDocument("saved");
    const opening = document.open("saved and typed");
    socket.answer(openedAnswer(2, "saved", 1));
    await opening;
    expect(news.at(-1)).toEqual({ kind: "opened", mine: null, other: false });
    await tick();
    expect(socket.sent[2]).toMatchObject({ gesture: { do: "text", edits: [[5, 5, " and typed"]] } });
    socket.answer({ seq: 3, error: { message: "it is read-only now" } });
    await tick();
    expect(news.at(-1)).toEqual({ kind: "opened", mine: "saved and typed", other: false });
  });
});
