// Parts by their full names, and what stands for them in the drawing: inside an open subsystem they have shorter names.

import type { StudioContext } from "../studio_types";

/** What stands in the drawing for some parts; a closed subsystem stands for what is in it. */
export function shownParts(context: StudioContext, parts: readonly string[]): string[] {
  return [...new Set(parts.flatMap((part) => context.document.shownName(part) ?? []))];
}

/** Lights up parts in the drawing, in 3D and in formulas; none takes the light away. */
export function lightParts(context: StudioContext, parts: readonly string[]): void {
  const shown = shownParts(context, parts);
  context.hover(shown[0] ?? parts[0] ?? null, [...new Set([...shown, ...parts])]);
}

/** The full names of what is chosen. */
export function chosenParts(context: StudioContext): string[] {
  return context.selection.map((name) => context.document.prefix + name);
}
