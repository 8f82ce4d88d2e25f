// Bytes written one after the other.

export class Bytes {
  private readonly parts: Uint8Array[] = [];
  length = 0;

  add(part: Uint8Array | Bytes): this {
    if (part instanceof Bytes) for (const each of part.parts) this.parts.push(each);
    else this.parts.push(part);
    this.length += part.length;
    return this;
  }

  /** A whole number of `width` bytes, the highest first. */
  number(value: number, width: number): this {
    const part = new Uint8Array(width);
    for (let k = width - 1, rest = value; k >= 0; k--) {
      part[k] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return this.add(part);
  }

  numbers(values: readonly number[], width: number): this {
    for (const value of values) this.number(value < 0 ? value + 256 ** width : value, width);
    return this;
  }

  double(value: number): this {
    const part = new Uint8Array(8);
    new DataView(part.buffer).setFloat64(0, value);
    return this.add(part);
  }

  text(text: string): this {
    return this.add(new TextEncoder().encode(text));
  }

  join(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}

/** One encoded picture. */
export interface FilmPicture {
  data: Uint8Array;
  key: boolean; // can be shown without those before it
  index: number; // its place in the film; encoders may hand over pictures in another order
}

/** A film of one track. */
export interface Film {
  codec: "vp8" | "vp9" | "avc1";
  width: number;
  height: number;
  rate: number; // pictures for a second
  description: Uint8Array | null; // what a decoder must know before the first picture (H.264)
  pictures: FilmPicture[];
}
