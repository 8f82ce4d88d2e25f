// The tools "body" and "joint": two places are clicked or chosen by name, then the kind of joint and its axis.

import type { Vec3 } from "../../data/run_document";
import type { Choice, ChoiceBox } from "../palette/choice_box";
import { freeName } from "../canvas/spoken_names";
import type { CatalogueKind, Gesture, StudioContext } from "../studio_types";
import { axisWords, roundStep } from "./gizmo_math";
import type { PickedPlace } from "./place_types";
import { knownPlaces, pickPlace } from "./point_picker";
import type { StillStage } from "./still_stage";

export type JoinTool = "body" | "joint";

export interface JoinHost {
  readonly context: StudioContext;
  readonly stage: StillStage;
  readonly choices: ChoiceBox;
  /** What to do next; "" where nothing is under way. */
  hint(words: string): void;
  /** Places that were picked so far. */
  mark(places: readonly PickedPlace[]): void;
  /** The tool has done its work, or was ended. */
  ended(made: readonly string[]): void;
}

interface Axis {
  axis: string | Vec3;
}

const NO_JOINT = "\u0000none";
const TYPED = /^\s*([\w.]+)\s*(?:at\s*)?(?:[[(]\s*(.+?)\s*[\])])?\s*$/;

export class JoinTools {
  tool: JoinTool | null = null;
  private slots: (PickedPlace | null)[] = [];
  private wanted: (string | null)[] = []; // the bodies that places must be on, where they are known
  private readonly host: JoinHost;

  constructor(host: JoinHost) {
    this.host = host;
  }

  /**
   * Begins; with `byKeys` places are chosen from a list. `kind` is a joint that is known already, `sides` what it joins by
   * name: a frame is a place, of a body one is to be chosen.
   */
  start(tool: JoinTool, byKeys: boolean, kind?: CatalogueKind, sides: readonly (string | null)[] = []): void {
    this.tool = tool;
    this.slots = (tool === "joint" ? [0, 1] : [0]).map((k) => (sides[k]?.includes(".") === true ? this.named(sides[k]) : null));
    this.wanted = this.slots.map((slot, k) => (slot === null ? (sides[k] ?? null) : null));
    this.kind = kind;
    this.host.mark([]);
    if (byKeys || this.host.stage.view === null) void this.askPlaces();
    else this.host.hint(this.nextWords);
  }

  cancel(): void {
    this.tool = null;
    this.slots = [];
    this.host.mark([]);
    this.host.hint("");
  }

  /** A click on the picture. */
  click(x: number, y: number): void {
    if (this.tool === null) return;
    const place = this.pick(x, y);
    const wanted = this.wanted[this.next] ?? null;
    if (place === null) this.host.context.say(wanted === null ? "There is nothing to join here." : `This is not on ${wanted}. ${this.nextWords}`, "error");
    else this.take(place, [x, y]);
  }

  /** What a click would take, for the hint. */
  hover(x: number, y: number): void {
    const place = this.pick(x, y);
    this.host.mark(place === null ? this.picked : [...this.picked, place]);
    this.host.hint(place === null ? this.nextWords : `${this.nextWords} ${place.words}`);
  }

  private kind: CatalogueKind | undefined;

  /** The places that are known, in the order in which the joint has them. */
  private get picked(): PickedPlace[] {
    return this.slots.filter((slot) => slot !== null);
  }

  /** The side that is asked for; -1 where none is. */
  private get next(): number {
    return this.slots.indexOf(null);
  }

  /** The body of the other side, which a place must not be on. */
  private get other(): string {
    const k = 1 - this.next;
    return this.slots[k]?.body ?? this.wanted[k] ?? "";
  }

  private pick(x: number, y: number): PickedPlace | null {
    return pickPlace(this.host.stage, x, y, this.other, this.wanted[this.next] ?? "");
  }

  /** A frame by its name, where it is drawn. */
  private named(name: string): PickedPlace {
    const { header, view } = this.host.stage;
    const known = header === null || view === null ? undefined : knownPlaces(this.host.stage, header).find(({ side }) => side.frame === name);
    return known === undefined ? typedPlace(name) : { ...known, normal: null };
  }

  private get nextWords(): string {
    const wanted = this.wanted[this.next] ?? null;
    if (this.tool === "body") return "Click where the new body is joined: a frame, a point of a body, or the ground.";
    if (wanted !== null) return `Click the place of the joint on ${wanted}: a frame, or a point${wanted === "world" ? " of the ground" : ""}.`;
    return this.other === "" ? "Click the first place: a frame, a point of a body, or the ground." : "Click the second place, on another body.";
  }

  private take(place: PickedPlace, at?: [number, number]): void {
    const { next } = this;
    this.slots = this.slots.map((slot, k) => (k === next ? place : slot));
    this.host.mark(this.picked);
    if (this.next >= 0) this.host.hint(this.nextWords);
    else void this.finish(at);
  }

