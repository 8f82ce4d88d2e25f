// The panel of numbers: every parameter and every number of the model under a slider, and the runs kept to compare.

import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { CompareSection } from "./compare_section";
import { addLiveKeys } from "./live_keys";
import { type DeskNews, LiveDesk } from "./live_desk";
import { type NumberGroup, groupNumbers, shortName } from "./number_groups";
import { NumberRow } from "./number_row";
import { ResponseTopic } from "./response_view";

const OPEN_AT_FIRST = 24; // numbers in groups that are unfolded

export class NumbersPanel implements Panel {
  readonly element = make("div", { class: "numbers-panel" });
  readonly title = "Numbers";
  private readonly context: PlayerContext;
  private readonly desk: LiveDesk;
  private readonly topic: ResponseTopic;
  private readonly search = make("input", { type: "search", placeholder: "Search a number", "aria-label": "Search a number" });
  private readonly list = make("div", { class: "number-groups" });
  private readonly none = make("p", { class: "muted", hidden: "" });
  private readonly compare: CompareSection;
  private readonly rows = new Map<string, NumberRow>();
  private groups: NumberGroup[] = [];
  private folds = new Map<string, { fold: HTMLDetailsElement; group: NumberGroup; count: HTMLElement; unfold(): void }>();
  private dragged = "";
  private built = "";
  private readonly opened = new Set<string>(); // groups that a person has opened or that are open at first
  private readonly ends: (() => void)[] = [];
  private readonly moved = new Set<string>(); // numbers to show anew
  private readonly showing = makeFrameTask(() => this.showValues());
  private readonly showingMoved = makeFrameTask(() => this.showMoved());

  constructor(context: PlayerContext, desk: LiveDesk) {
    this.context = context;
    this.desk = desk;
    this.topic = new ResponseTopic(desk.live.responseOf);
    this.compare = new CompareSection(context, desk);
    this.element.append(this.compare.element, this.search, this.list, this.none);
    this.search.addEventListener("input", () => this.build());
    const check = (event: Event): void => void desk.check((event as CustomEvent<"audit" | "verify">).detail);
    context.root.addEventListener("kinode-check", check);
    this.ends.push(() => context.root.removeEventListener("kinode-check", check), desk.onNews((news) => this.hear(news)), addLiveKeys(context, desk), context.clock.onTime(() => this.compare.showTime()));
    this.openFirst();
    this.build();
  }

  setRuns(): void {
    this.compare.setRuns();
  }

  wantedSeries(): string[] {
    return this.compare.wantedSeries();
  }

  selectionChanged(): void {
    const { kind, name } = this.context.selection;
    if (kind === "joint") void this.desk.wantCauses(name);
    const group = this.folds.get(name);
    if (kind !== "none" && group !== undefined && !group.fold.open) group.fold.open = true;
    if (kind !== "none" && group !== undefined && !this.element.hidden) group.fold.scrollIntoView({ block: "nearest" });
  }

  themeChanged(): void {
    for (const row of this.rows.values()) row.resized();
  }

  resized(): void {
    this.showValues();
    for (const row of this.rows.values()) row.resized();
  }

  destroy(): void {
    this.showing.cancel();
    this.showingMoved.cancel();
    for (const end of this.ends) end();
    for (const row of this.rows.values()) row.destroy();
    this.compare.destroy();
  }

  /** Unfolds the group of a number and brings it into view. */
  reveal(name: string): void {
    const parameter = this.desk.find(name);
    if (parameter === undefined) return;
    if (this.search.value !== "") {
      this.search.value = "";
      this.build();
    }
    const found = this.folds.get(parameter.group || "parameters");
    if (found !== undefined) {
      found.unfold();
      found.fold.open = true;
    }
    this.rows.get(name)?.element.scrollIntoView({ block: "nearest" });
  }

  private hear(news: DeskNews): void {
    if (news.kind === "model") {
      if (!this.desk.live.responses.includes(this.topic.of)) this.topic.of = this.desk.live.responseOf;
      if (this.structure() !== this.built) this.build();
      else this.showing.request();
    } else if (news.kind === "refused") this.rows.get(news.name)?.refuse(news.message);
    else if (news.kind === "values") {
      if (news.name === "") this.showing.request();
      else {
        this.moved.add(news.name);
        this.showingMoved.request();
      }
      if (news.name !== "") this.follow(news.name);
    } else if (news.kind === "runs") this.compare.setRuns();
  }

