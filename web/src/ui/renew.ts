// A drawing made anew goes into the one that stands there: what has the focus, the pointer or a reader on it stays.

/** What tells the children of one drawing apart: their key, or their port; children that are alike are taken in their order. */
function sortOf(node: Node): string {
  if (!(node instanceof Element)) return node.nodeName;
  const [first] = node.classList;
  return `${node.nodeName} ${first ?? ""} ${node.getAttribute("data-key") ?? node.getAttribute("data-port") ?? ""}`;
}

function takeOver(old: Node, node: Node): void {
  if (!(old instanceof Element && node instanceof Element)) {
    if (old.nodeValue !== node.nodeValue) old.nodeValue = node.nodeValue;
    return;
  }
  for (const name of old.getAttributeNames()) if (!node.hasAttribute(name)) old.removeAttribute(name);
  for (const name of node.getAttributeNames()) {
    const value = node.getAttribute(name)!;
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  renew(old, [...node.childNodes]);
}

/** Makes the children of an element those that are given; what is of the same sort stays in the page and is changed. */
export function renew(element: Element, children: readonly Node[]): void {
  const standing = new Map<string, Node[]>();
  for (const node of element.childNodes) {
    const alike = standing.get(sortOf(node));
    if (alike === undefined) standing.set(sortOf(node), [node]);
    else alike.push(node);
  }
  const next = children.map((node) => {
    const old = standing.get(sortOf(node))?.shift();
    if (old === undefined) return node;
    takeOver(old, node);
    return old;
  });
  for (const gone of [...standing.values()].flat()) element.removeChild(gone);
  let at = element.firstChild;
  for (const node of next) {
    if (node === at) at = at.nextSibling;
    else element.insertBefore(node, at);
  }
}
