// The tool that drags in 3D: bodies turn or slide on their joints to set the start; handles move mass centers and joints.

import type { JointData, Vec3 } from "../data/run_document";
import type { Player } from "../player";
import { NOTHING, type Pick } from "../scene/picking";
import type { Stage } from "../scene/stage";
import type { StageView } from "../scene/stage_view";
import { add, rotate } from "../scene/math/vectors";
import { make } from "../ui/elements";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { type ScreenPoint, followPointer } from "./drag_math";
import { type DragTarget, type Handle, findHandles, jointOfBody, numberTarget, startNames, startTarget } from "./drag_targets";
import type { LiveDesk } from "./live_desk";
import { firstUnit } from "./number_range";

const KEY_STEP = 4; // pixels for an arrow key

interface Dragging {
  target: DragTarget;
  origin: ScreenPoint; // the dragged point on the screen at first
  from: ScreenPoint; // the pointer at first
  values: number[];
}

export class StageDrags {
  active = false;
  private readonly player: Player;
  private readonly desk: LiveDesk;
  private readonly view: StageView | null;
  private readonly tool = make("button", { type: "button", "aria-pressed": "false", title: "Drag joints to set the start; handles move mass centers and joints (g)" }, "Drag");
  private readonly hint = make("output", { class: "drag-hint", "aria-live": "polite", hidden: "" });
  private readonly layer = make("div", { class: "drag-layer", hidden: "" });
  private handles: { handle: Handle; element: HTMLButtonElement }[] = [];
  private dragging: Dragging | null = null;
  private request = 0;
  private readonly ends: (() => void)[] = [];

