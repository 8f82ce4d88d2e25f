import { beforeEach, describe, expect, it } from "vitest";
import { readPacket } from "../../src/data/packet";
import { LiveConnection } from "../../src/live/connection";
import { LiveDesk } from "../../src/live/live_desk";
import { FakeSocket, packetBytes } from "../support/fake_socket";
import { syntheticRun } from "../support/synthetic_run";

const number = (name: string, value: number): Record<string, unknown> => ({ name, value, unit: "m", words: "", low: null, high: null, structural: "", group: "a" });

function opened(live: Record<string, unknown> = {}): ArrayBuffer {
  const { header } = syntheticRun();
  return packetBytes({ ...header, ...live, live: { parameters: [number("L", 1), number("k", 2)], until: 1, values: {}, startChanged: {}, ...live } }, { t: Float64Array.of(0, 1) });
}

describe("the desk", () => {
  let socket: FakeSocket;
  let desk: LiveDesk;
  beforeEach(() => {
    globalThis.requestAnimationFrame = () => 0;
    socket = new FakeSocket();
    const connection = new LiveConnection(() => socket);
    socket.open();
    desk = new LiveDesk(connection, readPacket(opened()));
  });
  const heard = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  const answer = async (seq: number, id = 1, rows: Record<string, unknown> = { of: 0, at: null }): Promise<void> => {
    const { header } = desk.run.document;
    socket.answer(packetBytes({ seq, kind: "set", update: true, run: header.run, events: [], strips: [], peaks: [], values: {}, geometry: null, note: "", id, rows }, { t: Float64Array.of(0, 0.5, 1) }));
    await heard();
  };
  const badges = (): string[] => desk.run.document.header.badges.map(({ name }) => name);
  const answerCheck = async (seq: number): Promise<void> => {
    socket.answer({ seq, kind: "checks", ok: true, verdict: "all agree", notes: [], tables: [] });
    await heard();
  };

  it("sends all that differs from the file, the newest alone while one runs", async () => {
    desk.setValue("L", 1.1);
    desk.setValue("L", 1.2);
    desk.setValue("k", 3);
    expect(socket.sent.map((each) => each["values"])).toEqual([{ L: 1.1 }]);
    await answer(1);
    expect(socket.sent[1]!["values"]).toEqual({ L: 1.2, k: 3 });
    expect(desk.run.document.count).toBe(3);
    expect(desk.words).toBe("L 1.2 m, k 3 m");
  });

  it("sends nothing in the place of numbers that are as in the file again", async () => {
    desk.setValue("L", 1.1);
    await answer(1);
    desk.reset("L");
    expect(socket.sent[1]!["values"]).toEqual({ L: null });
    expect([desk.value("L"), desk.isChanged("L")]).toEqual([1, false]);
  });

  it("keeps numbers that were moved while more of the same model came, and takes those of an edited one", () => {
    desk.setValue("L", 1.1);
    desk.setModel(readPacket(opened({})), true);
    expect(desk.value("L")).toBe(1.1);
    desk.setModel(readPacket(opened({ parameters: [number("L", 5), number("k", 4)], values: { k: 4 } })));
    expect([desk.value("L"), desk.isChanged("L"), desk.value("k"), desk.fileValue("k")]).toEqual([5, false, 4, 2]);
  });

  it("keeps the checks of a run, asked for or there, when more of its model comes, and not those of another run", async () => {
    desk.setValue("L", 1.1);
    await answer(1, 7);
    const checks = [desk.check("audit"), desk.check("verify")];
    await answerCheck(2);
    desk.setModel(readPacket(opened({ id: 7 })), true);
    expect(badges()).toEqual(["audit"]);
    await answerCheck(3);
    await Promise.all(checks);
    expect(badges()).toEqual(["audit", "verify"]);
    desk.setModel(readPacket(opened({ id: 8 })), true);
    expect(badges()).toEqual([]);
  });

  it("takes the series that were not sent, though a check of the run came before them", async () => {
    desk = new LiveDesk(desk.connection, readPacket(opened({ series: [{ name: "a", unit: "", words: "", group: "states", parts: [], row: 0 }] })));
    desk.setValue("L", 1.1);
    await answer(1, 7, { of: 1, at: [] });
    expect(desk.run.lacking).toBe(true);
    const [rows, check] = [desk.complete(), desk.check("audit")];
    await answerCheck(3);
    socket.answer(packetBytes({ seq: 2, kind: "rows", rows: { of: 1, at: null } }, { series: Float32Array.of(1, 2, 3) }));
    await Promise.all([rows, check]);
    expect([desk.run.lacking, [...desk.run.document.series], badges()]).toEqual([false, [1, 2, 3], ["audit"]]);
  });

  it("sets the start as a number where the model has it as one", () => {
    desk.setStart({ L: 3, "joint0.q": 0.5 });
    expect(socket.sent[0]).toMatchObject({ values: { L: 3 }, start: { "joint0.q": 0.5 } });
  });

  it("pins a run once, under the name of its changes", async () => {
    desk.pin();
    expect(desk.pin()).toContain("already");
    desk.setValue("L", 1.5);
    await answer(1);
    desk.pin();
    expect(desk.shownRuns.map((run) => `${run.role} ${run.label}`)).toEqual(["main now: L 1.5 m", "pinned as in the file", "pinned L 1.5 m"]);
    desk.drop(desk.compared[0]!);
    expect(desk.shownRuns.length).toBe(2);
  });
});
