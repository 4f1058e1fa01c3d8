/* Colours and type shared by the editor and the diff view. light-dark() follows the page's color-scheme,
   so the same bundle fits the application and the Django admin, light and dark, without a reload. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const tone = (light, dark) => `light-dark(${light}, ${dark})`;

export const colour = {
  surface: tone("#ffffff", "#12161d"),
  raised: tone("#f7f8fa", "#181d26"),
  line: tone("#cdd3dc", "#3b4554"),
  ink: tone("#12161d", "#edf0f5"),
  soft: tone("#434c5b", "#b3bccb"),
  muted: tone("#616b7b", "#8b97a9"),
  accent: tone("#2451c7", "#8fb0ff"),
  accentSoft: tone("#eaf0fd", "#17233f"),
  accentMark: tone("#c5d6fa", "#22376b"),
  ok: tone("#14693f", "#5fd3a0"),
  warn: tone("#8a5100", "#f2bd63"),
  warnSoft: tone("#fdf2dc", "#2b2211"),
  warnMark: tone("#f7d89b", "#47350d"),
  danger: tone("#ab221b", "#ff958c"),
  dangerSoft: tone("#fdecea", "#331919"),
  human: tone("#6438b8", "#c0a6ff"),
};

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: colour.accent },
  { tag: [tags.string, tags.special(tags.string)], color: colour.ok },
  { tag: [tags.content, tags.attributeValue], color: colour.ink },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: colour.human },
  { tag: [tags.comment, tags.lineComment], color: colour.muted, fontStyle: "italic" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace, tags.meta], color: colour.soft },
]);

export const sans = 'Geist, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
const mono = 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace';

const theme = EditorView.theme({
  "&": { backgroundColor: colour.surface, color: colour.ink, fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: mono, lineHeight: "1.6" },
  ".cm-content": { caretColor: colour.ink, padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: colour.ink },
  "& .cm-activeLine": { backgroundColor: "light-dark(rgb(36 81 199 / .05), rgb(143 176 255 / .07))" },
  "& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: colour.accentMark,
  },
  "& .cm-gutters": { backgroundColor: colour.raised, color: colour.muted, border: "0", borderRight: `1px solid ${colour.line}` },
  "& .cm-activeLineGutter": { backgroundColor: "transparent", color: colour.ink },
  ".cm-foldPlaceholder": { backgroundColor: colour.raised, borderColor: colour.line, color: colour.soft },
  "& .cm-panels": { backgroundColor: colour.raised, color: colour.ink },
  "& .cm-panels-bottom": { borderTop: `1px solid ${colour.line}` },
  "& .cm-textfield": { backgroundColor: colour.surface, color: colour.ink, border: `1px solid ${colour.line}`, borderRadius: "5px" },
  "& .cm-button": { backgroundColor: colour.surface, backgroundImage: "none", color: colour.ink, border: `1px solid ${colour.line}`, borderRadius: "5px" },
  "& .cm-tooltip": { backgroundColor: colour.surface, color: colour.ink, border: `1px solid ${colour.line}`, borderRadius: "8px", overflow: "hidden" },
  "& .cm-diagnostic": { fontFamily: "inherit" },
  "& .cm-diagnosticSource": { color: colour.muted, opacity: "1", fontFamily: mono },
  "& .cm-matchingBracket": { backgroundColor: colour.accentMark },
  "& .cm-searchMatch": { backgroundColor: colour.warnMark },
});

export const look = [theme, syntaxHighlighting(words)];

const frame = `
  :host { display: block; min-width: 0; color-scheme: inherit; }
  .frame { border: 1px solid ${colour.line}; border-radius: 8px; overflow: hidden; background: ${colour.surface}; }
  .frame:has(.cm-focused) { outline: 2px solid ${colour.accent}; outline-offset: 1px; }
  .under { display: flex; flex-wrap: wrap; gap: 2px 16px; justify-content: space-between; margin: 6px 2px 0;
    font-size: 12px; line-height: 1.5; color: ${colour.muted}; }
  .under p { margin: 0; }
  .under [data-tone="error"] { color: ${colour.danger}; }
  .under [data-tone="warning"] { color: ${colour.warn}; }
  .under [data-tone="none"] { color: ${colour.ok}; }
  .titles { display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid ${colour.line};
    background: ${colour.raised}; font-size: 12px; font-weight: 600; color: ${colour.soft}; }
  .titles span { padding: 7px 12px; overflow-wrap: anywhere; }
`;

/* A shadow root in a new element after `before`, with our own sheet adopted and an empty frame inside. */
export function shadowAfter(before, className) {
  const host = document.createElement("div");
  host.className = className;
  before.after(host);
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(frame);
  root.adoptedStyleSheets = [sheet];
  const box = document.createElement("div");
  box.className = "frame";
  root.append(box);
  return { host, root, box };
}
