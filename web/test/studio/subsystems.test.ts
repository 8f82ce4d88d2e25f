import type { Problem } from "../../src/messages";
import { describe, expect, it } from "vitest";
import { LiveConnection } from "../../src/live/connection";
import { StudioDocument } from "../../src/studio/document";
import { FakeSocket } from "../support/fake_socket";

const box = (name: string): object => ({ name, owner: name, inside: name === "drive" ? { file: "", count: 2 } : null });
const sketch = (...names: string[]): object => ({ version: 1, extent: [0, 0, 1, 1], boxes: names.map(box), links: [] });
const problem = (component: string | null, inside: string[]): Problem => ({ message: "wrong", severity: "error", component, field: "ratio", port: null, line: 1, span: null, cures: [], box: inside });
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

async function openDocument(problems: Problem[] = []): Promise<{ socket: FakeSocket; document: StudioDocument; sent: () => Record<string, unknown> }> {
  const socket = new FakeSocket();
  const document = new StudioDocument(new LiveConnection(() => socket));
  socket.open();
  const opening = document.open();
  socket.answer({
    seq: 1, kind: "studio_open", document: { text: "", version: 1, dirty: false, canUndo: false, canRedo: false, file: "axis.yaml", recovered: null },
    sketch: sketch("arm", "drive"), standing: { number: 1, version: 1, whole: true, problems, run: { state: "shown", words: "" }, proof: { state: "asleep", words: "" } }, settings: { readOnly: false },
  });
  await opening;
  return { socket, document, sent: () => socket.sent[socket.sent.length - 1]! };
}

async function enter({ socket, document, sent }: Awaited<ReturnType<typeof openDocument>>): Promise<void> {
  const entering = document.enter(["drive"]);
  await tick();
  expect(sent()).toMatchObject({ kind: "box_sketch", box: ["drive"] });
  socket.answer({ seq: sent()["seq"], kind: "box_sketch", box: ["drive"], version: 1, sketch: sketch("motor", "gear") });
  await entering;
}

describe("a subsystem that is open", () => {
  it("gets the gestures, and answers with its own names", async () => {
    const opened = await openDocument();
    await enter(opened);
    const { socket, document, sent } = opened;
    const doing = document.gesture({ do: "duplicate", names: ["motor"] });
    await tick();
    expect(sent()["gesture"]).toEqual({ do: "in", box: ["drive"], gesture: { do: "duplicate", names: ["motor"] } });
    socket.answer({ seq: sent()["seq"], kind: "gesture", version: 1, edits: [], made: ["drive.motor_2"], renamed: { "drive.a": "drive.b" } });
    expect(await doing).toMatchObject({ made: ["motor_2"], renamed: { a: "b" } });
    void document.gesture({ do: "text", edits: [] });
    await tick();
    expect(sent()["gesture"]).toEqual({ do: "text", edits: [] });
  });

  it("is left where it is gone after a change", async () => {
    const opened = await openDocument();
    await enter(opened);
    const { socket, document, sent } = opened;
    socket.answer({ kind: "sketch", version: 2, sketch: sketch("arm", "motor") });
    await tick();
    socket.answer({ seq: sent()["seq"], kind: "box_sketch", error: { message: "there is no subsystem 'drive'" } });
    await tick();
    await tick();
    expect(sent()).toMatchObject({ kind: "box_sketch", box: [] });
    socket.answer({ seq: sent()["seq"], kind: "box_sketch", box: [], version: 2, sketch: sketch("arm", "motor") });
    await tick();
    expect(document.box).toEqual([]);
    expect(document.sketch.boxes.map((each) => each.name)).toEqual(["arm", "motor"]);
  });

  it("shows its own problems, and a closed box those of what is in it", async () => {
    const opened = await openDocument([problem("arm", []), problem("drive.gear", ["drive"]), problem(null, [])]);
    const { document } = opened;
    expect(document.shownProblems.map((each) => [each.component, each.field])).toEqual([["arm", "ratio"], ["drive", null], [null, "ratio"]]);
    await enter(opened);
    expect(document.shownProblems.map((each) => [each.component, each.field])).toEqual([["gear", "ratio"]]);
    expect([document.prefix, document.shownName("drive.gear"), document.shownName("arm")]).toEqual(["drive.", "gear", null]);
  });
});
