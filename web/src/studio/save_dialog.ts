// Questions before a model is saved or left.

import { make } from "../ui/elements";

/** Asks for a name below the folder; null if the person left. */
export function askFileName(root: HTMLElement, folder: string, first: string): Promise<string | null> {
  return new Promise((resolve) => {
    const name = make("input", { type: "text", "aria-label": "File name", spellcheck: "false", required: "" });
    name.value = first;
    const dialog = make("dialog", { class: "ask", "aria-label": "Save the model" });
    const cancel = make("button", { type: "button" }, "Cancel");
    const form = make("form", { method: "dialog" }, make("h2", {}, "Save the model"), make("p", { class: "muted" }, folder === "" ? "" : `in ${folder}`), name,
      make("div", { class: "buttons" }, cancel, make("button", { type: "submit", class: "primary" }, "Save")));
    let answer: string | null = null;
    form.addEventListener("submit", () => (answer = withEnding(name.value)));
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.append(form);
    root.append(dialog);
    dialog.showModal();
    name.setSelectionRange(0, name.value.replace(/\.ya?ml$/, "").length);
  });
}

/** What becomes of changes that are not saved, before another model is opened. */
export function askUnsaved(root: HTMLElement, name: string): Promise<"save" | "discard" | "stay"> {
  return new Promise((resolve) => {
    const dialog = make("dialog", { class: "ask", "aria-label": "Changes that are not saved" });
    let answer: "save" | "discard" | "stay" = "stay";
    const choice = (words: string, value: typeof answer, primary = false): HTMLElement => {
      const made = make("button", { type: "button", class: primary ? "primary" : "tool" }, words);
      made.addEventListener("click", () => {
        answer = value;
        dialog.close();
      });
      return made;
    };
    dialog.append(make("h2", {}, `${name} has changes that are not saved.`),
      make("div", { class: "buttons" }, choice("Stay here", "stay"), choice("Drop the changes", "discard"), choice("Save them", "save", true)));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    root.append(dialog);
    dialog.showModal();
  });
}

export function withEnding(name: string): string | null {
  const plain = name.trim();
  return plain === "" ? null : /\.(ya?ml|json)$/i.test(plain) ? plain : `${plain}.yaml`;
}
