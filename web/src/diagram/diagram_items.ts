// The links and components of the injected SVG as things to point at, to focus and to choose.

import type { DiagramData } from "../data/run_document";
import type { Target } from "./value_box";

const SVG = "http://www.w3.org/2000/svg";

export interface DiagramItem {
  target: Target;
  element: SVGGElement;
  at: [number, number];
}

/** Makes every link and component of the SVG reachable, and returns them in reading order. */
export function prepareItems(svg: SVGSVGElement, data: DiagramData): DiagramItem[] {
  const items: DiagramItem[] = [];
  for (const component of data.components) {
    const element = find(svg, "component", component.name);
    if (element === null) continue;
    const [width, height] = component.size;
    const at: [number, number] = [component.at[0], component.at[1]];
    element.prepend(frame("room", at, width, height, 0));
    element.append(frame("glow", at, width, height, 5));
    items.push({ target: { component }, element, at });
  }
  for (const link of data.links) {
    const element = find(svg, "link", link.name);
    if (element === null) continue;
    for (const path of [...element.querySelectorAll("path")]) {
      const hit = path.cloneNode() as SVGPathElement;
      hit.setAttribute("class", "hit");
      element.prepend(hit);
    }
    const middle = link.path[0]?.[0] ?? [0, 0];
    items.push({ target: { link }, element, at: [middle[0], middle[1]] });
  }
  items.sort((a, b) => a.at[1] - b.at[1] || a.at[0] - b.at[0]);
  items.forEach((item, k) => {
    item.element.setAttribute("tabindex", k === 0 ? "0" : "-1");
    item.element.setAttribute("role", "button");
    item.element.setAttribute("aria-label", "link" in item.target ? `link ${item.target.link.name}` : item.target.component.name);
  });
  return items;
}

function find(svg: SVGSVGElement, kind: string, name: string): SVGGElement | null {
  const all = svg.querySelectorAll<SVGGElement>(`g.${kind}[data-name]`);
  return [...all].find((each) => each.dataset["name"] === name) ?? null;
}

function frame(role: string, at: [number, number], width: number, height: number, around: number): SVGRectElement {
  const rect = document.createElementNS(SVG, "rect");
  const sizes = { x: at[0] - width / 2 - around, y: at[1] - height / 2 - around, width: width + 2 * around, height: height + 2 * around };
  for (const [key, value] of Object.entries(sizes)) rect.setAttribute(key, String(value));
  rect.setAttribute("rx", "5");
  rect.setAttribute("class", role);
  return rect;
}

/** The components and links that light up with a target: a link with its ends, a component with its links. */
export function litWith(target: Target, data: DiagramData): Set<string> {
  if ("component" in target) {
    const own = data.links.filter((link) => link.ends.some((end) => end.component === target.component.name));
    return new Set([`c ${target.component.name}`, ...own.map((link) => `l ${link.name}`)]);
  }
  return new Set([`l ${target.link.name}`, ...target.link.ends.map((end) => `c ${end.component}`)]);
}

export function keyOf(target: Target): string {
  return "link" in target ? `l ${target.link.name}` : `c ${target.component.name}`;
}