  constructor(player: Player, desk: LiveDesk) {
    this.player = player;
    this.desk = desk;
    this.view = (player.stage as Stage).view;
    if (this.view === null || desk.live.readOnly) return;
    const { element } = this.view;
    element.append(this.layer, make("div", { class: "stage-tools live-tools", role: "toolbar", "aria-label": "Live" }, this.tool), this.hint);
    this.tool.addEventListener("click", () => this.toggle());
    const toggle = (): void => this.toggle();
    player.root.addEventListener("kinode-drag-tool", toggle);
    const listeners: [string, (event: PointerEvent) => void][] = [
      ["pointerdown", (event) => this.down(event)], ["pointermove", (event) => this.move(event)],
      ["pointerup", (event) => this.up(event)], ["pointercancel", (event) => this.up(event)],
    ];
    for (const [name, listener] of listeners) element.addEventListener(name, listener as EventListener, { capture: true });
    const escape = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && this.active) this.toggle();
    };
    player.root.addEventListener("keydown", escape);
    this.ends.push(desk.onNews((news) => (news.kind === "model" || news.kind === "values") && this.active && this.refresh(news.kind === "model")),
      () => player.root.removeEventListener("kinode-drag-tool", toggle), () => player.root.removeEventListener("keydown", escape));
  }

  toggle(): void {
    if (this.view === null) return;
    this.active = !this.active;
    this.tool.setAttribute("aria-pressed", String(this.active));
    this.layer.hidden = !this.active;
    this.view.element.classList.toggle("dragging-tool", this.active);
    this.say(this.active ? "Drag a body: its joint follows, and the run starts there. Handles move mass centers (round) and joints (square)." : "");
    if (this.active) {
      this.toStart();
      this.refresh(true);
    } else cancelAnimationFrame(this.request);
  }

  destroy(): void {
    cancelAnimationFrame(this.request);
    for (const end of this.ends) end();
  }

  private toStart(): void {
    this.player.clock.pause();
    this.player.clock.seek(this.player.main.header.run.from);
  }

  // -- handles ---------------------------------------------------------------------------------------
  private readonly number = (name: string): number | undefined => {
    const parameter = this.desk.find(name);
    return parameter === undefined || parameter.structural !== "" ? undefined : this.desk.value(name);
  };

  private refresh(anew: boolean): void {
    const found = findHandles(this.player.main.header, this.number);
    if (anew || found.length !== this.handles.length) {
      this.handles = found.map((handle) => ({ handle, element: this.makeHandle(handle) }));
      this.layer.replaceChildren(...this.handles.map(({ element }) => element));
      cancelAnimationFrame(this.request);
      this.request = requestAnimationFrame(this.placeHandles);
    } else found.forEach((handle, k) => (this.handles[k]!.handle = handle));
  }

  private makeHandle(handle: Handle): HTMLButtonElement {
    const element = make("button", { type: "button", class: `drag-handle ${handle.kind}`, title: handle.label, "aria-label": `${handle.label}: drag, or arrow keys` });
    element.addEventListener("keydown", (event) => this.nudge(event, element));
    return element;
  }

  private readonly placeHandles = (): void => {
    if (!this.active || this.view === null) return;
    const header = this.player.main.header;
    const { poses } = this.view.drawing;
    for (const each of this.handles) {
      const { handle, element } = each;
      const at = handle.kind === "center" ? header.bodies[handle.place.body]?.com ?? handle.place.at
        : header.joints.find((joint) => `place of ${joint.name}` === handle.label)?.parent.at ?? handle.place.at;
      handle.place = { body: handle.place.body, at };
      const { x, y } = this.view.projectPoint(poses.point(handle.place.body, at));
      element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
    this.request = requestAnimationFrame(this.placeHandles);
  };

  private targetOf(handle: Handle): DragTarget | null {
    return numberTarget(handle.label, handle.prefix, handle.place, this.view!.drawing.poses, this.number, this.player.main.header.size);
  }

  private nudge(event: KeyboardEvent, element: HTMLElement): void {
    const way = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, [number, number]>)[event.key];
    const handle = this.handles.find((each) => each.element === element)?.handle;
    if (way === undefined || handle === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const target = this.targetOf(handle);
    if (target === null) return;
    const here = this.project(target.point(target.values));
    this.dragging = { target, origin: here, from: here, values: target.values };
    this.follow({ x: here.x + KEY_STEP * way[0], y: here.y + KEY_STEP * way[1] }, performance.now());
    this.dragging = null;
  }

  // -- the pointer -----------------------------------------------------------------------------------
  private place(event: PointerEvent): ScreenPoint {
    const box = this.view!.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private project(point: Vec3): ScreenPoint {
    return this.view!.projectPoint(point);
  }

  private down(event: PointerEvent): void {
    const hit = event.target as HTMLElement;
    const handle = this.handles.find((each) => each.element === hit)?.handle;
    const onSurface = hit.closest(".stage-surface") !== null;
    if (event.button !== 0 || (!this.active && !event.altKey) || (handle === undefined && !onSurface)) return;
    const pointer = this.place(event);
    this.toStart();
    const target = handle !== undefined ? this.targetOf(handle) : this.grab(pointer);
    if (target === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.dragging = { target, origin: this.project(target.point(target.values)), from: pointer, values: target.values };
    this.view!.element.setPointerCapture(event.pointerId);
    this.showValues();
  }

  private move(event: PointerEvent): void {
    if (this.dragging === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.follow(this.place(event), event.timeStamp > 0 ? event.timeStamp : performance.now());
  }

  private up(event: PointerEvent): void {
    if (this.dragging === null) return;
    event.stopPropagation();
    this.dragging = null;
    if (this.view!.element.hasPointerCapture(event.pointerId)) this.view!.element.releasePointerCapture(event.pointerId);
    if (!this.active) this.say("");
  }

  private follow(pointer: ScreenPoint, input: number): void {
    const { target, origin, from, values } = this.dragging!;
    const goal = { x: origin.x + pointer.x - from.x, y: origin.y + pointer.y - from.y };
    const next = followPointer(target.point, (point) => this.project(point), values, goal, target.steps);
    this.dragging!.values = next;
    const named = Object.fromEntries(target.names.map((name, k) => [name, Number(next[k]!.toPrecision(4))]));
    if (target.kind === "start") this.desk.setStart(named, input);
    else this.desk.setValues(named, input);
    this.showValues();
  }

  /** The joint under the pointer, grabbed where the pointer is. */
  private grab(pointer: ScreenPoint): DragTarget | null {
    const view = this.view!;
    const { header } = this.player.main;
    const pick = this.pickNear(pointer);
    const settable = (name: string): boolean => this.desk.live.start === undefined || name in this.desk.live.start;
    let joint: JointData | null = null;
    let row = -1;
    if (pick.kind === "joint" || pick.kind === "load") {
      const named = header.joints.find((each) => each.name === pick.name);
      if (named !== undefined && startNames(named).some(settable)) {
        joint = named;
        row = named.child.body;
      }
    } else if (pick.kind === "body") {
      row = header.bodies.findIndex((body) => body.name === pick.name);
      joint = jointOfBody(header, row, settable);
    }
    if (joint === null) {
      if (pick.kind !== "none") this.say(`${pick.name}: no joint here has a start that can be dragged.`);
      return null;
    }
    return startTarget(joint, this.grabbed(pointer, row, pick.kind === "body"), this.player.main, view.drawing.poses, (name) => this.desk.start(name));
  }

  /** What is under the pointer, or close by: bars are thin. */
  private pickNear({ x, y }: ScreenPoint): Pick {
    for (const [reach, ways] of [[0, 1], [5, 8], [10, 8]] as const) {
      for (let k = 0; k < ways; k++) {
        const angle = (2 * Math.PI * k) / ways;
        const pick = this.view!.pickAt(x + reach * Math.cos(angle), y + reach * Math.sin(angle));
        if (pick.kind !== "none") return pick;
      }
    }
    return NOTHING;
  }

  /** A point of a body: under the pointer at the depth of the mass center, or the mass center itself. */
  private grabbed(pointer: ScreenPoint, row: number, under: boolean): Vec3 {
    const { rig, drawing } = this.view!;
    const center = drawing.poses.point(row, this.player.main.header.bodies[row]?.com ?? [0, 0, 0]);
    if (!under) return center;
    const seen = rig.project(center);
    const pixel = rig.pixelAt(center);
    return add(center, rotate(rig.quaternion, [(pointer.x - seen.x) * pixel, (seen.y - pointer.y) * pixel, 0]));
  }

  private showValues(): void {
    const { target, values } = this.dragging!;
    this.say(target.names.map((name, k) => {
      const length = /\.(x|y|z|travel)$/.test(name);
      const si = this.desk.find(name)?.unit ?? this.player.main.find(name)?.unit ?? (length ? "m" : "rad");
      const unit = firstUnit(si);
      return `${name} ${formatNumber(values[k]! * unit.factor)} ${prettyUnit(unit.unit)}`;
    }).join(", "));
  }

  private say(words: string): void {
    this.hint.textContent = words;
    this.hint.hidden = words === "";
  }
}
