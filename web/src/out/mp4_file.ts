// A film as MP4: the boxes of ISO/IEC 14496-12 and -15 that one track of H.264 pictures needs, the index before the data.

import { Bytes, type Film } from "./bytes";

const SCALE = 90_000; // ticks for a second
const UNITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

function box(name: string, ...parts: Bytes[]): Bytes {
  const content = new Bytes();
  for (const part of parts) content.add(part);
  return new Bytes().number(content.length + 8, 4).text(name).add(content);
}

/** A box with version and flags. */
function full(name: string, version: number, flags: number, ...parts: Bytes[]): Bytes {
  return box(name, new Bytes().number(version, 1).number(flags, 3), ...parts);
}

const u4 = (...values: number[]): Bytes => new Bytes().numbers(values, 4);
const u2 = (...values: number[]): Bytes => new Bytes().numbers(values, 2);

/** The bytes of the file. */
export function writeMp4(film: Film): Uint8Array<ArrayBuffer> {
  if (film.codec !== "avc1" || film.description === null) throw new Error("MP4 holds H.264 with its description");
  const brand = box("ftyp", new Bytes().text("isom"), u4(0x200), new Bytes().text("isomiso2avc1mp41"));
  const data = new Bytes();
  for (const picture of film.pictures) data.add(picture.data);
  const index = (start: number): Bytes => movie(film, start);
  const start = brand.length + index(0).length + 8;
  return new Bytes().add(brand).add(index(start)).add(box("mdat", data)).join();
}

function movie(film: Film, start: number): Bytes {
  const delta = Math.round(SCALE / film.rate);
  const duration = delta * film.pictures.length;
  const header = full("mvhd", 0, 0, u4(0, 0, SCALE, duration, 0x10000), u2(0x100, 0), u4(0, 0, ...UNITY, 0, 0, 0, 0, 0, 0, 2));
  const track = full("tkhd", 0, 3, u4(0, 0, 1, 0, duration, 0, 0), u2(0, 0, 0, 0), u4(...UNITY, film.width * 0x10000, film.height * 0x10000));
  const media = box("mdia",
    full("mdhd", 0, 0, u4(0, 0, SCALE, duration), u2(0x55c4, 0)), // language: undetermined
    full("hdlr", 0, 0, u4(0), new Bytes().text("vide"), u4(0, 0, 0), new Bytes().text("kinode\0")),
    box("minf", full("vmhd", 0, 1, u2(0, 0, 0, 0)), box("dinf", full("dref", 0, 0, u4(1), full("url ", 0, 1))), sampleTable(film, start, delta)));
  return box("moov", header, box("trak", track, media));
}

function sampleTable(film: Film, start: number, delta: number): Bytes {
  const { pictures } = film;
  const keys = pictures.flatMap((picture, k) => (picture.key ? [k + 1] : []));
  const parts = [
    full("stsd", 0, 0, u4(1), sampleEntry(film)),
    full("stts", 0, 0, u4(1, pictures.length, delta)),
    full("stss", 0, 0, u4(keys.length, ...keys)),
    full("stsc", 0, 0, u4(1, 1, pictures.length, 1)),
    full("stsz", 0, 0, u4(0, pictures.length, ...pictures.map((picture) => picture.data.length))),
    full("stco", 0, 0, u4(1, start)),
  ];
  if (pictures.some((picture, k) => picture.index !== k)) {
    const shifts = pictures.flatMap((picture, k) => [1, (picture.index - k) * delta]);
    parts.splice(2, 0, full("ctts", 1, 0, u4(pictures.length, ...shifts)));
  }
  return box("stbl", ...parts);
}

function sampleEntry(film: Film): Bytes {
  const name = new Bytes().add(new Uint8Array(32));
  return box("avc1", u4(0), u2(0, 1), u4(0, 0, 0, 0), u2(film.width, film.height), u4(0x480000, 0x480000, 0), u2(1), name,
    u2(0x18, -1), box("avcC", new Bytes().add(film.description!)));
}
