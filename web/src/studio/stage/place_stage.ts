// Building in 3D: the model at its start, handles that place frames and mass centers, tools that join and pull.

import type { GapData, PlaceData } from "../../messages";
import { type Answer, isPacket } from "../../live/connection";
import { errorWords } from "../../live/live_desk";
import { Newest } from "../../live/newest";
import { button, make } from "../../ui/elements";
import { addHelp, type HelpEntry } from "../../ui/help";
import { ChoiceBox } from "../palette/choice_box";
import type { CatalogueKind, Gesture, StudioContext, StudioPart } from "../studio_types";
import { type GizmoHost, GizmoLayer, type GizmoMode, keyOf } from "./gizmo_layer";
import { type JoinHost, type JoinTool, JoinTools } from "./join_tools";
import { MobilityCard } from "./mobility_card";
import { OverlayMarks } from "./overlay_marks";
import { PlaceFieldsBar } from "./place_fields_bar";
import type { PickedPlace, StillHeader } from "./place_types";
import { type Placing, parametersOf, placeGesture, placingWords } from "./placing";
import { type PullHost, PullTool } from "./pull_tool";
import { StillStage } from "./still_stage";

const HERE = "3D";
const HELP: HelpEntry[] = [
  { keys: ["w", "e"], words: "3D: handles that move, that turn; of a joint its axis" },
  { keys: ["x", "y", "z", "-"], words: "3D: on the arrow of a joint's axis: along x, y, z, the other way" },
  { keys: ["b", "j"], words: "3D: add a body, a joint; from the keyboard places are chosen by name" },
  { keys: ["g"], words: "3D: pull bodies through their freedoms; arrows pull the selected body" },
  { keys: ["m"], words: "3D: mobility: freedoms, loops, what is redundant" },
  { keys: ["Shift drag"], words: "3D: a handle moves in steps of 10 mm or 5 degrees" },
];

type Tool = "select" | "pull" | JoinTool;

export class PlaceStage implements StudioPart, GizmoHost, JoinHost, PullHost {
  readonly element = make("div", { class: "place-stage", role: "region", "aria-label": "Mechanism in 3D" });
  readonly context: StudioContext;
  readonly stage: StillStage;
  readonly choices: ChoiceBox;
  readonly gizmo: GizmoLayer;
  readonly joins: JoinTools;
  readonly pull: PullTool;
  private tool: Tool = "select";
  private shown = false;
  private version = -1; // of the scene
  private pictures = -1;
  private frame = 0;
  private mobilityOpen = false;
  private afterwards: (() => void) | null = null; // when a joint is made
  private waits: (() => void) | null = null; // for a scene
  private readonly fields: PlaceFieldsBar;
  private readonly card: MobilityCard;
  readonly marks: OverlayMarks;
  private readonly hintBar = make("output", { class: "place-hint", "aria-live": "polite", hidden: "" });
  private readonly empty = make("div", { class: "place-empty" });
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly pulledBar = make("div", { class: "pulled-bar", role: "group", "aria-label": "Pulled position", hidden: "" });
  private readonly scenes: Newest<{ gesture: Gesture | null }, Answer<"place_scene">>;
  private readonly end: () => void;

  constructor(context: StudioContext) {
    this.context = context;
    this.stage = new StillStage(context.theme, { chosen: (name) => context.select(name === "" ? [] : [inOpenBox(context, name)], HERE), say: (words, kind) => context.say(words, kind) });
    this.gizmo = new GizmoLayer(this.stage, this);
    this.joins = new JoinTools(this);
    this.pull = new PullTool(this);
    this.fields = new PlaceFieldsBar(context);
    this.card = new MobilityCard((name) => context.select([inOpenBox(context, name)], HERE), (cure) => void context.act(cure.gesture, []));
    this.marks = new OverlayMarks(this.stage);
    this.choices = new ChoiceBox(this.stage.root);
    this.scenes = new Newest<{ gesture: Gesture | null }, Answer<"place_scene">>({
      send: ({ gesture }) => context.document.ask("place_scene", gesture === null ? {} : { gesture }),
      done: (answer, { gesture }) => this.take(answer, gesture !== null),
      failed: (error, { gesture }) => this.refused(error, gesture !== null),
    });
    const here = button("Start here", "Write this position into the text as the start of the model", () => void this.pull.startHere());
    const back = button("Back", "Spring back to the start", () => this.pull.back());
    here.disabled = context.readOnly;
    this.pulledBar.append(here, back);
    this.stage.root.append(this.marks.element, this.gizmo.element, this.hintBar, this.pulledBar, this.choices.element, this.empty);
    this.element.append(this.tools(), make("div", { class: "place-body" }, this.stage.root, this.card.element), this.fields.element);
    this.listen();
    const sizes = new ResizeObserver(() => this.resized());
    sizes.observe(this.stage.root);
    const stop = context.document.listen((news) => {
      if (news.kind === "opened" && news.other) this.stage.clear();
      if (news.kind === "text" || news.kind === "opened") this.reload();
    });
    this.end = (): void => {
      sizes.disconnect();
      stop();
    };
    addHelp(HELP);
  }

