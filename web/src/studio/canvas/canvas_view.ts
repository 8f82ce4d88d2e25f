// The canvas: the circuit as it is drawn, with all gestures of pointer and keyboard.

import type { GestureAnswer } from "../../messages";
import { draw } from "../../live/svg";
import { addHelp } from "../../ui/help";
import { button, make } from "../../ui/elements";
import { menuButton } from "../../ui/menu";
import { ChoiceBox } from "../palette/choice_box";
import { ADD_EVENT, DRAG_TYPE, findAddition, type Addition } from "../palette/kind_choices";
import { COMPARED_EVENT, type ComparedMarks } from "../comparison/compare_types";
import { GhostLayer } from "../comparison/ghost_layer";
import type { Gesture, StudioContext, StudioPart } from "../studio_types";
import { boxMenu } from "../subsystems/box_commands";
import { ALIGN_WORDS, type AlignWay } from "./alignment";
import { BoxLayer } from "./box_layer";
import { alignChosen, findPart, freePlace, pasteText, placeOfDrop, searchParts } from "./canvas_commands";
import { CANVAS_HELP, pressCanvasKey, type KeyHost } from "./canvas_keys";
import { CanvasModel } from "./canvas_model";
import { CanvasPointer } from "./canvas_pointer";
import { CanvasWindow } from "./canvas_window";
import styles from "./canvas.css?inline";
import { connectByKeys } from "./connect_commands";
import { asksFor, withPlaces } from "./place_fields";
import { routeQuickly } from "./quick_routes";
import { RouteService } from "./route_service";
import type { Point, RouteAnswer } from "./route_types";
import { WireLayer } from "./wire_layer";
import { LinkValues } from "../values/link_values";
import type { Player } from "../../player";

const MANY = 80; // parts: to paint so many again takes longer than a frame
const HERE = "canvas"; // how the page knows who has chosen
const EMPTY_WORDS = "Drag a part here from the palette, or press / and type its name.";

class CanvasView implements StudioPart, KeyHost {
  readonly element = make("div", { class: "studio-canvas", role: "region", "aria-label": "Drawing" });
  readonly context: StudioContext;
  readonly sheet = make("div", { class: "canvas-sheet", role: "application", "aria-label": "Circuit", "aria-roledescription": "canvas", tabindex: "0" });
  readonly overlay = draw("g", { class: "overlay" });
  readonly model = new CanvasModel();
  readonly boxes = new BoxLayer(this.model);
  readonly wires = new WireLayer(this.model);
  readonly window: CanvasWindow;
  readonly choices: ChoiceBox;
  chosen: ReadonlySet<string> = new Set();
  chosenLink: string | null = null;
  focused: string | null = null;
  private readonly svg = draw("svg", { class: "circuit" });
  private readonly showValues = button("Values", "Values of the run on the links: v", () => this.toggleValues());
  readonly values = new LinkValues(this.model, (on) => this.showValues.setAttribute("aria-pressed", String(on)));
  private readonly ghosts = new GhostLayer();
  readonly runChanged = (player: Player | null): void => this.values.setPlayer(player);
  readonly toggleValues = (): void => this.context.say(this.values.toggle() ? "Values of the run stand on the links." : "Values are hidden.");
  private readonly world = draw("g", {}, this.ghosts.element, this.wires.element, this.boxes.element, this.values.element, this.overlay);
  // What is dragged is drawn in a picture of its own, so that all else need not be painted again.
  private readonly lifted = draw("g");
  private readonly liftedSvg = draw("svg", { class: "circuit lifted" }, this.lifted);
  private readonly hintBar = make("div", { class: "canvas-hint", role: "status", "aria-live": "polite", hidden: "" });
  private readonly empty = make("p", { class: "canvas-empty" }, EMPTY_WORDS);
  private readonly routes: RouteService;
  private readonly input: CanvasPointer;
  private readonly pending = new Map<string, number>(); // boxes that were moved here, and the version that has it; Infinity: not answered
  private awaited: { names: string[]; version: number } | null = null; // made by a gesture, to be chosen
  private routed = ""; // the drawing that was routed last
  private shownModel = ""; // the document or subsystem whose circuit was fitted into the window
  private settles = false; // it was fitted, and its lines are still on their way
  private tidied = Infinity; // the version whose drawing is to be fitted: all parts were placed anew

