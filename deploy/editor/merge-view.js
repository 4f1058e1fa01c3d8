/* Two texts side by side, read-only. Narrow screens get one column with the old lines above the new ones. */
import { yaml } from "@codemirror/lang-yaml";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { colour, look, shadowAfter } from "./look.js";

const NARROW = 700;
const COLLAPSE = { margin: 3, minSize: 6 };

/* Never red and green: amber is what was, blue is what will be. */
const shades = EditorView.theme({
  "&.cm-merge-a .cm-changedLine, & .cm-deletedChunk": { backgroundColor: colour.warnSoft },
  "&.cm-merge-b .cm-changedLine, &.cm-merge-b .cm-inlineChangedLine": { backgroundColor: colour.accentSoft },
  "&.cm-merge-a .cm-changedText, & .cm-deletedChunk .cm-deletedText": { background: colour.warnMark },
  "&.cm-merge-b .cm-changedText": { background: colour.accentMark },
  "&.cm-merge-a .cm-changedLineGutter, & .cm-deletedLineGutter": { background: colour.warn },
  "&.cm-merge-b .cm-changedLineGutter": { background: colour.accent },
  "& .cm-collapsedLines": {
    background: colour.raised, color: colour.soft, borderBlock: `1px solid ${colour.line}`, padding: "3px 12px",
  },
  /* The marks CodeMirror sets beside these words are missing from many fonts. */
  "& .cm-collapsedLines:before, & .cm-collapsedLines:after": { content: '"…"' },
});

const side = (label) => [
  lineNumbers(), yaml(), look, shades, EditorView.lineWrapping,
  EditorState.readOnly.of(true), EditorView.editable.of(false),
  EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
];

function sideBySide({ left, right, titles, root, box }) {
  const heading = document.createElement("div");
  heading.className = "titles";
  heading.append(...titles.map((title) => Object.assign(document.createElement("span"), { textContent: title })));
  box.append(heading);
  new MergeView({
    a: { doc: left, extensions: side(titles[0]) },
    b: { doc: right, extensions: side(titles[1]) },
    parent: box, root, gutter: true, highlightChanges: true, collapseUnchanged: COLLAPSE,
  });
}

function oneColumn({ left, right, titles, root, box }) {
  const unified = unifiedMergeView({ original: left, mergeControls: false, gutter: true, collapseUnchanged: COLLAPSE });
  new EditorView({ doc: right, parent: box, root, extensions: [side(`${titles[0]}, then ${titles[1]}`), unified] });
}

export function showMerge(element) {
  const text = (name) => element.querySelector(`[data-side="${name}"]`).value;
  const fallback = element.querySelector("[data-fallback]");
  const place = shadowAfter(fallback, "merge");
  const draw = element.clientWidth < NARROW ? oneColumn : sideBySide;
  draw({
    left: text("left"),
    right: text("right"),
    titles: [element.dataset.leftTitle ?? "Saved", element.dataset.rightTitle ?? "New"],
    ...place,
  });
  fallback.hidden = true;
}
