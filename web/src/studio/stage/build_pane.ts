// The place where a model is built: as a drawing, or in 3D; both show the same model.

import type { Player } from "../../player";
import { make } from "../../ui/elements";
import { JOIN_EVENT, type JoinIn3d } from "../canvas/place_fields";
import { COMPARED_EVENT, type ComparedMarks } from "../comparison/compare_types";
import { ComparedStage } from "../comparison/compared_stage";
import { ADD_EVENT, DRAG_TYPE, findAddition } from "../palette/kind_choices";
import type { StudioContext, StudioPart, StudioPartMaker } from "../studio_types";
import { PlaceStage } from "./place_stage";
import styles from "./stage.css?inline";

const TABS = ["Drawing", "3D"] as const;
type Tab = (typeof TABS)[number];

class BuildPane implements StudioPart {
  readonly element = make("div", { class: "build-pane" });
  readonly canvas: StudioPart;
  /** Made when it is first shown. */
  stage: PlaceStage | null = null;
  private shown: Tab = "Drawing";
  private readonly tabs = make("div", { class: "build-tabs", role: "tablist", "aria-label": "Drawing or 3D" });
  private readonly context: StudioContext;
  private compared: ComparedStage | null = null;
  private differences: ComparedMarks | null = null;

  constructor(context: StudioContext, makeCanvas: StudioPartMaker) {
    this.context = context;
    this.canvas = makeCanvas(context);
    for (const name of TABS) {
      const tab = make("button", { type: "button", role: "tab", "data-tab": name }, name);
      tab.addEventListener("click", () => this.show(name));
      this.tabs.append(tab);
    }
    this.tabs.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      this.show(this.shown === "3D" ? "Drawing" : "3D");
      this.tabs.querySelector<HTMLElement>(`[data-tab="${this.shown}"]`)?.focus();
      event.preventDefault();
    });
    this.element.append(make("style", {}, styles), this.tabs, this.canvas.element);
    context.root.addEventListener(ADD_EVENT, this.asked, { capture: true });
    context.root.addEventListener(JOIN_EVENT, this.joined);
    context.root.addEventListener(COMPARED_EVENT, this.compares);
    this.show("Drawing");
  }

  show(name: Tab): void {
    this.shown = name;
    for (const tab of this.tabs.querySelectorAll<HTMLElement>("[role=tab]")) {
      const chosen = tab.dataset["tab"] === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    this.canvas.element.hidden = name !== "Drawing";
    if (name === "3D") this.stage ??= this.makeStage();
    if (this.stage !== null) {
      this.stage.element.hidden = name !== "3D";
      this.stage.setShown(name === "3D");
    }
    if (name === "Drawing") this.canvas.resized?.();
  }

  private makeStage(): PlaceStage {
    const stage = new PlaceStage(this.context);
    stage.element.addEventListener("dragover", (event) => event.dataTransfer?.types.includes(DRAG_TYPE) && !this.context.readOnly && event.preventDefault());
    stage.element.addEventListener("drop", this.dropped);
    this.element.append(stage.element);
    this.compared = new ComparedStage(stage);
    if (this.differences !== null) void this.compared.show(this.differences);
    return stage;
  }

  /** A joint or a body out of the palette is placed in 3D where that is shown. */
  private readonly asked = (event: Event): void => {
    if (this.shown === "3D" && this.place(String((event as CustomEvent<string>).detail), true)) event.stopImmediatePropagation();
  };

  /** A joint that was begun in the drawing: its places are clicked here, then the drawing is shown again. */
  private readonly joined = (event: Event): void => {
    const { kind, sides } = (event as CustomEvent<JoinIn3d>).detail;
    this.show("3D");
    this.stage?.join(kind, false, sides, () => this.show("Drawing"));
  };

  private readonly compares = (event: Event): void => {
    this.differences = (event as CustomEvent<ComparedMarks | null>).detail;
    void this.compared?.show(this.differences);
  };

  private readonly dropped = (event: DragEvent): void => {
    const name = event.dataTransfer?.getData(DRAG_TYPE) ?? "";
    event.preventDefault();
    if (name !== "" && !this.place(name, false)) this.context.root.dispatchEvent(new CustomEvent(ADD_EVENT, { detail: name }));
  };

  private place(name: string, byKeys: boolean): boolean {
    const addition = findAddition(this.context.catalogue, name);
    if (addition === null || !("kind" in addition) || this.context.readOnly) return false;
    const { kind } = addition;
    if (kind.section === "joints") this.stage?.join(kind, byKeys);
    else if (kind.kind === "body") this.stage?.setTool("body", byKeys);
    else return false;
    return true;
  }

  sketchChanged(): void {
    this.canvas.sketchChanged?.();
  }

  placedAnew(version: number): void {
    this.canvas.placedAnew?.(version);
  }

  selectionChanged(from: string): void {
    this.canvas.selectionChanged?.(from);
    this.stage?.selectionChanged(from);
  }

  hoverChanged(): void {
    this.canvas.hoverChanged?.();
  }

  problemsChanged(): void {
    this.canvas.problemsChanged?.();
  }

  runChanged(player: Player | null): void {
    this.canvas.runChanged?.(player);
  }

  themeChanged(): void {
    this.canvas.themeChanged?.();
    this.stage?.themeChanged();
  }

  resized(): void {
    if (this.shown === "Drawing") this.canvas.resized?.();
    this.stage?.resized();
  }

  destroy(): void {
    this.context.root.removeEventListener(ADD_EVENT, this.asked, { capture: true });
    this.context.root.removeEventListener(JOIN_EVENT, this.joined);
    this.context.root.removeEventListener(COMPARED_EVENT, this.compares);
    this.canvas.destroy();
    this.stage?.destroy();
  }
}

export function makeBuildPane(makeCanvas: StudioPartMaker): StudioPartMaker {
  return (context) => new BuildPane(context, makeCanvas);
}
