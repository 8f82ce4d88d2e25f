// Elements made in one call.

export function make<K extends keyof HTMLElementTagNameMap>(
  name: K, attributes: Record<string, string> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A button with a symbol, and words for pointer and screen reader. */
export function button(symbol: string, words: string, action: () => void): HTMLButtonElement {
  const element = make("button", { type: "button", title: words, "aria-label": words }, symbol);
  element.addEventListener("click", action);
  return element;
}

/** Writes text and attributes that differ from what is there: what is written again is laid out again. */
export function write(element: Element, text: string | null, attributes: Record<string, string> = {}): void {
  if (text !== null && element.textContent !== text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
