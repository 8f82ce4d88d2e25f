// A name edited where it stands.

import { make } from "../../ui/elements";
import type { CanvasHost } from "./canvas_host";
import type { Point } from "./route_types";

/** The new name; null: Escape, or it was left empty. */
export function editName(host: CanvasHost, name: string, at: Point): Promise<string | null> {
  return new Promise((resolve) => {
    const input = make("input", { type: "text", class: "name-editor", value: name, "aria-label": `New name of ${name}`, autocomplete: "off", spellcheck: "false" });
    const [x, y] = host.window.pixels(at);
    input.style.left = `${Math.max(4, Math.min(x - 70, host.sheet.clientWidth - 148))}px`;
    input.style.top = `${Math.max(4, Math.min(y - 14, host.sheet.clientHeight - 34))}px`;
    let done = false;
    const finish = (answer: string | null): void => {
      if (done) return;
      done = true;
      input.remove();
      resolve(answer === null || answer.trim() === "" ? null : answer.trim());
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") finish(input.value);
      else if (event.key === "Escape") finish(null);
      else return;
      event.preventDefault();
    });
    for (const kind of ["pointerdown", "paste", "copy", "dblclick"] as const) input.addEventListener(kind, (event) => event.stopPropagation());
    input.addEventListener("blur", () => finish(input.value));
    host.sheet.append(input);
    input.focus();
    input.select();
  });
}
