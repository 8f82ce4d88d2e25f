// Choosing a body or a joint by a click on the canvas.

import { make } from "../../ui/elements";
import type { Choice } from "../palette/choice_box";
import type { CanvasHost } from "./canvas_host";

/** Waits for a click on a part of a role; buttons beside the words give the other choices. Escape ends. */
export function pickOnCanvas(host: CanvasHost, title: string, role: string, choices: readonly Choice<string>[], list: () => Promise<string | null>): Promise<string | null> {
  return new Promise((resolve) => {
    const { sheet } = host;
    const stop = (): void => {
      sheet.removeEventListener("pointerdown", pressed, true);
      document.removeEventListener("keydown", typed, true);
      sheet.classList.remove("picking");
      host.hint(null);
    };
    const finish = (answer: string | null): void => {
      stop();
      resolve(answer);
    };
    const pressed = (event: PointerEvent): void => {
      if ((event.target as Element).closest(".canvas-hint") !== null || event.button !== 0) return;
      const name = (event.target as Element).closest<SVGGElement>("g.part")?.dataset["name"];
      event.preventDefault();
      event.stopPropagation();
      if (name === undefined) return;
      const choice = choices.find((each) => each.label === name);
      if (host.model.boxes.get(name)?.role !== role || choice === undefined) host.context.say(`${name} is no ${role === "SB" ? "body" : "joint"}.`, "error");
      else if (choice.off !== undefined) host.context.say(`${name} is ${choice.off}.`, "error");
      else finish(choice.value);
    };
    const typed = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      finish(null);
    };
    const button = (text: string, act: () => void): HTMLElement => {
      const element = make("button", { type: "button" }, text);
      element.addEventListener("click", act);
      return element;
    };
    const others = choices.filter((choice) => choice.off === undefined && !host.model.boxes.has(choice.label));
    const more = others.map((choice) => button(choice.label, () => finish(choice.value)));
    const all = button("List…", () => {
      stop();
      void list().then(resolve);
    });
    sheet.addEventListener("pointerdown", pressed, true);
    document.addEventListener("keydown", typed, true);
    sheet.classList.add("picking");
    host.hint(`${title}: click a ${role === "SB" ? "body" : "joint"}, or`, ...more, all, button("Cancel", () => finish(null)));
  });
}
