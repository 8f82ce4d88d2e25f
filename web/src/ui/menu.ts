// A button that opens a menu: choices and commands, by pointer and keyboard.

import { make } from "./elements";

export type MenuItem =
  | { kind: "heading"; text: string }
  | { kind: "check"; text: string; checked: boolean; act(): void; off?: string }
  | { kind: "radio"; text: string; checked: boolean; act(): void; off?: string }
  | { kind: "action"; text: string; act(): void; focus?(): void; off?: string };

export interface MenuButton {
  readonly element: HTMLElement;
  close(): void;
}

/** A menu whose items are made anew whenever it opens; checks and radios leave it open. */
export function menuButton(text: string, words: string, items: () => MenuItem[], closed: () => void = () => {}): MenuButton {
  const button = make("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", title: words }, text);
  const list = make("div", { role: "menu", "aria-label": words, class: "menu" });
  const element = make("div", { class: "menu-button" }, button, list);
  list.hidden = true;

  const entries = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>("button")];
  const build = (): void => {
    list.replaceChildren(...items().map((item) => makeItem(item, refresh, () => close(true))));
  };
  const refresh = (): void => {
    const at = entries().indexOf(document.activeElement as HTMLElement);
    const root = list.getRootNode();
    const active = root instanceof ShadowRoot ? entries().indexOf(root.activeElement as HTMLElement) : at;
    build();
    entries()[Math.max(0, active)]?.focus();
  };
  const close = (back: boolean): void => {
    if (list.hidden) return;
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
    closed();
    if (back) button.focus();
  };
  const open = (): void => {
    build();
    list.hidden = false;
    button.setAttribute("aria-expanded", "true");
    (entries().find((entry) => entry.getAttribute("aria-checked") === "true") ?? entries()[0])?.focus();
  };
  button.addEventListener("click", () => (list.hidden ? open() : close(true)));
  element.addEventListener("keydown", (event) => {
    if (list.hidden) {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        event.stopPropagation();
        open();
      }
      return;
    }
    const all = entries();
    const at = all.findIndex((entry) => entry.matches(":focus"));
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    event.stopPropagation();
    if (event.key === "Escape") close(true);
    else if (event.key === "Tab") close(false);
    else if (event.key in to) {
      event.preventDefault();
      all[(to[event.key]! + all.length) % all.length]?.focus();
    }
  });
  element.addEventListener("focusout", (event) => {
    const next = event.relatedTarget as Node | null;
    if (next !== null && !element.contains(next)) close(false);
  });
  return { element, close: () => close(false) };
}

function makeItem(item: MenuItem, refresh: () => void, close: () => void): HTMLElement {
  if (item.kind === "heading") return make("div", { class: "menu-heading", role: "presentation" }, item.text);
  const role = { check: "menuitemcheckbox", radio: "menuitemradio", action: "menuitem" }[item.kind];
  const entry = make("button", { type: "button", role, tabindex: "-1" }, item.text);
  if (item.kind !== "action") entry.setAttribute("aria-checked", String(item.checked));
  if (item.off) {
    entry.setAttribute("aria-disabled", "true");
    entry.title = item.off;
    return entry;
  }
  if (item.kind === "action" && item.focus) {
    entry.addEventListener("focus", item.focus);
    entry.addEventListener("pointerenter", item.focus);
  }
  entry.addEventListener("click", () => {
    item.act();
    if (item.kind === "action") close();
    else refresh();
  });
  return entry;
}
