// The 3D view: the drawing, the camera, hands, toolbar and cards, drawn on demand.

import { Color, WebGLRenderer } from "three";
import type { RunHeader, Vec3 } from "../data/run_document";
import type { LoadPart, Panel, PlayerContext, Selection } from "../panel";
import type { Painter } from "../out/stage_pictures";
import { make } from "../ui/elements";
import { makeFrameTask } from "../ui/frame_task";
import { formatNumber, withPrefix } from "../ui/numbers";
import type { ShownCauses } from "./arrows";
import { type CameraState, CameraRig, type ViewChoice } from "./camera_rig";
import { hasFailed } from "./marks";
import { hidesJoints } from "./math/hidden_joints";
import { hasPart, loadWords } from "./math/load_words";
import { Corner } from "./overlay/corner";
import { JointList } from "./overlay/joint_list";
import { Labels } from "./overlay/labels";
import { LoadCard } from "./overlay/load_card";
import { type Shown, type Staged, makeToolbar } from "./overlay/toolbar";
import { NOTHING, type Pick, Picker, type Sight, type Surface } from "./picking";
import { beginPicture, isSoftware } from "./gl/software";
import { addHands } from "./stage_input";
import { StageScene } from "./stage_scene";
import { MANY } from "./symbols";

const MOST_NAMES = 16; // joints that have their names at first
const QUICK = 0.6; // of the pixels in each direction, while numbers move and the processor draws
const REFRESH = 100; // ms between changes of the card while it plays

export class StageView implements Panel, Staged {
  readonly element = make("div", { class: "stage-view" });
  readonly title = "3D";
  readonly canvas = make("canvas", { class: "stage-canvas" });
  readonly drawing: StageScene;
  readonly rig: CameraRig;
  readonly shown: Shown;
  /** Pictures drawn so far. */
  pictures = 0;
  private readonly context: PlayerContext;
  private readonly renderer: WebGLRenderer;
  private readonly surface: HTMLElement;
  private readonly labels = new Labels();
  private readonly corner = new Corner();
  private readonly card = new LoadCard();
  private readonly list: JointList;
  private readonly banner = make("div", { class: "stage-banner", role: "note" });
  private readonly legend = make("div", { class: "arrow-legend" });
  private readonly toolbar: { element: HTMLElement; close(): void };
  private readonly picker = new Picker();
  private readonly endings: (() => void)[] = [];
  private time: number;
  private readonly drawingTask = makeFrameTask(() => this.draw());
  private readonly smooth = !isSoftware();
  private quick = false; // fewer pixels
  private touched = false; // the camera was moved by hand
  private painting = false; // pictures in another size are made
  private lost = false;
  private wasLost = false;
  private pointed = "";
  private refreshed = 0;
  private groundStale = 0;

