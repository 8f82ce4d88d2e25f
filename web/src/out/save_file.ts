// Files that the page gives to the person.

import { make } from "../ui/elements";

/** Gives a file to the person; also an event, for who drives the page. */
export function giveFile(content: Blob, name: string, root: HTMLElement): void {
  root.dispatchEvent(new CustomEvent("kinode-file", { detail: { name, content } }));
  const link = make("a", { href: URL.createObjectURL(content), download: name, hidden: "" });
  root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name that every system takes for a file. */
export function nameFile(name: string, ending: string): string {
  return `${name.replace(/[^\w.-]+/g, "_").slice(0, 80) || "run"}.${ending}`;
}

/** Bytes as people read them. */
export function sizeWords(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
