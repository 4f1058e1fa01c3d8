/* The slider through a resource's past fills the field beside it, in the zone of the browser as app.js keeps it. Without this script the field alone works. */
(() => {
  // "2026-02-25T10:00:00" of seconds since 1970, as the field takes it.
  const written = (seconds) => {
    const at = new Date(seconds * 1000);
    return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
  };

  function reveal() {
    for (const slider of document.querySelectorAll("[data-fills]")) slider.hidden = false;
  }

  document.addEventListener("input", (event) => {
    const field = document.getElementById(event.target.dataset?.fills);
    if (field) field.value = written(Number(event.target.value));
  });
  document.addEventListener("htmx:afterSettle", reveal);
  reveal();
})();
