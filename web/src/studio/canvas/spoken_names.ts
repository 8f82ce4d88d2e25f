// What screen readers say of parts, ports and links.

import type { SketchBox, SketchLink, SketchPort } from "../../messages";
import type { CatalogueKind } from "../studio_types";

const ROLES: Record<string, string> = { SB: "body", KN: "joint", E: "source", DC: "dynamic component", signal: "signal", part: "part" };
const KINDS = { vector: "vector link", energy: "energy link", information: "information" } as const;

/** What a closed box holds. */
export function insideWords({ file, count }: { file: string; count: number }): string {
  return `${file === "" ? `${count} parts inside` : `from the file ${file}`}, Enter opens it`;
}

export function boxName(box: SketchBox, chosen = false): string {
  const kind = box.kind.replaceAll("_", " ");
  const role = ROLES[box.role] ?? "part";
  const open = box.ports.filter((port) => port.open && box.role !== "SB").length;
  const parts = [box.name, kind === role || box.role === "part" ? kind : `${kind}, ${role}`, box.value];
  if (open > 0) parts.push(open === 1 ? "one open port" : `${open} open ports`);
  if (box.broken !== null) parts.push(box.broken);
  if (box.inside != null) parts.push(insideWords(box.inside));
  if (chosen) parts.push("selected");
  return parts.filter((part) => part !== "").join(", ");
}

export function portName(box: SketchBox, port: SketchPort): string {
  const outside = port.edge ? `, connected outside to ${port.edge}` : "";
  const what = port.kind === "information" ? (port.out ? "gives a signal" : "reads a signal") : [port.domain, KINDS[port.kind]].filter((word) => word !== "").join(" ");
  const where = port.reference !== "" ? `, connected to ${port.reference}` : port.open ? ", open" : "";
  const kind = box.kind.replaceAll("_", " "); // so that a list of ports finds a part by what it is
  const of = kind === "" || kind === box.name || box.role === "SB" ? box.name : `${box.name} (${kind})`;
  return `port ${port.name} of ${of}, ${what}${outside || where}`;
}

export function linkName(link: SketchLink): string {
  const ends = link.ends.map((end) => `${end.component} ${end.port}`).join(", ");
  const name = link.label === "" ? "" : ` ${link.label}`;
  return `${[link.domain, KINDS[link.kind]].filter((word) => word !== "").join(" ")}${name}: ${ends}`;
}

/** A free name for a new part of a kind: no word of the text, and no name on the canvas. */
export function freeName(kind: Pick<CatalogueKind, "kind">, text: string, names: Iterable<string>): string {
  const taken = new Set([...(text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []), ...names]);
  if (!taken.has(kind.kind)) return kind.kind;
  for (let k = 2; ; k++) if (!taken.has(`${kind.kind}_${k}`)) return `${kind.kind}_${k}`;
}
