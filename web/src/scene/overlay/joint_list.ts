// Joints that lie at one place: a list to choose from.

import { make } from "../../ui/elements";

export class JointList {
  readonly element = make("div", { class: "joint-list menu", role: "menu", "aria-label": "Joints at this place" });
  private readonly choose: (name: string) => void;
  private readonly point: (name: string) => void;

  constructor(choose: (name: string) => void, point: (name: string) => void) {
    this.choose = choose;
    this.point = point;
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  open(names: string[], x: number, y: number): void {
    this.element.replaceChildren(...names.map((name) => {
      const entry = make("button", { type: "button", role: "menuitem" }, name);
      entry.addEventListener("click", () => this.choose(name));
      entry.addEventListener("focus", () => this.point(name));
      entry.addEventListener("pointerenter", () => this.point(name));
      return entry;
    }));
    this.element.hidden = false;
    this.element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    this.element.querySelector("button")?.focus();
  }

  close(): void {
    this.element.hidden = true;
  }

  private key(event: KeyboardEvent): void {
    const entries = [...this.element.querySelectorAll<HTMLElement>("button")];
    const at = entries.findIndex((entry) => entry.matches(":focus"));
    if (event.key === "Escape" || event.key === "Tab") this.close();
    else if (event.key === "ArrowDown") entries[(at + 1) % entries.length]?.focus();
    else if (event.key === "ArrowUp") entries[(at - 1 + entries.length) % entries.length]?.focus();
    else return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
  }
}
