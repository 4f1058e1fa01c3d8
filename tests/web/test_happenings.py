"""Every entry of the ledger is told in a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controllers.decisions import holds
from controllers.engine import proposal_lifecycle
from controllers.narrative.event_text import told
from controllers.narrative.event_text.sentences import SENTENCES
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parents[2]
ICONS = (ROOT / "static/icons.svg").read_text("utf-8")
# The first words of events, where they are written out.
WHOLE = re.compile(
    r"(resource|controller|person|token|retention|example|channel|endpoint|telemetry|admission|usage"
    r"|price|secrets)\.[a-z-]+|system\.security_[a-z_]+"
)
# Who tells what, by the file that does: the verb is the second thing said.
TELLERS = {"tell", "entry_of", "note"}
FAMILIES = {
    "holds": "hold",
    "delivery": "channel",
    "operations": "endpoint",
    "runs": "workflow",
    "drills": "drill",
}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield every call of the product, with the package it is in."""
    for package in ("controllers", "resources"):
        for file in (ROOT / package).rglob("*.py"):
            if {"migrations", "pages", "api", "happenings"} & set(file.parts):
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield file.parent.name, node


def words(node: ast.expr) -> Iterator[str]:
    """Yield the words an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from words(node.body)
        yield from words(node.orelse)


def written() -> set[str]:
    """Return the names of the events that the source writes."""
    found = {f"proposal.{word}" for word in proposal_lifecycle.TOLD.values()}
    for package, call in calls():
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        for each in [*call.args, *(keyword.value for keyword in call.keywords)]:
            found |= {word for word in words(each) if WHOLE.fullmatch(word)}
        if name in TELLERS and len(call.args) > 1:
            family = FAMILIES.get(package, "proposal")
            for word in words(call.args[1]):
                if "." not in word and word.replace("_", "").isalpha() and word.islower():
                    past = proposal_lifecycle.TOLD.get(word, word).replace("_", "-")
                    found.add(f"{family}.{past}")
    return found


def test_every_event_that_the_source_writes_has_a_sentence() -> None:
    found = written()
    assert len(found) > 60
    assert {"hold.placed", "channel.mapped", "endpoint.disabled", "proposal.step-done"} <= found
    assert {"admission.refused", "usage.recorded", "system.security_access_denied"} <= found
    assert found - set(SENTENCES) == set()


def test_what_people_do_at_the_door_has_sentences() -> None:
    """Views write these by the name that their class carries."""
    text = (ROOT / "controllers/signin/factors.py").read_text("utf-8")
    found = set(re.findall(r'"(person\.[a-z-]+)"', text))
    assert len(found) >= 5
    assert found - set(SENTENCES) == set()


def test_every_icon_exists() -> None:
    missing = {each.icon for each in SENTENCES.values() if f'id="i-{each.icon}"' not in ICONS}
    assert missing == set()


@every_row("event", sorted(SENTENCES))
@every_row("payload", [{}, None, {"reason": 7, "actions": [], "changed": None}])
def test_an_entry_that_says_little_is_told_too(db: None, event: str, payload: object) -> None:
    entry = LedgerEvent(
        id=1, event=event, actor="system/ioa", subject="agent/scribe", at=timezone.now()
    )
    entry.payload = payload
    (happening,) = told([entry])
    assert happening.text
    assert "{" not in happening.text
    assert "None" not in happening.text


def test_an_event_of_a_hook_is_told_by_its_name(db: None) -> None:
    entry = LedgerEvent(
        id=1, event="budget.checked", actor="controller/budget-guardian", subject="organisation"
    )
    (happening,) = told([entry])
    assert (happening.who, happening.text) == ("budget-guardian", "announced budget.checked")


def test_people_are_named_in_full_and_quoted(organisation: Clock) -> None:
    maya = User.objects.get(username="maya")
    agent = Resource.objects.get(kind="Agent", name="growth-optimizer")
    wanted = holds.HoldRequest(
        "override",
        "field",
        "Campaign week.",
        resource=agent.pk,
        path="spec.tokenBudget.maxDaily",
        value=90_000,
    )
    placed = holds.place(wanted, person=maya, now=timezone.now())
    (happening,) = told(LedgerEvent.objects.filter(event="hold.placed"))
    assert happening.who == "Maya Chen"
    assert happening.human
    assert happening.text.startswith("held tokenBudget.maxDaily of growth-optimizer at 90,000")
    assert happening.quote == "Campaign week."
    assert happening.url == f"/overrides/{placed.hold.pk}"
    assert happening.tone == "human"


def test_the_loop_speaks_in_sentences(organisation: Clock) -> None:
    stories = {each.event: each for each in told(LedgerEvent.objects.order_by("id"))}
    drift = stories["controller.drift-detected"]
    assert re.fullmatch(r"found [a-z0-9-]+ drifting: score 0\.\d\d, limit [0-9.]+", drift.text)
    assert drift.url.startswith("/resources/")
    asked = stories["proposal.created"]
    assert re.search(r"\(P-\d+\)$", asked.text)
    assert asked.url.startswith("/approvals/")
    assert stories["controller.reconciliation-completed"].url.startswith("/controllers/")


def test_names_cost_one_query_however_many_entries_there_are(organisation: Clock) -> None:
    entries = list(LedgerEvent.objects.all())
    with CaptureQueriesContext(connection) as few:
        told(entries[:3])
    with CaptureQueriesContext(connection) as many:
        told(entries)
    assert len(few) <= 1
    assert len(many) == 1
