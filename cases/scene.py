"""Who calls: people in sessions, programs with tokens, and nobody; all at a running product."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import httpx

from tests.journeys.product import ROOT, Product

AGENT, KEEPER = "refund-resolver", "case-keeper"
# Everything a token of an agent may be for.
SCOPES = (
    "resources:read,status:write,proposals:write,actions:write,telemetry:write,runs:write,"
    "admission:ask,usage:write,events:read"
)
EXAMPLE = ROOT / "resources" / "example"
OWN = f"""
apiVersion: ioa.dev/v0.2
kind: Controller
metadata: {{name: {KEEPER}}}
spec:
  targetKind: Agent
  reconcileInterval: 5m
  runner: external
  enforcementMode: warn
  actions: {{onDrift: [{{type: reconcile, strategy: immediate}}]}}
"""
PATIENCE = 60.0
# It has the form of a token, and nobody was ever given it.
FORGED = "ioa_agent_Ab3dE9xZ_Zx9Ed3bAZx9Ed3bAZx9Ed3bAZx9Ed3bA_00000000"
# How often each calls, so that those who may do most are heard most.
SHARES = {"admin": 4, "maya": 4, "agent": 5, "keeper": 3, "impostor": 1, "nobody": 1}


class Caller:
    """Somebody who calls: a client, and what each of its requests carries."""

    def __init__(self, name: str, client: httpx.Client) -> None:
        self.name, self.client = name, client
        client.timeout = httpx.Timeout(PATIENCE)

    @property
    def cookies(self) -> dict[str, str]:
        """Return the cookies of a session."""
        return dict(self.client.cookies)

    @property
    def headers(self) -> dict[str, str]:
        """Return a token, or what a session needs to write."""
        headers = self.client.headers
        if "Authorization" in headers:
            return {"Authorization": headers["Authorization"]}
        token = self.cookies.get("csrftoken", "")
        return {"X-CSRFToken": token} if token else {}

    def send(self, method: str, path: str, body: Any = None, **given: str) -> httpx.Response:
        """Call the API; a text is a stream of YAML documents, and everything else is JSON."""
        headers = self.headers | {name.replace("_", "-"): text for name, text in given.items()}
        if isinstance(body, str):
            headers["Content-Type"] = "application/yaml"
            return self.client.request(
                method, f"/api/v1/{path}", content=body.encode(), headers=headers
            )
        return self.client.request(method, f"/api/v1/{path}", json=body, headers=headers)

    def read(self, path: str) -> Mapping[str, Any]:
        """Read what is there; what cannot be read is empty."""
        answer = self.send("GET", path)
        found: Mapping[str, Any] = answer.json() if answer.status_code == 200 else {}
        return found

    def items(self, path: str) -> list[Any]:
        """Read the first page of a list."""
        return list(self.read(path).get("items", []))

    def say(self, path: str, body: Any, **given: str) -> Mapping[str, Any]:
        """Write; what was refused is empty."""
        answer = self.send("POST", path, body, **given)
        found: Mapping[str, Any] = answer.json() if answer.is_success else {}
        return found


class Scene:
    """Everybody who calls, at one product."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.stack = ExitStack()
        administrator, manager = product.links()[:2]
        self.admin = Caller("admin", product.sign_in(administrator))
        self.maya = Caller("maya", product.sign_in(manager))
        self.nobody = Caller("nobody", self.client({}))
        self.impostor = self.bearer("impostor", FORGED)
        self.restore()
        self.agent = self.bearer("agent", self.issued(AGENT, SCOPES))
        self.keeper = self.bearer("keeper", self.issued(f"controller/{KEEPER}"))

    @property
    def callers(self) -> dict[str, Caller]:
        """Return everybody, by name."""
        everybody = (self.admin, self.maya, self.agent, self.keeper, self.impostor, self.nobody)
        return {each.name: each for each in everybody}

    def client(self, headers: dict[str, str]) -> httpx.Client:
        """Return a client that is closed with the scene."""
        return self.stack.enter_context(httpx.Client(base_url=self.product.base, headers=headers))

    def bearer(self, name: str, token: str) -> Caller:
        """Return somebody with a token."""
        return Caller(name, self.client({"Authorization": f"Bearer {token}"}))

    def issued(self, bearer: str, scopes: str = "") -> str:
        """Return a new token."""
        wanted = ["--scope", scopes] if scopes else []
        done = self.product.run("token", "create", bearer, *wanted)
        if done.returncode:
            raise RuntimeError(f"There is no token for {bearer}: {done.stderr}")
        return done.stdout.strip()

    def restore(self) -> None:
        """Declare everything again that cases changed or took away, and end all holds."""
        texts = [each.read_text("utf-8") for each in sorted(EXAMPLE.rglob("*.yaml"))]
        answer = self.admin.send("POST", "apply?keepGoing=true", "\n---\n".join([*texts, OWN]))
        answer.raise_for_status()
        for hold in self.admin.items("holds?standing=true&limit=200"):
            self.admin.say(f"holds/{hold['id']}/lift", {"reason": "The next cases begin."})

    def revive(self) -> None:
        """Issue a token again when its bearer was deleted meanwhile."""
        if self.agent.send("GET", "actions").status_code == 401:
            self.agent = self.bearer("agent", self.issued(AGENT, SCOPES))
        if self.keeper.send("GET", "actions").status_code == 401:
            self.keeper = self.bearer("keeper", self.issued(f"controller/{KEEPER}"))

    def close(self) -> None:
        """Close every client of the scene's own."""
        self.stack.close()