  // -- by keys -------------------------------------------------------------------------------------------------
  private async askPlaces(): Promise<void> {
    const { stage, choices } = this.host;
    while (this.next >= 0) {
      const { next, other } = this;
      const only = this.wanted[next] ?? null;
      const known = stage.header === null || stage.view === null ? [] : knownPlaces(stage, stage.header).filter((each) => each.body !== other && (only === null || each.body === only));
      const offered: Choice<PickedPlace>[] = known.map((each) => ({ value: { ...each, normal: null }, label: each.side.frame ?? each.side.body!, detail: each.words }));
      if (known.length === 0) offered.push({ value: { side: { body: "world" }, body: "world", words: "the world", point: [0, 0, 0], normal: null }, label: "world", detail: "origin of the world" });
      const title = this.tool === "body" ? "The new body is joined to" : next === 0 ? "The joint joins" : "and";
      const answer = await choices.ask<PickedPlace | null>({ title, choices: offered, typed: typedPlace, hint: "a frame, a body, or a place: arm [0.2, 0, 0]", none: "Nothing has this name." });
      if (answer === null) return this.end([]);
      this.slots = this.slots.map((slot, k) => (k === next ? answer : slot));
      this.host.mark(this.picked);
    }
    await this.finish();
  }

  // -- kind and axis -------------------------------------------------------------------------------------------
  private async finish(at?: [number, number]): Promise<void> {
    const { context, choices } = this.host;
    this.host.hint("");
    const joints = context.catalogue.kinds.filter((kind) => kind.section === "joints");
    const offered: Choice<string>[] = joints.map((kind) => ({ value: kind.kind, label: kind.title, detail: kind.words, words: kind.keywords.join(" "), symbol: kind.symbol }));
    if (this.tool === "body") offered.push({ value: NO_JOINT, label: "no joint yet", detail: "the body is drawn beside the others" });
    const kind = this.kind?.kind ?? (await choices.ask({ title: "Kind of joint", choices: offered, ...(at === undefined ? {} : { at }) }));
    if (kind === null) return this.end([]);
    const chosen = joints.find((each) => each.kind === kind);
    const hasAxis = chosen?.fields.some((field) => field.name === "axis") ?? false;
    const axis = hasAxis ? await this.askAxis(at) : null;
    if (hasAxis && axis === null) return this.end([]);
    const answer = await context.act(this.gesture(kind, axis));
    this.end(answer?.made ?? []);
  }

  private askAxis(at?: [number, number]): Promise<Axis | null> {
    const normal = this.picked[0]?.normal ?? null;
    const letters = ["x", "y", "z"].map((letter): Choice<Axis> => ({ value: { axis: letter }, label: letter, detail: `the ${letter} axis of ${this.picked[0]!.side.frame ?? this.picked[0]!.body}` }));
    const facing: Choice<Axis>[] = normal === null ? [] : [{ value: { axis: normal }, label: "across the surface", detail: `${axisWords(normal)}: the way the clicked surface faces` }];
    return this.host.choices.ask({ title: "Axis of the joint", choices: [...facing, ...letters], ...(at === undefined ? {} : { at }) });
  }

  private gesture(kind: string, axis: Axis | null): Gesture {
    const { context, stage } = this.host;
    const [a, b] = this.picked;
    const more = axis === null ? {} : { axis: axis.axis };
    if (this.tool === "joint") return { do: "join", kind, a: a!.side, b: b!.side, ...more };
    const boxes = context.document.sketch.boxes.map((box) => box.name);
    const name = freeName({ kind: "body" }, context.document.text, boxes);
    const length = stage.header === null ? 0.4 : Number((4 * roundStep(stage.header.size / 4)).toPrecision(1));
    const add: Gesture = { do: "add", kind: "body", name, fields: bodyFields(length) };
    if (kind === NO_JOINT) return add;
    return { do: "all", gestures: [add, { do: "join", kind, a: a!.side, b: { body: name }, ...more }] };
  }

  private end(made: readonly string[]): void {
    this.cancel();
    this.host.ended(made);
  }
}

/** A bar along x that begins at its origin, with a frame at its end. */
export function bodyFields(length: number): Record<string, string> {
  const short = (value: number): string => String(Number(value.toPrecision(3)));
  const thick = short(length / 8);
  return { shape: `{box: {x: ${short(length)} m, y: ${thick} m, z: ${thick} m, mass: 1 kg, at: [${short(length / 2)} m, 0, 0]}}`, frames: `{tip: [${short(length)} m, 0, 0]}` };
}

/** A place as it is typed: arm.tip, arm, or arm [0.2, 0, 0]; what it is not the server says. */
export function typedPlace(text: string): PickedPlace {
  const [, name = text.trim(), list] = TYPED.exec(text) ?? [];
  const at = list?.split(",").map(Number);
  const body = name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : name;
  const side = at !== undefined ? { body: name, at: at as Vec3 } : name.includes(".") ? { frame: name } : { body: name };
  return { side, body, words: text, point: [0, 0, 0], normal: null };
}