  /** The curve of the number that was moved last is open; the one before closes, unless a person opened it. */
  private follow(name: string): void {
    if (name === this.dragged) return;
    if (!this.rows.has(name)) this.reveal(name); // it was dragged in 3D
    if (!this.rows.has(name)) return;
    const before = this.rows.get(this.dragged);
    const row = this.rows.get(name)!;
    if (before !== undefined) before.openCurve(false);
    this.dragged = row.isOpen ? "" : name;
    row.openCurve(true);
  }

  private openFirst(): void {
    let count = 0;
    for (const group of groupNumbers(this.desk.parameters)) {
      const live = group.rows.filter((row) => row.structural === "").length;
      if (live === 0 || count + live > OPEN_AT_FIRST) continue;
      count += live;
      this.opened.add(group.name);
      if (group.name === "parameters") break;
    }
  }

  /** What the rows depend on beside values: a slider under the finger stays while it is the same. */
  private structure(): string {
    return this.desk.parameters.map(({ name, unit, structural, group, low, high }) => [name, unit, structural, group, low, high].join("\t")).join("\n");
  }

  private build(): void {
    this.built = this.structure();
    for (const row of this.rows.values()) row.destroy();
    this.rows.clear();
    this.dragged = "";
    this.groups = groupNumbers(this.desk.parameters, this.search.value);
    const searched = this.search.value.trim() !== "";
    this.folds = new Map();
    this.list.replaceChildren(...this.groups.map((group) => this.makeGroup(group, searched)));
    this.none.hidden = this.groups.length > 0;
    this.none.textContent = searched ? `No number is called ${this.search.value.trim()}.` : "This model has no number that can be changed here.";
  }

  private makeGroup(group: NumberGroup, searched: boolean): HTMLElement {
    const count = make("span", { class: "group-count muted" });
    const summary = make("summary", {}, make("span", {}, group.name === "parameters" ? "Parameters" : group.name), count);
    const fold = make("details", { class: "fold number-group" }, summary);
    this.showCount(group, count);
    let built = false;
    const unfold = (): void => {
      if (built) return;
      built = true;
      for (const parameter of group.rows) {
        const row = new NumberRow(this.context, this.desk, this.topic, parameter, shortName(parameter.name, group.name));
        this.rows.set(parameter.name, row);
        fold.append(row.element);
      }
    };
    this.folds.set(group.name, { fold, group, count, unfold });
    if (searched ? this.groups.length <= 8 : this.opened.has(group.name)) {
      unfold();
      fold.open = true;
    }
    fold.addEventListener("toggle", () => {
      if (fold.open) unfold();
      if (searched) return;
      if (fold.open) this.opened.add(group.name);
      else this.opened.delete(group.name);
    });
    return fold;
  }

  private showCount(group: NumberGroup, count: HTMLElement): void {
    const changed = group.rows.filter((row) => this.desk.isChanged(row.name)).length;
    const text = changed > 0 ? `${changed} of ${group.rows.length} changed` : String(group.rows.length);
    if (count.textContent !== text) count.textContent = text;
    count.classList.toggle("changed", changed > 0);
  }

  private showValues(): void {
    for (const row of this.rows.values()) row.show();
    for (const { group, count } of this.folds.values()) this.showCount(group, count);
    this.compare.showChanges();
  }

  /** The same for the numbers that were moved alone: a drag is to cost little. */
  private showMoved(): void {
    for (const name of this.moved) {
      this.rows.get(name)?.show();
      const fold = this.folds.get(this.desk.find(name)?.group || "parameters");
      if (fold !== undefined) this.showCount(fold.group, fold.count);
    }
    this.moved.clear();
    this.compare.showChanges();
  }
}

export function makeNumbersPanel(context: PlayerContext): Panel {
  if (!(context.live instanceof LiveDesk)) throw new Error("numbers need a live server");
  return new NumbersPanel(context, context.live);
}
