// Triads of what can be placed, and the handles that move or turn the active one, drawn over the 3D picture.

import type { PlaceData } from "../../messages";
import type { Quat, Vec3 } from "../../data/run_document";
import { draw } from "../../live/svg";
import { add, dot, rotate } from "../../scene/math/vectors";
import { axisOnScreen, axisTravel, circle, facingPair, planeTravel, ringTurn, roundStep, type ScreenPoint, snap, turnedRpy } from "./gizmo_math";
import { AXIS_HANDLE, axisHandle, axisKeys, putAxis, turnAxis } from "./axis_arrow";
import type { Placing } from "./placing";
import type { StillStage } from "./still_stage";

const LETTERS = ["x", "y", "z"] as const;
const ARM = 74; // pixels
const TRIAD = 22;
const AXIS_ARM = 96;
const DEGREE = Math.PI / 180;
const COARSE = 1e-3; // m

export type GizmoMode = "move" | "turn";

export interface GizmoHost {
  readonly canChange: boolean;
  chose(place: PlaceData): void;
  /** While it is dragged. */
  moves(placing: Placing): void;
  /** It was let go, or a key moved it. */
  placed(placing: Placing): void;
  cancelled(): void;
}

interface Drag {
  handle: number | "plane";
  from: ScreenPoint;
  place: PlaceData;
  at: Vec3; // where it was in the world, with its axes: the body itself may move while its numbers change
  axes: Vec3[];
  turn: Quat; // of its own axes
  last: Placing | null;
}

export class GizmoLayer {
  readonly element = draw("svg", { class: "gizmo-layer" });
  mode: GizmoMode = "move";
  active: string | null = null;
  private places: PlaceData[] = [];
  private drag: Drag | null = null;
  private readonly stage: StillStage;
  private readonly host: GizmoHost;

