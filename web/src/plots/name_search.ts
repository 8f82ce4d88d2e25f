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

/** The names that answer every word of the search, best first; those of a live server last among equals. */
export function search(query: string, quantities: readonly Quantity[], most = 60): Quantity[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const ranked: { quantity: Quantity; rank: number; order: number }[] = [];
  quantities.forEach((quantity, order) => {
    let rank = quantity.source === "live" ? 0.5 : 0;
    for (const word of words) {
      const match = matchWord(word, quantity.name, quantity.words);
      if (match === null) return;
      rank += match;
    }
    ranked.push({ quantity, rank, order });
  });
  ranked.sort((a, b) => a.rank - b.rank || a.quantity.name.length - b.quantity.name.length || a.order - b.order);
  if (words.length === 0) ranked.sort((a, b) => a.order - b.order);
  return ranked.slice(0, most).map((each) => each.quantity);
}
