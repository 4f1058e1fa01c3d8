"""One action of a user: a request, one more when that failed, and what was written down of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx

from faults.history import History, moment

API = "/api/v1/"
# What somebody waits before trying again, and at most.
REST, MOST_REST = 0.5, 2.0
AGAIN = (429, 503)


class Ask(NamedTuple):
    """What somebody wants: in a word, and as a request."""

    what: str
    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = {}
    # What the checker needs to know of it, besides what is in the answer.
    about: Mapping[str, Any] = {}


class Answer(NamedTuple):
    """What came of it after at most two tries; a status of 0 is no answer at all."""

    status: int
    document: Any

    @property
    def good(self) -> bool:
        """Whether it was acknowledged."""
        return 200 <= self.status < 300


class Caller:
    """Somebody who acts: every action is written down with both its times."""

    def __init__(self, name: str, client: httpx.Client, history: History) -> None:
        self.name, self.client, self.history = name, client, history

    def act(self, ask: Ask) -> Answer:
        """Try, and try once more where that is what a user would do."""
        began, tries, answer = moment(), [], Answer(0, None)
        for number in range(2):
            answer, seconds, error = self.attempt(ask)
            tries.append({"status": answer.status, "seconds": round(seconds, 3), "error": error})
            if answer.status and answer.status not in AGAIN:
                break
            if number == 0:
                time.sleep(REST if not answer.status else min(2 * REST, MOST_REST))
        self.note(ask, answer, began, tries)
        return answer

    def attempt(self, ask: Ask) -> tuple[Answer, float, str]:
        """Send it once."""
        began = moment()
        path = ask.path if ask.path.startswith("/") else f"{API}{ask.path}"
        try:
            found = self.client.request(ask.method, path, json=ask.body, headers=dict(ask.headers))
        except httpx.TransportError as error:
            return Answer(0, None), moment() - began, type(error).__name__
        json = found.headers.get("content-type", "").partition(";")[0].endswith("json")
        return Answer(found.status_code, found.json() if json else None), moment() - began, ""

    def note(self, ask: Ask, answer: Answer, began: float, tries: list[dict[str, Any]]) -> None:
        """Write down what was asked, when, and what was answered."""
        self.history.add(
            who=self.name, what=ask.what, path=ask.path, began=began, ended=moment(),
            wall=time.time(), status=answer.status, tries=tries, about=dict(ask.about),
            answer=kept(ask.what, answer),
        )  # fmt: skip


def kept(what: str, answer: Answer) -> dict[str, Any]:
    """Return what of an answer the checker needs."""
    document = answer.document if isinstance(answer.document, dict) else {}
    if what == "pause":
        hold, flights = document.get("hold", {}), document.get("inFlight", [])
        under_way = [each["proposal"] for each in flights]
        return {"hold": hold.get("id"), "epoch": hold.get("epoch"), "inFlight": under_way}
    names = ("id", "state", "revision", "detail", "code", "epoch")
    found = {name: document[name] for name in names if name in document}
    current = document.get("current")
    if isinstance(current, dict):
        found["decidedBy"] = current.get("decidedBy")
    return found


class Actor(threading.Thread):
    """Somebody who acts again and again until told to stop; what breaks it is kept."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(name=f"faults-{caller.name}", daemon=True)
        self.caller = caller
        self.stopping = threading.Event()
        self.broken: BaseException | None = None

    def run(self) -> None:
        """Act until told to stop."""
        try:
            while not self.stopping.is_set():
                self.turn()
            self.last()
        except BaseException as error:
            self.broken = error
            raise

    def turn(self) -> None:
        """Do something once."""
        raise NotImplementedError

    def last(self) -> None:
        """Do what must not be left undone."""