  constructor(stage: StillStage, host: GizmoHost) {
    this.stage = stage;
    this.host = host;
    this.element.addEventListener("pointerdown", (event) => this.down(event));
    this.element.addEventListener("pointermove", (event) => this.move(event));
    this.element.addEventListener("pointerup", (event) => this.up(event, true));
    this.element.addEventListener("pointercancel", (event) => this.up(event, false));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => this.choose(event.target as Element));
  }

  get dragging(): boolean {
    return this.drag !== null;
  }

  get activePlace(): PlaceData | null {
    return this.places.find((place) => keyOf(place) === this.active) ?? null;
  }

  setPlaces(places: PlaceData[]): void {
    this.places = places;
    if (this.active !== null && this.activePlace === null) this.active = null;
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as SVGElement).dataset["id"] : undefined;
    this.build();
    if (focused !== undefined) this.element.querySelector<SVGElement>(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Puts everything where the picture has it. */
  reposition(): void {
    const { view } = this.stage;
    if (view === null || view.pictures === 0) return; // before the first picture nothing has a place on the screen
    for (const place of this.places) this.putTriad(place);
    const active = this.activePlace;
    if (active !== null) this.putHandles(active);
  }

  // -- drawing ---------------------------------------------------------------------------------------------
  private build(): void {
    const parts = this.places.map((place) => {
      const id = keyOf(place);
      const active = id === this.active;
      const words = `${wordsOf(place)}${place.off === "" ? "" : `: ${place.off}`}`;
      const mark = place.kind === "center" ? draw("circle", { r: 6 }) : draw("rect", { x: -5, y: -5, width: 10, height: 10 });
      return draw("g", { class: `place-mark ${place.kind}${active ? " active" : ""}${place.off === "" ? "" : " fixed"}`, "data-id": id, tabindex: "0", role: "button", "aria-pressed": String(active), "aria-label": words },
        draw("title", {}, words), ...(place.kind === "center" ? [] : LETTERS.map((letter) => draw("line", { class: `axis-${letter}` }))), mark);
    });
    this.element.replaceChildren(...parts, ...this.handles());
    this.reposition();
  }

  private handles(): SVGElement[] {
    const place = this.activePlace;
    if (place === null || !this.host.canChange) return [];
    const arrow = this.mode === "turn" ? axisHandle(place) : [];
    const off = this.mode === "move" ? place.off : place.turnOff;
    if (off !== "") return arrow;
    return arrow.concat(LETTERS.flatMap((letter, k) => {
      const entry = this.mode === "move" ? place.entries[k] : undefined;
      if (entry !== undefined && entry.off !== "") return [];
      const follows = entry !== undefined && entry.parameter !== "" ? `, changes the parameter ${entry.parameter}` : "";
      const words = this.mode === "move" ? `Move ${place.name} along ${letter}${follows}: drag, or arrow keys; with Shift in large steps` : `Turn ${place.name} about ${letter}: drag, or arrow keys; with Shift by 5 degrees`;
      const shape = this.mode === "move" ? [draw("line", { class: "hit" }), draw("line", { class: "stem" }), draw("path", { class: "head", d: "M0,-6 L13,0 L0,6 Z" }), draw("text", {}, letter)] : [draw("path", { class: "hit" }), draw("path", { class: "ring" }), draw("text", {}, letter)];
      return [draw("g", { class: `gizmo ${this.mode} axis-${letter}`, "data-handle": String(k), "data-id": `handle ${k}`, tabindex: "0", role: "slider", "aria-label": words, "aria-valuetext": entry?.text ?? "" },
        draw("title", {}, words), ...shape)];
    }));
  }

  private axesOf(place: PlaceData): Vec3[] {
    const turn = this.stage.view!.drawing.poses.quaternion(place.body);
    return [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => rotate(turn, axis as Vec3));
  }

  private project = (world: Vec3): ScreenPoint => this.stage.view!.projectPoint(world);

  private putTriad(place: PlaceData): void {
    const element = this.element.querySelector<SVGGElement>(`[data-id="${CSS.escape(keyOf(place))}"]`);
    if (element === null) return;
    const { rig, drawing } = this.stage.view!;
    const at = drawing.poses.place(place);
    const o = this.project(at);
    element.setAttribute("transform", `translate(${o.x.toFixed(1)} ${o.y.toFixed(1)})`);
    const reach = TRIAD * rig.pixelAt(at);
    const turn = drawing.poses.turn(place);
    element.querySelectorAll("line").forEach((line, k) => {
      const axis: Vec3 = [0, 0, 0];
      axis[k] = reach;
      const tip = this.project(add(at, rotate(turn, axis)));
      line.setAttribute("x2", (tip.x - o.x).toFixed(1));
      line.setAttribute("y2", (tip.y - o.y).toFixed(1));
    });
  }

  private putHandles(place: PlaceData): void {
    const { rig, drawing } = this.stage.view!;
    const at = drawing.poses.place(place);
    const pixel = rig.pixelAt(at);
    const o = this.project(at);
    const arrow = this.element.querySelector<SVGGElement>(`[data-handle="${AXIS_HANDLE}"]`);
    if (arrow !== null) putAxis(arrow, place, o, this.project(add(at, rotate(drawing.poses.turn(place), place.axis!.value!), AXIS_ARM * pixel)));
    this.axesOf(place).forEach((axis, k) => {
      const element = this.element.querySelector<SVGGElement>(`[data-handle="${k}"]`);
      if (element === null) return;
      const text = element.querySelector("text")!;
      if (this.mode === "move") {
        const tip = this.project(add(at, axis, ARM * pixel));
        const angle = (Math.atan2(tip.y - o.y, tip.x - o.x) * 180) / Math.PI;
        for (const line of element.querySelectorAll("line")) for (const [name, value] of Object.entries({ x1: o.x, y1: o.y, x2: tip.x, y2: tip.y })) line.setAttribute(name, value.toFixed(1));
        element.querySelector(".head")!.setAttribute("transform", `translate(${tip.x.toFixed(1)} ${tip.y.toFixed(1)}) rotate(${angle.toFixed(1)})`);
        put(text, tip.x + (tip.x - o.x) * 0.26, tip.y + (tip.y - o.y) * 0.26);
        element.classList.toggle("end-on", Math.hypot(tip.x - o.x, tip.y - o.y) < 0.2 * ARM);
      } else {
        const points = circle(at, axis, ARM * pixel).map((point) => this.project(point));
        const path = points.map((point, n) => `${n === 0 ? "M" : "L"}${point.x.toFixed(1)},${point.y.toFixed(1)}`).join("");
        for (const each of element.querySelectorAll("path")) each.setAttribute("d", path);
        const tip = points[6]!;
        put(text, tip.x, tip.y);
      }
    });
  }

  // -- hands -----------------------------------------------------------------------------------------------
  private pointer(event: PointerEvent): ScreenPoint {
    const box = this.stage.view!.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private choose(target: Element): void {
    const id = target.closest<SVGGElement>(".place-mark")?.dataset["id"];
    const place = this.places.find((each) => keyOf(each) === id);
    if (place !== undefined && id !== this.active) this.host.chose(place);
  }

  private down(event: PointerEvent): void {
    const target = event.target as Element;
    const handle = target.closest<SVGGElement>("[data-handle]")?.dataset["handle"];
    const mark = target.closest<SVGGElement>(".place-mark")?.dataset["id"];
    const place = this.activePlace;
    event.stopPropagation();
    if (event.button !== 0 || place === null || !this.host.canChange || (handle === undefined && (mark !== this.active || this.mode !== "move" || place.off !== ""))) return;
    event.preventDefault();
    this.drag = { handle: handle === undefined ? "plane" : Number(handle), from: this.pointer(event), place, at: this.stage.view!.drawing.poses.place(place), axes: this.axesOf(place), turn: this.stage.view!.drawing.poses.turn(place), last: null };
    this.element.setPointerCapture(event.pointerId);
    this.element.classList.add("dragging");
  }

  private move(event: PointerEvent): void {
    if (this.drag === null) return;
    event.stopPropagation();
    this.drag.last = this.placingAt(this.drag, this.pointer(event), event.shiftKey);
    this.host.moves(this.drag.last);
  }

  private up(event: PointerEvent, take: boolean): void {
    const { drag } = this;
    if (drag === null) return;
    event.stopPropagation();
    this.drag = null;
    this.element.classList.remove("dragging");
    if (this.element.hasPointerCapture(event.pointerId)) this.element.releasePointerCapture(event.pointerId);
    if (take && drag.last !== null) this.host.placed(drag.last);
    else this.host.cancelled();
  }

  /** The step that numbers are rounded to, m. */
  stepOf(place: PlaceData): number {
    const { rig, drawing } = this.stage.view!;
    return Math.min(COARSE, roundStep(rig.pixelAt(drawing.poses.place(place))));
  }

  private placingAt({ handle, from, place, at, axes, turn, last }: Drag, to: ScreenPoint, coarse: boolean): Placing {
    const { rig } = this.stage.view!;
    const step = this.stepOf(place) * (coarse ? 10 : 1);
    const angleStep = (coarse ? 5 : 1) * DEGREE;
    const result: Placing = { place, at: null, rpy: null, axis: null, step, angleStep };
    if (handle === AXIS_HANDLE) {
      const { from: eye, along } = this.stage.view!.sightAt(to.x, to.y);
      return { ...result, axis: turnAxis(last?.axis ?? place.axis!.value!, turn, { from: eye, along }, at, AXIS_ARM * rig.pixelAt(at)) };
    }
    if (this.mode === "turn") {
      const k = handle as number;
      const toward = dot(axes[k]!, rotate(rig.quaternion, [0, 0, 1]));
      return { ...result, rpy: turnedRpy(rpyOf(place), k, snap(ringTurn(this.project(at), from, to, toward), angleStep)) };
    }
    const reach = ARM * rig.pixelAt(at);
    const onScreen = axes.map((axis) => axisOnScreen(this.project, at, axis, reach));
    const moved: Vec3 = [...place.at];
    if (handle === "plane") {
      const pair = facingPair(axes, rotate(rig.quaternion, [0, 0, 1]));
      const travel = planeTravel(onScreen[pair[0]]!, onScreen[pair[1]]!, from, to);
      pair.forEach((k, n) => (moved[k] = (place.entries[k]?.off ?? "") === "" ? snap(place.at[k]! + travel[n]!, step) : place.at[k]!));
    } else moved[handle] = snap(place.at[handle]! + axisTravel(onScreen[handle]!, from, to, 1 / rig.pixelAt(at)), step);
    return { ...result, at: moved };
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as SVGElement;
    const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key] ?? 0;
    const place = this.activePlace;
    const handle = target.closest<SVGGElement>("[data-handle]")?.dataset["handle"];
    const turned = handle === String(AXIS_HANDLE) && place !== null ? axisKeys(place, event.key, event.shiftKey) : null;
    if ((event.key === "Enter" || event.key === " ") && target.closest(".place-mark") !== null) this.choose(target);
    else if (turned !== null) this.host.placed({ place: place!, at: null, rpy: null, axis: turned, step: COARSE, angleStep: DEGREE });
    else if (sign !== 0 && handle !== undefined && place !== null) this.host.placed(this.nudged(place, Number(handle), sign, event.shiftKey));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private nudged(place: PlaceData, k: number, sign: number, coarse: boolean): Placing {
    const step = this.stepOf(place) * (coarse ? 10 : 1);
    const angleStep = (coarse ? 5 : 1) * DEGREE;
    const result: Placing = { place, at: null, rpy: null, axis: null, step, angleStep };
    if (this.mode === "turn") return { ...result, rpy: turnedRpy(rpyOf(place), k, sign * angleStep) };
    const at: Vec3 = [...place.at];
    at[k] = snap(at[k]! + sign * step, step);
    return { ...result, at };
  }
}

export function keyOf(place: Pick<PlaceData, "kind" | "name">): string {
  return `${place.kind} ${place.name}`;
}

export function wordsOf(place: Pick<PlaceData, "kind" | "name">): string {
  return place.kind === "center" ? `mass center of ${place.name}` : `${place.kind} ${place.name}`;
}

function rpyOf(place: PlaceData): Vec3 {
  return [0, 1, 2].map((k) => place.turns[k]?.value ?? 0) as Vec3;
}

function put(element: SVGElement, x: number, y: number): void {
  element.setAttribute("x", x.toFixed(1));
  element.setAttribute("y", y.toFixed(1));
}
