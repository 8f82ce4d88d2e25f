// The panel of one joint: its load at the clock and over time, around the shaft, who makes it, and its bearings.

import type { BearingData, JointData } from "../data/run_document";
import type { Panel, PlayerContext } from "../panel";
import { TimeWindow } from "../plots/time_window";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { CausesView } from "./causes_view";
import type { JointSection } from "./joint_section";
import { JointTable } from "./joint_table";
import { LoadPlots } from "./load_plots";
import { PolarPlot } from "./polar_plot";

export class JointPanel implements Panel {
  readonly element = make("div", { class: "joint-panel" });
  readonly title = "Joint";
  private readonly context: PlayerContext;
  private readonly choice = make("select", { "aria-label": "Joint" });
  private readonly kind = make("span", { class: "muted" });
  private readonly none = make("p", { class: "muted" });
  private readonly bearings = make("section", { class: "bearings" });
  private readonly content = make("div");
  private readonly causes: CausesView;
  private readonly sections: JointSection[];
  private names = "";
  private bearingKey = "";
  private shown = "";
  private readonly ends: (() => void)[] = [];
  private readonly updating = makeFrameTask(() => this.update());
  private readonly moving = makeFrameTask(() => this.showTime());

  constructor(context: PlayerContext) {
    this.context = context;
    const window = new TimeWindow(context.clock);
    this.causes = new CausesView(context, window);
    this.sections = [new JointTable(context), new LoadPlots(context, window), this.causes, new PolarPlot(context)];
    this.content.append(...this.sections.map((section) => section.element), this.bearings);
    this.element.append(make("div", { class: "joint-head" }, make("label", {}, "Joint ", this.choice), this.kind), this.none, this.content);
    this.choice.addEventListener("change", () => context.select({ kind: "joint", name: this.choice.value }));
    this.ends.push(context.clock.onTime(() => this.moving.request()));
    const watch = new MutationObserver(() => {
      if (this.element.hidden) this.causes.hide();
    });
    watch.observe(this.element, { attributes: true, attributeFilter: ["hidden"] });
    this.ends.push(() => watch.disconnect());
  }

  setRuns(): void {
    this.updating.request();
  }

  selectionChanged(): void {
    this.updating.request();
  }

  themeChanged(): void {
    for (const section of this.sections) section.themeChanged();
    this.updating.request();
  }

  wantedSeries(): string[] {
    return [];
  }

  resized(): void {
    this.update();
    for (const section of this.sections) section.resized();
  }

  destroy(): void {
    this.updating.cancel();
    this.moving.cancel();
    for (const end of this.ends) end();
    for (const section of this.sections) section.destroy();
  }

  /** The chosen joint; the one with the largest force if none is chosen. */
  private find(): JointData | null {
    const joints = this.context.main.header.joints;
    const { selection } = this.context;
    const wanted = selection.kind === "joint" ? selection.name : this.shown;
    const chosen = joints.find((joint) => joint.name === wanted);
    if (chosen !== undefined) return chosen;
    const loaded = joints.filter((joint) => joint.load >= 0);
    return loaded.sort((a, b) => (b.peak?.force.value ?? 0) - (a.peak?.force.value ?? 0))[0] ?? joints[0] ?? null;
  }

  private update(): void {
    if (this.element.hidden) return;
    const joint = this.find();
    if (joint === null) return;
    this.shown = joint.name;
    this.listJoints();
    if (this.choice.value !== joint.name) this.choice.value = joint.name;
    const bodies = this.context.main.header.bodies;
    const body = (index: number): string => bodies[index]?.name ?? "world";
    this.kind.textContent = `${joint.kind}, ${body(joint.parent.body)} → ${body(joint.child.body)}`;
    this.content.hidden = joint.load < 0;
    this.none.hidden = joint.load >= 0;
    if (joint.load < 0) {
      this.none.textContent = [`${joint.name} carries no load that the run knows.`, ...joint.leftOut].join(" ");
      this.causes.hide();
      return;
    }
    for (const section of this.sections) section.show(joint);
    this.showBearings(this.context.main.header.bearings.filter((each) => each.joint === joint.name));
  }

  private listJoints(): void {
    const joints = this.context.main.header.joints;
    const names = joints.map((joint) => joint.name).join("\n");
    if (names === this.names) return;
    this.names = names;
    this.choice.replaceChildren(...joints.map((joint) => make("option", { value: joint.name }, joint.name)));
  }

  private showBearings(bearings: BearingData[]): void {
    const key = JSON.stringify(bearings);
    if (key === this.bearingKey) return;
    this.bearingKey = key;
    this.bearings.hidden = bearings.length === 0;
    this.bearings.replaceChildren(make("h3", {}, "Bearings"), ...bearings.map((bearing) => make("table", { "aria-label": bearing.name },
      make("caption", {}, bearing.name), make("tbody", {}, ...bearing.rows.map(([words, value]) => make("tr", {}, make("th", { scope: "row" }, words), make("td", { class: "number" }, value)))))));
  }

  private showTime(): void {
    if (this.element.hidden || this.content.hidden) return;
    for (const section of this.sections) section.showTime();
  }
}

export const makeJointPanel = (context: PlayerContext): Panel => new JointPanel(context);
