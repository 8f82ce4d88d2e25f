// Where the drawing is: the file, and the subsystems that were opened on the way; each leads back.

import { make } from "../../ui/elements";
import type { StudioContext, StudioPart } from "../studio_types";
import { fileBeside } from "./box_names";
import styles from "./subsystems.css?inline";

export class BoxTrail implements StudioPart {
  readonly element = make("nav", { class: "box-trail", "aria-label": "Open subsystem", hidden: "" });
  private readonly context: StudioContext;
  private readonly openFile: (file: string) => Promise<boolean>;
  private readonly list = make("ol", {});
  private came: string[] = []; // files from which the shown one was opened
  private opening = false;
  private lastShown = "";
  private readonly end: () => void;

  constructor(context: StudioContext, openFile: (file: string) => Promise<boolean>) {
    this.context = context;
    this.openFile = openFile;
    this.element.append(make("style", {}, styles), this.list);
    this.end = context.document.listen((news) => {
      if (news.kind === "opened" && !this.opening && this.fileShown() !== this.lastShown) this.came = [];
      if (news.kind === "opened" || news.kind === "box" || news.kind === "state") this.fill();
    });
  }

  destroy(): void {
    this.end();
    this.element.remove();
  }

  /** Opens a closed box: its inside, or the file that it is from; null goes one step out. */
  async open(name: string | null): Promise<void> {
    const { document } = this.context;
    if (name === null) return this.goOut();
    const box = document.sketch.boxes.find((each) => each.name === name);
    if (box?.inside == null) return;
    if (box.inside.file !== "") return this.openOther(box.inside.file);
    await document.enter([...document.box, name]);
    this.context.say(`Opened ${name}: ${box.inside.count} parts.`);
  }

  private async goOut(): Promise<void> {
    const { document } = this.context;
    const left = document.box[document.box.length - 1];
    if (left !== undefined) {
      await document.enter(document.box.slice(0, -1));
      this.context.select([left], "trail");
    } else if (this.came.length > 0) await this.goBack(this.came.length - 1);
  }

  private async openOther(file: string): Promise<void> {
    const from = this.fileShown();
    if (from === "") return this.context.say("Save this model first: its box is in another file.", "error");
    await this.exchange(fileBeside(file, from), [...this.came, from]);
  }

  private async goBack(index: number): Promise<void> {
    await this.exchange(this.came[index]!, this.came.slice(0, index));
  }

  private async exchange(file: string, came: string[]): Promise<void> {
    this.opening = true;
    try {
      if (await this.openFile(file)) this.came = came;
    } finally {
      this.opening = false;
      this.fill();
    }
  }

  /** The file that is shown, seen from the folder of the studio; empty before it is saved. */
  private fileShown(): string {
    const { file, settings } = this.context.document;
    const known = settings.file ?? undefined;
    return file !== null && known !== undefined && (known === file || known.endsWith(`/${file}`)) ? known : (file ?? "");
  }

  private fill(): void {
    const { document } = this.context;
    this.lastShown = this.fileShown();
    this.element.hidden = document.box.length === 0 && this.came.length === 0;
    const files = this.came.map((file, k) => step(file, `Back to ${file}`, () => void this.goBack(k)));
    const own = document.file?.replace(/^.*[\\/]/, "") ?? document.settings.proposed ?? "model";
    const steps = [own, ...document.box].map((name, k, all) =>
      k === all.length - 1 ? make("li", {}, make("span", { "aria-current": "page" }, name)) : step(name, `Back to ${name}`, () => void document.enter(document.box.slice(0, k)).catch(() => undefined)));
    this.list.replaceChildren(...files, ...steps);
  }
}

function step(words: string, title: string, act: () => void): HTMLElement {
  const button = make("button", { type: "button", title }, words);
  button.addEventListener("click", act);
  return make("li", {}, button);
}
