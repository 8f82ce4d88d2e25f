// What is known of the run: its checks with their tables, its events, facts and parameters.

import type { BadgeData } from "../data/run_document";
import type { Panel, PlayerContext } from "../panel";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { formatNumber, prettyUnit } from "../ui/numbers";
import { makeFold, makeTable } from "./data_table";
import { EventsTable } from "./events_table";

const SIGNS = { true: "✓", false: "✗", null: "?" } as const;

export class ChecksPanel implements Panel {
  readonly element = make("div", { class: "checks-panel" });
  readonly title = "Checks";
  private readonly context: PlayerContext;
  private readonly badges = make("div");
  private readonly events: EventsTable;
  private readonly eventFold: HTMLDetailsElement;
  private readonly facts = make("div");
  private readonly parameters = make("div");
  private keys = { badges: "", facts: "", parameters: "" };
  private readonly ends: (() => void)[] = [];
  private readonly updating = makeFrameTask(() => this.update());
  private readonly moving = makeFrameTask(() => {
    if (!this.element.hidden) this.events.showTime();
  });

  constructor(context: PlayerContext) {
    this.context = context;
    this.events = new EventsTable(context);
    this.eventFold = makeFold("Events", true, this.events.element);
    this.element.append(this.badges, this.eventFold, makeFold("Parameters", true, this.parameters), makeFold("The run", true, this.facts));
    if (context.live !== null) this.element.prepend(this.verifyButton());
    const open = (event: Event): void => this.open((event as CustomEvent<string>).detail);
    context.root.addEventListener("kinode-badge", open);
    this.ends.push(() => context.root.removeEventListener("kinode-badge", open), context.clock.onTime(() => this.moving.request()));
  }

  setRuns(): void {
    this.updating.request();
  }

  wantedSeries(): string[] {
    return [];
  }

  resized(): void {
    this.update();
  }

  destroy(): void {
    this.updating.cancel();
    this.moving.cancel();
    for (const end of this.ends) end();
  }

  /** Live runs are audited by themselves; derivations are compared when it is asked for. */
  private verifyButton(): HTMLElement {
    const button = make("button", { type: "button", class: "tool", title: "Compare independent derivations at states of this run" }, "Verify this run");
    button.addEventListener("click", () => {
      this.context.say("Derivations are being compared.");
      this.context.root.dispatchEvent(new CustomEvent("kinode-check", { detail: "verify" }));
    });
    return button;
  }

  private open(name: string): void {
    this.update();
    const fold = this.badges.querySelector<HTMLDetailsElement>(`[data-badge="${name}"]`);
    if (fold === null) return;
    fold.open = true;
    fold.scrollIntoView({ block: "nearest" });
    fold.querySelector("summary")?.focus();
  }

  private update(): void {
    if (this.element.hidden) return;
    const { header } = this.context.main;
    this.replace("badges", this.badges, header.badges, () => this.makeBadges(header.badges));
    this.eventFold.hidden = header.events.length === 0;
    this.eventFold.querySelector("summary")!.textContent = `Events (${header.events.length})`;
    this.events.update();
    const parameters = this.context.runs.map((run) => run.document.header.parameters);
    this.parameters.parentElement!.hidden = header.parameters.length === 0;
    this.replace("parameters", this.parameters, [parameters, this.context.runs.map((run) => run.label)], () => [this.makeParameters()]);
    this.replace("facts", this.facts, [header.facts, header.written], () => [makeTable({
      title: "", head: ["", ""], rows: [["model", header.name], ...header.facts, ["written by", header.written]], numbers: [],
    })]);
  }

  /** New elements only where the data are new. */
  private replace(key: keyof ChecksPanel["keys"], element: HTMLElement, data: unknown, makeThem: () => Node[]): void {
    const text = JSON.stringify(data);
    if (text === this.keys[key]) return;
    this.keys[key] = text;
    element.replaceChildren(...makeThem());
  }

  private makeBadges(badges: BadgeData[]): Node[] {
    if (badges.length === 0) return [make("p", { class: "muted" }, "No check was made of this run.")];
    const opened = new Set([...this.badges.querySelectorAll<HTMLDetailsElement>("details[open]")].map((fold) => fold.dataset["badge"]));
    return badges.map((badge) => {
      const state = String(badge.ok) as keyof typeof SIGNS;
      const notes = badge.notes.map((note) => make("p", { class: "muted" }, note));
      const fold = makeFold(`${SIGNS[state]} ${badge.name}: ${badge.verdict}`, opened.has(badge.name), ...notes, ...badge.tables.map(makeTable));
      fold.dataset["badge"] = badge.name;
      fold.dataset["ok"] = state;
      return fold;
    });
  }

  private makeParameters(): HTMLElement {
    const { runs, main } = this.context;
    const rows = main.header.parameters.map((parameter) => {
      const values = runs.map((run) => run.document.header.parameters.find((each) => each.name === parameter.name)?.value ?? NaN);
      return [parameter.name, ...values.map((value) => formatNumber(value, 6)), prettyUnit(parameter.unit === "1" ? "" : parameter.unit), parameter.words];
    });
    const head = ["", ...(runs.length > 1 ? runs.map((run) => run.label) : ["value"]), "unit", ""];
    return makeTable({ title: "", head, rows, numbers: runs.map((_, k) => k + 1) });
  }
}

export const makeChecksPanel = (context: PlayerContext): Panel => new ChecksPanel(context);
