import { describe, expect, it, vi } from "vitest";
import { LiveConnection, LiveError, Overtaken, isPacket, socketAddress } from "../../src/live/connection";
import { Newest } from "../../src/live/newest";
import { FakeSocket, packetBytes } from "../support/fake_socket";

function connected(): { socket: FakeSocket; connection: LiveConnection } {
  const socket = new FakeSocket();
  const connection = new LiveConnection(() => socket);
  socket.open();
  return { socket, connection };
}

describe("the connection", () => {
  it("gives each question a number that grows, and each its own answer", async () => {
    const { socket, connection } = connected();
    const first = connection.ask("set", { values: { a: 1 } });
    const second = connection.ask("modes", { t: 0.5 });
    expect(socket.sent).toEqual([{ values: { a: 1 }, seq: 1, kind: "set" }, { t: 0.5, seq: 2, kind: "modes" }]);
    socket.answer({ seq: 2, kind: "modes", modes: [] });
    socket.answer(packetBytes({ seq: 1, kind: "set", update: true }, { t: Float64Array.of(0, 1, 2) }));
    expect(await second).toMatchObject({ modes: [] });
    const packet = await first;
    expect(isPacket(packet) && [...packet.arrays.get("t")!]).toEqual([0, 1, 2]);
  });

  it("sends what was asked before it was open, in order", () => {
    const socket = new FakeSocket();
    const connection = new LiveConnection(() => socket);
    void connection.ask("open");
    void connection.ask("series", { names: ["a"] });
    expect(socket.sent).toEqual([]);
    socket.open();
    expect(socket.sent.map((each) => each["kind"])).toEqual(["open", "series"]);
  });

  it("tells errors with the part they belong to, and what was overtaken apart from them", async () => {
    const { socket, connection } = connected();
    const wrong = connection.ask("set", {});
    const old = connection.ask("set", {});
    socket.answer({ seq: 1, error: { message: "must be positive", component: "arm", field: "mass", line: 7 } });
    socket.answer({ seq: 2, kind: "overtaken" });
    const error = await wrong.catch((each: unknown) => each);
    expect(error).toBeInstanceOf(LiveError);
    expect((error as LiveError).words).toBe("arm.mass: must be positive");
    expect((error as LiveError).line).toBe(7);
    await expect(old).rejects.toBeInstanceOf(Overtaken);
  });

  it("hands on messages and packets that answer nothing", () => {
    const { socket, connection } = connected();
    const heard: unknown[] = [];
    connection.onPush((message) => heard.push(message["kind"]));
    connection.onPacket((packet) => heard.push(packet.arrays.size));
    socket.answer({ kind: "progress", words: "compiling" });
    socket.answer(packetBytes({ kind: "model" }, { t: Float64Array.of(0) }));
    expect(heard).toEqual(["progress", 1]);
  });

  it("comes back after a loss, later and later, and refuses questions until then", async () => {
    vi.useFakeTimers();
    const sockets: FakeSocket[] = [];
    const connection = new LiveConnection(() => {
      sockets.push(new FakeSocket());
      return sockets[sockets.length - 1]!;
    });
    sockets[0]!.open();
    const asked = connection.ask("set", {});
    sockets[0]!.lose();
    await expect(asked).rejects.toThrow("lost");
    await expect(connection.ask("set", {})).rejects.toThrow("not there");
    expect(connection.state).toBe("lost");
    vi.advanceTimersByTime(450);
    expect(sockets.length).toBe(2);
    sockets[1]!.lose();
    vi.advanceTimersByTime(450);
    expect(sockets.length).toBe(2); // the pause has doubled
    vi.advanceTimersByTime(450);
    expect(sockets.length).toBe(3);
    sockets[2]!.open();
    expect(connection.state).toBe("open");
    vi.useRealTimers();
  });

  it("knows where the socket is", () => {
    expect(socketAddress({ protocol: "http:", host: "127.0.0.1:8123" })).toBe("ws://127.0.0.1:8123/socket");
  });
});

describe("the newest wins", () => {
  it("lets the running one finish and sends only the last of those that came meanwhile", async () => {
    const sent: number[] = [];
    const done: number[] = [];
    const ends: ((value: number) => void)[] = [];
    const lane = new Newest<number, number>({
      send: (question) => {
        sent.push(question);
        return new Promise((resolve) => ends.push(resolve));
      },
      done: (answer) => done.push(answer), failed: () => {},
    });
    for (const question of [1, 2, 3, 4]) lane.ask(question);
    expect(sent).toEqual([1]);
    ends[0]!(10);
    await Promise.resolve();
    await Promise.resolve();
    expect([sent, done]).toEqual([[1, 4], [10]]);
    ends[1]!(40);
    await Promise.resolve();
    await Promise.resolve();
    expect([done, lane.busy]).toEqual([[10, 40], false]);
  });

  it("goes on after an error, and does not tell of overtaken ones", async () => {
    const failed: string[] = [];
    const answers = [() => Promise.reject(new Error("bad")), () => Promise.reject(new Overtaken("overtaken")), () => Promise.resolve(1)];
    const done: number[] = [];
    const lane = new Newest<number, number>({ send: () => answers.shift()!(), done: (answer) => done.push(answer), failed: (error) => failed.push(error.message) });
    for (let k = 0; k < 3; k++) {
      lane.ask(k);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    expect([failed, done]).toEqual([["bad"], [1]]);
  });
});
