// Where a model that has no file yet is saved.

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

export function withEnding(name: string): string | null {
  const plain = name.trim();
  return plain === "" ? null : /\.(ya?ml|json)$/i.test(plain) ? plain : `${plain}.yaml`;
}
