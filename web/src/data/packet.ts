// One binary message: u32 header length, JSON header padded to 4 bytes, arrays aligned to 8.
// The same layout as src/kinode/player/packet.py; in a file the whole packet is deflated and in base64.

import { RunDocument, type NumberArray, type RunHeader } from "./run_document";

interface ArrayEntry {
  name: string;
  dtype: "f4" | "f8" | "u1" | "u2" | "i4" | "u4";
  shape: number[];
  offset: number; // from the start of the arrays
  bytes: number;
  encoding?: "delta";
  order?: number; // of the differences: 2 unless said
}

export interface Packet<Header extends object = object> {
  header: Header;
  arrays: Map<string, NumberArray>;
}

const MAKERS = {
  f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
} as const;

export class PacketError extends Error {}

export function readPacket<Header extends object = Record<string, unknown>>(data: ArrayBuffer): Packet<Header> {
  if (data.byteLength < 4) throw new PacketError("the data of the run is cut short");
  const length = new DataView(data).getUint32(0, true);
  const start = 4 + length + ((8 - ((4 + length) % 8)) % 8);
  if (start > data.byteLength + 7) throw new PacketError("the data of the run is cut short");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Record<string, unknown>;
  const arrays = new Map<string, NumberArray>();
  for (const entry of (header["arrays"] ?? []) as ArrayEntry[]) arrays.set(entry.name, readArray(data, start, entry));
  for (const entry of (header["arrays"] ?? []) as ArrayEntry[]) {
    if (entry.encoding === "delta") arrays.set(entry.name, decodeSeries(entry, arrays));
  }
  return { header: header as Header, arrays };
}

function readArray(data: ArrayBuffer, start: number, entry: ArrayEntry): NumberArray {
  const from = start + entry.offset;
  if (from + entry.bytes > data.byteLength) throw new PacketError(`the data of the run is cut short: ${entry.name}`);
  const make = MAKERS[entry.dtype];
  return new make(data, from, entry.bytes / make.BYTES_PER_ELEMENT);
}

/** Columns over time: shuffled bytes of second or third differences of steps; step 0 stands for "not a number". */
export function decodeSeries(entry: ArrayEntry, arrays: Map<string, NumberArray>): Float32Array {
  const stored = arrays.get(entry.name)!;
  const width = stored.BYTES_PER_ELEMENT;
  const count = stored.length;
  const bytes = new Uint8Array(stored.buffer, stored.byteOffset, count * width);
  const n = entry.shape[entry.shape.length - 1] ?? 0;
  const low = arrays.get(`${entry.name}:low`);
  const step = arrays.get(`${entry.name}:step`);
  if (low === undefined || step === undefined) throw new PacketError(`the ranges of ${entry.name} are missing`);
  const values = new Float32Array(count);
  const order = entry.order ?? 2;
  if (order !== 2 && order !== 3) throw new PacketError(`the steps of ${entry.name} are of a kind that this player does not know`);
  const mask = width === 2 ? 0xffff : 0xffffffff;
  for (let row = 0, at = 0; at < count; row++) {
    let value = 0;
    let slope = 0;
    let bend = 0;
    const base = low[row]!;
    const size = step[row]!;
    for (let k = 0; k < n; k++, at++) {
      let d = bytes[at]! | (bytes[count + at]! << 8);
      if (width === 4) d |= (bytes[2 * count + at]! << 16) | (bytes[3 * count + at]! << 24);
      if (order === 3) d = bend = (bend + d) | 0;
      slope = (slope + d) | 0;
      value = (value + slope) | 0;
      const code = (value & mask) >>> 0;
      values[at] = code === 0 ? NaN : base + size * (code - 1);
    }
  }
  return values;
}

export function runOf(packet: Packet): RunDocument {
  const header = packet.header as RunHeader;
  if (header.format !== "kinode-run") throw new PacketError("this is not the data of a kinode run");
  if (header.version > 1) throw new PacketError(`this run was written by a later kinode (${header.written})`);
  return new RunDocument(header, packet.arrays);
}

/** The packet of a file: base64 of deflated bytes. */
export async function unpack(text: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
