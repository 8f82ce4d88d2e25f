// The studio's page: one document, the parts that show it, and the run.

import type { ComparedRow, GestureAnswer, Problem } from "../messages";
import { LiveConnection, type Connected, socketAddress } from "../live/connection";
import { errorWords } from "../live/live_desk";
import { RunPane } from "../live/run_pane";
import type { Theme } from "../panel";
import { make } from "../ui/elements";
import { openHelp } from "../ui/help";
import { ComparePanel } from "./comparison/compare_panel";
import compareStyles from "./comparison/comparison.css?inline";
import { type DocumentNews, StudioDocument } from "./document";
import { openGallery } from "./gallery/gallery_dialog";
import { makeDerivationPanes } from "./derivations/derivation_panes";
import { StudioHeader } from "./header";
import { withBase } from "./inheriting/base_offer";
import { InspectorPanel } from "./inspector/inspector_panel";
import tableStyles from "./inspector/table_form.css?inline";
import { LibraryLink } from "./library/library_link";
import { Notices } from "./notices";
import { Panes } from "./panes";
import { ProblemsPanel } from "./problems/problems_panel";
import { RunLink } from "./run_link";
import { askFileName, askOverwrite, askUnsaved } from "./save_dialog";
import { BoxTrail } from "./subsystems/box_trail";
import { SideTabs } from "./side_tabs";
import { countProblems, labelsOf } from "./standing";
import { StudiesPanel } from "./studies/studies_panel";
import { addPageKeys } from "./studio_keys";
import type { Catalogue, Gesture, SayKind, StudioContext, StudioPart, StudioPartMaker } from "./studio_types";
import { TextPanel } from "./text/text_panel";
import styles from "./studio.css?inline";

export interface StudioMakers {
  canvas: StudioPartMaker;
  palette: StudioPartMaker;
  /** Further styles. */
  styles?: string[];
}

const THEME = "kinode-studio-theme";
const SAID = new Set(["delete", "rename", "group", "paste", "duplicate", "tidy", "disconnect", "enclose", "dissolve", "insert"]);

/** What tests and programs that drive the page find as window.kinodeStudio. */
export class StudioPage implements StudioContext {
  readonly root = make("div", { class: "kinode-studio" });
  readonly connection: LiveConnection;
  readonly document: StudioDocument;
  theme: Theme = "light";
  hovered: string | null = null;
  lit: readonly string[] = [];
  run: RunPane | null = null;
  text: TextPanel | null = null;
  inspector: InspectorPanel | null = null;
  studies: StudiesPanel | null = null;
  private chosen: readonly string[] = [];
  private readonly host: HTMLElement;
  private readonly makers: StudioMakers;
  private readonly notices = new Notices();
  private readonly header: StudioHeader;
  private readonly waiting = make("p", { class: "studio-waiting", role: "status" }, "The model is being read.");
  private parts: StudioPart[] = [];
  private panes: Panes | null = null;
  private side: SideTabs | null = null;
  private problems = ""; // that the parts were told of
  private readonly runLink = new RunLink((name) => this.selectFromRun(name));
  private readonly trail: BoxTrail;

