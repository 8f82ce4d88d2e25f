// How the text looks: the page's own colors, in light and dark.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const style = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--accent)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.separator, tags.squareBracket, tags.brace, tags.punctuation], color: "var(--muted)" },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: "var(--moment)" },
]);

export const textTheme = [
  syntaxHighlighting(style),
  EditorView.theme({
    "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "13px" },
    ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace', lineHeight: "1.5" },
    ".cm-content": { caretColor: "var(--ink)" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--muted) 9%, transparent)" },
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important" },
    ".cm-part": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)", boxShadow: "inset 3px 0 var(--accent)" },
    ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--line)", maxWidth: "440px" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--paper)" },
    ".cm-completionDetail": { color: "inherit", opacity: "0.85" },
    ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)" },
    ".cm-diagnostic": { fontFamily: "inherit" },
    ".cm-diagnosticAction": { backgroundColor: "var(--accent)", color: "var(--paper)" },
    ".cm-foldPlaceholder": { backgroundColor: "var(--raised)", color: "var(--muted)", border: "1px solid var(--line)" },
  }),
];