  // -- what the page tells -----------------------------------------------------------------------------------
  setShown(shown: boolean): void {
    this.shown = shown;
    cancelAnimationFrame(this.frame);
    if (!shown) return;
    if (this.version !== this.context.document.version) this.reload();
    this.stage.view?.resized();
    this.frame = requestAnimationFrame(this.follow);
  }

  selectionChanged(from: string): void {
    if (!this.shown) return;
    this.showSelection(from);
  }

  themeChanged(): void {
    this.stage.setTheme(this.context.theme);
  }

  resized(): void {
    if (this.shown) this.stage.view?.resized();
    this.pictures = -1;
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.end();
    this.stage.destroy();
  }

  /** Begins a joint whose kind is known: it was dropped from the palette, or begun in the drawing, where sides may be chosen already. */
  join(kind: CatalogueKind, byKeys: boolean, sides: readonly (string | null)[] = [], afterwards: (() => void) | null = null): void {
    if (this.version !== this.context.document.version) return void (this.waits = () => this.join(kind, byKeys, sides, afterwards)); // until it is drawn
    this.setTool("joint", byKeys, kind, sides);
    this.afterwards = afterwards;
  }

  // -- scenes -----------------------------------------------------------------------------------------------
  reload(): void {
    if (this.shown) this.scenes.ask({ gesture: null });
    else this.version = -1;
  }

  private take(answer: Answer<"place_scene">, preview: boolean): void {
    if (!this.shown) return void (this.version = -1); // it is drawn when it is shown again
    if (!isPacket(answer)) {
      this.version = answer.at;
      this.stage.clear();
      return this.showEmpty(true);
    }
    if (preview !== this.gizmo.dragging) return; // it was let go or taken up meanwhile
    const first = this.stage.view === null;
    this.showEmpty(false);
    this.stage.setScene(answer);
    const header = this.stage.header!;
    this.version = preview ? this.version : header.at;
    if (first) this.stage.view!.setShown("frames", true);
    this.showSelection("");
    if (!preview) {
      if (this.pull.away) this.pull.forget();
      if (this.mobilityOpen) void this.askMobility();
    }
    this.gaps(header.gaps);
    if (!preview && header.words !== "" && header.gaps.length > 0) this.hint(header.words);
    this.pictures = -1;
    this.waits?.();
    this.waits = null;
  }

  private refused(error: Error, preview: boolean): void {
    if (preview) this.hint(errorWords(error));
    else this.context.say(errorWords(error), "error");
  }

  private showEmpty(empty: boolean): void {
    this.empty.hidden = !empty;
    if (!empty) return;
    this.waits = null;
    this.fields.show(null);
    this.gizmo.setPlaces([]);
    const add = button("Add a body", "Add a body and join it to the world", () => this.setTool("body", true));
    add.disabled = this.context.readOnly;
    this.empty.replaceChildren(make("p", {}, "There is no body yet."), add);
  }

  private get header(): StillHeader | null {
    return this.stage.header;
  }

  private showSelection(from: string): void {
    const { header } = this;
    if (header === null) return;
    const name = this.context.selection.length === 1 ? this.context.document.prefix + this.context.selection[0]! : ""; // 3D has the names of the whole
    const isBody = header.bodies.some((body) => body.name === name);
    const isJoint = header.joints.some((joint) => joint.name === name);
    this.stage.setSelection(isBody ? { kind: "body", name } : isJoint ? { kind: "joint", name } : { kind: "none", name: "" });
    const row = header.bodies.findIndex((body) => body.name === name);
    const places = header.places.filter((place) => (isBody ? place.body === row && place.kind !== "joint" : place.kind === "joint" && place.name === name));
    if (this.gizmo.active === null || !places.some((place) => keyOf(place) === this.gizmo.active)) {
      const first = places.find((place) => place.off === "" || place.axis?.off === "");
      this.gizmo.active = first === undefined || from === "canvas" ? null : keyOf(first);
    }
    this.gizmo.setPlaces(this.tool === "select" ? places : []);
    this.fields.show(this.gizmo.activePlace);
  }

