// The menu "Save": pictures, films, the moving model. Keys as in any menu: arrows, Home, End, Escape.

import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { FilmDialog } from "./film_dialog";
import { writeGlb } from "./glb_file";
import { fileName, saveFile } from "../plots/plot_files";
import { sizeWords } from "./size_words";
import { stagePng, viewOf, wholePng } from "./stage_pictures";

export interface SaveContext extends PlayerContext {
  readonly stage: Panel;
  readonly panels: ReadonlyMap<string, Panel>;
}

/** A panel of plots that can be drawn as one picture. */
interface PicturedPlots extends Panel {
  picture(): HTMLCanvasElement | null;
}

interface Entry {
  words: string;
  note: string;
  act(): Promise<void> | void;
  missing(): string; // why it cannot be done now, or ""
}

export interface SaveMenu {
  readonly element: HTMLElement;
  destroy(): void;
}

export function makeSaveMenu(context: SaveContext): SaveMenu {
  return new Menu(context);
}

class Menu implements SaveMenu {
  readonly element = make("div", { class: "save-menu" });
  private readonly opener = make("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", title: "Save pictures, films, the moving model" }, "Save ▾");
  private readonly list = make("div", { class: "save-list", role: "menu", "aria-label": "Save" });
  private readonly film: FilmDialog;
  private readonly context: SaveContext;

  constructor(context: SaveContext) {
    this.context = context;
    this.film = new FilmDialog(context, () => viewOf(context.stage));
    this.list.hidden = true;
    this.element.append(this.opener);
    context.root.append(this.list);
    this.opener.addEventListener("click", () => (this.list.hidden ? this.open() : this.close()));
    this.opener.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") this.open(event);
      else if (event.key.startsWith("Arrow")) event.stopPropagation();
    });
    this.list.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("pointerdown", this.outside);
  }

  destroy(): void {
    document.removeEventListener("pointerdown", this.outside);
    this.film.destroy();
    this.list.remove();
    this.element.remove();
  }

  private entries(): Entry[] {
    const { context } = this;
    const view = viewOf(context.stage);
    const flat = (): string => (view === null ? "there is no 3D picture" : "");
    const name = (ending: string): string => fileName(context.main.header.name, ending);
    const give = (content: Blob, file: string): void => {
      saveFile(content, file, context.root);
      context.say(`${file}, ${sizeWords(content.size)}`);
    };
    const plots = (): HTMLCanvasElement | null => {
      const panel = context.panels.get("Plots") as Partial<PicturedPlots> | undefined;
      return panel?.picture?.() ?? null;
    };
    const box = (): DOMRect => context.stage.element.getBoundingClientRect();
    return [
      { words: "Picture", note: "PNG of the 3D view", missing: flat, act: async () => give(await stagePng(context, view!, box()), name("png")) },
      {
        words: "Picture with plots", note: "PNG of 3D view and plots",
        missing: () => flat() || (plots() === null ? "no plot is shown" : ""),
        act: async () => give(await wholePng(context, view!, box(), plots()!), name("png")),
      },
      { words: "Film …", note: "WebM", missing: flat, act: () => this.film.open("webm") },
      { words: "Film …", note: "MP4, where the browser encodes H.264", missing: flat, act: () => this.film.open("mp4") },
      {
        words: "Moving model", note: "glTF (.glb) for Blender, slides, web pages",
        missing: () => (context.main.header.bodies.length === 0 ? "there are no bodies" : ""),
        act: () => give(new Blob([writeGlb(context.main)], { type: "model/gltf-binary" }), name("glb")),
      },
    ];
  }

  private open(event?: KeyboardEvent): void {
    event?.preventDefault();
    event?.stopPropagation();
    this.list.replaceChildren(...this.entries().map((entry) => this.item(entry)));
    this.list.hidden = false;
    this.opener.setAttribute("aria-expanded", "true");
    const place = this.opener.getBoundingClientRect();
    const root = this.context.root.getBoundingClientRect();
    this.list.style.top = `${place.bottom - root.top + 2}px`;
    this.list.style.right = `${Math.max(4, root.right - place.right)}px`;
    this.list.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }

  private item(entry: Entry): HTMLElement {
    const missing = entry.missing();
    const element = make("button", { type: "button", role: "menuitem", tabindex: "-1" },
      make("span", {}, entry.words), make("span", { class: "muted" }, missing || entry.note));
    if (missing) element.setAttribute("aria-disabled", "true");
    element.addEventListener("click", () => {
      if (missing) return;
      this.close(true);
      void this.act(entry);
    });
    return element;
  }

  private async act(entry: Entry): Promise<void> {
    try {
      await entry.act();
    } catch (error) {
      this.context.say(`Not saved: ${error instanceof Error ? error.message : String(error)}`, "error");
    }
  }

  private close(focus = false): void {
    this.list.hidden = true;
    this.opener.setAttribute("aria-expanded", "false");
    if (focus) this.opener.focus();
  }

  private key(event: KeyboardEvent): void {
    event.stopPropagation();
    const items = [...this.list.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(event.target as HTMLElement);
    const next: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    const goal = next[event.key];
    if (goal !== undefined) {
      event.preventDefault();
      items[(goal + items.length) % items.length]?.focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      if (event.key === "Escape") event.preventDefault();
      this.close(true);
    }
  }

  private readonly outside = (event: PointerEvent): void => {
    const path = event.composedPath();
    if (!this.list.hidden && !path.includes(this.list) && !path.includes(this.element)) this.close();
  };
}