  constructor(context: StudioContext) {
    this.context = context;
    this.window = new CanvasWindow(this.sheet, () => this.model.extent(), () => this.windowChanged());
    this.choices = new ChoiceBox(this.sheet);
    this.routes = new RouteService((answer) => this.hearRoutes(answer));
    this.svg.append(this.world);
    this.sheet.append(this.svg, this.liftedSvg, this.empty, this.choices.element, this.hintBar);
    this.element.append(make("style", {}, styles), this.tools(), this.sheet);
    this.input = new CanvasPointer(this);
    this.sheet.addEventListener("keydown", this.pressed);
    this.sheet.addEventListener("focusin", this.focusMoved);
    this.sheet.addEventListener("paste", this.pasted);
    this.sheet.addEventListener("dragover", (event) => event.dataTransfer?.types.includes(DRAG_TYPE) && !context.readOnly && event.preventDefault());
    this.sheet.addEventListener("drop", this.dropped);
    context.root.addEventListener(ADD_EVENT, this.asked);
    context.root.addEventListener(COMPARED_EVENT, this.compared);
    addHelp(CANVAS_HELP);
    this.sketchChanged();
  }

  private tools(): HTMLElement {
    const command = (text: string, words: string, act: () => unknown): HTMLElement => button(text, words, () => void act());
    const ways = menuButton("Align", "Align the selected parts", () => (Object.keys(ALIGN_WORDS) as AlignWay[]).map((way) => ({
      kind: "action", text: ALIGN_WORDS[way], act: () => alignChosen(this, way),
    })));
    const changing = [
      command("Add", "Add a part: /", () => searchParts(this, this.window.middle, true)),
      command("Connect", "Connect the selected part: c", () => (this.focused === null ? this.context.say("Select a part to connect.") : connectByKeys(this, this.focused))),
      ways.element,
    ];
    return make("div", { class: "canvas-tools", role: "toolbar", "aria-label": "Canvas" }, ...(this.context.readOnly ? [] : changing),
      boxMenu(this).element, this.showValues, command("Find", "Find a part: Ctrl F", () => findPart(this)),
      make("span", { class: "zoom", role: "group", "aria-label": "Zoom" }, command("−", "Smaller", () => this.window.zoom(1 / 1.3)),
        command("+", "Larger", () => this.window.zoom(1.3)), command("Fit", "Fit the whole circuit: 0", () => this.window.fit())));
  }

  // -- what the page tells ----------------------------------------------------------------------------
  sketchChanged(): void {
    const { sketch } = this.context.document;
    for (const [name, version] of this.pending) if (sketch.version >= version) this.pending.delete(name);
    const drawn = [...this.model.boxes.keys()];
    this.model.take(sketch, new Set([...this.pending.keys(), ...this.input.moving]));
    const before = this.chosen.size;
    this.chosen = new Set([...this.chosen].filter((name) => this.model.boxes.has(name)));
    if (this.chosen.size < before && this.awaited === null) this.context.select(this.owners(), HERE);
    if (this.chosenLink !== null && !this.model.links.has(this.chosenLink)) this.chosenLink = null;
    if (this.focused !== null && !this.model.boxes.has(this.focused)) this.focused = null;
    this.empty.hidden = this.model.boxes.size > 0;
    const hadFocus = this.hasFocus;
    this.drawAll();
    if (hadFocus && !this.hasFocus) this.sheet.focus({ preventScroll: true }); // the part that had it is gone
    this.chooseAwaited();
    const remains = drawn.some((name) => this.model.boxes.has(name));
    this.fitNewDocument(!remains && ![...this.model.boxes.keys()].every(this.isSeen));
  }

  /** Another document is shown as a whole, and a text with other parts; what is drawn afterwards does not move the view. */
  private fitNewDocument(others = false): void {
    const { model, box, sketch } = this.context.document;
    const shown = JSON.stringify([model, ...box]);
    if ((shown === this.shownModel && sketch.version < this.tidied && !others) || this.window.width === 0 || this.input.moving.length > 0) return;
    this.shownModel = shown;
    this.tidied = Infinity;
    this.settles = true;
    this.window.fit();
  }

