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
  return askChoice(root, "Changes that are not saved", `${name} has changes that are not saved.`, { stay: "Stay here", discard: "Drop the changes", save: "Save them" });
}

/** Whether a file that is there already is to be replaced. */
export async function askOverwrite(root: HTMLElement, name: string): Promise<boolean> {
  return (await askChoice(root, "A file of that name", `${name} is there already.`, { keep: "Keep it", replace: "Replace it" })) === "replace";
}

/** A question with answers as buttons: the first has the focus, and is that of Escape. */
function askChoice<T extends string>(root: HTMLElement, title: string, words: string, choices: Record<T, string>): Promise<T> {
  return new Promise((resolve) => {
    const dialog = make("dialog", { class: "ask", "aria-label": title });
    const names = Object.keys(choices) as T[];
    let answer = names[0]!;
    const buttons = names.map((name, k) => {
      const made = make("button", { type: "button", class: k === names.length - 1 ? "primary" : "tool" }, choices[name]);
      made.addEventListener("click", () => {
        answer = name;
        dialog.close();
      });
      return made;
    });
    dialog.append(make("h2", {}, words), make("div", { class: "buttons" }, ...buttons));
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