  constructor(host: HTMLElement, connection: LiveConnection, makers: StudioMakers) {
    this.host = host;
    this.makers = makers;
    this.connection = connection;
    this.document = new StudioDocument(connection);
    this.trail = new BoxTrail(this, (file) => this.openOther({ model: file }));
    document.head.append(make("style", { "data-kinode-studio": "" }, [styles, compareStyles, tableStyles, ...(makers.styles ?? [])].join("\n")));
    this.header = new StudioHeader({
      undo: () => this.undo(), redo: () => this.redo(), save: () => void this.save(), gallery: () => this.gallery(), problems: () => this.show("Problems"),
      tidy: () => void this.act({ do: "tidy" }), theme: () => this.setTheme(this.theme === "dark" ? "light" : "dark", true), help: () => openHelp(this.root),
    });
    this.root.append(this.header.element, this.notices.strips, this.waiting, this.notices.moment);
    host.append(this.root);
    this.setTheme(firstTheme(), false);
    this.document.listen((news) => this.hear(news));
    new LibraryLink(this.document, connection, () => this.parts[1]?.sketchChanged?.());
    connection.onState((state) => this.stateChanged(state));
    addPageKeys({
      undo: () => this.undo(), redo: () => this.redo(), save: () => void this.save(), help: () => openHelp(this.root), gallery: () => this.gallery(), nextPane: (step) => this.nextPane(step),
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.setTheme(firstTheme(), false));
    addEventListener("pagehide", () => this.text?.flush());
  }

  // -- what parts know -----------------------------------------------------------------------------------------
  get catalogue(): Catalogue {
    return this.document.catalogue;
  }

  get readOnly(): boolean {
    return this.document.readOnly;
  }

  get selection(): readonly string[] {
    return this.chosen;
  }

  select(names: readonly string[], from: string): void {
    if (names.length === this.chosen.length && names.every((name, k) => name === this.chosen[k])) return;
    this.chosen = [...names];
    for (const part of this.parts) part.selectionChanged?.(from);
    if (from !== "run") this.runLink.tell(this.chosen.map((name) => this.document.prefix + name));
  }

  private selectFromRun(name: string): void {
    const shown = name === "" ? null : this.document.shownName(name);
    this.select(shown === null ? [] : [shown], "run");
  }

  hover(name: string | null, all: readonly string[] = name === null ? [] : [name]): void {
    if (name === this.hovered && all.join() === this.lit.join()) return;
    this.hovered = name;
    this.lit = all;
    for (const part of this.parts) part.hoverChanged?.();
    this.runLink.light(all.flatMap((each) => [this.document.prefix + each, each]));
  }

  say(words: string, kind: SayKind = "note"): void {
    if (words !== "") this.notices.say(words, kind);
  }

  async act(gesture: Gesture, box?: readonly string[]): Promise<GestureAnswer | null> {
    this.text?.flush();
    return this.try(async () => {
      const answer = await this.document.gesture(gesture, box);
      const { renamed } = answer;
      if (renamed !== undefined && this.chosen.some((name) => name in renamed)) this.select(this.chosen.map((name) => renamed[name] ?? name), "page");
      if (gesture.do === "tidy") for (const part of this.parts) part.placedAnew?.(answer.version);
      if (SAID.has(gesture.do) && answer.words) this.say(answer.words);
      return answer;
    }, gesture);
  }

  openBox(name: string | null): void {
    void this.try(() => this.trail.open(name));
  }

  show(part: string): void {
    this.side?.show(part);
    this.panes?.show(part);
  }

  // -- actions ----------------------------------------------------------------------------------------------------
  undo(): void {
    this.text?.flush();
    void this.try(() => this.document.undo());
  }

  redo(): void {
    this.text?.flush();
    void this.try(() => this.document.redo());
  }

  async save(): Promise<void> {
    if (this.readOnly) return this.say("This model is open to read only.", "error");
    this.text?.flush();
    const { folder, proposed, named } = this.document.settings;
    const unnamed = this.document.file === null && named !== true;
    const path = unnamed ? await askFileName(this.root, folder ?? "", proposed ?? "model.yaml") : undefined;
    if (path === null) return;
    let answer = await this.try(() => this.document.save(path));
    if (answer !== null && "exists" in answer) {
      const { exists } = answer;
      if (!(await askOverwrite(this.root, exists))) return unnamed ? this.save() : undefined;
      answer = await this.try(() => this.document.save(path ?? exists, true));
    }
    if (answer !== null && "saved" in answer) this.say(`Saved: ${answer.saved.replace(/^.*[\\/]/, "")}`);
  }

  gallery(): void {
    if (this.readOnly) return this.say("This model is open to read only.", "error");
    openGallery(this.root, {
      load: () => this.document.gallery(), open: (what) => this.openOther(what), say: (words, kind) => this.say(words, kind),
    });
  }

  /** Opens another model, after a word on what is not saved; false if the person stays with this one. */
  private async openOther(what: { example: string } | { model: string } | "new"): Promise<boolean> {
    this.text?.flush();
    await this.document.settled();
    const keep = this.document.dirty ? await askUnsaved(this.root, this.document.file ?? "The model") : "discard";
    if (keep === "stay") return false;
    if (keep === "save") await this.save();
    if (keep === "save" && this.document.dirty) return false;
    await this.document.openOther(what, keep === "discard");
    return true;
  }

  setTheme(theme: Theme, keep: boolean): void {
    if (theme === this.theme && this.root.dataset["theme"] === theme) return;
    this.theme = theme;
    this.root.dataset["theme"] = theme;
    if (keep) remember(theme);
    this.run?.player?.setTheme(theme);
    for (const part of this.parts) part.themeChanged?.();
  }

  private async try<T>(work: () => Promise<T>, gesture: Gesture | null = null): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      const taking = withBase(error, gesture);
      if (taking === null) this.say(errorWords(error), "error");
      else this.notices.ask("base", errorWords(error), [{ words: "Take it over, and go on", act: () => void this.act(taking) }, { words: "Leave it", act: () => {} }]);
      return null;
    }
  }

  // -- what comes from outside -----------------------------------------------------------------------------------------
  private stateChanged(state: Connected): void {
    if (state === "lost") this.notices.ask("lost", "The server is gone. What is on this page stays; what was not saved is offered when the model is opened again.", [{ words: "Try again", act: () => this.connection.retry() }], true);
    else if (state === "open") {
      this.notices.clear("lost");
      this.document.open(this.text?.text ?? this.document.text).catch((error: unknown) => (this.parts.length > 0 ? this.say(errorWords(error), "error") : (this.waiting.textContent = errorWords(error))));
    }
    this.showState();
  }

  private hear(news: DocumentNews): void {
    if (news.kind === "opened") this.opened(news.mine, news.other);
    else if (news.kind === "box") this.select([], "page");
    else if (news.kind === "sketch") {
      const names = new Set(this.document.sketch.boxes.flatMap((box) => [box.name, box.owner]));
      // While a text is being typed parts come and go: what is chosen is dropped where the text is whole without it.
      if (this.document.standing.whole && this.chosen.some((name) => !names.has(name)) && !this.document.busy) this.select(this.chosen.filter((name) => names.has(name)), "page");
      for (const part of this.parts) part.sketchChanged?.();
    } else if (news.kind === "disk") {
      if (news.conflict) this.askDisk(news.words);
      else this.say(news.words, news.trouble ? "error" : "note");
    }
    if (news.kind !== "sketch") this.showState();
  }

  private opened(mine: string | null, other: boolean): void {
    if (other) {
      this.select([], "page");
      this.clearRun("Nothing runs yet.", this.document.model);
    }
    const first = this.parts.length === 0;
    if (first) this.build();
    if (first && this.host.hasAttribute("data-gallery")) this.gallery();
    if (mine !== null && !this.readOnly)
      this.notices.ask("other", "The server came back with another text than this page had.", [
        { words: "Use this page's text", act: () => void this.try(() => this.document.replaceText(mine)) }, { words: "Use the server's", act: () => {} },
      ]);
    const { recovered } = this.document;
    if (recovered !== "")
      this.notices.ask("recovered", recovered, [
        { words: "Take it", act: () => void this.try(() => this.document.recover(true)) }, { words: "Leave it", act: () => void this.try(() => this.document.recover(false)) },
      ]);
    else this.notices.clear("recovered");
    const { trouble } = this.document.settings;
    if (trouble) this.say(trouble, "error");
    for (const part of this.parts) part.sketchChanged?.();
    this.problems = "";
  }

  private askDisk(words: string): void {
    this.notices.ask("disk", words, [
      { words: "Take the file's text", act: () => void this.try(() => this.document.settle("theirs")) }, { words: "Keep this text", act: () => void this.try(() => this.document.settle("mine")) },
    ], true);
  }

  private clearRun(words: string, model?: number): void {
    this.run?.clear(words, model);
    if ((this.run?.player ?? null) !== null) return;
    for (const part of this.parts) part.runChanged?.(null);
  }

  /** Every label that tells a state, from the one record of how the model stands. */
  private showState(): void {
    const { state, standing, version } = this.document;
    const { errors, warnings } = countProblems(standing.problems);
    const labels = labelsOf(standing, version, (this.run?.player ?? null) !== null);
    if (labels.noRun && this.run?.player) this.clearRun("");
    this.run?.stand(labels.older, labels.instead);
    this.side?.badge("Problems", errors + warnings === 0 ? "" : String(errors + warnings), errors > 0 ? "bad" : "warn");
    for (const part of this.parts) part.standingChanged?.(labels);
    const problems = JSON.stringify([standing.problems, this.document.remarks]);
    if (problems !== this.problems) for (const part of this.parts) part.problemsChanged?.();
    this.problems = problems;
    this.header.show({ ...state, readOnly: this.readOnly, labels, lost: this.connection.state === "lost" });
  }

  // -- the parts -----------------------------------------------------------------------------------------------------------
  private build(): void {
    const canvas = this.makers.canvas(this);
    canvas.element.prepend(this.trail.element);
    const palette = this.makers.palette(this);
    this.inspector = new InspectorPanel(this);
    this.text = new TextPanel(this, { undo: () => this.undo(), redo: () => this.redo(), save: () => void this.save() });
    const problems = new ProblemsPanel(this, (problem) => void this.goTo(problem));
    const comparison = new ComparePanel(this, { goTo: (row) => this.goToRow(row) });
    const derived = makeDerivationPanes(this, this.connection);
    const side = { Inspector: this.inspector, Text: this.text, Problems: problems, ...derived.parts, Studies: this.studies = new StudiesPanel(this, this.connection), Compare: comparison };
    this.parts = [canvas, palette, ...Object.values(side), this.trail];
    this.side = new SideTabs(side);
    this.header.add(derived.badge);
    const run = make("section", { class: "run-pane", "aria-label": "Run" });
    for (const [part, words] of [[canvas, "Drawing"], [palette, "Palette"]] as const) if (!part.element.hasAttribute("aria-label")) part.element.setAttribute("aria-label", words);
    this.panes = new Panes({ Palette: palette.element, Canvas: canvas.element, Run: run }, this.side.element, Object.keys(side), () => this.resized());
    this.panes.onTab = (name): void => this.side?.show(name);
    this.waiting.remove();
    this.notices.strips.after(make("main", { class: "studio-main" }, this.panes.tabs, this.panes.element));
    this.run = new RunPane(run, this.connection, {
      waiting: "Nothing runs yet.", quiet: true, theme: this.theme, first: "Plots",
      onModel: (player, desk) => {
        this.runLink.follow(player);
        for (const part of this.parts) (part.setDesk?.(desk), part.runChanged?.(player));
        this.showState();
        new MutationObserver(() => this.setTheme(player.theme, true)).observe(player.root, { attributes: true, attributeFilter: ["data-theme"] });
      },
    });
    performance.mark("kinode-studio-open");
  }

  private async goTo(problem: Problem): Promise<void> {
    const { box = [], component } = problem;
    if (box.join() !== this.document.box.join() && component !== null) await this.try(() => this.document.enter(box));
    const name = component === null ? null : this.document.shownName(component);
    if (name !== null) this.select([name], "problems");
    if (problem.field !== null && problem.component !== null) {
      this.show("Inspector");
      setTimeout(() => this.inspector?.focusField(problem.field!), 150);
    } else if (problem.line !== null || problem.span !== null) {
      this.show("Text");
      this.text?.goTo(problem.line, problem.span);
    } else this.show("Canvas");
  }

  /** The part of a difference, where this model has it; the line where it has none. */
  private goToRow({ part, change, line_after: line }: ComparedRow): void {
    if (change !== "removed" && part !== "") this.select([part], "comparison");
    else if (line !== null) {
      this.show("Text");
      this.text?.goTo(line, null);
    } else this.say(change === "removed" ? `${part} is in the other model only.` : "");
  }

  private nextPane(step: 1 | -1): void {
    const panes = [...this.root.querySelectorAll<HTMLElement>(".studio-head, .pane:not(.behind)")];
    const at = panes.findIndex((pane) => pane.contains(document.activeElement));
    const next = panes[(at + step + panes.length) % panes.length];
    next?.querySelector<HTMLElement>("button:not(:disabled), input, select, [tabindex='0'], [contenteditable=true]")?.focus();
  }

  private resized(): void {
    for (const part of this.parts) part.resized?.();
  }
}

function firstTheme(): Theme {
  const kept = recallTheme();
  return kept === "light" || kept === "dark" ? kept : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function recallTheme(): string | null {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // the browser keeps nothing
  }
}

/** Starts the studio in its element. */
export function startStudio(host: HTMLElement, makers: StudioMakers): StudioPage {
  const connection = new LiveConnection(() => new WebSocket(socketAddress(location)));
  const page = new StudioPage(host, connection, makers);
  (globalThis as { kinodeStudio?: StudioPage }).kinodeStudio = page;
  return page;
}
