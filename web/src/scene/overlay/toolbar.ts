// The toolbar of the stage: what is shown, from where, and which part of the loads.

import type { RunHeader } from "../../data/run_document";
import type { LoadPart } from "../../panel";
import { button, make } from "../../ui/elements";
import { type MenuItem, menuButton } from "../../ui/menu";
import type { CameraState, ViewChoice } from "../camera_rig";
import type { ViewName } from "../math/framing";

/** What is drawn. */
export interface Shown {
  bodies: boolean;
  seeThrough: boolean;
  joints: boolean;
  axes: boolean;
  supports: boolean;
  grid: boolean;
  elements: boolean;
  centers: boolean;
  frames: boolean;
  trails: boolean;
  later: boolean;
  compared: boolean;
  jointNames: boolean;
  bodyNames: boolean;
  frameNames: boolean;
  force: boolean;
  moment: boolean;
}

const SHOWN_WORDS: [keyof Shown, string][] = [
  ["bodies", "Bodies"], ["seeThrough", "See through bodies (x)"], ["joints", "Joints"], ["axes", "Axes of joints"], ["supports", "Supports"], ["grid", "Ground grid"],
  ["elements", "Springs and dampers"], ["centers", "Mass centers"], ["frames", "Frames"], ["trails", "Trails of tips"],
  ["later", "Later poses"], ["compared", "Compared runs"],
];
const NAME_WORDS: [keyof Shown, string][] = [["jointNames", "of joints"], ["bodyNames", "of bodies"], ["frameNames", "of frames"]];
const VIEW_WORDS: [ViewName, string][] = [
  ["iso", "Isometric"], ["+x", "From +x"], ["-x", "From −x"], ["+y", "From +y"], ["-y", "From −y"], ["+z", "From +z"], ["-z", "From −z"],
];

/** What the toolbar acts on. */
export interface Staged {
  readonly header: RunHeader;
  readonly shown: Shown;
  readonly view: CameraState;
  readonly loadPart: LoadPart;
  partMissing(part: LoadPart): string; // why a part cannot be shown, or ""
  setShown(name: keyof Shown, value: boolean): void;
  setView(choice: ViewChoice): void;
  setLoadPart(part: LoadPart): void;
  pointAtJoint(name: string): void;
  chooseJoint(name: string): void;
  leaveJoint(): void;
  zoom(factor: number): void;
}

export function makeToolbar(stage: Staged): { element: HTMLElement; close(): void } {
  const menus = [
    menuButton("Show", "What is shown", () => showItems(stage)),
    menuButton("View", "From where it is seen", () => viewItems(stage)),
    menuButton("Loads", "Loads of joints", () => loadItems(stage), () => stage.leaveJoint()),
  ];
  const element = make("div", { class: "stage-tools", role: "toolbar", "aria-label": "3D" }, ...menus.map((menu) => menu.element),
    button("−", "Farther", () => stage.zoom(1 / 1.25)), button("+", "Nearer", () => stage.zoom(1.25)),
    button("⤢", "Fit the model to the picture", () => stage.setView({ fit: true })));
  return { element, close: () => menus.forEach((menu) => menu.close()) };
}

function check(stage: Staged, [name, text]: [keyof Shown, string]): MenuItem {
  return { kind: "check", text, checked: stage.shown[name], act: () => stage.setShown(name, !stage.shown[name]) };
}

function showItems(stage: Staged): MenuItem[] {
  return [...SHOWN_WORDS.map((each) => check(stage, each)), { kind: "heading", text: "Names" }, ...NAME_WORDS.map((each) => check(stage, each))];
}

function viewItems(stage: Staged): MenuItem[] {
  const { view, header } = stage;
  const views = [...(header.plane ? [["plane", "In its plane"] as [ViewName, string]] : []), ...VIEW_WORDS];
  const is = (kind: string, name = ""): boolean => view.reference.kind === kind && view.reference.name === name;
  const refer = (kind: CameraState["reference"]["kind"], text: string, name = ""): MenuItem => ({
    kind: "radio", text, checked: is(kind, name), act: () => stage.setView({ reference: { kind, name } }),
  });
  const items: MenuItem[] = views.map(([name, text]) => ({
    kind: "radio", text, checked: view.view === name, act: () => stage.setView({ view: name }),
  }));
  items.push({ kind: "heading", text: "Projection" });
  for (const projection of ["orthographic", "perspective"] as const) {
    items.push({ kind: "radio", text: projection, checked: view.projection === projection, act: () => stage.setView({ projection, fit: true }) });
  }
  items.push({ kind: "heading", text: "The camera" }, refer("world", "stands still"), refer("model", "follows the mass center"));
  for (const body of header.bodies) items.push(refer("follow", `follows ${body.name}`, body.name));
  for (const body of header.bodies) items.push(refer("ride", `rides on ${body.name}`, body.name));
  for (const frame of header.frames) items.push(refer("frame", `sees from ${frame.name}`, frame.name));
  return items;
}

function loadItems(stage: Staged): MenuItem[] {
  const part = (name: LoadPart, text: string): MenuItem => {
    const off = stage.partMissing(name);
    return { kind: "radio", text, checked: stage.loadPart === name, act: () => stage.setLoadPart(name), ...(off ? { off } : {}) };
  };
  const items: MenuItem[] = [
    check(stage, ["force", "Forces (one head)"]), check(stage, ["moment", "Moments (two heads)"]), { kind: "heading", text: "Part" },
    part("total", "total"), part("static", "static"), part("kinetic", "kinetic"),
  ];
  const loaded = stage.header.joints.filter((joint) => joint.load >= 0);
  if (loaded.length > 0) items.push({ kind: "heading", text: "Joint" });
  for (const joint of loaded) {
    items.push({ kind: "action", text: joint.name, act: () => stage.chooseJoint(joint.name), focus: () => stage.pointAtJoint(joint.name) });
  }
  for (const note of stage.header.loadNotes) items.push({ kind: "heading", text: note });
  return items;
}