  // -- the toolbar -------------------------------------------------------------------------------------------
  private tools(): HTMLElement {
    const make2 = (id: string, text: string, words: string, act: (byKeys: boolean) => void): HTMLButtonElement => {
      const element = make("button", { type: "button", title: words, "aria-label": words, "aria-pressed": "false" }, text);
      element.addEventListener("click", (event) => act(event.detail === 0));
      this.buttons.set(id, element);
      return element;
    };
    const change = (tool: JoinTool) => (byKeys: boolean): void => this.setTool(this.tool === tool ? "select" : tool, byKeys);
    const bar = make("div", { class: "place-tools", role: "toolbar", "aria-label": "Building in 3D" },
      make2("move", "Move", "Handles that move: w", () => this.setMode("move")), make2("turn", "Turn", "Handles that turn: e", () => this.setMode("turn")),
      make2("body", "Body", "Add a body: b", change("body")), make2("joint", "Joint", "Add a joint: j", change("joint")),
      make2("pull", "Pull", "Pull bodies through their freedoms: g", () => this.setTool(this.tool === "pull" ? "select" : "pull", false)),
      make2("mobility", "Mobility", "Mobility: freedoms, loops, what is redundant: m", () => this.toggleMobility()));
    this.showTools();
    return bar;
  }

  private showTools(): void {
    const pressed: Record<string, boolean> = { move: this.tool === "select" && this.gizmo.mode === "move", turn: this.tool === "select" && this.gizmo.mode === "turn", body: this.tool === "body", joint: this.tool === "joint", pull: this.tool === "pull", mobility: this.mobilityOpen };
    for (const [id, element] of this.buttons) {
      element.setAttribute("aria-pressed", String(pressed[id] ?? false));
      if (id === "body" || id === "joint") element.disabled = this.context.readOnly;
    }
    this.stage.root.dataset["tool"] = this.tool;
  }

  setMode(mode: GizmoMode): void {
    this.gizmo.mode = mode;
    this.setTool("select", false);
  }

  setTool(tool: Tool, byKeys: boolean, kind?: CatalogueKind, sides: readonly (string | null)[] = []): void {
    this.joins.cancel();
    this.afterwards = null;
    if (this.tool === "pull" && tool !== "pull" && this.pull.away) this.pull.back();
    this.tool = tool;
    this.showTools();
    this.showSelection("");
    if (tool === "body" || tool === "joint") this.joins.start(tool, byKeys, kind, sides);
    else this.hint(tool === "pull" ? "Drag a body: the mechanism follows through its freedoms. Arrow keys pull the selected body." : "");
  }

  private toggleMobility(): void {
    this.mobilityOpen = !this.mobilityOpen;
    this.card.element.hidden = !this.mobilityOpen;
    this.showTools();
    this.stage.view?.resized();
    if (this.mobilityOpen) void this.askMobility();
    else this.setRemarks({});
  }

  private async askMobility(): Promise<void> {
    if (this.header === null) return this.card.say("There is no body yet.");
    try {
      const found = await this.context.document.ask("mobility");
      this.card.show(found);
      this.setRemarks(found.badges);
    } catch (error) {
      this.card.say(errorWords(error));
      this.setRemarks({});
    }
  }

  private setRemarks(badges: Record<string, string>): void {
    this.marks.setBadges(badges);
    this.context.document.setRemarks(badges);
    this.pictures = -1;
  }

  // -- handles -----------------------------------------------------------------------------------------------
  get canChange(): boolean {
    return !this.context.readOnly && this.tool === "select";
  }

  chose(place: PlaceData): void {
    this.gizmo.active = keyOf(place);
    this.showSelection("");
  }

  moves(placing: Placing): void {
    this.stage.view!.rig.turned = true; // hands are at work in this view
    this.hint(placingWords(placing));
    this.scenes.ask({ gesture: placeGesture(placing, true) });
  }

  placed(placing: Placing): void {
    this.hint("");
    void this.commit(placing);
  }

  cancelled(): void {
    this.hint("");
    this.reload();
  }