  constructor(context: PlayerContext) {
    this.context = context;
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: this.smooth });
    this.renderer.autoClear = false;
    this.time = context.clock.t;
    this.drawing = new StageScene(context.runs);
    this.rig = new CameraRig(this.header, this.drawing.framing, this.drawing.poses);
    this.drawing.setGround();
    this.shown = firstShown(this.header, hidesJoints(this.header, this.drawing.poses));
    this.surface = make("div", {
      class: "stage-surface", tabindex: "0", role: "application", "aria-roledescription": "3D view",
      "aria-label": "3D view. Arrow keys turn, with shift they shift, plus and minus zoom, 0 fits.",
    }, this.canvas, this.labels.element);
    this.list = new JointList((name) => this.chooseJoint(name), (name) => this.pointAtJoint(name));
    this.toolbar = makeToolbar(this);
    this.element.append(this.surface, this.corner.element, this.legend, this.banner, this.toolbar.element, this.list.element, this.card.element);
    this.listen();
    this.themeChanged();
    this.headerChanged();
  }

  get header(): RunHeader {
    return this.drawing.header;
  }

  get view(): CameraState {
    return this.rig.state;
  }

  get loadPart(): LoadPart {
    return this.context.loadPart;
  }

  // -- what the player tells ---------------------------------------------------------------------
  setRuns(): void {
    const before = this.header;
    this.drawing.setRuns(this.context.runs);
    if (this.rig.setHeader(this.header, () => this.drawing.framing, this.drawing.poses)) {
      this.touched = false;
      this.rig.update(this.drawing.poses);
      if (this.shown.grid === (before.plane === null)) this.shown.grid = this.header.plane === null;
    } else if (!this.touched && partsOf(this.header) !== partsOf(before)) this.rig.fit(this.drawing.poses);
    clearTimeout(this.groundStale);
    this.groundStale = setTimeout(() => {
      this.drawing.setGround();
      this.invalidate();
    }, 200) as unknown as number;
    this.headerChanged();
  }

  /** Marks what is chosen, or what is pointed at elsewhere. */
  selectionChanged(lit: Selection | null = null): void {
    const { kind, name } = lit ?? this.context.selection;
    this.drawing.choose(kind === "joint" ? name : "", kind === "body" ? name : "");
    if (lit === null && this.drawing.arrows.causes !== null && this.drawing.arrows.causes.joint !== name) this.drawing.arrows.setCauses(null);
    this.invalidate();
  }

  themeChanged(): void {
    const style = getComputedStyle(this.context.root);
    const color = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
    this.drawing.setTheme(this.context.theme, color("--force", "#c2410c"), color("--moment", "#6d28d9"));
    this.renderer.setClearColor(new Color(color("--paper", "#ffffff")), 1);
    this.invalidate();
  }

  resized(): void {
    if (this.painting || !this.setSize()) return;
    if (!this.touched) this.rig.fit(this.drawing.poses);
    this.invalidate();
  }

  destroy(): void {
    this.drawingTask.cancel();
    clearTimeout(this.groundStale);
    for (const end of this.endings) end();
    if (!this.wasLost) this.drawing.dispose(); // objects of a lost context are gone already
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.element.remove();
  }

  // -- for tests and other parts -----------------------------------------------------------------
  projectPoint(world: Vec3): { x: number; y: number; visible: boolean } {
    return this.rig.project(world);
  }

  setView(choice: ViewChoice): void {
    this.touched = choice.fit !== true || choice.reference !== undefined;
    this.rig.setView(choice, this.drawing.poses);
    this.invalidate();
  }

  renderNow(t: number): void {
    this.time = t;
    this.draw();
  }

  setQuick(on: boolean): void {
    if (this.smooth || on === this.quick) return;
    this.quick = on;
    if (!this.painting && this.setSize() && !on) this.invalidate();
  }

  pickAt(x: number, y: number): Pick {
    const { poses, solids, arrows } = this.drawing;
    return this.picker.pick(x, y, this.header, poses, this.rig, solids, arrows.drawn);
  }

  surfaceAt = (x: number, y: number): Surface | null => this.picker.surface(x, y, this.rig, this.drawing.solids);
  sightAt = (x: number, y: number): Sight => this.picker.sight(x, y, this.rig);

  /** Pictures in a size of their own, until it is ended; meanwhile the screen does not follow the clock. */
  painter(width: number, height: number, fine: boolean): Painter {
    const { canvas } = this;
    const factor = height / this.rig.heightPixels;
    this.renderer.setPixelRatio(fine && !this.smooth ? 2 : 1); // without smooth edges: twice as large, and reduced
    this.renderer.setSize(width, height, false);
    this.rig.setSize(width / factor, this.rig.heightPixels);
    this.painting = true;
    canvas.style.objectFit = "contain";
    canvas.style.visibility = this.smooth ? "" : "hidden"; // what is not shown costs no time
    const style = getComputedStyle(this.context.root);
    const [ink, paper] = [style.getPropertyValue("--ink"), style.getPropertyValue("--paper")];
    return {
      paint: (t, pen) => {
        this.time = t;
        this.render();
        pen.imageSmoothingQuality = "high";
        pen.drawImage(canvas, 0, 0, width, height);
        this.labels.drawOn(pen, factor, ink, paper);
      },
      end: () => {
        this.painting = false;
        canvas.style.objectFit = canvas.style.visibility = "";
        this.time = this.context.clock.t;
        this.setSize();
        this.draw();
      },
    };
  }

  snapshot(width: number, height: number): Promise<Blob> {
    const picture = make("canvas", { width: String(width), height: String(height) });
    const painter = this.painter(width, height, true);
    painter.paint(this.context.clock.t, picture.getContext("2d")!);
    painter.end();
    return new Promise((resolve, reject) => {
      picture.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png");
    });
  }

  // -- what the toolbar does -----------------------------------------------------------------------
  setShown(name: keyof Shown, value: boolean): void {
    this.shown[name] = value;
    this.headerChanged();
  }

  setLoadPart(part: LoadPart): void {
    this.context.setLoadPart(part);
    this.invalidate();
  }

  partMissing(part: LoadPart): string {
    return hasPart(this.context.main, part) ? "" : this.header.loadNotes[0] ?? `the ${part} part is not known`;
  }

  zoom(factor: number): void {
    this.move(() => this.rig.zoom(factor));
  }

  pointAtJoint(name: string): void {
    this.pointed = name;
    this.drawing.symbols.choose(name);
    this.invalidate();
    this.showCard();
  }

  chooseJoint(name: string): void {
    this.list.close();
    this.context.select({ kind: "joint", name });
  }

  leaveJoint(): void {
    this.pointed = "";
    this.card.hide();
    this.selectionChanged();
  }

  // -- inside --------------------------------------------------------------------------------------
  private listen(): void {
    const { context } = this;
    this.endings.push(context.clock.onTime((t) => {
      this.time = t;
      this.invalidate();
    }));
    this.endings.push(addHands({
      canvas: this.surface,
      orbit: (aside, upward) => this.move(() => this.rig.orbit(aside, upward)),
      pan: (dx, dy) => this.move(() => this.rig.pan(dx, dy)),
      zoom: (factor, x, y) => this.move(() => this.rig.zoom(factor, x, y)),
      fit: () => this.setView({ fit: true }),
      point: (x, y) => this.point(x, y),
      leave: () => this.point(NaN, NaN),
      choose: (x, y) => this.choose(x, y),
    }));
    const causes = (event: Event): void => {
      this.drawing.arrows.setCauses((event as CustomEvent<ShownCauses | null>).detail);
      this.invalidate();
    };
    context.root.addEventListener("kinode-causes", causes);
    const seeThrough = (): void => this.setShown("seeThrough", !this.shown.seeThrough);
    context.root.addEventListener("kinode-see-through", seeThrough);
    this.endings.push(() => {
      context.root.removeEventListener("kinode-causes", causes);
      context.root.removeEventListener("kinode-see-through", seeThrough);
    });
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
      this.wasLost = true;
      this.headerChanged();
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.headerChanged();
    });
  }

  /** As large as its place on the page; false if it has none. */
  private setSize(): boolean {
    const { clientWidth: width, clientHeight: height } = this.surface;
    if (width < 2 || height < 2) return false;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1) * (this.quick ? QUICK : 1));
    this.renderer.setSize(width, height, false);
    this.rig.setSize(width, height);
    return true;
  }

  private move(change: () => void): void {
    change();
    this.touched = true;
    this.invalidate();
  }

  private headerChanged(): void {
    const { shown } = this;
    this.drawing.setShown(shown);
    this.labels.setHeader(this.header, { joints: shown.jointNames, bodies: shown.bodyNames, frames: shown.frameNames });
    const { run } = this.header;
    const words = this.lost ? "The graphics card was taken away; the picture comes back by itself."
      : hasFailed(this.header) ? `✕ The run ended at ${formatNumber(run.to)} s: ${run.message}` : "";
    this.banner.textContent = words;
    this.banner.hidden = words === "";
    this.setLegend();
    this.invalidate();
  }

  private setLegend(): void {
    const { force, moment } = this.drawing.arrows.scaleOf();
    const parts: HTMLElement[] = [];
    if (this.shown.force && force > 0) parts.push(make("span", { class: "force" }, `⟶ ${withPrefix(force, "N")}`));
    if (this.shown.moment && moment > 0) parts.push(make("span", { class: "moment" }, `↠ ${withPrefix(moment, "N·m")}`));
    this.legend.replaceChildren(...parts);
    this.legend.title = "Longest arrows of the run: force with one head, moment with two";
    this.legend.hidden = parts.length === 0;
  }

  private invalidate(): void {
    this.drawingTask.request();
  }

  private draw(): void {
    this.drawingTask.cancel();
    if (this.painting) return;
    this.render();
    beginPicture(this.renderer.getContext() as WebGL2RenderingContext);
    if (this.pointed !== "" && performance.now() - this.refreshed > REFRESH) this.showCard();
  }

  private render(): void {
    if (this.lost || this.rig.width < 2) return;
    this.placeAll();
    const { camera } = this.rig;
    this.renderer.clear();
    this.renderer.render(this.drawing.scene, camera);
    this.renderer.clearDepth();
    this.renderer.render(this.drawing.over, camera);
    this.pictures++;
  }

  /** All of a picture but its rendering. */
  placeAll(): void {
    this.drawing.place(this.time, this.rig, this.shown, this.loadPart);
    if (this.shown.jointNames || this.shown.bodyNames || this.shown.frameNames) {
      this.labels.place(this.drawing.poses, this.rig, []);
    }
    this.corner.place(this.rig);
  }

  private point(x: number, y: number): void {
    const pick = Number.isFinite(x) ? this.pickAt(x, y) : NOTHING;
    this.surface.style.cursor = pick.kind === "none" ? "" : "pointer";
    const room = { width: this.rig.width, height: this.rig.heightPixels };
    this.pointed = pick.kind === "joint" || pick.kind === "load" ? pick.name : "";
    if (this.pointed !== "") this.showCard(pick);
    else if (pick.kind === "body") {
      const body = this.header.bodies.find((each) => each.name === pick.name)!;
      this.card.showText(body.name, [`mass ${formatNumber(body.mass)} kg`], x, y, room);
    } else this.card.hide();
  }

  private showCard(pick: Pick = NOTHING): void {
    const joint = this.header.joints.find((each) => each.name === this.pointed);
    if (!joint) return;
    this.refreshed = performance.now();
    const { poses, arrows } = this.drawing;
    const words = loadWords(joint, poses, arrows.reader.read(joint, this.loadPart, poses.moment), this.loadPart);
    if (pick.arrow && pick.arrow.cause !== "") words.notes.unshift(`this arrow: ${pick.arrow.quantity} by ${pick.arrow.cause}`);
    if (pick.joints.length > 1) words.notes.push(`${pick.joints.length} joints here: ${pick.joints.join(", ")}`);
    const { x, y } = this.rig.project(poses.place(joint.child));
    this.card.showLoad(words, x, y, { width: this.rig.width, height: this.rig.heightPixels });
  }

  private choose(x: number, y: number): void {
    const pick = this.pickAt(x, y);
    this.list.close();
    if (pick.joints.length > 1) this.list.open(pick.joints, x, y);
    else if (pick.kind === "joint" || pick.kind === "load") this.chooseJoint(pick.name);
    else if (pick.kind === "body") this.context.select({ kind: "body", name: pick.name });
    else if (this.context.selection.kind !== "none") this.context.select({ kind: "none", name: "" });
  }
}

/** Which bodies and joints there are: where others come or go, the picture is fitted anew. */
function partsOf({ bodies, joints }: RunHeader): string {
  return [...bodies, ...joints].map(({ name }) => name).join();
}

function firstShown(header: RunHeader, seeThrough: boolean): Shown {
  const calm = header.bodies.length <= MANY;
  const few = header.joints.length <= MOST_NAMES;
  return {
    bodies: true, seeThrough, joints: true, axes: calm, supports: true, grid: header.plane === null, elements: true, centers: calm, frames: false,
    trails: true, later: false, compared: true, jointNames: few, bodyNames: false, frameNames: false, force: true, moment: true,
  };
}
