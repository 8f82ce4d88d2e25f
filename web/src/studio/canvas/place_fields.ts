// What a new part stands between: the bodies, frames or joints of its required fields, asked for one after the other.

import type { Choice } from "../palette/choice_box";
import type { CatalogueKind, Gesture } from "../studio_types";
import type { CanvasHost } from "./canvas_host";
import { pickOnCanvas } from "./place_picker";
import { freeName } from "./spoken_names";

export interface PlaceAsk {
  field: string;
  shape: "frame" | "joint";
  words: string;
}

/** The fields of a kind that name a place in the mechanism. */
export function asksFor(kind: CatalogueKind): PlaceAsk[] {
  return kind.fields.filter((field) => field.required && (field.shape === "frame" || field.shape === "joint"))
    .map((field): PlaceAsk => ({ field: field.name, shape: field.shape === "joint" ? "joint" : "frame", words: field.doc.split(/[:;]/)[0]! }));
}

export interface GivenPlaces {
  fields: Record<string, string>;
  before: Gesture[]; // bodies that are made along
}

const MOST_FRAMES = 6; // that have a button beside the question; the list has all
const NEW_BODY = "\u0000new body";
const IN_3D = "\u0000in 3D";
/** Asks the page to go on with a joint in 3D, where its places are clicked. */
export const JOIN_EVENT = "kinode-studio-join";

/** What that event carries: the kind of joint, and what it joins as far as that is chosen. */
export interface JoinIn3d {
  kind: CatalogueKind;
  sides: (string | null)[];
}

/** Asks for the places of a kind; null: it was ended. The two sides of a joint are its field `between`. */
export async function withPlaces(host: CanvasHost, kind: CatalogueKind, asks: PlaceAsk[], given: Record<string, string>, byKeys: boolean): Promise<GivenPlaces | null> {
  const places = { ...given };
  const before: Gesture[] = [];
  const text = (): string => `${host.context.document.text} ${Object.values(places).join(" ")}`;
  for (const ask of asks) {
    const answer = await askPlace(host, kind, ask, places, byKeys, before.length === 0);
    if (answer === null) return null;
    if (answer === IN_3D) {
      joinIn3d(host, kind, places);
      return null;
    }
    if (answer === NEW_BODY) {
      const name = freeName({ kind: "body" }, text(), host.model.boxes.keys());
      before.push({ do: "add", kind: "body", name });
      places[ask.field] = name;
    } else places[ask.field] = answer;
  }
  if (kind.section !== "joints") return { fields: places, before };
  const sides = asksFor(kind).map((ask) => places[ask.field] ?? "world");
  return { fields: { between: `[${sides.join(", ")}]` }, before };
}

function joinIn3d(host: CanvasHost, kind: CatalogueKind, places: Record<string, string>): void {
  const detail: JoinIn3d = { kind, sides: asksFor(kind).map((ask) => places[ask.field] ?? null) };
  host.context.root.dispatchEvent(new CustomEvent(JOIN_EVENT, { detail }));
}

/** Where a joint of two bodies is: its field `at`, "" for their origins; null: it was ended, or goes on in 3D. */
export async function askWhere(host: CanvasHost, kind: CatalogueKind, places: Record<string, string>): Promise<string | null> {
  const bodies = asksFor(kind).map((ask) => places[ask.field] ?? "world");
  if (kind.section !== "joints" || !kind.fields.some(({ name }) => name === "at") || bodies.some((name) => name.includes("."))) return "";
  const choices: Choice<string>[] = [{ value: "", label: "at the origins", detail: `the origins of ${bodies.join(" and ")} are one point` }];
  if (host.context.document.box.length === 0) choices.push({ value: IN_3D, label: "pick in 3D", detail: "click a frame or a point of each body" });
  const answer = await host.choices.ask({ title: "Where is the joint?", choices, typed: (text) => text.trim(), hint: "or a point in the axes of both: [0.2, 0, 0]", none: "Enter takes this point." });
  if (answer === IN_3D) joinIn3d(host, kind, places);
  host.focusSheet();
  return answer === IN_3D ? null : answer;
}

async function askPlace(host: CanvasHost, kind: CatalogueKind, ask: PlaceAsk, taken: Record<string, string>, byKeys: boolean, in3d: boolean): Promise<string | null> {
  const role = ask.shape === "frame" ? "SB" : "KN";
  const names = [...host.model.boxes.values()].filter((box) => box.role === role).map((box) => box.name);
  const used = new Set(Object.values(taken));
  if (ask.shape === "joint" && names.length === 0) {
    host.context.say(`A ${kind.title} acts in a joint: draw one first.`, "error");
    return null;
  }
  const choices: Choice<string>[] = names.map((name) => ({ value: name, label: name, detail: ask.shape === "frame" ? "body" : "joint", ...(used.has(name) ? { off: "chosen already" } : {}) }));
  if (ask.shape === "frame") {
    if (!used.has("world")) choices.unshift({ value: "world", label: "world", detail: "the base: it does not move" });
    choices.push({ value: NEW_BODY, label: "a new body", detail: "is drawn along" });
    if (in3d && kind.section === "joints" && host.context.document.box.length === 0) choices.push({ value: IN_3D, label: "pick in 3D", detail: "click a frame, a point of a body, or the ground" });
  }
  const frames = ask.shape === "frame" ? await knownFrames(host, used) : [];
  const title = `${kind.title}: ${ask.words || ask.field}`;
  const list = (): Promise<string | null> => host.choices.ask({ title, choices: [...choices, ...frames], typed: (name) => name, ...(ask.shape === "frame" ? { hint: "a body, or a frame: arm.tip" } : {}), none: "Nothing has this name; frames can be typed." });
  const answer = byKeys ? await list() : await pickOnCanvas(host, title, role, [...choices, ...frames.slice(0, MOST_FRAMES)], list);
  host.focusSheet();
  return answer;
}

/** The named frames of all bodies but those that are chosen already. */
async function knownFrames(host: CanvasHost, used: ReadonlySet<string>): Promise<Choice<string>[]> {
  try {
    const { frames } = await host.context.document.ask("place_frames");
    const bodies = new Set([...used].map((name) => (name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : name)));
    return (frames ?? []).filter(({ body }) => !bodies.has(body)).map(({ name, body }) => ({ value: name, label: name, detail: `a frame of ${body}` }));
  } catch {
    return []; // they can be typed
  }
}
