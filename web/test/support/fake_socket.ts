// A socket whose other end is the test.

import type { Socket } from "../../src/live/connection";

export class FakeSocket implements Socket {
  binaryType = "";
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  readonly sent: Record<string, unknown>[] = [];
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.onopen?.({} as Event);
  }

  answer(message: Record<string, unknown> | ArrayBuffer): void {
    this.onmessage?.({ data: message instanceof ArrayBuffer ? message : JSON.stringify(message) } as MessageEvent);
  }

  lose(): void {
    this.onclose?.({} as CloseEvent);
  }
}

/** A packet as the server writes it. */
export function packetBytes(header: Record<string, unknown>, arrays: Record<string, Float32Array | Float64Array>): ArrayBuffer {
  let offset = 0;
  const entries = Object.entries(arrays).map(([name, array]) => {
    const entry = { name, dtype: array instanceof Float64Array ? "f8" : "f4", shape: [array.length], offset, bytes: array.byteLength };
    offset += Math.ceil(array.byteLength / 8) * 8;
    return entry;
  });
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: entries }));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const data = new ArrayBuffer(start + offset);
  new DataView(data).setUint32(0, text.length, true);
  new Uint8Array(data).set(text, 4);
  Object.values(arrays).forEach((array, k) => new Uint8Array(data).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), start + entries[k]!.offset));
  return data;
}
