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
