// Commands on subsystems: open one, make one of what is selected, dissolve one.

import type { CanvasHost } from "../canvas/canvas_host";
import { snapToGrid } from "../canvas/canvas_model";
import { saveToLibrary } from "../library/library_commands";
import { menuButton } from "../../ui/menu";

/** Opens the box that was chosen last; of another part, the inspector. */
export function openChosen(host: CanvasHost): void {
  const name = [...host.chosen].pop();
  if (name !== undefined && host.model.boxes.get(name)?.inside != null) host.context.openBox(name);
  else host.context.show("Inspector");
}

/** Makes a subsystem of the chosen parts; it stands in their middle. */
export async function encloseChosen(host: CanvasHost): Promise<void> {
  const names = [...new Set([...host.chosen].flatMap((name) => host.model.boxes.get(name)?.owner ?? []))];
  const extent = host.model.extent(host.chosen);
  if (names.length === 0 || extent === null) return host.context.say("Select the parts of the subsystem.");
  const [left, top, width, height] = extent;
  host.focusSheet();
  await host.act({ do: "enclose", names, at: snapToGrid([left + width / 2, top + height / 2]) });
}

/** Puts what is in the chosen subsystem in its place. */
export async function dissolveChosen(host: CanvasHost): Promise<void> {
  const name = [...host.chosen].pop();
  if (name === undefined || host.model.boxes.get(name)?.inside == null) return host.context.say("Select a subsystem.");
  host.focusSheet();
  await host.act({ do: "dissolve", name });
}


/** The menu of all of them. */
export function boxMenu(host: CanvasHost): ReturnType<typeof menuButton> {
  const change = (act: () => unknown) => (): void => void (host.context.readOnly ? host.context.say("The model is read-only.") : act());
  return menuButton("Subsystem", "Make, open, close, dissolve and save subsystems", () => [
    { kind: "action", text: "Make of the selection (Ctrl G)", act: change(() => encloseChosen(host)) },
    { kind: "action", text: "Open (Enter)", act: () => openChosen(host) },
    { kind: "action", text: "Close (Backspace)", act: () => host.context.openBox(null) },
    { kind: "action", text: "Dissolve (Ctrl Shift G)", act: change(() => dissolveChosen(host)) },
    { kind: "action", text: "Save to the library … (s)", act: change(() => saveToLibrary(host)) },
  ]);
}
