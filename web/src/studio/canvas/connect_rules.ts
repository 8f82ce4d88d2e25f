// Which ports fit each other, by kind of link and domain: what the page knows at once, before the server has answered.

import type { PortPlace, SketchBox, SketchPort } from "../../messages";
import type { CatalogueKind, CataloguePort } from "../studio_types";

/** What is known of an end of a link that is to be made. */
export interface LooseEnd {
  place: PortPlace;
  role: string; // of its component
  kind: CataloguePort["kind"];
  domain: string;
  out: boolean;
}

export function looseEnd(box: SketchBox, port: SketchPort): LooseEnd {
  return { place: { component: box.name, port: port.name }, role: box.role, kind: port.kind, domain: port.domain, out: port.out };
}

const KIND_WORDS = { vector: "a vector link (motion and load of a body)", energy: "an energy link", information: "information" } as const;

/** Why two ends cannot be connected; an empty text: they fit. */
export function whyNot(from: LooseEnd, to: LooseEnd): string {
  if (from.place.component === to.place.component && from.place.port === to.place.port) return "This is the same port.";
  if (from.kind !== to.kind) return `${say(from)} carries ${KIND_WORDS[from.kind]}, ${say(to)} ${KIND_WORDS[to.kind]}.`;
  if (from.kind === "information") {
    if (from.out && to.out) return "Both give a signal; one must read it.";
    return !from.out && !to.out ? "Both read a signal; one must give it." : "";
  }
  if (from.kind === "vector") {
    const bodies = [from, to].filter((end) => end.role === "SB").length;
    if (bodies === 2) return from.place.component === to.place.component ? "A body cannot be connected to itself." : "";
    return bodies === 1 ? "" : "A vector link leads to a body: connect both to the body between them.";
  }
  if (from.domain === "" || to.domain === "") return "";
  const shared = from.domain.split(", ").some((domain) => to.domain.split(", ").includes(domain));
  return shared ? "" : `${say(from)} is ${from.domain}, ${say(to)} is ${to.domain}.`;
}

/** Whether two ends are two bodies: a joint goes between them. */
export function asksForJoint(from: LooseEnd, to: LooseEnd): boolean {
  return from.kind === "vector" && from.role === "SB" && to.role === "SB" && from.place.component !== to.place.component;
}

function say(end: LooseEnd): string {
  return `${end.place.component}.${end.place.port}`;
}

/** The port of a kind that a loose end would be connected to; null if none fits. */
export function fittingPort(kind: CatalogueKind, from: LooseEnd): CataloguePort | null {
  const role = kind.section === "bodies" ? "SB" : "";
  const fits = (port: CataloguePort): boolean =>
    whyNot(from, { place: { component: "", port: port.name }, role, kind: port.kind, domain: port.domain, out: port.out ?? false }) === "";
  if (from.kind === "vector" && from.role === "SB" && role === "SB") return null; // that is a joint's work
  const ofJoint = new Set(kind.fields.filter((field) => field.shape === "joint").map((field) => field.name));
  const open = kind.ports.filter((port) => from.role === "KN" || !ofJoint.has(port.name));
  return open.find((port) => port.domain !== "" && fits(port)) ?? open.find(fits) ?? null;
}

/** The reference nodes that a port may be connected to. */
export function referencesFor(from: LooseEnd): string[] {
  if (from.kind === "information" || from.role === "SB") return [];
  if (from.role === "KN" && from.kind === "energy") return []; // a freedom that is held is no freedom
  if (from.kind === "vector") return ["world"];
  return from.domain === "electrical" ? ["gnd"] : ["rotational", "translational"].includes(from.domain) ? ["world"] : ["gnd", "world"];
}