  /** All parts are placed anew: the drawing of this version is shown as a whole. */
  placedAnew(version: number): void {
    this.tidied = version;
    this.fitNewDocument();
  }

  problemsChanged(): void {
    this.boxes.update({ problems: this.context.document.shown([...this.context.document.problems, ...this.context.document.remarks]), chosen: this.chosen });
  }

  selectionChanged(from: string): void {
    if (from === HERE) return;
    const named = new Set(this.context.selection);
    const own = [...this.model.boxes.values()].filter((box) => named.has(box.name)).map((box) => box.name);
    this.chosen = new Set(own);
    this.focused = own[own.length - 1] ?? this.focused;
    this.markChosen();
    if (own.length > 0) this.window.reveal(this.model.at(own[own.length - 1]!));
  }

  hoverChanged(): void {
    this.boxes.light(this.context.lit);
  }

  resized(): void {
    this.fitNewDocument();
    this.window.resized();
  }

  destroy(): void {
    this.routes.destroy();
    this.values.destroy();
    this.input.destroy();
    this.context.root.removeEventListener(ADD_EVENT, this.asked);
    this.context.root.removeEventListener(COMPARED_EVENT, this.compared);
    this.element.remove();
  }

  // -- drawing ----------------------------------------------------------------------------------------
  private drawAll(): void {
    this.boxes.update({ problems: this.context.document.shown([...this.context.document.problems, ...this.context.document.remarks]), chosen: this.chosen });
    this.boxes.setTabStop(this.focused ?? this.model.readingOrder()[0] ?? null);
    this.reroute();
    this.wires.update(this.chosenLink);
    this.values.linesChanged();
  }

  /** Lines at once for links that have none that fit; all lines by the worker where the drawing has changed. */
  private reroute(): void {
    const plan = this.model.plan();
    const key = JSON.stringify(plan);
    if (key === this.routed) return;
    this.routed = key;
    const stale = new Set([...this.model.links.values()].filter((link) => !this.model.reaches(link.name)).map((link) => link.name));
    if (stale.size > 0) for (const [name, lines] of Object.entries(routeQuickly(plan, stale, this.model.lines))) this.model.lines.set(name, lines);
    this.routes.request(plan);
  }

  private hearRoutes(answer: RouteAnswer): void {
    if (this.input.moving.length > 0) return;
    for (const [name, lines] of Object.entries(answer.lines)) if (this.model.links.has(name)) this.model.lines.set(name, lines);
    this.wires.update(this.chosenLink);
    this.values.linesChanged();
    if (this.settles) this.window.resized();
    this.settles = false;
  }

  showMoved(names: readonly string[]): void {
    this.boxes.place(names);
    this.values.hide();
    this.values.linesChanged();
    const touched = this.model.touched(names);
    if (touched.size > 0) for (const [name, lines] of Object.entries(routeQuickly(this.model.plan(), touched, this.model.lines))) this.model.lines.set(name, lines);
    this.wires.redraw(touched);
  }

  lift(names: readonly string[]): void {
    if (this.model.boxes.size < MANY) return;
    this.sheet.focus({ preventScroll: true }); // what is moved in the page loses it
    for (const name of this.model.touched(names)) this.lifted.append(...(this.wires.find(name) === null ? [] : [this.wires.find(name)!]));
    for (const name of names) this.lifted.append(...(this.boxes.find(name) === null ? [] : [this.boxes.find(name)!]));
  }

  putDown(): void {
    if (this.lifted.childElementCount === 0) return;
    for (const each of [...this.lifted.children]) (each.classList.contains("wire") ? this.wires : this.boxes).element.append(each);
    this.focusSheet();
  }

  private windowChanged(): void {
    const { x, y, scale } = this.window.view;
    for (const world of [this.world, this.lifted]) world.setAttribute("transform", `scale(${scale}) translate(${-x} ${-y})`);
    const step = 10 * scale * (scale < 0.5 ? 5 : 1);
    this.sheet.style.setProperty("--grid", `${step}px`);
    this.sheet.style.setProperty("--grid-at", `${-x * scale}px ${-y * scale}px`);
  }

