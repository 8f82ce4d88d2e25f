// CodeMirror counts each end of a line as one, whatever the file has: "\r\n" are two characters of the text, one of the editor.

const WINDOWS = /\r\n/g;

/** The place in the editor of a UTF-16 offset of the text. */
export function toEditor(text: string, offset: number): number {
  if (!text.includes("\r\n")) return offset;
  let pairs = 0;
  for (const match of text.matchAll(WINDOWS)) {
    if (match.index + 1 >= offset) break;
    pairs++;
  }
  return offset - pairs;
}

/** The UTF-16 offset in the text of a place in the editor. */
export function fromEditor(text: string, place: number): number {
  if (!text.includes("\r\n")) return place;
  let pairs = 0;
  for (const match of text.matchAll(WINDOWS)) {
    if (match.index - pairs >= place) break;
    pairs++;
  }
  return place + pairs;
}

/** What is typed gets the ends of lines that the file has. */
export function withFileEnds(text: string, typed: string): string {
  return text.includes("\r\n") ? typed.replace(/\n/g, "\r\n") : typed;
}

/** The text as the editor has it. */
export function asEditor(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}
