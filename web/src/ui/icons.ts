// Small drawings for buttons, in the color of the text.

const SHAPES = {
  play: '<path d="M5 3v10l8-5z"/>',
  pause: '<path d="M4 3h3v10H4zM9 3h3v10H9z"/>',
  start: '<path d="M3 3h2v10H3zM13 3v10L6 8z"/>',
  end: '<path d="M11 3h2v10h-2zM3 3v10l7-5z"/>',
  back: '<path d="M10 3v10L4 8zM11 3h1.6v10H11z"/>',
  ahead: '<path d="M6 3v10l6-5zM3.4 3H5v10H3.4z"/>',
  eventBack: '<path d="M9 3v10L2 8zM12.5 2l1.9 3-1.9 3-1.9-3z"/><path d="M12 8h1v6h-1z"/>',
  eventAhead: '<path d="M7 3v10l7-5zM3.5 2l1.9 3-1.9 3-1.9-3z"/><path d="M3 8h1v6H3z"/>',
  loop: '<path d="M3 8a5 5 0 0 1 8.5-3.5M13 8a5 5 0 0 1-8.5 3.5" fill="none" stroke="currentColor" stroke-width="1.7"/><path d="M12.6 1.5v4h-4zM3.4 14.5v-4h4z"/>',
  theme: '<circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 2.4a5.6 5.6 0 0 1 0 11.2z"/>',
  close: '<path d="M4 4l8 8M12 4l-8 8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/>',
  strips: '<path d="M2 4h5v3H2zM8 4h6v3H8zM2 9h8v3H2zM11 9h3v3h-3z"/>',
} as const;

export type IconName = keyof typeof SHAPES;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of [["viewBox", "0 0 16 16"], ["width", "16"], ["height", "16"], ["fill", "currentColor"], ["aria-hidden", "true"]] as const)
    svg.setAttribute(key, value);
  svg.innerHTML = SHAPES[name];
  return svg;
}

/** A button with a drawing, and words for pointer and screen reader. */
export function iconButton(name: IconName, words: string, action: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "icon";
  element.title = words;
  element.setAttribute("aria-label", words);
  element.append(icon(name));
  element.addEventListener("click", action);
  return element;
}
