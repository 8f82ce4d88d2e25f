// The model in other forms: files, pictures, equations, a Python script, the report.

import type { Equations, ModelAbout } from "../../messages";
import { errorWords } from "../../live/live_desk";
import { fileName, saveFile } from "../../plots/plot_files";
import { make } from "../../ui/elements";
import type { StudioContext, StudioPart } from "../studio_types";
import { drawnPicture, toPng } from "./drawn_picture";
import { formsOf } from "./formulas_panel";
import type { PaneLink } from "./pane_link";

const ENDINGS: Record<string, string> = { latex: "tex", text: "txt", python: "py", c: "c", json: "json" };
const WORDS: Record<string, string> = { yaml: "Model file in SI units", python: "Python script", svg: "Circuit diagram" };

interface Row {
  words: string;
  note: string;
  act(): Promise<void>;
}

export class ExportPanel implements StudioPart {
  readonly element = make("div", { class: "derived export-panel" });
  private readonly context: StudioContext;
  private readonly link: PaneLink;
  private readonly equations: () => Equations | null;
  private readonly files = make("div", { class: "export-rows" });
  private readonly formulas = make("div", { class: "export-rows" });
  private readonly report: ReportMaker;

  constructor(context: StudioContext, link: PaneLink, equations: () => Equations | null, more: () => void) {
    this.context = context;
    this.link = link;
    this.equations = equations;
    this.report = new ReportMaker(context, link);
    const open = make("button", { type: "button", class: "link" }, "Equations");
    open.addEventListener("click", more);
    this.element.append(make("h2", {}, "Report"), this.report.element, make("h2", {}, "Model and drawing"), this.files,
      make("h2", {}, "Equations"), make("p", { class: "muted" }, "Those that the pane ", open, " shows, in the forms that there are."), this.formulas);
    this.build(null);
  }

  resized(): void {
    void this.link.ask("pane_about", {}).then((about) => this.build(about), () => undefined);
  }

  destroy(): void {}

  private get name(): string {
    const { file, settings } = this.context.document;
    return (file ?? settings.proposed ?? "model").replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "");
  }

  private build(about: ModelAbout | null): void {
    const kinds = about?.exports ?? [];
    this.files.replaceChildren(
      this.row({ words: "Text as it stands", note: "the model file with its comments, saved or not", act: async () => this.give(this.context.document.text, "yaml", "text/yaml") }),
      ...kinds.map(({ kind, words, suffix }) => this.row({ words: WORDS[kind] ?? kind, note: words, act: () => this.exported(kind, suffix) })),
      this.row({ words: "Drawing as SVG", note: "as it stands on the canvas", act: async () => this.give(this.picture().svg, "svg", "image/svg+xml") }),
      this.row({ words: "Drawing as PNG", note: "as it stands on the canvas", act: async () => saveFile(await toPng(this.picture()), fileName(this.name, "png"), this.context.root) }));
    const forms = formsOf(this.equations());
    this.formulas.replaceChildren(...forms.map(({ form, words, text }) => this.row({
      words: words[0]!.toUpperCase() + words.slice(1), note: `${this.name}_equations.${ENDINGS[form]}`,
      act: async () => saveFile(new Blob([text], { type: "text/plain" }), fileName(`${this.name}_equations`, ENDINGS[form]!), this.context.root),
    })), ...(forms.length === 0 ? [make("p", { class: "muted" }, "None are derived yet.")] : []));
  }

  private picture(): { svg: string; width: number; height: number } {
    const picture = drawnPicture(this.context.root, `Circuit of ${this.name}`);
    if (picture === null) throw new Error("nothing is drawn yet");
    return picture;
  }

  private async exported(kind: string, suffix: string): Promise<void> {
    const answer = await this.link.ask("pane_export", { format: kind });
    if (answer !== null) saveFile(new Blob([answer.text], { type: suffix === ".svg" ? "image/svg+xml" : "text/plain" }), answer.name, this.context.root);
  }

  private give(text: string, ending: string, type: string): void {
    saveFile(new Blob([text], { type }), fileName(this.name, ending), this.context.root);
  }

  private row({ words, note, act }: Row): HTMLElement {
    const save = make("button", { type: "button", class: "tool" }, words);
    save.addEventListener("click", () => {
      save.disabled = true;
      act().catch((error: unknown) => this.context.say(errorWords(error), "error")).finally(() => (save.disabled = false));
    });
    return make("div", { class: "export-row" }, save, make("span", { class: "muted" }, note));
  }
}

/** The button that makes the report of the model as drawn, and the way to it. */
class ReportMaker {
  readonly element = make("div", { class: "report-maker" });
  private readonly verify = make("input", { type: "checkbox", checked: "" });
  private readonly explain = make("input", { type: "checkbox" });
  private readonly begin = make("button", { type: "button", class: "primary" }, "Make the report");
  private readonly stopper = make("button", { type: "button", class: "tool", hidden: "" }, "Stop");
  private readonly bar = make("progress", { max: "1", value: "0", "aria-label": "Progress of the report", hidden: "" });
  private readonly words = make("span", { role: "status" });
  private readonly context: StudioContext;
  private readonly link: PaneLink;

  constructor(context: StudioContext, link: PaneLink) {
    this.context = context;
    this.link = link;
    this.verify.checked = true;
    this.begin.addEventListener("click", () => void this.make());
    this.stopper.addEventListener("click", () => link.stop("pane_report"));
    this.element.append(make("p", { class: "muted" }, "Motion, joint loads, energy, equations: one page that needs nothing else. Of the model as it stands, saved or not."),
      make("label", {}, this.verify, " with derivations compared"), make("label", {}, this.explain, " with the steps of the derivation"),
      make("div", { class: "derived-state" }, this.begin, this.bar, this.stopper, this.words));
  }

  private async make(): Promise<void> {
    this.busy(true);
    try {
      const fields = { verify: this.verify.checked, explain: this.explain.checked };
      const made = await this.link.ask("pane_report", fields, (share, words) => {
        this.bar.value = share;
        this.words.textContent = `${words} …`;
      });
      if (made === null) return void (this.words.textContent = "It was stopped.");
      const link = make("a", { href: made.path, target: "_blank", rel: "noopener" }, `Open ${made.name}`);
      this.words.replaceChildren(link);
      link.click(); // where the browser allows it, it opens by itself
    } catch (error) {
      this.words.textContent = "";
      this.context.say(errorWords(error), "error");
    } finally {
      this.busy(false);
    }
  }

  private busy(on: boolean): void {
    this.begin.disabled = on;
    this.bar.hidden = this.stopper.hidden = !on;
    this.bar.value = 0;
  }
}
