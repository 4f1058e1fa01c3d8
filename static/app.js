/* Theme, copying, times in the viewer's zone, dialogs, toasts, focus. No inline handlers: runs under script-src 'self'. */
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const YEAR = 31536000, DAY = 86400, HOUR = 3600, MINUTE = 60;
  const OFTEN = 1000, SELDOM = 15000;
  // Long enough to read, and longer than an answer can be taken back.
  const TOAST = 12000;

  // The server reads the cookie, so the right theme is there before the first paint. The Django admin
  // keeps the same word in its own storage: write both, and both sides of the product look alike.
  function remember(theme) {
    const lasting = theme === "light" || theme === "dark";
    document.cookie = `theme=${theme}; Path=/; SameSite=Lax; Max-Age=${lasting ? YEAR : 0}`;
    localStorage.setItem("theme", theme);
  }

  function switchTheme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(root.dataset.theme);
  }

  async function copy(button) {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
    button.querySelector("span").textContent = "Copied";
  }

  /* Times: the same words as resources/templatetags/ui.py and controllers/templatetags/words.py. */

  const figures = new Intl.DateTimeFormat("en-US", {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
  });

  function parts(date) {
    return Object.fromEntries(figures.formatToParts(date).map((part) => [part.type, part.value]));
  }

  function clock(kind, date) {
    const at = parts(date), today = parts(new Date());
    const time = `${at.hour}:${at.minute}`;
    const day = `${at.day} ${at.month}${at.year === today.year ? "" : ` ${at.year}`}`;
    const isToday = date.toDateString() === new Date().toDateString();
    return { time, date: day, moment: `${isToday ? "today" : day}, ${time}`, stamp: `${day} ${time}:${at.second}` }[kind];
  }

  function age(seconds) {
    if (seconds < MINUTE) return `${seconds} s ago`;
    if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
    return `${Math.floor(seconds / HOUR)} h ago`;
  }

  function span(seconds) {
    if (seconds < MINUTE) return `${seconds} s`;
    if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
    const minutes = Math.floor((seconds % HOUR) / MINUTE), days = Math.floor(seconds / DAY);
    if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h${minutes ? ` ${minutes} min` : ""}`;
    return `${days} ${days === 1 ? "day" : "days"}`;
  }

  function left(shape, seconds) {
    if (seconds <= 0) return shape === "left" ? "no time left" : "now";
    const told = span(Math.floor(seconds));
    return { left: `${told} left`, bare: told }[shape] || `in ${told}`;
  }

  function words(time) {
    const date = new Date(time.dateTime), seconds = (Date.now() - date) / 1000;
    if (Number.isNaN(seconds)) return null;
    if ("left" in time.dataset) return left(time.dataset.left, -seconds);
    if ("clock" in time.dataset) return clock(time.dataset.clock, date);
    return seconds >= 0 && seconds < DAY ? age(Math.floor(seconds)) : clock("moment", date);
  }

  function write(time) {
    const told = words(time);
    if (told && told !== time.textContent) time.textContent = told;
  }

  /* Fields for a time hold UTC: they are shown in the viewer's zone, and sent as the server knows them. */

  const inZone = (text) => {
    const at = new Date(`${text}Z`);
    return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, text.length);
  };
  const inUtc = (text) => new Date(text).toISOString().slice(0, text.length);

  function zoned(field) {
    const typed = field.value !== field.defaultValue;
    field.dataset.zoned = "";
    if (field.defaultValue) field.defaultValue = inZone(field.defaultValue);
    if (!typed) field.value = field.defaultValue;
  }

  function zones() {
    const here = `(${parts(new Date()).timeZoneName})`;
    for (const word of document.querySelectorAll("[data-zone]")) if (word.textContent !== here) word.textContent = here;
    document.querySelectorAll("input[type=datetime-local]:not([data-zoned])").forEach(zoned);
  }

  document.addEventListener("formdata", (event) => {
    for (const field of event.target.elements) {
      if (field.matches("[data-zoned]") && field.value) event.formData.set(field.name, inUtc(field.value));
    }
  });

  let nextTick;

  // Every 15 seconds; every second while one of the last minutes is counted down.
  function tick() {
    for (const time of document.querySelectorAll("time[data-age], time[data-clock], time[data-left]")) write(time);
    const ahead = [...document.querySelectorAll("time[data-left]")].map((time) => new Date(time.dateTime) - Date.now());
    clearTimeout(nextTick);
    nextTick = setTimeout(tick, ahead.some((rest) => rest > 0 && rest < 1000 * MINUTE) ? OFTEN : SELDOM);
  }

  /* Dialogs: a link with data-act="dialog" shows its page in place; without this script it goes there. */

  const REFUSED = {
    403: "You may not do this.",
    404: "This is not there any more.",
    429: "Too much at once. Wait a moment and try again.",
  };
  const dialog = () => document.getElementById("dialog");
  let opener = null;

  function sentence(text, address) {
    const box = document.createElement("div"), said = document.createElement("p"), buttons = document.createElement("div");
    box.className = "dialog-form";
    said.setAttribute("role", "alert");
    said.textContent = text;
    buttons.className = "btns";
    const page = Object.assign(document.createElement("a"), { className: "btn", href: address, textContent: "Open the page" });
    const close = Object.assign(document.createElement("button"), { className: "btn ghost", type: "button", textContent: "Close" });
    close.dataset.act = "close";
    buttons.append(page, close);
    box.append(said, buttons);
    return box;
  }

  // The answer is a fragment; of a whole page only its content is shown.
  function content(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    return [...(parsed.getElementById("main") || parsed.body).childNodes];
  }

  async function fill(box, address) {
    try {
      const answer = await fetch(address, { headers: { "HX-Request": "true" } });
      if (answer.redirected) return location.assign(address);
      const html = await answer.text();
      const shown = answer.ok || (answer.status < 500 && html.trim() && !html.includes("<html"));
      box.replaceChildren(...(shown ? content(html) : [sentence(REFUSED[answer.status] || "The server could not answer. Nothing was changed.", address)]));
    } catch {
      box.replaceChildren(sentence("The server cannot be reached. Nothing was changed.", address));
    }
    window.htmx?.process(box);
  }

  async function openDialog(link) {
    const box = dialog();
    if (!box?.contains(link)) opener = link;
    await fill(box, link.href);
    if (!box.open) box.showModal();
    dressed(box);
  }

  // Name the dialog after its heading and put the keyboard where there is something to do.
  function dressed(box) {
    box.setAttribute("aria-label", box.querySelector("h1, h2, label")?.textContent.trim() || "Dialog");
    const place = "[aria-invalid=true], [autofocus], input:not([type=hidden]), textarea, select, button, a";
    if (!box.contains(document.activeElement) || document.activeElement === box) box.querySelector(place)?.focus();
    box.querySelector("[aria-invalid=true], [autofocus]")?.focus();
    settled();
  }

  function closed() {
    dialog().replaceChildren();
    const back = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
    back?.focus({ preventScroll: true });
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
    opener = null;
  }

  // The results of a search: arrows choose, Enter opens what is chosen, or the first.
  function choose(event) {
    const field = event.target.closest("[role=combobox]");
    if (!field || event.isComposing) return;
    const found = [...document.querySelectorAll(`#${field.getAttribute("aria-controls")} [role=option]:not([aria-disabled])`)];
    const at = found.findIndex((each) => each.getAttribute("aria-selected") === "true");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && found.length) {
      event.preventDefault();
      found[Math.max(at, 0)].click();
    } else if (step && found.length) {
      event.preventDefault();
      const next = (at + step + found.length + (at < 0 && step < 0 ? 1 : 0)) % found.length;
      found.forEach((each, index) => each.setAttribute("aria-selected", String(index === next)));
      field.setAttribute("aria-activedescendant", found[next].id);
      found[next].scrollIntoView({ block: "nearest" });
    }
  }

  /* Toasts go by themselves, though never while somebody is at them. */

  let nextToast;

  function watchToasts(box) {
    clearTimeout(nextToast);
    if (!box.childElementCount) return;
    nextToast = setTimeout(() => {
      if (box.matches(":hover") || box.contains(document.activeElement)) watchToasts(box);
      else box.replaceChildren();
    }, TOAST);
  }

  function say(text) {
    const toast = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
    document.getElementById("toasts")?.replaceChildren(toast);
  }

  /* What happens when. */

  const plain = (event) => event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

  document.addEventListener("click", (event) => {
    const control = event.target.closest("[data-act]"), act = control?.dataset.act;
    if (act === "theme") switchTheme();
    if (act === "copy") copy(control);
    if (act === "close") dialog()?.close();
    if (["dialog", "palette", "shortcuts"].includes(act) && plain(event) && dialog()) {
      event.preventDefault();
      openDialog(control);
    }
    // Nothing was typed into it, so a click beside it may close it.
    if (event.target === dialog() && !dialog().querySelector("form[method=post]")) dialog().close();
    if (event.target.closest(".theme-toggle")) remember(root.dataset.theme);
  });
  document.addEventListener("keydown", choose);

  // Buttons that need this script come hidden, so that nobody without it meets a dead one.
  function reveal() {
    const usable = { theme: true, copy: Boolean(navigator.clipboard), close: true, clear: true };
    for (const button of document.querySelectorAll("button[data-act]")) {
      if (button.dataset.act in usable) button.hidden = !usable[button.dataset.act];
    }
  }

  function settled() {
    reveal();
    zones();
    tick();
  }

  // A replaced page part drops the keyboard at the top of the document: put it where the new part starts.
  function settle(event) {
    settled();
    if (event.target === dialog()) return dressed(dialog());
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }

  // A refusal that is a fragment is shown where the answer would have been.
  function refuse(event) {
    const { xhr } = event.detail;
    if (xhr.status >= 400 && xhr.status < 500 && xhr.responseText.trim() && !xhr.responseText.includes("<html")) Object.assign(event.detail, { shouldSwap: true, isError: false });
  }

  document.addEventListener("htmx:beforeSwap", refuse);
  document.addEventListener("htmx:responseError", (event) => say(REFUSED[event.detail.xhr.status] || "The server could not answer. Try again."));
  document.addEventListener("htmx:sendError", () => say("The server cannot be reached. Nothing was sent."));
  document.addEventListener("htmx:afterSettle", settle);
  document.addEventListener("htmx:historyRestore", settle);
  document.addEventListener("live:swapped", settled);
  dialog()?.addEventListener("close", closed);
  const toasts = document.getElementById("toasts");
  if (toasts) new MutationObserver(() => watchToasts(toasts)).observe(toasts, { childList: true });
  settled();
})();
