// Saves a subsystem, or the selected parts as one, as a file of the library.

import { errorWords } from "../../live/live_desk";
import { make } from "../../ui/elements";
import type { CanvasHost } from "../canvas/canvas_host";
import { snapToGrid } from "../canvas/canvas_model";
import { askOverwrite, withEnding } from "../save_dialog";

interface PartWords {
  name: string;
  words: string;
}

/** Why the chosen parts cannot be saved to the library; empty where they can. */
export function whyNotSaved(boxes: readonly { inside?: { file: string } | null }[]): string {
  if (boxes.length === 0) return "Select a subsystem, or parts that become one.";
  const file = boxes.length === 1 ? boxes[0]!.inside?.file : "";
  return file ? `It is in a file already: ${file}` : "";
}

export async function saveToLibrary(host: CanvasHost): Promise<void> {
  const { context, model } = host;
  const boxes = [...host.chosen].flatMap((name) => model.boxes.get(name) ?? []);
  const why = whyNotSaved(boxes);
  if (why !== "") return context.say(why);
  const names = [...new Set(boxes.map((box) => box.owner))];
  const [left, top, width, height] = model.extent(host.chosen)!;
  const single = boxes.length === 1 && boxes[0]!.inside != null ? names[0]! : "part";
  const folder = context.catalogue.libraryFolder ?? "library";
  const given = await askPart(context.root, folder, single);
  host.focusSheet();
  if (given === null) return;
  const request = { names, box: [...context.document.box], ...given, at: snapToGrid([left + width / 2, top + height / 2]) };
  try {
    let answer = await context.document.changeBy("library_save", request);
    if ("exists" in answer) {
      if (!(await askOverwrite(context.root, answer.exists))) return;
      answer = await context.document.changeBy("library_save", { ...request, overwrite: true });
    }
    if ("part" in answer) context.say(`Saved: ${answer.part}`);
  } catch (error) {
    context.say(errorWords(error), "error");
  }
}

/** Asks for the name of a part and one sentence about it; null if the person left. */
export function askPart(root: HTMLElement, folder: string, first: string): Promise<PartWords | null> {
  return new Promise((resolve) => {
    const name = make("input", { type: "text", spellcheck: "false", required: "" });
    const words = make("input", { type: "text", maxlength: "240", placeholder: "What it is, in one sentence" });
    name.value = `${first}.yaml`;
    const cancel = make("button", { type: "button", class: "tool" }, "Cancel");
    const form = make("form", { method: "dialog" }, make("h2", {}, "Save to the library"), make("p", { class: "muted" }, `A file in ${folder}/; the model reads it from there.`),
      make("label", {}, "File name", name), make("label", {}, "Description", words),
      make("div", { class: "buttons" }, cancel, make("button", { type: "submit", class: "primary" }, "Save")));
    const dialog = make("dialog", { class: "ask library-ask", "aria-label": "Save to the library" }, form);
    let answer: PartWords | null = null;
    form.addEventListener("submit", () => {
      const file = withEnding(name.value);
      answer = file === null ? null : { name: file, words: words.value.trim() };
    });
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    root.append(dialog);
    dialog.showModal();
    name.setSelectionRange(0, first.length);
  });
}
