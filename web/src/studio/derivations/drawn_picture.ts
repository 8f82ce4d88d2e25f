// The circuit as it stands on the canvas, as a picture by itself: SVG with all styles in it, or PNG.

const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "font-size", "font-family", "font-weight", "font-style", "text-anchor", "paint-order"];
const LEFT_OUT = ".hit, .grab, .glow, .knob, .waypoint, .badge, .room, .words-room, title, .overlay";
const MARGIN = 16;
const DENSE = 2; // pixels of a PNG for a unit of the drawing

export interface DrawnPicture {
  svg: string;
  width: number;
  height: number;
}

/** A picture of what is drawn; null where nothing is. */
export function drawnPicture(root: ParentNode, words: string): DrawnPicture | null {
  const layers = [...root.querySelectorAll<SVGGElement>("svg.circuit > g > g.wires, svg.circuit > g > g.boxes, svg.circuit > g > g.stickers")].filter((layer) => layer.childElementCount > 0);
  const boxes = layers.map((layer) => layer.getBBox()).filter((box) => box.width > 0 || box.height > 0);
  if (boxes.length === 0) return null;
  const left = Math.min(...boxes.map((box) => box.x)) - MARGIN;
  const top = Math.min(...boxes.map((box) => box.y)) - MARGIN;
  const width = Math.ceil(Math.max(...boxes.map((box) => box.x + box.width)) + MARGIN - left);
  const height = Math.ceil(Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN - top);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", viewBox: `${left} ${top} ${width} ${height}`, width, height, role: "img", "aria-label": words })) svg.setAttribute(key, String(value));
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const background = getComputedStyle(layers[0]!.closest(".kinode-studio") ?? document.body).backgroundColor;
  for (const [key, value] of Object.entries({ x: left, y: top, width, height, fill: background })) paper.setAttribute(key, String(value));
  svg.append(paper, ...layers.map(copyStyled));
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

/** A copy of an element whose looks need no style sheet. */
function copyStyled(original: Element): Element {
  const copy = original.cloneNode(false) as Element;
  const style = getComputedStyle(original);
  for (const name of COPIED) {
    const value = style.getPropertyValue(name);
    if (value !== "") copy.setAttribute(name, value);
  }
  for (const name of ["class", "tabindex", "role", "aria-label", "style"]) copy.removeAttribute(name);
  for (const child of original.childNodes) {
    if (child instanceof Element) {
      if (!child.matches(LEFT_OUT) && getComputedStyle(child).display !== "none") copy.append(copyStyled(child));
    } else copy.append(child.cloneNode());
  }
  return copy;
}

export async function toPng({ svg, width, height }: DrawnPicture): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = DENSE * width;
    canvas.height = DENSE * height;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob === null ? reject(new Error("the picture is too large for this browser")) : resolve(blob)), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