  hint(words: string | null, ...more: HTMLElement[]): void {
    this.hintBar.hidden = words === null;
    if (words !== null && (more.length > 0 || this.hintBar.textContent !== words)) this.hintBar.replaceChildren(words, ...more);
  }

  // -- choosing ---------------------------------------------------------------------------------------
  choose(names: Iterable<string>, { add = false, focus = false }: { add?: boolean; focus?: boolean } = {}): void {
    const known = [...names].filter((name) => this.model.boxes.has(name));
    this.chosen = new Set(add ? [...this.chosen, ...known] : known);
    this.chosenLink = null;
    this.focused = known[known.length - 1] ?? (this.chosen.size > 0 ? this.focused : null);
    this.markChosen();
    if (focus && this.focused !== null) this.boxes.find(this.focused)?.focus({ preventScroll: true });
    this.context.select(this.owners(), HERE);
  }

  /** The components of the chosen boxes. */
  private owners(): string[] {
    return [...new Set([...this.chosen].map((name) => this.model.boxes.get(name)!.owner))];
  }

  chooseLink(name: string | null): void {
    this.chosenLink = name;
    if (name !== null && this.chosen.size > 0) {
      this.chosen = new Set();
      this.context.select([], HERE);
    }
    this.markChosen();
  }

  private markChosen(): void {
    this.boxes.mark(this.chosen);
    this.wires.mark(this.chosenLink);
    this.boxes.setTabStop(this.focused ?? this.model.readingOrder()[0] ?? null);
  }

  private chooseAwaited(): void {
    if (this.awaited === null || this.context.document.sketch.version < this.awaited.version) return;
    const made = this.awaited.names.filter((name) => this.model.boxes.has(name));
    this.awaited = null;
    if (made.length === 0) return;
    this.choose(made, { focus: this.hasFocus && this.sheet.querySelector("input:focus") === null }); // what is typed into keeps it
    if (made.length > 1 && !made.every(this.isSeen)) this.window.fit();
    else this.window.reveal(this.model.at(made[0]!));
  }

  private readonly isSeen = (name: string): boolean => {
    const [x, y] = this.window.pixels(this.model.at(name));
    return x >= 0 && y >= 0 && x <= this.window.width && y <= this.window.height;
  };

  private get hasFocus(): boolean {
    return this.sheet.contains((this.sheet.getRootNode() as Document | ShadowRoot).activeElement);
  }

  focusSheet(): void {
    const part = this.focused === null ? null : this.boxes.find(this.focused);
    (part ?? this.sheet).focus({ preventScroll: true });
  }

  // -- changing ---------------------------------------------------------------------------------------
  async act(gesture: Gesture): Promise<GestureAnswer | null> {
    const answer = await this.context.act(gesture);
    const renamed = gesture.do === "rename" ? Object.values(answer?.renamed ?? {}) : []; // a connection renames nodes
    const made = [...(answer?.made ?? []), ...renamed];
    if (answer !== null && made.length > 0) {
      this.awaited = { names: made, version: answer.version };
      this.chooseAwaited();
    }
    return answer;
  }

  move(places: Record<string, Point>): void {
    const names = Object.keys(places);
    this.model.move(Object.entries(places));
    for (const name of names) this.pending.set(name, Infinity);
    this.showMoved(names);
    this.reroute();
    void this.context.act({ do: "move", places }).then((answer) => {
      for (const name of names) {
        if (answer !== null) this.pending.set(name, answer.version);
        else this.pending.delete(name);
      }
      if (answer === null || this.context.document.sketch.version >= answer.version) this.sketchChanged();
    });
  }

