// A film of the stage, picture by picture: set the time, draw, encode. Nothing is filmed from the screen.

import { type Film, type FilmPicture } from "./bytes";
import { type FilmPlan, bitRate, pictureCount, timeOf } from "./film_times";
import { writeMp4 } from "./mp4_file";
import { writeWebm } from "./webm_file";

export type FilmFormat = "webm" | "mp4";

export interface FilmOrder extends FilmPlan {
  format: FilmFormat;
  width: number;
  height: number;
}

/** Draws the picture at a time of the run onto the pen's whole canvas. */
export type DrawPicture = (t: number, pen: OffscreenCanvasRenderingContext2D) => void;

const CODECS: Record<FilmFormat, [Film["codec"], string][]> = {
  webm: [["vp9", "vp09.00.51.08"], ["vp9", "vp09.00.10.08"], ["vp8", "vp8"]],
  mp4: [["avc1", "avc1.640033"], ["avc1", "avc1.4d0033"], ["avc1", "avc1.42e033"], ["avc1", "avc1.42e01f"]],
};
const KEY_EVERY = 2; // s of the film
const LONGEST_QUEUE = 4;

export class FilmError extends Error {}

/** How this browser encodes a format; null if it cannot. */
export async function findCodec(order: Omit<FilmOrder, keyof FilmPlan> & { rate: number }): Promise<{ codec: Film["codec"]; config: VideoEncoderConfig } | null> {
  if (typeof VideoEncoder === "undefined") return null;
  for (const [codec, name] of CODECS[order.format]) {
    const config: VideoEncoderConfig = {
      codec: name, width: order.width, height: order.height, framerate: order.rate,
      bitrate: bitRate(order.width, order.height, order.rate), latencyMode: "quality",
      ...(codec === "avc1" ? { avc: { format: "avc" } } : {}),
    };
    const answer = await VideoEncoder.isConfigSupported(config).catch(() => null);
    if (answer?.supported) return { codec, config };
  }
  return null;
}

/** Why a format cannot be written here, in words. */
export function refusal(format: FilmFormat): string {
  if (typeof VideoEncoder === "undefined") return "This browser cannot encode films from this page. Open the page in a recent Chromium, Edge, Firefox or Safari.";
  return format === "mp4"
    ? "This browser cannot encode H.264, which MP4 needs. WebM works."
    : "This browser can encode neither VP9 nor VP8. Try MP4.";
}

/** Makes the film. `progress` is told the share done; aborting the signal ends it with an AbortError. */
export async function makeFilm(order: FilmOrder, draw: DrawPicture, progress: (share: number) => void, signal: AbortSignal): Promise<Blob> {
  const found = await findCodec(order);
  if (found === null) throw new FilmError(refusal(order.format));
  const film: Film = { codec: found.codec, width: order.width, height: order.height, rate: order.rate, description: null, pictures: [] };
  let fault: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk, meta) => takeChunk(film, chunk, meta),
    error: (error) => { fault = error; },
  });
  try {
    encoder.configure(found.config);
    const canvas = new OffscreenCanvas(order.width, order.height);
    const pen = canvas.getContext("2d", { alpha: false });
    if (pen === null) throw new FilmError("This browser offers no canvas to draw the film on.");
    const count = pictureCount(order);
    for (let k = 0; k < count; k++) {
      signal.throwIfAborted();
      if (fault) throw fault as Error;
      draw(timeOf(order, k), pen);
      const picture = new VideoFrame(canvas, { timestamp: Math.round((1e6 * k) / order.rate), duration: Math.round(1e6 / order.rate) });
      encoder.encode(picture, { keyFrame: k % (KEY_EVERY * order.rate) === 0 });
      picture.close();
      progress((k + 1) / count);
      await room(encoder);
    }
    await encoder.flush();
    if (fault) throw fault as Error;
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
  signal.throwIfAborted();
  return fileOf(film, order.format);
}

function takeChunk(film: Film, chunk: EncodedVideoChunk, meta: EncodedVideoChunkMetadata | undefined): void {
  const data = new Uint8Array(chunk.byteLength);
  chunk.copyTo(data);
  const description = meta?.decoderConfig?.description;
  if (description !== undefined) {
    film.description = ArrayBuffer.isView(description)
      ? new Uint8Array(description.buffer.slice(description.byteOffset, description.byteOffset + description.byteLength))
      : new Uint8Array(description.slice(0));
  }
  const picture: FilmPicture = { data, key: chunk.type === "key", index: Math.round((chunk.timestamp * film.rate) / 1e6) };
  film.pictures.push(picture);
}

/** Waits until the encoder can take more, and lets the page breathe. */
async function room(encoder: VideoEncoder): Promise<void> {
  await new Promise((go) => setTimeout(go, 0));
  while (encoder.state === "configured" && encoder.encodeQueueSize > LONGEST_QUEUE) await new Promise((go) => setTimeout(go, 2));
}

function fileOf(film: Film, format: FilmFormat): Blob {
  return format === "webm" ? new Blob([writeWebm(film)], { type: "video/webm" }) : new Blob([writeMp4(film)], { type: "video/mp4" });
}
