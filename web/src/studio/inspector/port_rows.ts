// The ports of a component: what each is connected to, and another choice, by keyboard too.

import type { InspectedPort } from "../../messages";
import { make } from "../../ui/elements";
import type { ConnectTarget, StudioContext } from "../studio_types";

const DOMAIN_REFERENCES: Record<string, string> = { electrical: "gnd", rotational: "world", translational: "world" };

/** A target as the server names it: "motor:plus", "link:bus", "reference:gnd". */
export function readTarget(text: string): ConnectTarget {
  const [first, ...rest] = text.split(":");
  const name = rest.join(":");
  if (first === "link") return { link: name };
  if (first === "reference") return { reference: name };
  return { component: first!, port: name };
}

export class PortRows {
  readonly element = make("section", { class: "ports", "aria-label": "Ports" });
  private readonly context: StudioContext;
  private readonly component: string;

  constructor(context: StudioContext, component: string, ports: readonly InspectedPort[]) {
    this.context = context;
    this.component = component;
    if (ports.length === 0) return;
    this.element.append(make("h3", {}, "Ports"), ...ports.map((port) => this.row(port)));
  }

  private row(port: InspectedPort): HTMLElement {
    const select = make("select", { "aria-label": `Connect ${port.name} of ${this.component}` });
    const now = port.link ?? "";
    select.append(make("option", { value: "" }, now === "" ? "not connected" : now));
    select.disabled = this.context.readOnly;
    let filled = false;
    const fill = (): void => {
      if (filled) return;
      filled = true;
      void this.fill(select, port);
    };
    select.addEventListener("focus", fill);
    select.addEventListener("pointerdown", fill);
    select.addEventListener("change", () => void this.choose(select, port));
    return make("div", { class: "port-row", "data-kind": port.kind, "data-port": port.name },
      make("span", { class: "port-name", title: [port.words ?? "", port.domain].filter((each) => each !== "").join(", ") }, port.name), select);
  }

  private async fill(select: HTMLSelectElement, port: InspectedPort): Promise<void> {
    const { document } = this.context;
    const options: [string, string][] = [];
    if (port.link != null && port.link !== "") options.push(["disconnect:", "disconnect"]);
    const reference = DOMAIN_REFERENCES[port.domain];
    if (port.kind === "energy" && reference !== undefined && port.link !== reference) options.push([`reference:${reference}`, `${reference} (reference)`]);
    for (const link of document.sketch.links)
      if (link.kind === port.kind && link.domain === port.domain && link.label !== "" && link.label !== port.link) options.push([`link:${link.name}`, `${link.label} (node)`]);
    try {
      const targets = await document.canConnect({ component: this.component, port: port.name });
      for (const [target, why] of Object.entries(targets)) if (why === "" && !options.some(([known]) => known === target)) options.push([target, target.replace(/^(link|reference):/, "").replace(":", ", ")]);
    } catch {
      // the choices of the page stay
    }
    select.append(...options.map(([value, words]) => make("option", { value }, words)));
  }

  private async choose(select: HTMLSelectElement, port: InspectedPort): Promise<void> {
    const { value } = select;
    select.selectedIndex = 0;
    if (value === "disconnect:") await this.context.act({ do: "disconnect", component: this.component, port: port.name });
    else if (value !== "") await this.context.act({ do: "connect", from: { component: this.component, port: port.name }, to: readTarget(value) });
  }
}
