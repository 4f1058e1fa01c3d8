"""Read what is sent about runs; what does not fit is refused where it stands."""

from __future__ import annotations

import uuid
from typing import Any, get_args

import orjson
from rest_framework.request import Request

from controllers import flow, runs
from controllers.api.decisions import body_of, text_in
from controllers.runs.plan import ErrorClass
from resources import ledger
from resources.api.base import STORY
from resources.api.problems import invalid
from resources.kind import Document

SAID = ("verb", "fence", "message", "result", "errorClass", "error", "cost")
LONGEST_TEXT = 2_000
LARGEST = 64 * 1024
LARGEST_NUMBER = 10**15
CLASSES: tuple[ErrorClass, ...] = get_args(ErrorClass)


def words_in(body: Document, name: str, most: int) -> str:
    """Read a text up to a length."""
    text = text_in(body, name).strip()
    if len(text) > most or "\x00" in text:
        raise invalid(f"{name} is a text of up to {most} characters.", f"/{name}")
    return text


def object_in(body: Document, name: str) -> dict[str, Any]:
    """Read an object that is not too large."""
    value = body.get(name, {})
    if not isinstance(value, dict):
        raise invalid(f"{name} is an object.", f"/{name}")
    if len(orjson.dumps(value)) > LARGEST:
        raise invalid(f"{name} has at most {LARGEST // 1024} kB.", f"/{name}")
    return value


def story_in(body: Document) -> str:
    """Read the id that all events of a run carry; without one it is the request's."""
    story = text_in(body, "correlationId")
    if story and not STORY.fullmatch(story):
        detail = "correlationId has up to 64 letters, digits, dots, hyphens and _."
        raise invalid(detail, "/correlationId")
    return story or ledger.correlation.get() or str(uuid.uuid4())


def report_in(request: Request) -> runs.Said:
    """Read what an agent says about a step."""
    body = body_of(request, SAID)
    verb = body.get("verb")
    if verb not in flow.SAID:
        raise invalid("Say what became of it.", "/verb", allowed=list(flow.SAID))
    fence = whole_in(body, "fence", None)
    if fence is None and verb != "start":
        raise invalid("Send the fence that came with the start.", "/fence")
    error_class = body.get("errorClass", "agent")
    if error_class not in CLASSES:
        raise invalid("There is no such class of errors.", "/errorClass", allowed=list(CLASSES))
    return runs.Said(
        verb,
        fence,
        words_in(body, "message", LONGEST_TEXT),
        object_in(body, "result"),
        error_class,
        words_in(body, "error", LONGEST_TEXT),
        cost_in(body),
    )


def whole_in(body: Document, name: str, usual: int | None, within: str = "") -> int | None:
    """Read a whole number that is not negative."""
    value = body.get(name, usual)
    if value is None:
        return None
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= LARGEST_NUMBER:
        raise invalid(f"{name} is a whole number from 0.", f"{within}/{name}")
    return int(value)


def cost_in(body: Document) -> runs.Cost:
    """Read what an attempt has used."""
    said = body.get("cost", {})
    if not isinstance(said, dict) or set(said) - {"tokens", "cost", "currency"}:
        raise invalid("cost has tokens, cost and currency.", "/cost")
    cost, currency = said.get("cost", 0), said.get("currency", "")
    number = isinstance(cost, int | float) and not isinstance(cost, bool)
    if not number or not 0 <= cost <= LARGEST_NUMBER:
        raise invalid("cost is a number from 0.", "/cost/cost")
    if not isinstance(currency, str) or len(currency) > 8 or not currency.isprintable():
        raise invalid("currency is a short text, such as EUR.", "/cost/currency")
    if cost and not currency:
        raise invalid("Say in which currency.", "/cost/currency")
    return runs.Cost(whole_in(said, "tokens", 0, "/cost") or 0, float(cost), currency)
