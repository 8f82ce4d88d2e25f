// The socket to the live server: questions with a number, one answer to each, messages without a question, and coming back.

import { readPacket, type Packet } from "../data/packet";
import type { Packets, Pushes, Requests } from "../messages";
import type { LiveLink } from "../panel";

/** What is used of a WebSocket. */
export interface Socket {
  binaryType: string;
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(text: string): void;
  close(): void;
}

/** An error that the server told, with the part it belongs to. */
export class LiveError extends Error {
  readonly component: string;
  readonly field: string;
  readonly line: number | null;
  readonly type: string; // the class of the error

  constructor(told: { message?: unknown; component?: unknown; field?: unknown; line?: unknown; type?: unknown }) {
    super(String(told.message ?? "the server gave no reason"));
    this.component = typeof told.component === "string" ? told.component : "";
    this.field = typeof told.field === "string" ? told.field : "";
    this.line = typeof told.line === "number" ? told.line : null;
    this.type = typeof told.type === "string" ? told.type : "";
  }

  /** The message with the part it belongs to. */
  get words(): string {
    const place = [this.component, this.field].filter((part) => part !== "").join(".");
    return place === "" || this.message.startsWith(place) ? this.message : `${place}: ${this.message}`;
  }
}

/** The server went away before it answered. */
export class ServerLost extends Error {}

/** The answer that never comes: a newer question of the kind came first, or the page stopped it. */
export class Overtaken extends Error {}

export type Kind = keyof Requests;
export type Fields<K extends Kind> = Requests[K]["fields"];
export type Answer<K extends Kind> = Requests[K]["answer"];
/** What comes without a question, as JSON and as packets. */
export type Push = { [K in keyof Pushes]: { kind: K } & Pushes[K] }[keyof Pushes];
export type PushedPacket = Packet<{ [K in keyof Packets]: { kind: K } & Packets[K] }[keyof Packets]>;
/** The fields of a request as arguments: left out where none is needed. */
export type Sent<K extends Kind> = Record<string, never> extends Fields<K> ? [Fields<K>?] : [Fields<K>];
/** Asks the server; the promise ends with its one answer. */
export type Ask = <K extends Kind>(kind: K, ...fields: Sent<K>) => Promise<Answer<K>>;
export type Connected = "opening" | "open" | "lost" | "closed";

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

const FIRST_PAUSE = 400; // ms before the first attempt to come back
const LONGEST_PAUSE = 5000;

export class LiveConnection implements LiveLink {
  state: Connected = "opening";
  private readonly open: () => Socket;
  private socket: Socket | null = null;
  private seq = 0;
  private pause = FIRST_PAUSE;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private readonly unsent: string[] = [];
  private readonly pushes = new Set<(message: Push) => void>();
  private readonly packets = new Set<(packet: PushedPacket) => void>();
  private readonly states = new Set<(state: Connected) => void>();

  constructor(open: () => Socket) {
    this.open = open;
    this.connect();
  }

  readonly ask: Ask = (kind, ...[fields]) => {
    if (this.state === "closed" || this.state === "lost") return Promise.reject(new ServerLost("the server is not there"));
    const seq = ++this.seq;
    const text = JSON.stringify({ ...fields, seq, kind });
    return new Promise((resolve, reject) => {
      this.waiting.set(seq, { resolve: resolve as Waiting["resolve"], reject });
      if (this.state === "open") this.socket!.send(text);
      else this.unsent.push(text);
    });
  };

  /** Messages in JSON that answer no question. */
  onPush(listener: (message: Push) => void): () => void {
    this.pushes.add(listener);
    return () => this.pushes.delete(listener);
  }

  /** Packets that answer no question. */
  onPacket(listener: (packet: PushedPacket) => void): () => void {
    this.packets.add(listener);
    return () => this.packets.delete(listener);
  }

  onState(listener: (state: Connected) => void): () => void {
    this.states.add(listener);
    return () => this.states.delete(listener);
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.tell("closed");
    this.socket?.close();
    this.drop("the page was closed");
  }

  /** Tries to come back at once. */
  retry(): void {
    if (this.state !== "lost") return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.connect();
  }

  private connect(): void {
    this.timer = null;
    const socket = this.open();
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = (): void => {
      this.pause = FIRST_PAUSE;
      this.tell("open");
      for (const text of this.unsent.splice(0)) socket.send(text);
    };
    socket.onmessage = (event): void => this.receive(event.data as string | ArrayBuffer);
    socket.onclose = (): void => this.lost(socket);
  }

  private lost(socket: Socket): void {
    if (socket !== this.socket || this.state === "closed") return;
    this.socket = null;
    this.tell("lost");
    this.drop("the connection to the server was lost");
    this.timer = setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(LONGEST_PAUSE, 2 * this.pause);
  }

  private drop(why: string): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    this.unsent.length = 0;
    for (const each of waiting) each.reject(new ServerLost(why));
  }

  private tell(state: Connected): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.states) listener(state);
  }

  private receive(data: string | ArrayBuffer): void {
    const packet = typeof data === "string" ? null : readPacket(data);
    const header = packet === null ? (JSON.parse(data as string) as Record<string, unknown>) : packet.header;
    const { seq } = header;
    if (typeof seq !== "number") {
      if (packet !== null) for (const listener of this.packets) listener(packet as Packet as PushedPacket);
      else for (const listener of this.pushes) listener(header as Push);
      return;
    }
    const waiting = this.waiting.get(seq);
    this.waiting.delete(seq);
    if (waiting === undefined) return;
    if (header["error"] !== undefined) waiting.reject(new LiveError(header["error"] as Record<string, unknown>));
    else if (header["kind"] === "overtaken" || header["kind"] === "stopped") waiting.reject(new Overtaken(String(header["kind"])));
    else waiting.resolve(packet ?? header);
  }
}

/** Where the socket of this page is. */
export function socketAddress(page: { protocol: string; host: string }): string {
  return `${page.protocol === "https:" ? "wss:" : "ws:"}//${page.host}/socket`;
}

export function isPacket<H extends object>(answer: Packet<H> | object): answer is Packet<H> {
  return (answer as Packet).arrays instanceof Map;
}
