// A film as WebM: the elements of Matroska (RFC 9559) that one track of pictures needs, times in milliseconds.

import { Bytes, type Film } from "./bytes";

const ID = {
  ebml: 0x1a45dfa3, version: 0x4286, readVersion: 0x42f7, longestId: 0x42f2, longestSize: 0x42f3, docType: 0x4282,
  docVersion: 0x4287, docReadVersion: 0x4285, segment: 0x18538067, info: 0x1549a966, scale: 0x2ad7b1, duration: 0x4489,
  muxer: 0x4d80, writer: 0x5741, tracks: 0x1654ae6b, track: 0xae, number: 0xd7, uid: 0x73c5, type: 0x83, lacing: 0x9c,
  codec: 0x86, defaultDuration: 0x23e383, video: 0xe0, width: 0xb0, height: 0xba, cluster: 0x1f43b675, timestamp: 0xe7,
  block: 0xa3, cues: 0x1c53bb6b, cue: 0xbb, cueTime: 0xb3, cuePositions: 0xb7, cueTrack: 0xf7, cueCluster: 0xf1,
} as const;
const CODECS = { vp8: "V_VP8", vp9: "V_VP9" } as const;
const LONGEST_CLUSTER = 30_000; // ms: times within one have 16 bits

function width(value: number): number {
  let bytes = 1;
  while (value >= 256 ** bytes) bytes++;
  return bytes;
}

function element(id: number, content: Bytes): Bytes {
  const size = new Bytes();
  let bytes = 1;
  while (content.length >= 2 ** (7 * bytes) - 1) bytes++;
  size.number(content.length + 2 ** (7 * bytes), bytes);
  return new Bytes().number(id, width(id)).add(size).add(content);
}

const whole = (id: number, value: number): Bytes => element(id, new Bytes().number(value, width(value)));
const text = (id: number, value: string): Bytes => element(id, new Bytes().text(value));

function join(...parts: Bytes[]): Bytes {
  const all = new Bytes();
  for (const part of parts) all.add(part);
  return all;
}

/** The bytes of the file. */
export function writeWebm(film: Film): Uint8Array<ArrayBuffer> {
  if (film.codec === "avc1") throw new Error("WebM holds VP8 or VP9");
  const head = element(ID.ebml, join(
    whole(ID.version, 1), whole(ID.readVersion, 1), whole(ID.longestId, 4), whole(ID.longestSize, 8),
    text(ID.docType, "webm"), whole(ID.docVersion, 4), whole(ID.docReadVersion, 2),
  ));
  const time = (index: number): number => Math.round((1000 * index) / film.rate);
  const info = element(ID.info, join(
    whole(ID.scale, 1_000_000), element(ID.duration, new Bytes().double((1000 * film.pictures.length) / film.rate)),
    text(ID.muxer, "kinode"), text(ID.writer, "kinode"),
  ));
  const tracks = element(ID.tracks, element(ID.track, join(
    whole(ID.number, 1), whole(ID.uid, 1), whole(ID.type, 1), whole(ID.lacing, 0), text(ID.codec, CODECS[film.codec]),
    whole(ID.defaultDuration, Math.round(1e9 / film.rate)),
    element(ID.video, join(whole(ID.width, film.width), whole(ID.height, film.height))),
  )));
  const clusters = makeClusters(film, time);
  // The places of clusters depend on the length of the cues before them: count with the widest number first.
  let cues = makeCues(clusters, 0xffffffff);
  for (let k = 0; k < 3; k++) cues = makeCues(clusters, info.length + tracks.length + cues.length);
  const body = join(info, tracks, cues, ...clusters.map((each) => each.bytes));
  return join(head, element(ID.segment, body)).join();
}

interface Cluster {
  start: number;
  bytes: Bytes;
}

function makeClusters(film: Film, time: (index: number) => number): Cluster[] {
  const clusters: Cluster[] = [];
  let start = -1;
  let blocks = new Bytes();
  const close = (): void => {
    if (start >= 0) clusters.push({ start, bytes: element(ID.cluster, join(whole(ID.timestamp, start), blocks)) });
  };
  for (const picture of film.pictures) {
    const at = time(picture.index);
    if (start < 0 || picture.key || at - start > LONGEST_CLUSTER) {
      close();
      [start, blocks] = [at, new Bytes()];
    }
    const block = new Bytes().number(0x81, 1).number(at - start, 2).number(picture.key ? 0x80 : 0, 1).add(picture.data);
    blocks.add(element(ID.block, block));
  }
  close();
  return clusters;
}

/** Where each cluster begins, for jumps in time; positions have eight bytes, so that the length stays the same. */
function makeCues(clusters: Cluster[], before: number): Bytes {
  const points = new Bytes();
  let at = before;
  for (const cluster of clusters) {
    const position = element(ID.cueCluster, new Bytes().number(at, 8));
    points.add(element(ID.cue, join(whole(ID.cueTime, cluster.start), element(ID.cuePositions, join(whole(ID.cueTrack, 1), position)))));
    at += cluster.bytes.length;
  }
  return element(ID.cues, points);
}