  private async commit(placing: Placing): Promise<void> {
    const follows = parametersOf(placing);
    if (follows.length > 0) {
      const words = `change the parameter${follows.length > 1 ? "s" : ""} ${follows.join(", ")}`;
      const answer = await this.choices.ask<boolean>({ title: `${placing.place.name} is placed by a law`, choices: [{ value: true, label: words, detail: "everything that uses it follows" }, { value: false, label: "leave it", detail: "nothing changes" }] });
      if (answer !== true) return this.reload();
    }
    if ((await this.context.act(placeGesture(placing, follows.length > 0))) === null) this.reload();
  }

  // -- what tools ask for ------------------------------------------------------------------------------------
  hint(words: string): void {
    this.hintBar.textContent = words;
    this.hintBar.hidden = words === "";
  }

  mark(places: readonly PickedPlace[]): void {
    this.marks.setPicked(places);
    this.pictures = -1;
  }

  gaps(gaps: readonly GapData[]): void {
    this.marks.setGaps(gaps);
    this.pictures = -1;
  }

  pulled(away: boolean): void {
    this.pulledBar.hidden = !away;
    this.pictures = -1;
  }

  ended(made: readonly string[]): void {
    this.tool = "select";
    this.showTools();
    this.showSelection("");
    const chosen = made.filter((name) => this.context.document.text.includes(name)).slice(0, 1);
    if (chosen.length > 0) this.context.select(chosen, HERE);
    this.surface?.focus();
    this.afterwards?.();
    this.afterwards = null;
  }

  private get surface(): HTMLElement | null {
    return this.stage.view?.element.querySelector<HTMLElement>(".stage-surface") ?? null;
  }

  // -- hands -------------------------------------------------------------------------------------------------
  private listen(): void {
    const { root } = this.stage;
    const at = (event: PointerEvent): [number, number] => {
      const box = this.stage.view!.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const onSurface = (event: Event): boolean => this.stage.view !== null && (event.target as Element).closest(".stage-surface") !== null;
    const down = (event: PointerEvent): void => {
      if (event.button !== 0 || !onSurface(event) || this.tool === "select") return;
      if (this.tool === "pull") {
        if (!this.pull.grab(...at(event))) return;
        root.setPointerCapture(event.pointerId);
      } else this.joins.click(...at(event));
      event.preventDefault();
      event.stopPropagation();
    };
    const move = (event: PointerEvent): void => {
      if (this.stage.view === null) return;
      if (this.pull.holds) {
        event.stopPropagation();
        this.pull.to(...at(event));
      } else if (this.joins.tool !== null && event.buttons === 0 && onSurface(event)) this.joins.hover(...at(event));
    };
    const up = (event: PointerEvent): void => {
      if (!this.pull.holds) return;
      event.stopPropagation();
      this.pull.drop();
    };
    for (const [name, act] of [["pointerdown", down], ["pointermove", move], ["pointerup", up], ["pointercancel", up]] as const) root.addEventListener(name, act as EventListener, { capture: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).closest("input, .choice-box, [role=menu]") !== null) return;
    const way = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] } as Record<string, [number, number]>)[event.key];
    const chosen = this.context.selection[0];
    if (way !== undefined && this.tool === "pull" && chosen !== undefined) this.pull.nudge(chosen, ...way);
    else if (event.key === "w") this.setMode("move");
    else if (event.key === "e") this.setMode("turn");
    else if ((event.key === "b" || event.key === "j") && !this.context.readOnly) this.setTool(event.key === "b" ? "body" : "joint", true);
    else if (event.key === "g") this.setTool(this.tool === "pull" ? "select" : "pull", false);
    else if (event.key === "m") this.toggleMobility();
    else if (event.key === "Escape" && this.tool !== "select") this.setTool("select", false);
    else if ((event.key === "Delete" || event.key === "Backspace") && chosen !== undefined && !this.context.readOnly) void this.context.act({ do: "delete", names: [...this.context.selection] });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Handles and marks follow the picture. */
  private readonly follow = (): void => {
    if (!this.shown) return;
    const { view } = this.stage;
    if (view !== null && view.pictures !== this.pictures) {
      this.pictures = view.pictures;
      this.gizmo.reposition();
      this.marks.reposition();
    }
    this.frame = requestAnimationFrame(this.follow);
  };
}

/** A component as the drawing calls it: by its name inside where a subsystem is open. */
function inOpenBox({ document }: StudioContext, name: string): string {
  return document.box.length === 0 ? name : (document.shownName(name) ?? name);
}
