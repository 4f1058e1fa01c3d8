/* Theme, copying, the age of things, focus after navigation. No inline handlers: runs under script-src 'self'. */
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const YEAR = 31536000;

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

  // The same words as resources/templatetags/ui.py; older times are left as the server wrote them.
  function age(seconds) {
    if (seconds < 60) return `${seconds} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    return `${Math.floor(seconds / 3600)} h ago`;
  }

  function tick() {
    for (const time of document.querySelectorAll("time[data-age]")) {
      const seconds = Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000);
      if (seconds >= 0 && seconds < 86400) time.textContent = age(seconds);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-act]");
    if (button?.dataset.act === "theme") switchTheme();
    if (button?.dataset.act === "copy") copy(button);
    if (event.target.closest(".theme-toggle")) remember(root.dataset.theme);
  });

  // Buttons that need this script come hidden, so that nobody without it meets a dead one.
  function reveal() {
    const usable = { theme: true, copy: Boolean(navigator.clipboard) };
    for (const button of document.querySelectorAll("[data-act]")) button.hidden = !usable[button.dataset.act];
  }

  // A replaced page part drops the keyboard at the top of the document: put it where the new part starts.
  function settle() {
    reveal();
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }

  document.addEventListener("htmx:afterSettle", settle);
  document.addEventListener("htmx:historyRestore", settle);
  reveal();
  setInterval(tick, 15000);
})();
