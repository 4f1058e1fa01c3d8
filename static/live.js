/* Live pages: what was committed is shown at once. Shared parts are pushed as HTML, personal ones are named and
   fetched again. A form, a field and the keyboard's place are never touched. Runs under script-src 'self'. */
(() => {
  const body = document.body;
  const POLL = body.dataset.live;
  const SOCKET = POLL.replace(/\/poll$/, "");
  const GAP = 500, POLL_EVERY = 5000, SILENT = 25000, LATE = 3000, LOST = 15000, LONGEST_WAIT = 10000;
  const SIGNED_OUT = 4401, REFUSED = [1008, 1013];
  const KEPT = "form, input, select, textarea, dialog, .decide, [data-keep]";

  const indicator = document.getElementById("live");
  const here = () => location.pathname + location.search;
  const since = (number) => (number === null ? "" : `&since=${number}`);

  // Up to which number of the ledger this page shows everything; what was told of each part, in order.
  let number = body.dataset.number ? Number(body.dataset.number) : null;
  let address = here();
  let turn = 0;
  const told = new Map();

  // --- Showing -----------------------------------------------------------------------------------------------

  const holdsFocus = (node) => node.contains(document.activeElement) && document.activeElement !== body;

  const changed = (field) =>
    field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked
      : field.options ? [...field.options].some((each) => each.selected !== each.defaultSelected)
        : field.type !== "hidden" && field.value !== field.defaultValue;

  function filledIn(node) {
    const fields = [...node.querySelectorAll("input, select, textarea")];
    return (node.matches("input, select, textarea") ? [node, ...fields] : fields).some(changed);
  }

  // What has been sent is answered into the place it came from: that stays as it is until then.
  const isSending = (node) => node.matches(".htmx-request") || node.querySelector(".htmx-request") !== null;

  // The keyboard's place in a list, what somebody opened, and what app.js revealed are the reader's, not the server's.
  const readers = (name, node) =>
    (name === "open" && node.matches("details")) ||
    (name === "aria-current" && node.matches(".row")) ||
    (name === "hidden" && node.matches("[data-act]"));

  // Whatever holds an id that is also in the new part would be put away unasked: what is kept lends none.
  function lendNoIds(old, fresh) {
    for (const kept of old.querySelectorAll(KEPT)) {
      if (!holdsFocus(kept) && !filledIn(kept)) continue;
      for (const each of kept.querySelectorAll("[id]")) {
        const twin = fresh.querySelector(`#${CSS.escape(each.id)}`);
        if (!twin?.closest(KEPT)) twin?.removeAttribute("id");
      }
    }
  }

  function morph(old, fresh) {
    let stale = false;
    lendNoIds(old, fresh);
    Idiomorph.morph(old, fresh, {
      morphStyle: "outerHTML",
      callbacks: {
        beforeNodeMorphed: (node) => !(node.nodeType === Node.ELEMENT_NODE && node.matches(KEPT)),
        beforeNodeRemoved: (node) => {
          const needed = node.nodeType === Node.ELEMENT_NODE && (holdsFocus(node) || filledIn(node));
          stale ||= needed;
          return !needed;
        },
        beforeAttributeUpdated: (name, node) => !readers(name, node),
      },
    });
    const shown = document.getElementById(old.id);
    if (stale && shown) shown.dataset.stale = "";
    if (shown) htmx.process(shown);
  }

  function show(html, ids) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    const known = ids ?? [...holder.content.children].map((each) => each.id);
    const shown = known.filter((id) => {
      const [old, fresh] = [document.getElementById(id), holder.content.getElementById(id)];
      if (!old || !fresh) return false;
      if (isSending(old)) old.dataset.stale = "";
      else morph(old, fresh);
      return true;
    });
    if (shown.length) document.dispatchEvent(new CustomEvent("live:swapped", { detail: { ids: shown } }));
    return shown;
  }

  // What was kept only because the keyboard was there is put right when it leaves.
  document.addEventListener("focusout", (event) => {
    const part = event.target.closest?.("[data-stale]");
    setTimeout(() => {
      if (part?.isConnected && !holdsFocus(part)) want([part.id]);
    });
  });

  document.addEventListener("htmx:afterRequest", () => {
    want([...document.querySelectorAll("[data-stale]")].filter((part) => !isSending(part)).map((part) => part.id));
  });

  // --- Fetching ----------------------------------------------------------------------------------------------

  const wanted = new Set();
  let loading = false;
  let loadAt = 0;

  function want(ids) {
    for (const id of ids) wanted.add(id);
    if (loading || !wanted.size || ended) return;
    loading = true;
    setTimeout(load, Math.max(0, loadAt - Date.now()));
  }

  async function load() {
    const [ids, from, begun] = [[...wanted], here(), turn];
    wanted.clear();
    loadAt = Date.now() + GAP;
    try {
      const answer = await fetch(from, { headers: { "Live-Parts": ids.join(",") }, cache: "no-store" });
      const html = await answer.text();
      if (from === here()) take(answer, html, ids, begun);
    } catch {
      putOff(ids);
    }
    loading = false;
    want([]);
  }

  function take(answer, html, ids, begun) {
    if (answer.redirected) return new URL(answer.url).pathname === signIn() ? signedOut() : notice("gone");
    if (answer.status >= 500) return putOff(ids);
    if (!answer.ok) return notice("gone");
    // What was pushed while this was on its way is newer.
    return show(html, ids.filter((id) => !(told.get(id)?.pushed > begun)));
  }

  function putOff(ids) {
    loadAt = Date.now() + POLL_EVERY;
    for (const id of ids) wanted.add(id);
  }

  function hear(message) {
    number = message.number;
    turn += 1;
    for (const id of message.html ? show(message.html) : []) told.set(id, { turn, pushed: turn });
    for (const id of message.fetch ?? []) told.set(id, { turn, pushed: told.get(id)?.pushed });
    want(message.fetch ?? []);
  }

  // --- Connection --------------------------------------------------------------------------------------------

  let socket = null;
  let tries = 0;
  let retry;
  let contact = Date.now();
  let pollAt = Date.now() + 1000;
  let polled = false;
  let ended = false;

  const isOpen = () => socket?.readyState === WebSocket.OPEN;

  function open() {
    clearTimeout(retry);
    if (ended || socket) return;
    const url = new URL(`${SOCKET}?page=${encodeURIComponent(here())}${since(number)}`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const mine = (socket = new WebSocket(url));
    const asked = here();
    mine.onopen = () => {
      tries = 0;
      contact = Date.now();
      if (asked !== here()) moved(number);
      tick();
    };
    mine.onmessage = (event) => {
      if (mine !== socket) return;
      contact = Date.now();
      hear(JSON.parse(event.data));
    };
    mine.onclose = (event) => {
      if (mine !== socket) return;
      if (REFUSED.includes(event.code)) tries = 5;
      closed();
      if (event.code === SIGNED_OUT) signedOut();
    };
  }

  function closed() {
    socket = null;
    pollAt = Date.now() + 1000;
    retry = setTimeout(open, Math.min(LONGEST_WAIT, 500 * 2 ** tries) * (0.5 + Math.random() / 2));
    tries += 1;
  }

  function hangUp() {
    const old = socket;
    if (!old) return;
    closed();
    old.close();
  }

  async function poll() {
    pollAt = Date.now() + POLL_EVERY;
    try {
      const answer = await fetch(`${POLL}?page=${encodeURIComponent(here())}${since(number)}`, { cache: "no-store" });
      if (answer.redirected) return signedOut();
      polled = answer.ok;
      if (polled) contact = Date.now();
      if (answer.status === 200 && !isOpen()) hear(await answer.json());
    } catch {
      polled = false;
    }
    return tick();
  }

  function moved(known) {
    address = here();
    number = known;
    wanted.clear();
    for (const part of document.querySelectorAll("[data-stale]")) delete part.dataset.stale;
    if (isOpen()) socket.send(JSON.stringify({ page: address, since: number }));
  }

  // What htmx brings was written when it was asked for: what was told meanwhile may be missing in it.
  const marks = new WeakMap();
  let mark = { number, turn };
  const remember = (event) => {
    mark = { number, turn };
    if (event.detail.xhr) marks.set(event.detail.xhr, mark);
  };
  for (const name of ["htmx:beforeRequest", "htmx:historyCacheMiss"]) document.addEventListener(name, remember);
  document.addEventListener("htmx:afterSettle", (event) => {
    const then = marks.get(event.detail.xhr) ?? mark;
    if (address !== here()) moved(then.number);
    else want([...told].filter(([, each]) => each.turn > then.turn).map(([id]) => id));
  });
  document.addEventListener("htmx:historyRestore", () => address !== here() && moved(mark.number));

  // --- Telling -----------------------------------------------------------------------------------------------

  const banner = () => document.getElementById("live-banner");
  const signIn = () => document.getElementById("banner-out").content.querySelector("a").getAttribute("href");

  function notice(kind) {
    if (banner()?.dataset.kind === kind) return;
    banner()?.remove();
    const fresh = document.importNode(document.getElementById(`banner-${kind}`).content.firstElementChild, true);
    Object.assign(fresh, { id: "live-banner" }).dataset.kind = kind;
    const time = fresh.querySelector("time");
    if (time) time.dateTime = new Date(contact).toISOString();
    if (time) time.textContent = new Date(contact).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    if (kind === "out") fresh.querySelector("a").search = `?next=${encodeURIComponent(here())}`;
    if (kind === "gone") fresh.querySelector("a").href = location.href;
    document.getElementById("notices").append(fresh);
  }

  function signedOut() {
    ended = true;
    hangUp();
    clearTimeout(retry);
    state("lost");
    notice("out");
  }

  function state(name) {
    if (indicator.dataset.state === name) return;
    indicator.dataset.state = name;
    indicator.hidden = false;
    const word = indicator.querySelector("[data-on]");
    word.textContent = word.dataset[name];
  }

  function tick() {
    if (ended) return;
    if (isOpen() && Date.now() - contact > SILENT) hangUp();
    const silent = Date.now() - contact;
    if (isOpen()) state("on");
    else if (polled && silent < POLL_EVERY + LATE) state("poll");
    else if (silent > LATE) state("lost");
    if (silent > LOST && !isOpen()) notice("lost");
    else if (silent < LATE && banner()?.dataset.kind === "lost") banner().remove();
    if (!isOpen() && Date.now() >= pollAt) poll();
  }

  function again() {
    if (document.visibilityState === "hidden" || isOpen()) return;
    tries = 0;
    pollAt = 0;
    open();
    tick();
  }

  for (const name of ["online", "visibilitychange"]) window.addEventListener(name, again);
  // An open socket would keep the browser from showing the page at once when somebody comes back.
  window.addEventListener("pagehide", hangUp);
  window.addEventListener("pageshow", (event) => event.persisted && again());
  document.addEventListener("click", (event) => event.target.closest("[data-live-retry]") && again());
  setInterval(tick, 1000);
  open();
})();
