// The pointer on the canvas: which tool a press starts, pinching with two fingers, what is below.

import type { PortPlace } from "../../messages";
import { openChosen } from "../subsystems/box_commands";
import { searchParts, renameChosen } from "./canvas_commands";
import type { CanvasHost, PointerTool } from "./canvas_host";
import { BendTool, MarqueeTool, MoveTool, PanTool } from "./canvas_tools";
import { ConnectTool } from "./connect_tool";
import type { Point } from "./route_types";

export class CanvasPointer {
  /** Where the pointer was last, in the drawing. */
  place: Point | null = null;
  private readonly host: CanvasHost;
  private tool: PointerTool | null = null;
  private goesOn = false; // the tool waits for a click
  private spaceDown = false;
  private readonly fingers = new Map<number, Point>();

  constructor(host: CanvasHost) {
    this.host = host;
    const { sheet } = host;
    sheet.addEventListener("pointerdown", this.down);
    sheet.addEventListener("pointermove", this.move);
    sheet.addEventListener("pointerup", this.up);
    sheet.addEventListener("pointercancel", this.lost);
    sheet.addEventListener("pointerleave", () => host.context.hover(null));
    sheet.addEventListener("dblclick", this.doubled);
    sheet.addEventListener("keyup", this.released);
    sheet.addEventListener("blur", this.released, true);
  }

  destroy(): void {
    this.cancel();
  }

  /** The boxes that are being dragged. */
  get moving(): readonly string[] {
    return this.tool instanceof MoveTool ? [...this.host.chosen] : [];
  }

  /** Ends a gesture; false where there is none. */
  cancel(): boolean {
    const { tool } = this;
    this.tool = null;
    this.goesOn = false;
    tool?.cancel();
    return tool !== null;
  }

  /** The space bar makes the pointer move the view. */
  key(event: KeyboardEvent): boolean {
    if (event.key !== " ") return false;
    this.spaceDown = true;
    this.host.sheet.classList.add("hand");
    return true;
  }

  private readonly released = (event: Event): void => {
    if (event instanceof KeyboardEvent && event.key !== " ") return;
    this.spaceDown = false;
    this.host.sheet.classList.remove("hand");
  };

  private readonly down = (event: PointerEvent): void => {
    if (event.target instanceof Element && event.target.closest(".canvas-hint, .choice-box, input") !== null) return;
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, this.host.window.pixelsOf(event));
      if (this.fingers.size === 2) {
        this.cancel();
        return;
      }
    }
    if (this.goesOn) return; // the release ends it
    if (this.tool !== null) this.cancel();
    this.host.sheet.setPointerCapture(event.pointerId);
    this.tool = this.start(event);
    event.preventDefault();
  };

  private start(event: PointerEvent): PointerTool | null {
    const { host } = this;
    const target = event.target as Element;
    if (event.button === 1 || (event.button === 0 && this.spaceDown)) return new PanTool(host, event);
    if (event.button !== 0) return null;
    const part = target.closest<SVGGElement>("g.part")?.dataset["name"];
    const port = target.closest<SVGGElement>("g.port")?.dataset["port"];
    const wire = target.closest<SVGGElement>("g.wire")?.dataset["name"];
    if (part !== undefined && port !== undefined && !host.context.readOnly) {
      const place: PortPlace = { component: part, port };
      host.sheet.focus({ preventScroll: true }); // Escape ends it
      return new ConnectTool(host, event, place);
    }
    if (part !== undefined) return this.startMove(event, part);
    if (wire !== undefined) {
      host.chooseLink(wire);
      host.wires.find(wire)?.focus({ preventScroll: true });
      return new BendTool(host, event, wire);
    }
    host.sheet.focus({ preventScroll: true });
    host.chooseLink(null);
    return event.pointerType === "touch" ? new PanTool(host, event) : new MarqueeTool(host, event);
  }

  private startMove(event: PointerEvent, part: string): PointerTool {
    const { host } = this;
    const more = event.shiftKey || event.ctrlKey || event.metaKey;
    const had = host.chosen.has(part);
    if (!had) host.choose([part], { add: more, focus: true });
    else host.boxes.find(part)?.focus({ preventScroll: true });
    return new MoveTool(host, event, () => {
      if (had && more) host.choose([...host.chosen].filter((name) => name !== part));
      else if (had) host.choose([part], { focus: true });
    });
  }

  private readonly move = (event: PointerEvent): void => {
    this.place = this.host.window.placeOf(event);
    if (event.pointerType === "touch" && this.fingers.size === 2) return this.pinch(event);
    if (this.tool !== null) this.tool.move(event);
    else this.host.context.hover((event.target as Element).closest<SVGGElement>("g.part")?.dataset["name"] ?? null);
  };

  private pinch(event: PointerEvent): void {
    const before = this.fingers.get(event.pointerId);
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (before === undefined || other === undefined) return;
    const now = this.host.window.pixelsOf(event);
    this.fingers.set(event.pointerId, now);
    this.host.window.pinch(before, now, other);
  }

  private readonly up = (event: PointerEvent): void => {
    this.fingers.delete(event.pointerId);
    const { tool } = this;
    if (tool === null) return;
    this.goesOn = tool.up(event) === true;
    if (!this.goesOn && this.tool === tool) this.tool = null;
  };

  private readonly lost = (event: PointerEvent): void => {
    this.fingers.delete(event.pointerId);
    this.cancel();
  };

  private readonly doubled = (event: MouseEvent): void => {
    const { host } = this;
    // The sheet has captured the pointer: the event is the sheet's own.
    const target = (host.sheet.getRootNode() as Document | ShadowRoot).elementFromPoint(event.clientX, event.clientY) ?? host.sheet;
    const wire = target.closest<SVGGElement>("g.wire")?.dataset["name"];
    if (target.closest(".canvas-hint, .choice-box, input, g.port") !== null) return;
    if (target.closest("text.label, text.node") !== null && !host.context.readOnly) void renameChosen(host);
    else if (target.closest("g.part") !== null) openChosen(host);
    else if (wire !== undefined) {
      if (!host.context.readOnly && (host.model.links.get(wire)?.waypoints ?? []).length > 0) void host.act({ do: "waypoints", link: wire, points: null });
    } else if (!host.context.readOnly) void searchParts(host, host.window.placeOf(event), true);
  };
}
