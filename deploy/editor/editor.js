/* Entry of static/vendor/editor.js: turns marked textareas into YAML editors and marked texts into a diff view.
   Everything is drawn inside shadow roots: there CodeMirror uses adopted style sheets, which a strict
   Content-Security-Policy allows; in the document itself it would add <style> elements, which it forbids. */
import { showMerge } from "./merge-view.js";
import { editTextarea } from "./yaml-editor.js";

function start() {
  document.querySelectorAll('textarea[data-editor="yaml"]').forEach(editTextarea);
  document.querySelectorAll("[data-merge]").forEach(showMerge);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
