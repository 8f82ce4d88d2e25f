// What becomes of a loose end: a link to a port, a wire, a field that reads a signal, a reference, or a new part.

import type { PortPlace } from "../../messages";
import { kindChoices, type Addition } from "../palette/kind_choices";
import type { Choice } from "../palette/choice_box";
import type { CatalogueKind, ConnectTarget, Gesture } from "../studio_types";
import type { CanvasHost } from "./canvas_host";
import { asksForJoint, fittingPort, looseEnd, referencesFor, whyNot, type LooseEnd } from "./connect_rules";
import { askWhere, asksFor, withPlaces } from "./place_fields";
import type { Point } from "./route_types";
import { freeName, portName } from "./spoken_names";
import { snapToGrid } from "./canvas_model";

export type ConnectGoal =
  | { kind: "port"; place: PortPlace }
  | { kind: "link"; name: string }
  | { kind: "box"; name: string }
  | { kind: "empty"; at: Point };

const LAWS = new Set(["law", "laws", "laws_per_coordinate", "input_laws", "named_laws"]);

export async function connectTo(host: CanvasHost, from: LooseEnd, goal: ConnectGoal, reasons: ReadonlyMap<string, string>): Promise<void> {
  if (goal.kind === "link") return connect(host, from, { link: goal.name });
  if (goal.kind === "box") return connectToBox(host, from, goal.name, reasons);
  if (goal.kind === "empty") return offerParts(host, from, goal.at);
  const box = host.model.boxes.get(goal.place.component);
  const port = host.model.port(goal.place);
  if (box !== undefined && port !== null && asksForJoint(from, looseEnd(box, port))) return offerJoints(host, from, box.name);
  return connect(host, from, goal.place);
}

async function connect(host: CanvasHost, from: LooseEnd, to: ConnectTarget): Promise<void> {
  await host.act({ do: "connect", from: from.place, to });
}

/** A port of the box that fits; where there are several, or fields that take a law, the user chooses. */
async function connectToBox(host: CanvasHost, from: LooseEnd, name: string, reasons: ReadonlyMap<string, string>): Promise<void> {
  const box = host.model.boxes.get(name)!;
  const first = box.ports[0];
  if (box.role === "SB" && from.role === "SB" && first !== undefined) return offerJoints(host, from, name);
  const ports = box.ports.filter((port) => (reasons.get(`${name}:${port.name}`) ?? whyNot(from, looseEnd(box, port))) === "");
  const choices: Choice<PortPlace>[] = ports.map((port) => ({ value: { component: name, port: port.name }, label: port.name, detail: portName(box, port) }));
  if (from.kind === "information" && from.out) choices.push(...lawFields(host, box.kind, box.owner, new Set(ports.map((port) => port.name))));
  if (choices.length === 0) return host.context.say(`No port of ${name} fits: ${reasons.get(`${name}:${first?.name ?? ""}`) || "it has none"}`, "error");
  // A body takes any number of links; its ports are one place.
  const only = choices.length === 1 || box.role === "SB" ? choices[choices.length - 1]!.value : null;
  const place = only ?? (await host.choices.ask({ title: `Connect ${from.place.component}.${from.place.port} to`, choices, at: host.window.pixels(host.model.at(name)) }));
  host.focusSheet();
  if (place !== null) await connect(host, from, place);
}

function lawFields(host: CanvasHost, kind: string, owner: string, known: ReadonlySet<string>): Choice<PortPlace>[] {
  const fields = host.context.catalogue.kinds.find((each) => each.kind === kind)?.fields ?? [];
  return fields.filter((field) => LAWS.has(field.shape ?? "") && !known.has(field.name)).map((field) => ({
    value: { component: owner, port: field.name }, label: field.name, detail: field.doc,
  }));
}

type Offer = { reference: string } | { addition: Addition };

/** Ground and world, and all kinds with a port that fits; a new part is connected. */
async function offerParts(host: CanvasHost, from: LooseEnd, at: Point): Promise<void> {
  if (from.kind === "vector" && from.role === "SB") return offerJoints(host, from, null, at);
  const references = referencesFor(from).map((reference): Choice<Offer> => ({ value: { reference }, label: reference, detail: reference === "gnd" ? "ground of the circuit" : "the base: it does not move" }));
  const near = (choice: Choice<Addition>): number => Number("kind" in choice.value && choice.value.kind.domain !== from.domain);
  const fitting = kindChoices(host.context.catalogue, (kind) => fittingPort(kind, from) !== null).sort((a, b) => near(a) - near(b));
  const kinds = fitting.map((choice): Choice<Offer> => ({ ...choice, value: { addition: choice.value } }));
  const answer = await host.choices.ask({ title: `Connect ${from.place.component}.${from.place.port} to a new part`, choices: [...references, ...kinds], at: host.window.pixels(at) });
  host.focusSheet();
  if (answer === null) return;
  if ("reference" in answer) return connect(host, from, { reference: answer.reference });
  if ("kind" in answer.addition) await addConnected(host, answer.addition.kind, from, at);
}

