// The head of the page: whose model it is, whether it is saved, undo and redo, whether it is right, whether it runs.

import { button, make, write } from "../ui/elements";
import { iconButton } from "../ui/icons";
import type { StandingLabels } from "./standing";

export interface HeaderActions {
  undo(): void;
  redo(): void;
  save(): void;
  gallery(): void;
  problems(): void;
  tidy(): void;
  theme(): void;
  help(): void;
}

export interface HeaderState {
  file: string | null;
  dirty: boolean;
  canUndo: boolean;
  canRedo: boolean;
  readOnly: boolean;
  labels: StandingLabels;
  lost: boolean;
}

export class StudioHeader {
  readonly element: HTMLElement;
  private readonly file = make("span", { class: "file-name" });
  private readonly dot = make("span", { class: "dirty-dot", role: "img" }, "●");
  private readonly models: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly save: HTMLButtonElement;
  private readonly tidy: HTMLButtonElement;
  private readonly check: HTMLButtonElement;
  private readonly run = make("span", { class: "run-state", role: "status" });

  constructor(actions: HeaderActions) {
    const text = (words: string, title: string, act: () => void): HTMLButtonElement => {
      const made = make("button", { type: "button", title }, words);
      made.addEventListener("click", act);
      return made;
    };
    this.models = text("Models", "Examples, recent files, a new model", actions.gallery);
    this.undo = button("↶", "Undo (Ctrl+Z)", actions.undo);
    this.redo = button("↷", "Redo (Ctrl+Shift+Z)", actions.redo);
    this.save = text("Save", "Save (Ctrl+S)", actions.save);
    this.tidy = text("Tidy up", "Place all parts anew", actions.tidy);
    this.check = text("", "List of problems", actions.problems);
    this.check.classList.add("check-badge");
    this.element = make("header", { class: "studio-head" },
      this.models, make("h1", {}, this.file, this.dot), this.undo, this.redo, this.save, this.tidy,
      make("span", { class: "gap" }), this.run, this.check, iconButton("theme", "Light or dark", actions.theme), button("?", "Keys and gestures", actions.help));
  }

  /** A badge of another part of the page, beside that of the problems. */
  add(badge: HTMLElement): void {
    this.check.after(badge);
  }

  show(state: HeaderState): void {
    const name = state.file?.replace(/^.*[\\/]/, "") ?? "new model";
    write(this.file, name, { title: state.file ?? "not saved yet" });
    const unsaved = state.dirty && !state.readOnly;
    this.dot.hidden = !unsaved;
    write(this.dot, null, { "aria-label": "not saved", title: "not saved" });
    document.title = `${unsaved ? "● " : ""}${name} – kinode studio`;
    this.models.disabled = state.readOnly;
    this.undo.disabled = state.readOnly || state.lost || !state.canUndo;
    this.redo.disabled = state.readOnly || state.lost || !state.canRedo;
    this.save.disabled = state.readOnly || state.lost;
    this.tidy.disabled = state.readOnly || state.lost;
    const { run, check } = state.labels;
    write(this.check, check.words, { "data-state": check.state });
    write(this.run, state.lost ? "no server" : state.readOnly ? `read-only, ${run}` : run);
  }
}
