// The parts of the library as answers of a search, and their ports in words.

import type { LibraryPart } from "../../messages";
import type { Choice } from "../palette/choice_box";
import type { Catalogue } from "../studio_types";

const MOST = 6; // ports that are named

export function libraryChoices(catalogue: Catalogue): Choice<{ part: LibraryPart }>[] {
  return (catalogue.library ?? []).map((part) => ({
    value: { part }, label: part.name, detail: part.words, more: portWords(part), symbol: part.symbol,
    words: `${part.file} library subsystem box ${part.ports.map((port) => port.name).join(" ")}`,
    ...(part.why === "" ? {} : { off: `${part.file}: ${part.why}` }),
  }));
}

/** The ports of a part: "ports: shaft (rotational), supply (electrical)". */
export function portWords({ ports }: Pick<LibraryPart, "ports">): string {
  if (ports.length === 0) return "";
  const named = ports.slice(0, MOST).map((port) => (port.domain === "" ? port.name : `${port.name} (${port.domain})`));
  return `${ports.length === 1 ? "port" : "ports"}: ${named.join(", ")}${ports.length > MOST ? ", …" : ""}`;
}

export function findPart(catalogue: Catalogue, file: string): LibraryPart | null {
  return catalogue.library?.find((part) => part.file === file && part.why === "") ?? null;
}
