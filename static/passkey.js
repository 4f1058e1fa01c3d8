// Passkeys: hands what the server asks to the browser, and what the device answers to the form.
"use strict";
(() => {
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const readable = (asked) => {
    const options = { ...asked, challenge: bytes(asked.challenge) };
    if (asked.user) options.user = { ...asked.user, id: bytes(asked.user.id) };
    for (const list of ["excludeCredentials", "allowCredentials"]) {
      if (asked[list]) options[list] = asked[list].map((each) => ({ ...each, id: bytes(each.id) }));
    }
    return options;
  };

  const written = (credential) => {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = text(credential.response[name]);
    }
    return {
      id: credential.id,
      rawId: text(credential.rawId),
      type: credential.type,
      response,
      clientExtensionResults: credential.getClientExtensionResults(),
    };
  };

  const asked = async (form) => {
    if (!form.dataset.ask) return JSON.parse(document.getElementById("passkey-options").textContent).publicKey;
    const answer = await fetch(form.dataset.ask, { headers: { Accept: "application/json" } });
    return (await answer.json()).request_options.publicKey;
  };

  const ceremony = async (form) => {
    const problem = form.querySelector(".problem[hidden], .problem[role=alert]");
    const field = form.elements.credential;
    try {
      const publicKey = readable(await asked(form));
      const credential = await navigator.credentials[form.dataset.passkey]({ publicKey });
      field.value = JSON.stringify(written(credential));
      form.submit();
    } catch (error) {
      if (!problem) return;
      problem.textContent = error.name === "InvalidStateError"
        ? "This device has a passkey of yours already."
        : "The device gave no passkey. Try again, or choose another way.";
      problem.hidden = false;
    }
  };

  if (!window.PublicKeyCredential) return;
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      ceremony(form);
    });
  }
})();
