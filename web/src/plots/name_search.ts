// Search for names: what begins so comes first, then parts of the name, then words, then letters in order.

import type { Quantity } from "./quantities";

/** How well a name answers one word of the search: lower is better, null is not at all. */
export function matchWord(word: string, name: string, words: string): number | null {
  const lower = name.toLowerCase();
  if (lower === word) return 0;
  if (lower.startsWith(word)) return 1;
  const at = lower.indexOf(word);
  if (at > 0) return /[._\s]/.test(lower[at - 1]!) ? 2 : 3;
  if (words.toLowerCase().includes(word)) return 4;
  return isSpread(word, lower) ? 5 : null;
}

function isSpread(word: string, name: string): boolean {
  if (word.length < 2) return false;
  let from = 0;
  for (const letter of word) {
    const at = name.indexOf(letter, from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}

/** The items whose names answer every word of the search, best first; a lower `behind` comes first among equals. */
export function searchNames<T>(query: string, items: readonly T[], read: (item: T) => { name: string; words: string; behind?: number }, most = 60): T[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const ranked: { item: T; rank: number; length: number; order: number }[] = [];
  items.forEach((item, order) => {
    const { name, words: about, behind } = read(item);
    let rank = behind ?? 0;
    for (const word of words) {
      const match = matchWord(word, name, about);
      if (match === null) return;
      rank += match;
    }
    ranked.push({ item, rank, length: name.length, order });
  });
  ranked.sort((a, b) => a.rank - b.rank || a.length - b.length || a.order - b.order);
  if (words.length === 0) ranked.sort((a, b) => a.order - b.order);
  return ranked.slice(0, most).map((each) => each.item);
}

/** The quantities that answer every word of the search, best first; those of a live server last among equals. */
export function search(query: string, quantities: readonly Quantity[], most = 60): Quantity[] {
  return searchNames(query, quantities, ({ name, words, source }) => ({ name, words, behind: source === "live" ? 0.5 : 0 }), most);
}
