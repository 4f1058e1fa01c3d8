/* A YAML editor in front of a textarea. The textarea stays the form field: every change is copied into it. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, linter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { look, shadowAfter } from "./look.js";
import { diagnostics, problemMessages, summary } from "./problems.js";

const PAUSE_BEFORE_CHECK = 600;
const tall = EditorView.theme({
  "&": { maxHeight: "70vh" },
  ".cm-scroller": { overflow: "auto" },
  ".cm-content, .cm-gutter": { minHeight: "18em" },
});

function givenProblems(textarea) {
  const data = document.getElementById(textarea.dataset.problems ?? "editor-problems");
  return data ? JSON.parse(data.textContent) : [];
}

/* Posts the whole form, so the answer is what saving would say. The CSRF token is one of its fields. */
async function askServer(textarea) {
  const response = await fetch(textarea.dataset.checkUrl, {
    method: "POST",
    body: new URLSearchParams(new FormData(textarea.form)),
    headers: { Accept: "application/json" },
  });
  if (!response.ok) throw new Error(`the check answered ${response.status}`);
  return response.json();
}

function statusLine(root) {
  const under = document.createElement("div");
  under.className = "under";
  const status = document.createElement("p");
  status.id = "status";
  status.setAttribute("role", "status");
  const hint = document.createElement("p");
  hint.id = "hint";
  hint.textContent = "Tab indents. Esc, then Tab leaves the editor.";
  under.append(status, hint);
  root.append(under);
  return ({ tone, sentence }) => {
    status.dataset.tone = tone;
    status.textContent = sentence;
  };
}

/* Asks the server after a pause in typing. The text the page came with is not asked about again. */
function liveCheck(textarea, say) {
  const original = textarea.value;
  const given = givenProblems(textarea);
  return linter(
    async (view) => {
      try {
        const unchanged = view.state.doc.toString() === original;
        const problems = unchanged ? given : await askServer(textarea);
        const current = view.state;
        say(summary(problems));
        return diagnostics(problems, current.doc);
      } catch {
        say({ tone: "warning", sentence: "Not checked: the server gave no answer. Saving checks it again." });
        return [];
      }
    },
    { delay: PAUSE_BEFORE_CHECK },
  );
}

function writing(textarea) {
  const readOnly = textarea.readOnly || textarea.disabled;
  return [EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)];
}

function extensions(textarea, say) {
  return [
    lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), foldGutter(), lintGutter(),
    history(), drawSelection(), indentOnInput(), bracketMatching(), highlightSelectionMatches(), search(),
    EditorState.tabSize.of(2), indentUnit.of("  "), EditorView.lineWrapping,
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
    yaml(), look, tall, problemMessages, writing(textarea),
    textarea.dataset.checkUrl ? liveCheck(textarea, say) : [],
    EditorView.contentAttributes.of({
      "aria-label": textarea.labels[0]?.textContent.trim() || "YAML",
      "aria-describedby": "status hint",
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) textarea.value = update.state.doc.toString();
    }),
  ];
}

export function editTextarea(textarea) {
  const { root, box } = shadowAfter(textarea, "editor");
  const say = statusLine(root);
  const view = new EditorView({ doc: textarea.value, parent: box, root, extensions: extensions(textarea, say) });
  const problems = givenProblems(textarea);
  view.dispatch(setDiagnostics(view.state, diagnostics(problems, view.state.doc)));
  if (problems.length) say(summary(problems));
  textarea.hidden = true;
  textarea.required = false;
  for (const label of textarea.labels) label.addEventListener("click", () => view.focus());
  // A browser may restore the textarea of an earlier visit behind the editor: what is seen is what is sent.
  textarea.form?.addEventListener("submit", () => { textarea.value = view.state.doc.toString(); }, { capture: true });
}
