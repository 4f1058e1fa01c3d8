/* Single keys press what is on the page; what it does is decided there. Off with <body data-keys="off">. */
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const visible = (element) => Boolean(element?.getClientRects().length);
  const CHORD = 1500;
  // Walking through a list shows each proposal beside it, though not those one walks past.
  const LINGER = 120;
  const WRITING = "input:not([type=checkbox], [type=radio], [type=submit], [type=button]), textarea, select, [contenteditable], [role=textbox]";

  const MOVING = ["j", "k", "ArrowDown", "ArrowUp"];

  /* The list. */

  const rows = () => all("#queue .row").concat(all(".need")).filter(visible);
  const linkOf = (row) => one(".ttl a, h3 a", row);
  const isCurrent = (row) => row.contains(document.activeElement) || row.getAttribute("aria-current") === "true";
  let lingering;

  function current(list = rows()) {
    return list.find((row) => row.contains(document.activeElement)) || list.find(isCurrent);
  }

  function move(step) {
    const list = rows();
    if (!list.length) return false;
    const at = list.indexOf(current(list));
    const next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + step))];
    focusRow(next);
    clearTimeout(lingering);
    lingering = setTimeout(() => visible(one("#pane")) && linkOf(next)?.hasAttribute("hx-get") && linkOf(next).click(), LINGER);
    return true;
  }

  function choose(row) {
    for (const each of all('#queue .row[aria-current="true"]')) each.removeAttribute("aria-current");
    if (row.matches(".row")) row.setAttribute("aria-current", "true");
  }

  function focusRow(row) {
    choose(row);
    linkOf(row)?.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  // What came in last stands first; on an older page a link leads there.
  function newest() {
    if (press(one('[data-act="new"]'))) return true;
    const [first] = rows();
    if (first) focusRow(first);
    one("#main")?.scrollTo({ top: 0 });
    return true;
  }

  // The title shows it beside the list; Enter opens its page.
  function open() {
    const row = document.activeElement?.closest("#queue .row");
    const link = row && linkOf(row);
    if (!link || link !== document.activeElement) return false;
    location.assign(one("[data-open]", row)?.href || link.href);
    return true;
  }

  // The last row somebody asked for is the chosen one; a proposal that was walked past may arrive later.
  let wanted = "";
  const rowOf = (event) => event.detail.requestConfig.elt?.closest("#queue .row");

  document.addEventListener("htmx:beforeRequest", (event) => {
    const row = rowOf(event);
    if (!row) return;
    wanted = row.id;
    choose(row);
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const row = rowOf(event);
    // What came of an answer is shown where it was given, and brings the next proposal with it.
    if (row && (row.id !== wanted || one("#pane form.htmx-request"))) event.detail.shouldSwap = false;
  });

  /* Answers. */

  function press(element) {
    // What has just been shown may not be known to htmx yet: it would leave the page.
    if (element) htmx.process(element.form || element);
    if (!visible(element) || element.disabled) return false;
    element.click();
    return true;
  }

  // While the proposal of the next row is still on its way, the one beside the list is not meant.
  function behind(pane) {
    const row = current();
    return Boolean(pane?.dataset.at && row?.matches(".row") && row.id !== `p-${pane.dataset.at}`);
  }

  // An answer says with `data-key` which key gives it.
  // On a page with many proposals the answer goes to the one the keyboard is at, or to none.
  function answer(key) {
    if (!/^[a-z]$/.test(key)) return false;
    if (behind(one("#pane"))) return true;
    const at = document.activeElement?.closest(".need") || one("#pane, #decision");
    const near = at || (one(".need, .bulk") ? null : one("#main"));
    const control = near && all(`[data-key="${key}"]`, near).find(visible);
    if (!control) return false;
    return control.dataset.verdict === "approve" ? approve(control) : press(control);
  }

  // Friction follows risk: at once, after a look at the reason, or only with a reason of one's own.
  // Where a form does not say, the button waits to be pressed; a link only leads to where one decides.
  function approve(control) {
    const friction = control.form?.dataset.friction;
    if (friction === "none" || control.matches("a")) return press(control);
    const reason = control.form && all('[name="reason"]', control.form).find(visible);
    (reason || control).focus();
    if (reason && friction === "confirm") reason.select();
    return true;
  }

  function send(form) {
    const button = one('[data-verdict="approve"], button:not([type=button]), input[type=submit]', form);
    form.requestSubmit(button?.disabled ? undefined : button);
  }

  /* Selection. */

  const checked = () => all("#queue .check:checked");

  function select() {
    const box = one(".check", current() || document.createElement("div"));
    return press(box);
  }

  function clear() {
    const boxes = checked();
    for (const box of boxes) box.checked = false;
    count();
    return boxes.length > 0;
  }

  // Shown as soon as something is selected; it says how much.
  function count() {
    const bar = one("#queue .bulk, .bulk");
    if (!bar) return;
    const number = checked().length;
    bar.hidden = number === 0;
    for (const place of all("[data-count]", bar)) place.textContent = number;
  }

  /* Where keys lead. */

  const PLACES = { o: "/", a: "/approvals", r: "/resources", c: "/controllers", v: "/overrides", l: "/audit" };

  function go(key) {
    const link = one(`#sections a[href="${PLACES[key]}"]`);
    if (link) link.click();
    return Boolean(link);
  }

  function back() {
    if (clear()) return true;
    const leave = all("#pane [data-back], #decision [data-back]").find(visible);
    return press(leave) || press(all("#crumbs a").pop());
  }

  const KEYS = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => inQueue() && move(1),
    ArrowUp: () => inQueue() && move(-1),
    Enter: open,
    x: select,
    A: () => checked().length > 0 && press(one('.bulk [data-verdict="approve"], .bulk [value="approve"]')),
    u: () => press(one('#toasts [data-verdict="undo"]')),
    P: () => press(one("#power a")),
    "/": () => press(one('[data-act="palette"]')) || location.assign("/search") || true,
    ".": newest,
    "?": () => one('[data-act="shortcuts"]')?.click() || true,
    Escape: back,
  };

  // Elsewhere the arrows scroll.
  function inQueue() {
    const at = document.activeElement;
    return Boolean(one("#queue")) && (at === document.body || at.id === "main" || Boolean(at.closest("#queue")));
  }

  let chord = 0;

  function follow(key) {
    const second = Date.now() - chord < CHORD;
    chord = key === "g" ? Date.now() : 0;
    if (key === "g") return true;
    if (second && key in PLACES) return go(key);
    return Boolean(key in KEYS ? KEYS[key]() : answer(key));
  }

  // While somebody writes, keys are letters: only sending and leaving are left.
  function whileWriting(event) {
    const { form } = event.target, sends = event.key === "Enter" && !event.isComposing;
    const quick = form?.dataset.friction === "confirm" && event.target.name === "reason" && !event.shiftKey;
    if (form && sends && (event.ctrlKey || event.metaKey || quick)) {
      event.preventDefault();
      send(form);
    } else if (event.key === "Escape" && !one("dialog[open]")) {
      leave(event.target);
    }
  }

  // From a form that was asked for, Escape goes back to what was there before.
  function leave(field) {
    const backward = all("[data-back]", field.form || undefined).find(visible);
    field.blur();
    if (field.form && backward) backward.click();
    else document.getElementById("main")?.focus({ preventScroll: true });
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.target.closest?.(WRITING)) return whileWriting(event);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.repeat && !MOVING.includes(event.key)) return;
    if (document.body.dataset.keys === "off" || one("dialog[open]")) return;
    if (follow(event.key)) event.preventDefault();
  });

  /* After an answer the keyboard is at the next proposal, or at the words that nothing is left. */

  let answered = false, asked = false;

  document.addEventListener("htmx:beforeRequest", (event) => {
    const source = event.detail.elt, verb = event.detail.requestConfig.verb;
    answered = verb === "post" && Boolean(source.closest("#pane, #decision, #queue, .need"));
    asked = verb === "get" && source.matches("[data-verdict]");
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    count();
    const refused = event.detail.xhr?.status >= 400;
    if (asked) one("#decision :is(input:not([type=hidden]), textarea, select)")?.focus();
    if (answered && !refused) next();
    if (answered && refused) one('[aria-invalid="true"]')?.focus();
    asked = false;
  });

  function next() {
    const list = rows();
    const row = list.find((each) => each.getAttribute("aria-current") === "true") || list[0];
    if (row) return linkOf(row)?.focus({ preventScroll: true });
    const empty = one(".empty :is(h1, h2)");
    empty?.setAttribute("tabindex", "-1");
    empty?.focus({ preventScroll: true });
  }

  document.addEventListener("change", (event) => event.target.closest("#queue") && count());
  document.addEventListener("click", (event) => {
    if (event.target.closest('[data-act="clear"]')) clear();
  });
  document.addEventListener("live:swapped", count);
  count();

  // Say to assistive technology which keys there are, where they are.
  function hint() {
    if (document.body.dataset.keys === "off") return;
    for (const control of all("[data-key]")) control.setAttribute("aria-keyshortcuts", control.dataset.key);
    one('[data-act="palette"]')?.setAttribute("aria-keyshortcuts", "/");
    one('[data-act="shortcuts"]')?.setAttribute("aria-keyshortcuts", "?");
    one("#power a")?.setAttribute("aria-keyshortcuts", "Shift+P");
  }

  for (const event of ["htmx:afterSettle", "live:swapped"]) document.addEventListener(event, hint);
  hint();
})();
