"""Those who speak HTTP to the product: people with a session, machines with a token."""

from __future__ import annotations

import re
from typing import Any

import httpx

from tests.journeys.product import PATIENCE, Product
from tests.journeys.product import until as until
from tests.promises.organisation import Document

MERGE = "application/merge-patch+json"
SCOPE = (
    "resources:read,status:write,admission:ask,usage:write,telemetry:write,runs:write,"
    "actions:write,proposals:write"
)


class Caller:
    """Somebody with a line to the product."""

    def __init__(self, line: httpx.Client) -> None:
        self.line = line

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Call the API; a header's name is written with underscores."""
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        if token := self.line.cookies.get("csrftoken"):
            said["X-CSRFToken"] = token
        return self.line.request(method, f"/api/v1/{path}", json=body, headers=said)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        return self.call("POST", path, {} if body is None else body, **headers)

    def read(self, path: str) -> Any:
        """Return what is there."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def items(self, path: str) -> Any:
        """Return the items of a list."""
        return self.read(path)["items"]

    def apply(self, *documents: Document) -> Any:
        """Declare documents, all or none."""
        answer = self.post("apply", {"items": list(documents)})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def patch(self, ref: str, changes: dict[str, Any], **headers: str) -> httpx.Response:
        """Change what is declared."""
        return self.call("PATCH", f"resources/{ref}", changes, Content_Type=MERGE, **headers)

    def report(self, ref: str, status: dict[str, Any]) -> Any:
        """Merge something into a status, as agents do."""
        answer = self.call("PATCH", f"resources/{ref}/status", status, Content_Type=MERGE)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def resource(self, ref: str) -> Any:
        return self.read(f"resources/{ref}")

    def conditions(self, ref: str) -> dict[str, Any]:
        """Return the conditions of a resource by their type."""
        return {each["type"]: each for each in self.items(f"resources/{ref}/conditions")}

    def reconcile(self, name: str) -> Any:
        """Let a controller look once, and return its cycle."""
        answer = self.post(f"controllers/{name}/reconcile?wait=true")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def drift(self, ref: str, controller: str) -> Any:
        """Return what a controller concludes about a resource."""
        found = self.items(f"resources/{ref}/drift?controller={controller}")
        return found[0] if found else {}

    def proposals(self, ref: str, state: str = "") -> Any:
        """Return what was proposed about a resource."""
        return self.items(f"proposals?resource={ref}" + (f"&state={state}" if state else ""))

    def answer(self, number: int, verb: str, **body: Any) -> httpx.Response:
        """Answer a proposal as it stands now."""
        tag = self.get(f"proposals/{number}").headers["ETag"]
        return self.post(f"proposals/{number}/{verb}", {"reason": "", **body}, If_Match=tag)

    def events(self, **query: Any) -> Any:
        """Return the first 200 entries of the ledger that fit, oldest first."""
        return self.items(f"events?{httpx.QueryParams({'limit': 200, **query})}")


class Person(Caller):
    """Somebody who is signed in."""

    def page(self, path: str) -> str:
        """Return a page."""
        answer = self.line.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def submit(self, page: str, path: str, **fields: str) -> str:
        """Send a form as a browser would, and return what comes of it."""
        hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.page(page))
        assert hidden, "The page has no form."
        answer = self.line.post(path, data={"csrfmiddlewaretoken": hidden[1], **fields})
        assert answer.status_code == 200, answer.text
        return answer.text


class People:
    """Everybody who signs in to one product."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.first = self.let_in(product.links()[0])

    def let_in(self, link: str) -> Person:
        """Use a sign-in link."""
        return Person(self.product.sign_in(link))

    def invite(self, name: str, role: str, ceiling: str = "high") -> Person:
        """Let the first administrator invite somebody on the page."""
        said = {"name": name, "username": name, "role": role, "domain": "", "until": ""}
        done = self.first.submit("/people", "/people/invite", ceiling=ceiling, **said)
        link = re.search(r"http://[^\s<\"]+(/sign-in/[^\s<\"]+)", done)
        assert link, done
        return self.let_in(f"{self.product.base}{link[1]}")


class Tokens:
    """The machines of one product; each is made once."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.made: dict[str, Caller] = {}

    def __call__(self, name: str, scope: str = SCOPE) -> Caller:
        """Return the line of an agent, or of `controller/NAME`."""
        if name not in self.made:
            more = () if "/" in name else ("--scope", scope)
            done = self.product.run("token", "create", name, *more)
            assert done.returncode == 0, done.stderr
            bearer = {"Authorization": f"Bearer {done.stdout.strip()}"}
            line = httpx.Client(base_url=self.product.base, headers=bearer, timeout=PATIENCE)
            self.made[name] = Caller(line)
        return self.made[name]

    def __enter__(self) -> Tokens:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.made.values():
            each.line.close()
