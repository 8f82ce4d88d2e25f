// The strip over the player: the model file has an error, or the server is gone. The last good run stays below.

import type { ModelFault } from "../messages";
import { button, make } from "../ui/elements";

/** "arm.yaml, line 12, elbow.damping: must not be negative" */
export function faultWords(fault: ModelFault, file: string): { place: string; message: string } {
  const name = (fault.file ?? file).replace(/^.*[\\/]/, "");
  const part = [fault.component, fault.field].filter((each) => each != null && each !== "").join(".");
  const place = [name, fault.line == null ? "" : `line ${fault.line}`, part].filter((each) => each !== "").join(", ");
  return { place, message: fault.message };
}

export class ModelBanner {
  readonly element = make("div", { class: "live-banner", role: "alert", hidden: "" });
  private readonly retry: () => void;

  constructor(retry: () => void) {
    this.retry = retry;
  }

  showFault(fault: ModelFault, file: string): void {
    const { place, message } = faultWords(fault, file);
    const close = button("×", "Close", () => this.clear());
    this.show(make("strong", {}, place === "" ? "The model has an error" : place), make("span", { class: "live-message" }, message), make("span", { class: "live-after" }, "The last good run stays."), close);
  }

  showLost(): void {
    this.show(make("strong", {}, "The server is gone."), make("span", { class: "live-message" }, "The run stays; numbers cannot be changed until it is back."), button("Try again", "Try to reach the server", this.retry));
  }

  clear(): void {
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  private show(...parts: HTMLElement[]): void {
    this.element.replaceChildren(...parts);
    this.element.hidden = false;
  }
}
