/* Problems as the server lists them, [{line, pointer, message, severity}], as marks in the editor. */
import { forEachDiagnostic, setDiagnosticsEffect } from "@codemirror/lint";
import { Decoration, EditorView, ViewPlugin, WidgetType } from "@codemirror/view";
import { colour, sans } from "./look.js";

const RANKS = ["error", "warning", "info"];

/* A problem without a line concerns the whole document and stands at its first line. */
export function diagnostics(problems, doc) {
  return problems.map(({ line, pointer, message, severity }) => {
    const at = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
    const indent = at.text.length - at.text.trimStart().length;
    return {
      from: at.from + (indent === at.text.length ? 0 : indent),
      to: at.to,
      severity: RANKS.includes(severity) ? severity : "error",
      source: pointer || undefined,
      message,
    };
  });
}

const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

/* What the list means, as one sentence and the tone it is said in. */
export function summary(problems) {
  const errors = problems.filter(({ severity }) => severity !== "warning" && severity !== "info").length;
  const warnings = problems.filter(({ severity }) => severity === "warning").length;
  const parts = [];
  if (errors) parts.push(counted(errors, "problem"));
  if (warnings) parts.push(counted(warnings, "warning"));
  if (!parts.length) return { tone: "none", sentence: "No problems found." };
  return { tone: errors ? "error" : "warning", sentence: `${parts.join(", ")}. Press F8 for the next one.` };
}

class Message extends WidgetType {
  constructor(text, severity) {
    super();
    this.text = text;
    this.severity = severity;
  }

  eq(other) {
    return other.text === this.text && other.severity === this.severity;
  }

  toDOM() {
    const element = document.createElement("span");
    element.className = `cm-message cm-message-${this.severity}`;
    element.textContent = this.text;
    return element;
  }
}

function linesWithMessages(state) {
  const lines = new Map();
  forEachDiagnostic(state, (diagnostic, from) => {
    const end = state.doc.lineAt(from).to;
    lines.set(end, [...(lines.get(end) ?? []), diagnostic]);
  });
  return [...lines].sort(([left], [right]) => left - right);
}

function messagesBesideLines(state) {
  return Decoration.set(
    linesWithMessages(state).map(([end, found]) => {
      const worst = found.toSorted((left, right) => RANKS.indexOf(left.severity) - RANKS.indexOf(right.severity))[0];
      const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
      return Decoration.widget({ widget: new Message(worst.message + more, worst.severity), side: 1 }).range(end);
    }),
  );
}

const messages = ViewPlugin.define(
  (view) => ({
    decorations: messagesBesideLines(view.state),
    update(update) {
      const checked = update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setDiagnosticsEffect)));
      if (checked) this.decorations = messagesBesideLines(update.state);
      else if (update.docChanged) this.decorations = this.decorations.map(update.changes);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);

const style = EditorView.theme({
  ".cm-message": { marginLeft: "2ch", padding: "1px 7px", borderRadius: "4px", fontFamily: sans, fontSize: "12px" },
  ".cm-message-error": { backgroundColor: colour.dangerSoft, color: colour.danger },
  ".cm-message-warning": { backgroundColor: colour.warnSoft, color: colour.warn },
  ".cm-message-info": { backgroundColor: colour.accentSoft, color: colour.accent },
});

export const problemMessages = [messages, style];
