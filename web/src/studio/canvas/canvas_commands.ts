// What is done with the chosen parts: delete, duplicate, copy, paste, rename, align, find.

import type { SketchBox, SketchLink } from "../../messages";
import type { Choice } from "../palette/choice_box";
import { libraryChoices } from "../library/library_choices";
import { type Addition, groupChoices, kindChoices } from "../palette/kind_choices";
import type { Gesture } from "../studio_types";
import { align, type AlignWay } from "./alignment";
import type { CanvasHost } from "./canvas_host";
import { snapToGrid, type CanvasModel } from "./canvas_model";
import { editName } from "./name_editor";
import { GRID, type Point } from "./route_types";
import { boxName, linkName } from "./spoken_names";

// -- delete -------------------------------------------------------------------------------------------
/** What takes boxes and links away: a source or an effect of a joint is a field of it. */
export function deletion(boxes: readonly SketchBox[], link: SketchLink | null, model: CanvasModel): Gesture | null {
  const names = [...new Set(boxes.filter((box) => box.name === box.owner).map((box) => box.name))];
  const gestures: Gesture[] = boxes.filter((box) => box.name !== box.owner && !names.includes(box.owner))
    .map((box) => ({ do: "set", name: box.owner, path: [box.name.slice(box.owner.length + 1)], value: null }));
  if (names.length > 0) gestures.push({ do: "delete", names });
  if (link !== null) gestures.push(...cuts(link, model));
  return gestures.length > 1 ? { do: "all", gestures } : (gestures[0] ?? null);
}

/** The ends that are disconnected to take a link away: those that read, those of joints, all but one of a node. */
function cuts(link: SketchLink, model: CanvasModel): Gesture[] {
  const ends = link.ends.filter((end) => {
    const port = model.port(end);
    if (link.kind === "information") return port?.out === false;
    return link.kind !== "vector" || model.boxes.get(end.component)?.role !== "SB";
  });
  const named = ends.filter((end) => (model.port(end)?.field ?? []).length > 0);
  const own = named.length > 0 ? named : ends;
  const cut = link.kind === "energy" && own.length === link.ends.length ? own.slice(1) : own;
  return cut.map((end) => ({ do: "disconnect", component: end.component, port: end.port }));
}

export async function deleteChosen(host: CanvasHost): Promise<void> {
  const boxes = [...host.chosen].flatMap((name) => host.model.boxes.get(name) ?? []);
  const link = host.chosenLink === null ? null : (host.model.links.get(host.chosenLink) ?? null);
  const gesture = deletion(boxes, link, host.model);
  if (gesture === null) return host.context.say("Nothing is selected.");
  host.focusSheet();
  if ((await host.act(gesture)) !== null) host.chooseLink(null);
}

// -- copy ---------------------------------------------------------------------------------------------
let copied = ""; // where the clipboard is not allowed

/** Names of whole components among the chosen boxes. */
function chosenOwners(host: CanvasHost): string[] {
  return [...new Set([...host.chosen].flatMap((name) => host.model.boxes.get(name)?.owner ?? []))];
}

export async function copyChosen(host: CanvasHost): Promise<boolean> {
  const names = chosenOwners(host);
  if (names.length === 0) {
    host.context.say("Nothing is selected.");
    return false;
  }
  try {
    copied = await host.context.document.copy(names);
  } catch (error) {
    host.context.say(String(error instanceof Error ? error.message : error), "error");
    return false;
  }
  await navigator.clipboard?.writeText(copied).catch(() => undefined);
  host.context.say(`Copied: ${names.join(", ")}`);
  return true;
}

export async function pasteText(host: CanvasHost, text: string): Promise<void> {
  const given = text.trim() === "" ? copied : text;
  if (given.trim() === "") return host.context.say("The clipboard holds no part.");
  await host.act({ do: "paste", text: given, at: freePlace(host.model, host.pointer) });
}

export async function duplicateChosen(host: CanvasHost): Promise<void> {
  const names = chosenOwners(host);
  if (names.length === 0) return host.context.say("Nothing is selected.");
  await host.act({ do: "duplicate", names, at: placeOfCopies(host) });
}

/** Where the first of the copies stands, so that all of them stand free. */
function placeOfCopies(host: CanvasHost): Point {
  const [left, top, width, height] = host.model.extent(host.chosen)!;
  const middles = [...host.chosen].map((name) => host.model.at(name));
  const first: Point = [Math.min(...middles.map(([x]) => x)), Math.min(...middles.map(([, y]) => y))];
  const middle: Point = [left + width / 2, top + height / 2];
  const place = freePlace(host.model, [middle[0] + 4 * GRID, middle[1] + 4 * GRID], [width, height]);
  return snapToGrid([first[0] + place[0] - middle[0], first[1] + place[1] - middle[1]]);
}

