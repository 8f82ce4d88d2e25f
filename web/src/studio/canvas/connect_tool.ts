// Connecting with the pointer: from a port to a port, onto a wire, or into the empty, where a part that fits is offered.

import type { PortPlace } from "../../messages";
import { draw } from "../../live/svg";
import { connectTo, type ConnectGoal } from "./connect_commands";
import { looseEnd, whyNot, type LooseEnd } from "./connect_rules";
import type { CanvasHost, PointerTool } from "./canvas_host";
import type { Point } from "./route_types";

const REACH = 16; // pixels from a port
const CLICK = 4;

export class ConnectTool implements PointerTool {
  private readonly host: CanvasHost;
  private readonly from: LooseEnd;
  private readonly start: Point; // of the port
  private readonly pressed: Point;
  private dragged = false;
  private ended = false;
  private readonly line = draw("path", { class: "rubber" });
  private readonly reasons = new Map<string, string>();
  private readonly wires = new Set<string>();

  constructor(host: CanvasHost, event: PointerEvent, place: PortPlace) {
    this.host = host;
    const box = host.model.boxes.get(place.component)!;
    this.from = looseEnd(box, host.model.port(place)!);
    this.start = host.model.portAt(place)!;
    this.pressed = [event.clientX, event.clientY];
    this.judge();
    host.sheet.classList.add("connecting");
    host.overlay.append(this.line);
    void host.context.document.canConnect(place).then((targets) => !this.ended && this.hear(targets), () => undefined);
  }

  /** By kind and domain, at once. */
  private judge(): void {
    for (const box of this.host.model.boxes.values()) {
      for (const port of box.ports) this.reasons.set(`${box.name}:${port.name}`, whyNot(this.from, looseEnd(box, port)));
    }
    for (const link of this.host.model.links.values()) {
      if (link.kind === "energy" && this.from.kind === "energy" && (this.from.domain === "" || link.domain === "" || link.domain === this.from.domain)) this.wires.add(link.name);
    }
    this.show();
  }

  /** What the server says in the end. */
  private hear(targets: Record<string, string>): void {
    for (const [key, why] of Object.entries(targets)) if (this.reasons.has(key)) this.reasons.set(key, why);
    this.show();
  }

  private show(): void {
    const { component, port } = this.from.place;
    this.host.boxes.markPorts(this.reasons, `${component}:${port}`);
    this.host.wires.markTargets(this.wires);
  }

  move(event: PointerEvent): void {
    this.dragged ||= Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]) >= CLICK;
    const field = this.fieldAt(event);
    const { goal, at } = this.goalAt(event);
    const [x, y] = at;
    this.line.setAttribute("d", `M${this.start[0]},${this.start[1]}L${x},${y}`);
    const why = goal.kind === "port" ? (this.reasons.get(`${goal.place.component}:${goal.place.port}`) ?? "") : "";
    this.line.classList.toggle("refused", why !== "");
    this.host.hint(field === null ? this.words(goal, why) : `Write it into ${field.component}.${field.port}`);
  }

  private words(goal: ConnectGoal, why: string): string {
    if (goal.kind === "port") return why === "" ? `Connect to ${goal.place.component}.${goal.place.port}` : why;
    if (goal.kind === "link") return `Join ${this.host.model.links.get(goal.name)?.label || goal.name}`;
    if (goal.kind === "box") return `Connect to ${goal.name}`;
    return "Drop here to add a part that fits, ground or world. Escape ends.";
  }

  up(event: PointerEvent): boolean {
    if (!this.dragged) {
      this.host.hint("Click a port, a wire or a free place. Escape ends.");
      this.dragged = true; // the next release ends it
      return true;
    }
    const { goal } = this.goalAt(event);
    const field = this.fieldAt(event);
    this.cancel();
    if (field !== null) {
      void this.host.act({ do: "connect", from: this.from.place, to: field });
      return false;
    }
    const why = goal.kind === "port" ? this.reasons.get(`${goal.place.component}:${goal.place.port}`) : "";
    if (why) this.host.context.say(why, "error");
    else void connectTo(this.host, this.from, goal, this.reasons);
    return false;
  }

  cancel(): void {
    this.ended = true;
    this.line.remove();
    this.host.sheet.classList.remove("connecting");
    this.host.boxes.markPorts(null);
    this.host.wires.markTargets(null);
    this.host.hint(null);
  }

  /** A field of the inspector below the pointer, which takes the quantity as its law. */
  private fieldAt(event: PointerEvent): PortPlace | null {
    const root = this.host.sheet.getRootNode() as Document | ShadowRoot;
    const row = root.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>(".field-row[data-owner]") ?? null;
    return row === null || row.dataset["owner"] === "" ? null : { component: row.dataset["owner"]!, port: row.dataset["field"]! };
  }

  /** What is below the pointer: the nearest port, a wire, a box, or nothing. */
  private goalAt(event: PointerEvent): { goal: ConnectGoal; at: Point } {
    const { window, model } = this.host;
    const pointer = window.placeOf(event);
    let nearest: PortPlace | null = null;
    let least = REACH / window.view.scale;
    for (const box of model.boxes.values()) {
      for (const port of box.ports) {
        const place = { component: box.name, port: port.name };
        const [x, y] = model.portAt(place)!;
        const distance = Math.hypot(x - pointer[0], y - pointer[1]);
        const same = box.name === this.from.place.component && port.name === this.from.place.port;
        if (!same && distance < least) [nearest, least] = [place, distance];
      }
    }
    if (nearest !== null) return { goal: { kind: "port", place: nearest }, at: model.portAt(nearest)! };
    const root = this.host.sheet.getRootNode() as Document | ShadowRoot;
    const below = root.elementFromPoint(event.clientX, event.clientY)?.closest<SVGGElement>("g.wire, g.part") ?? null;
    const name = below?.dataset["name"] ?? "";
    if (below?.classList.contains("wire") && this.wires.has(name)) return { goal: { kind: "link", name }, at: pointer };
    if (below?.classList.contains("part") && name !== this.from.place.component) return { goal: { kind: "box", name }, at: pointer };
    return { goal: { kind: "empty", at: pointer }, at: pointer };
  }
}
