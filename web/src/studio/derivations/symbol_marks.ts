// Symbols of typeset formulas and the parts that they belong to: pointing at one lights up the other.

/** The parts of a word in a symbol: those of the longest name that it is or begins with. */
export function ownersOf(word: string, owners: Record<string, string[]>): string[] {
  for (let end = word.trim(); end !== ""; end = end.replace(/(^|[._, ])[^._, ]*$/, "")) {
    const found = Object.hasOwn(owners, end) ? owners[end] : undefined;
    if (found !== undefined) return found;
  }
  return [];
}

const SYMBOLS = "msub, msup, msubsup, mi";

/** Marks every symbol of some formulas that belongs to parts; gives all parts in the order in which they occur. */
export function markSymbols(root: ParentNode, owners: Record<string, string[]>): string[] {
  const all = new Set<string>();
  for (const symbol of root.querySelectorAll<HTMLElement>(SYMBOLS)) {
    if (symbol.parentElement?.closest("[data-parts]") != null) continue;
    const parts = wordsOf(symbol).flatMap((word) => ownersOf(word, owners));
    if (parts.length === 0) continue;
    const unique = [...new Set(parts)];
    symbol.setAttribute("data-parts", JSON.stringify(unique));
    for (const part of unique) all.add(part);
  }
  return [...all];
}

/** The indices of a symbol; of a plain letter the letter, of "0,arm" and "pin, 2" each piece too. */
function wordsOf(symbol: Element): string[] {
  if (symbol.localName === "mi") return [symbol.textContent ?? ""];
  const indices = [...symbol.children].slice(1).map((each) => each.textContent ?? "");
  const found = indices.flatMap((each) => [each, ...each.split(",")]);
  return found.some((word) => word.trim() !== "") ? found : [];
}

export function partsOf(symbol: Element): string[] {
  return JSON.parse(symbol.getAttribute("data-parts") ?? "[]") as string[];
}

/** Marks the symbols of some parts by a class. */
export function showParts(root: ParentNode, parts: readonly string[], mark: string): void {
  for (const symbol of root.querySelectorAll<HTMLElement>("[data-parts]"))
    symbol.classList.toggle(mark, parts.length > 0 && partsOf(symbol).some((part) => parts.includes(part)));
}