/** A new part of a kind, connected to a loose end: one step. */
export async function addConnected(host: CanvasHost, kind: CatalogueKind, from: LooseEnd, at: Point): Promise<void> {
  const port = fittingPort(kind, from)!;
  const name = freeName(kind, host.context.document.text, host.model.boxes.keys());
  const asks = asksFor(kind).filter((ask) => ask.field !== port.name);
  const own = kind.section === "bodies" ? null : asksFor(kind).find((ask) => ask.field === port.name);
  const places = await withPlaces(host, kind, asks, own === undefined || own === null ? {} : { [own.field]: from.place.component }, true);
  if (places === null) return;
  const add: Gesture = { do: "add", kind: kind.kind, name, at: snapToGrid(at), ...(Object.keys(places.fields).length > 0 ? { fields: places.fields } : {}) };
  const linked = own !== undefined && own !== null;
  const connection: Gesture = { do: "connect", from: from.place, to: { component: name, port: port.name } };
  await host.act({ do: "all", gestures: [...places.before, add, ...(linked ? [] : [connection])] });
}

/** A joint, constraint or spring between two bodies; without a second one it is asked for. */
async function offerJoints(host: CanvasHost, from: LooseEnd, to: string | null, at: Point | null = null): Promise<void> {
  const kinds = kindChoices(host.context.catalogue, (kind) => asksFor(kind).filter((ask) => ask.shape === "frame").length > (to === null ? 0 : 1));
  const title = to === null ? `What acts on ${from.place.component}?` : `What goes between ${from.place.component} and ${to}?`;
  const [a, b] = [host.model.at(from.place.component), to === null ? (at ?? host.pointer) : host.model.at(to)];
  const middle: Point = to === null ? b : [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const answer = await host.choices.ask({ title, choices: kinds, at: host.window.pixels(middle) });
  host.focusSheet();
  if (answer === null || !("kind" in answer)) return;
  const asks = asksFor(answer.kind);
  const given: Record<string, string> = { [asks[0]!.field]: from.place.component };
  if (to !== null && asks[1] !== undefined) given[asks[1].field] = to;
  const places = await withPlaces(host, answer.kind, asks.filter((ask) => !(ask.field in given)), given, true);
  if (places === null) return;
  const where = to === null ? "" : await askWhere(host, answer.kind, given);
  if (where === null) return;
  const add: Gesture = { do: "add", kind: answer.kind.kind, at: snapToGrid(middle), fields: { ...places.fields, ...(where === "" ? {} : { at: where }) } };
  await host.act(places.before.length === 0 ? add : { do: "all", gestures: [...places.before, add] });
}

// -- by keys ------------------------------------------------------------------------------------------
/** Asks for a port of the chosen part, then for what it is connected to. */
export async function connectByKeys(host: CanvasHost, name: string): Promise<void> {
  const box = host.model.boxes.get(name);
  if (box === undefined) return;
  if (box.ports.length === 0) return host.context.say(`${name} has no port.`, "error");
  const beside = host.window.pixels([host.model.at(name)[0] + box.size[0] / 2 + 10, host.model.at(name)[1]]);
  const ports = box.ports.map((port): Choice<string> => ({ value: port.name, label: port.name, detail: portName(box, port) }));
  const port = ports.length === 1 ? ports[0]!.value : await host.choices.ask({ title: `Which port of ${name}?`, choices: ports, at: beside, active: (each) => host.boxes.markPorts(each === null ? null : new Map([[`${name}:${each}`, ""]])) });
  if (port === null) return host.focusSheet();
  const from = looseEnd(box, box.ports.find((each) => each.name === port)!);
  const target = await askTarget(host, from, beside);
  host.focusSheet();
  if (target === null) return;
  if ("goal" in target) await connectTo(host, from, target.goal, new Map());
  else await connect(host, from, target);
}

type Target = { goal: ConnectGoal } | { reference: string };

async function askTarget(host: CanvasHost, from: LooseEnd, at: Point): Promise<Target | null> {
  const targets = await host.context.document.canConnect(from.place).catch((): Record<string, string> => ({}));
  const choices: Choice<Target>[] = referencesFor(from).map((reference) => ({ value: { reference }, label: reference, detail: reference === "gnd" ? "ground" : "the base" }));
  for (const box of host.model.boxes.values()) {
    for (const port of box.ports) {
      const why = targets[`${box.name}:${port.name}`] ?? whyNot(from, looseEnd(box, port));
      const place = { component: box.name, port: port.name };
      if (box.name === from.place.component && port.name === from.place.port) continue;
      choices.push({ value: { goal: { kind: "port", place } }, label: `${box.name}.${port.name}`, detail: portName(box, port), ...(why === "" ? {} : { off: why }) });
    }
    if (from.kind === "information" && from.out && box.name !== from.place.component) {
      choices.push({ value: { goal: { kind: "box", name: box.name } }, label: box.name, detail: "a field that takes a law" });
    }
  }
  for (const link of host.model.links.values()) {
    if (link.kind !== "energy" || from.kind !== "energy" || link.label === "") continue;
    if (from.domain === "" || link.domain === "" || link.domain === from.domain) choices.push({ value: { goal: { kind: "link", name: link.name } }, label: link.label, detail: "node" });
  }
  choices.push({ value: { goal: { kind: "empty", at: host.pointer } }, label: "a new part", detail: "choose one that fits" });
  choices.sort((a, b) => Number(a.off !== undefined) - Number(b.off !== undefined));
  const show = (value: Target | null): void => {
    const goal = value !== null && "goal" in value ? value.goal : null;
    host.boxes.markPorts(goal?.kind === "port" ? new Map([[`${goal.place.component}:${goal.place.port}`, ""]]) : null);
  };
  return host.choices.ask({ title: `Connect ${from.place.component}.${from.place.port} to`, choices, at, active: show });
}
