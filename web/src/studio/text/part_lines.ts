// Which part of the model stands where in the text: sections at the top, parts in them.

import { ensureSyntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";

export interface PartPlace {
  section: string;
  name: string;
  from: number;
  to: number;
}

const SECTIONS = ["bodies", "joints", "constraints", "elements", "signals", "parameters", "inputs", "frames", "systems", "drives"];
const PARSE_TIME = 50; // ms

/** All parts of the text, or of a subsystem in it, in its order; what lies below a fault of the text may be missing. */
export function findParts(state: EditorState, box: readonly string[] = []): PartPlace[] {
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_TIME);
  if (tree === null) return [];
  const found: PartPlace[] = [];
  let top = mappingIn(tree.topNode.getChild("Document") ?? tree.topNode);
  for (const key of box.flatMap((name) => ["systems", name, "system"])) top = mappingIn(pairsOf(state, top).find((pair) => pair.key === key)?.node ?? null);
  for (const section of pairsOf(state, top)) {
    if (!SECTIONS.includes(section.key)) continue;
    for (const part of pairsOf(state, mappingIn(section.node))) found.push({ section: section.key, name: part.key, from: part.node.from, to: part.node.to });
  }
  return found;
}

export function partAt(parts: readonly PartPlace[], place: number, state: EditorState): PartPlace | null {
  const inside = parts.find((part) => part.from <= place && place <= part.to);
  if (inside !== undefined) return inside;
  const line = state.doc.lineAt(place);
  return parts.find((part) => state.doc.lineAt(part.from).number === line.number) ?? null;
}

function mappingIn(node: SyntaxNode | null): SyntaxNode | null {
  return node === null ? null : node.getChild("BlockMapping") ?? node.getChild("FlowMapping");
}

function pairsOf(state: EditorState, mapping: SyntaxNode | null): { key: string; node: SyntaxNode }[] {
  if (mapping === null) return [];
  return mapping.getChildren("Pair").flatMap((node) => {
    const key = node.getChild("Key");
    return key === null ? [] : [{ key: state.sliceDoc(key.from, key.to).replace(/^["']|["']$/g, ""), node }];
  });
}
