// The kinds of component and the ready-made groups as answers of a search.

import type { LibraryPart } from "../../messages";
import type { Catalogue, CatalogueKind } from "../studio_types";
import { findPart } from "../library/library_choices";
import type { Choice } from "./choice_box";

/** What can be added: a kind, a group, or a file as a subsystem. */
export type Addition = { kind: CatalogueKind } | { group: string } | { part: LibraryPart };

export const ADD_EVENT = "kinode-add"; // a palette asks the canvas to add
export const DRAG_TYPE = "application/x-kinode-addition";

export function kindChoices(catalogue: Catalogue, fits: (kind: CatalogueKind) => boolean = () => true): Choice<Addition>[] {
  return catalogue.kinds.filter(fits).map((kind) => ({
    value: { kind }, label: kind.title, detail: kind.words, words: `${kind.kind} ${kind.domain} ${kind.section} ${kind.keywords.join(" ")}`, symbol: kind.symbol,
  }));
}

export function groupChoices(catalogue: Catalogue): Choice<Addition>[] {
  return catalogue.groups.map(({ name, words }) => ({ value: { group: name }, label: name.replaceAll("_", " "), detail: words, words: "group" }));
}

/** An addition as a text, to be dragged. */
export function additionName(addition: Addition): string {
  if ("part" in addition) return `part ${addition.part.file}`;
  return "kind" in addition ? `kind ${addition.kind.kind}` : `group ${addition.group}`;
}

export function findAddition(catalogue: Catalogue, name: string): Addition | null {
  const [what, ...rest] = name.split(" ");
  const word = rest.join(" ");
  const part = what === "part" ? findPart(catalogue, word) : null;
  if (part !== null) return { part };
  if (what === "group") return catalogue.groups.some((group) => group.name === word) ? { group: word } : null;
  const kind = catalogue.kinds.find((each) => each.kind === word);
  return what === "kind" && kind !== undefined ? { kind } : null;
}