// -- rename -------------------------------------------------------------------------------------------
/** The name of the focused part, or of the chosen node, edited where it stands. */
export async function renameChosen(host: CanvasHost): Promise<void> {
  const link = host.chosenLink === null ? undefined : host.model.links.get(host.chosenLink);
  const last = [...host.chosen].pop();
  const box = last === undefined ? undefined : host.model.boxes.get(last);
  const name = link?.label || box?.owner;
  if (!name) return host.context.say("Select a part or a node to rename.");
  const at: Point = link === undefined ? host.model.at(box!.name) : (host.model.lines.get(link.name)?.path[0]?.[0] ?? [0, 0]);
  const to = await editName(host, name, at);
  host.focusSheet();
  if (to === null || to === name) return;
  await host.act({ do: "rename", name, to });
}

// -- places -------------------------------------------------------------------------------------------
export function alignChosen(host: CanvasHost, way: AlignWay): void {
  const parts = [...host.chosen].map((name) => ({ name, at: host.model.at(name), size: host.model.boxes.get(name)!.size }));
  if (parts.length < 2) return host.context.say("Select two parts or more to align them.");
  const places = align(parts, way);
  if (Object.keys(places).length > 0) host.move(places);
}

export function nudge(host: CanvasHost, [dx, dy]: Point): void {
  if (host.chosen.size === 0 || host.context.readOnly) return;
  host.move(Object.fromEntries([...host.chosen].map((name) => [name, [host.model.at(name)[0] + dx * GRID, host.model.at(name)[1] + dy * GRID] as Point])));
}

const ROOM: Point = [6 * GRID, 4 * GRID]; // between a new part and others: wires turn there, and names stand there

const BESIDE: Point = [2 * GRID, 2 * GRID]; // where a person has chosen the place
const NOBODY: ReadonlySet<string> = new Set();

/** Where a part is set that is dropped at a place: there, or beside the part that stands there. */
export function placeOfDrop(model: CanvasModel, at: Point, size: readonly [number, number] = [40, 40], own: ReadonlySet<string> = NOBODY): Point {
  return freePlace(model, at, size, BESIDE, own);
}

/** A place near another at which no part stands. */
export function freePlace(model: CanvasModel, near: Point, size: readonly [number, number] = [60, 60], room = ROOM, own: ReadonlySet<string> = NOBODY): Point {
  const [x, y] = snapToGrid(near);
  const isFree = ([px, py]: Point): boolean => [...model.boxes.values()].every((box) => {
    const [bx, by] = model.at(box.name);
    return own.has(box.name) || Math.abs(bx - px) >= (box.size[0] + size[0]) / 2 + room[0] || Math.abs(by - py) >= (box.size[1] + size[1]) / 2 + room[1];
  });
  for (let ring = 0; ring < 40; ring++) {
    for (let turn = 0; turn < Math.max(1, 8 * ring); turn++) {
      const angle = (2 * Math.PI * turn) / Math.max(1, 8 * ring);
      const place = snapToGrid([x + 4 * GRID * ring * Math.cos(angle), y + 4 * GRID * ring * Math.sin(angle)]);
      if (isFree(place)) return place;
    }
  }
  return [x, y];
}

// -- searches -----------------------------------------------------------------------------------------
/** The quick search for a part to add, at the pointer. */
export async function searchParts(host: CanvasHost, at: Point, byKeys: boolean): Promise<void> {
  const { catalogue } = host.context;
  const choices: Choice<Addition>[] = [...kindChoices(catalogue), ...groupChoices(catalogue), ...libraryChoices(catalogue)];
  const answer = await host.choices.ask({ title: "Add a part", choices, at: host.window.pixels(at), none: "No part has this name." });
  host.focusSheet();
  if (answer !== null) await host.add(answer, freePlace(host.model, at), byKeys);
}

export async function findPart(host: CanvasHost): Promise<void> {
  type Found = { box: string } | { link: string };
  const boxes = [...host.model.boxes.values()].map((box): Choice<Found> => ({ value: { box: box.name }, label: box.name, detail: boxName(box), words: box.kind }));
  const links = [...host.model.links.values()].map((link): Choice<Found> => ({ value: { link: link.name }, label: link.label || link.name, detail: linkName(link) }));
  const found = await host.choices.ask({ title: "Find", choices: [...boxes, ...links] });
  host.focusSheet();
  if (found === null) return;
  if ("box" in found) {
    host.choose([found.box], { focus: true });
    host.window.reveal(host.model.at(found.box));
  } else host.chooseLink(found.link);
}
