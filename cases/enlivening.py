"""Turn a drawn case into one about things that are there, part of the time and in part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any

from schemathesis import Case

from cases.things import QUESTION, Address, Things

CORRELATION = "X-Correlation-ID"
STORY = re.compile(r"[A-Za-z0-9._-]{1,64}")
PREFIX = "/api/v1/"
# Out of ten: how often a path names something that is there, a value is a real one, and a body
# is one that a client would send.
PATHS, VALUES, BODIES = 8, 5, 8
ACCEPTED = ("application/json", "application/yaml", "text/yaml", "text/html", "nonsense")
DURATION = re.compile(r"\d+(ms|s|m|h|d)")
SELECTORS = ("company=quillmere", "tier=production,!legacy", "team in (growth,support)")
SINCE = ("2026-11-01", "2026-11-16T10:00:00Z", "0", "1")


class Enlivening:
    """Chances and things of one case."""

    def __init__(self, things: Things, random: Random, *, lifelike: bool) -> None:
        self.things, self.random, self.bodies = things, random, BODIES if lifelike else 0

    def chance(self, of_ten: float) -> bool:
        """Tell whether something happens this time."""
        return self.random.random() * 10 < of_ten

    def __call__(self, case: Case[Any], story: str) -> dict[str, str]:
        """Change the case; return headers that it says nothing about."""
        address = self.address(case)
        self.body(case, address)
        self.query(case)
        return self.headers(case, address, story)

    def address(self, case: Case[Any]) -> Address:
        """Name something that is there."""
        place = self.things.place_of(case.path.removeprefix(PREFIX))
        if not place or not self.chance(PATHS):
            return {}
        address = self.random.choice(self.things.addresses[place])
        for name, value in address.items():
            case.path_parameters[name] = value
        return address

    def body(self, case: Case[Any], address: Address) -> None:
        """Send what a client would send, or put real values into what was drawn."""
        if case.media_type is None or not case.operation.body:
            return
        if self.chance(self.bodies):
            case.body = self.lifelike(case, address)
        elif isinstance(case.body, dict | list) and self.chance(VALUES):
            case.body = self.filled(case.body)

    def lifelike(self, case: Case[Any], address: Address) -> Any:
        """Write a body as its client would: from what is there, or as the description shows it."""
        things, random = self.things, self.random
        document = things.document(address) or random.choice(things.documents)
        match case.operation.definition.raw["operationId"]:
            case "putResource":
                return {name: part for name, part in document.items() if name != "status"}
            case "putStatus" | "patchStatus":
                return document.get("status", {"state": "running"})
            case "applyDocuments":
                return {"items": random.sample(things.documents, 2)}
            case "reportObservations":
                name, status = document["metadata"]["name"], document.get("status", {})
                return {"items": [{"kind": document["kind"], "name": name, "status": status}]}
            case "askAdmission":
                return QUESTION
            case "redeemPermit":
                return self.filled(QUESTION | {"permit": "none"})
        return self.filled(shown(case))

    def filled(self, value: Any, name: str = "") -> Any:
        """Put real values where their names ask for them."""
        if isinstance(value, dict):
            return {key: self.filled(part, key) for key, part in value.items()}
        if isinstance(value, list):
            return [self.filled(part) for part in value]
        known = self.things.values.get(name)
        if not known or not self.chance(9):
            return value
        found = self.random.choice(known)
        return str(found) if isinstance(value, str) else found

    def query(self, case: Case[Any]) -> None:
        """Narrow lists by what is there, and never wait for long."""
        for name in [each.name for each in case.operation.query]:
            known = self.known(name)
            if known and self.chance(VALUES / 2):
                case.query[name] = self.random.choice(known)
        self.hurry(case)

    def known(self, name: str) -> list[Any]:
        """Return what a parameter may really be."""
        usual: Mapping[str, list[Any]] = {
            "labelSelector": [*SELECTORS],
            "since": [*SINCE, *self.things.versions[-3:]],
            "at": ["2026-11-16T10:00:00Z", "2099-01-01T00:00:00Z"],
            "kind": [key["kind"] for key in self.things.addresses["resources/{kind}"]],
            "limit": [1, 2, 200],
            "state": ["open", "waiting", "ready", "running", "claimable", "allowed"],
            "wait": ["1s"],
        }
        return usual.get(name) or self.things.values.get(name, [])

    def hurry(self, case: Case[Any]) -> None:
        """Shorten what would be waited for: a wait that is a duration or a switch."""
        wait = case.query.get("wait")
        if isinstance(wait, str) and DURATION.fullmatch(wait):
            case.query["wait"] = self.random.choice(["0s", "1s"])
        elif wait in (True, "true", "1") and not self.chance(0.5):
            case.query["wait"] = False

    def headers(self, case: Case[Any], address: Address, story: str) -> dict[str, str]:
        """Name the version that is there, the story, and how the answer is to be written."""
        given = case.headers.get(CORRELATION)
        if given is None or STORY.fullmatch(str(given)) or self.chance(8):
            case.headers[CORRELATION] = story
        tag = self.tag(case, address)
        if tag and self.chance(7):
            case.headers["If-Match"] = tag
        return {"Accept": self.random.choice(ACCEPTED)} if self.chance(1) else {}

    def tag(self, case: Case[Any], address: Address) -> str:
        """Return what `If-Match` would name."""
        if not address or "If-Match" not in [each.name for each in case.operation.headers]:
            return ""
        collection = case.path.removeprefix(PREFIX).partition("/")[0]
        tags = self.things.tags
        return tags.get(tuple(address.values())) or tags.get((collection, *address.values()), "")


def shown(case: Case[Any]) -> Any:
    """Return the body that the description shows."""
    bodies = case.operation.definition.raw["requestBody"]["content"]
    examples = next(iter(bodies.values()))["examples"]
    return deepcopy(next(iter(examples.values()))["value"])
