// The tabs of the side: inspector, text, problems, and what follows from the model. One is open; on a narrow page the tabs of the panes choose it.

import { make } from "../ui/elements";
import type { StudioPart } from "./studio_types";

export class SideTabs {
  readonly element = make("section", { "aria-label": "Inspector, text, problems and derivations" });
  private readonly tabs = make("div", { class: "tabs", role: "tablist", "aria-label": "Inspector, text, problems and derivations" });
  private readonly parts = new Map<string, StudioPart>();
  private open = "";

  constructor(parts: Record<string, StudioPart>) {
    this.element.append(this.tabs);
    for (const [name, part] of Object.entries(parts)) {
      const id = `studio-${name.toLowerCase()}`;
      part.element.classList.add("side-part");
      for (const [key, value] of Object.entries({ role: "tabpanel", id, "aria-labelledby": `${id}-tab` })) part.element.setAttribute(key, value);
      const tab = make("button", { type: "button", role: "tab", id: `${id}-tab`, "aria-controls": id, "data-part": name }, name);
      tab.addEventListener("click", () => this.show(name));
      this.tabs.append(tab);
      this.element.append(part.element);
      this.parts.set(name, part);
    }
    this.tabs.addEventListener("keydown", (event) => this.move(event));
    this.show(Object.keys(parts)[0]!);
  }

  get shown(): string {
    return this.open;
  }

  show(name: string): void {
    if (!this.parts.has(name)) return;
    this.open = name;
    for (const [key, part] of this.parts) part.element.hidden = key !== name;
    for (const tab of this.tabs.querySelectorAll("button")) {
      const chosen = tab.dataset["part"] === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.parts.get(name)!.resized?.();
  }

  /** A number beside the name of a tab; none if it is empty. */
  badge(name: string, text: string, kind: string): void {
    const tab = this.tabs.querySelector<HTMLElement>(`[data-part="${name}"]`);
    if (tab === null) return;
    tab.replaceChildren(name, ...(text === "" ? [] : [" ", make("span", { class: `count ${kind}` }, text)]));
  }

  private move(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const names = [...this.parts.keys()];
    this.show(names[(names.indexOf(this.open) + step + names.length) % names.length]!);
    this.tabs.querySelector<HTMLElement>(`[data-part="${this.open}"]`)!.focus();
  }
}
