// A file beside the model that can be a part of it, as the server describes it.

import type { LinkKind } from "../studio_types";

export interface LibraryPart {
  file: string; // as the model names it
  name: string;
  words: string;
  ports: { name: string; kind: LinkKind; domain: string; out: boolean }[];
  parameters: { name: string; value: string; words: string }[];
  symbol: string;
  size: [width: number, height: number];
  why: string; // the reason where it cannot be a part
}

export interface LibraryNews {
  parts: LibraryPart[];
  folder: string; // where the library lies, seen from the model
}