  async add(addition: Addition, at: Point | null, byKeys: boolean): Promise<void> {
    if (this.context.readOnly) return this.context.say("The model is read-only.");
    const size = "group" in addition ? undefined : "part" in addition ? addition.part.size : addition.kind.size;
    const place = byKeys ? freePlace(this.model, at ?? this.window.middle) : placeOfDrop(this.model, at ?? this.window.middle, size);
    if ("part" in addition) return void (await this.act({ do: "insert", file: addition.part.file, at: place }));
    if ("group" in addition) {
      const role = addition.group === "link" ? "SB" : "KN"; // a link hangs on a body, the others act in a joint
      const on = [...this.chosen].find((name) => this.model.boxes.get(name)!.role === role);
      await this.act({ do: "group", what: addition.group, at: place, ...(on === undefined ? {} : { on }) });
      return;
    }
    const { kind } = addition;
    const places = await withPlaces(this, kind, asksFor(kind), {}, byKeys);
    if (places === null) return;
    const gesture: Gesture = { do: "add", kind: kind.kind, at: place, ...(Object.keys(places.fields).length > 0 ? { fields: places.fields } : {}) };
    await this.act(places.before.length === 0 ? gesture : { do: "all", gestures: [...places.before, gesture] });
  }

  // -- keys and drops ---------------------------------------------------------------------------------
  get pointer(): Point {
    return this.input.place ?? this.window.middle;
  }

  private readonly pressed = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || (event.target as Element).closest("input, button, .choice-box") !== null) return;
    if (this.input.key(event) || pressCanvasKey(this, event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  go(direction: Point, add: boolean): void {
    const next = this.focused === null ? (this.model.readingOrder()[0] ?? null) : this.model.neighbor(this.focused, direction);
    if (next === null) return;
    this.choose([next], { add, focus: true });
    this.window.reveal(this.model.at(next));
  }

  goNext(by: 1 | -1): boolean {
    const order = this.model.readingOrder();
    const at = this.focused === null ? (by > 0 ? -1 : order.length) : order.indexOf(this.focused);
    const next = order[at + by];
    const root = this.sheet.getRootNode() as Document | ShadowRoot;
    if (next === undefined || (root.activeElement === this.sheet && this.focused === null && by < 0)) return false;
    this.choose([next], { focus: true });
    this.window.reveal(this.model.at(next));
    return true;
  }

  goLink(): void {
    if (this.focused === null) return;
    const own = [...this.model.touched([this.focused])];
    if (own.length === 0) return this.context.say(`${this.focused} has no link.`);
    const next = own[(own.indexOf(this.chosenLink ?? "") + 1) % own.length]!;
    this.chooseLink(next);
    this.wires.find(next)?.focus({ preventScroll: true });
  }

  escape(): void {
    if (this.input.cancel()) return;
    this.focused = null;
    this.choose([]);
    this.sheet.focus({ preventScroll: true });
  }

  private readonly focusMoved = (event: FocusEvent): void => {
    const name = (event.target as Element).closest<SVGGElement>("g.part")?.dataset["name"];
    if (name === undefined || name === this.focused) return;
    this.focused = name;
    if (!this.chosen.has(name) && (event.target as Element).matches(":focus-visible")) this.choose([name]);
  };

  private readonly pasted = (event: ClipboardEvent): void => {
    event.preventDefault();
    if (this.context.readOnly) return this.context.say("The model is read-only.");
    void pasteText(this, event.clipboardData?.getData("text/plain") ?? "");
  };

  private readonly dropped = (event: DragEvent): void => {
    const addition = findAddition(this.context.catalogue, event.dataTransfer?.getData(DRAG_TYPE) ?? "");
    if (addition === null) return;
    event.preventDefault();
    this.sheet.focus({ preventScroll: true });
    void this.add(addition, this.window.placeOf(event), false);
  };

  private readonly compared = (event: Event): void => {
    const { detail } = event as CustomEvent<ComparedMarks | null>;
    this.boxes.compared = detail?.changes ?? new Map();
    this.ghosts.show(detail?.ghosts ?? []);
    this.drawAll();
  };

  private readonly asked = (event: Event): void => {
    const addition = findAddition(this.context.catalogue, String((event as CustomEvent<string>).detail));
    if (addition !== null) void this.add(addition, null, true);
  };
}

export function makeCanvas(context: StudioContext): StudioPart {
  return new CanvasView(context);
}
