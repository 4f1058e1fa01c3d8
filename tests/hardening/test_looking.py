"""Looking changes nothing: no address that is only read writes a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from controllers.decisions import holds
from controllers.models import Hold, Proposal
from resources.tables.models import LedgerEvent
from resources.usecases.access_table import rules_by_name
from tests.conftest import Clock
from tests.web.conftest import clock as clock
from tests.web.conftest import organisation as organisation

pytestmark = pytest.mark.full

WRITES = re.compile(r"^\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)
# When a session was last used, and what a session keeps for its own form.
ALLOWED = ("django_session", "controllers_visit")
# Where looking is the act: coming back from the identity provider; and feeds that do not end.
LEFT_OUT = {"openid_connect_callback", "watch"}
# What taking a file out may write besides: who took it.
LEDGER = ("resources_ledgerevent", "resources_ledgerstream", "resources_changecounter")
FEWEST = 60


def routes(patterns: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield every address with its name."""
    for each in patterns:
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, prefix + str(each.pattern))
        elif isinstance(each, URLPattern):
            yield each.name or "", prefix + str(each.pattern)


def filled(route: str, known: dict[str, str]) -> str:
    """Put something that exists into an address."""
    plain = re.sub(r"\^|\$|\\Z|\?P", "", route)
    plain = re.sub(r"\(<(\w+)>[^)]*\)", lambda found: known.get(found[1], "1"), plain)
    plain = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: known.get(found[1], "1"), plain)
    return "/" + plain.replace("\\.", ".")


@pytest.fixture
def known(organisation: Clock) -> dict[str, str]:
    """Return what exists, by the names of parameters."""
    proposal = Proposal.objects.filter(controller__isnull=False).order_by("pk").first()
    assert proposal is not None
    assert proposal.controller is not None
    wanted = holds.HoldRequest("stop", "organisation", "We look at this.")
    holds.place(wanted, person=User.objects.get(username="maya"), now=organisation.now)
    story = LedgerEvent.objects.exclude(correlation_id="").order_by("pk").last()
    assert story is not None
    return {
        "key": str(proposal.pk),
        "id": str(proposal.pk),
        "kind": "agent",
        "name": "growth-optimizer",
        "correlation": story.correlation_id,
        "answer": "approve",
        "object_id": str(Hold.objects.get().pk),
        "app_label": "resources",
    }


def is_told(name: str) -> bool:
    """Tell whether the rules say that reading an address is told to the ledger."""
    rule = rules_by_name().get(name, {}).get("GET")
    return rule is not None and rule.told


def test_no_get_changes_anything(known: dict[str, str]) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username="admin"))
    wrote: dict[str, list[str]] = {}
    told: set[str] = set()
    looked = 0

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if WRITES.match(sql) and is_told(name) and any(table in sql for table in LEDGER):
            told.add(name)
        elif WRITES.match(sql) and not any(table in sql for table in ALLOWED):
            wrote.setdefault(address, []).append(sql[:120])
        return execute(sql, params, many, context)

    for name, route in sorted(set(routes(get_resolver().url_patterns))):
        if name in LEFT_OUT:
            continue
        address = filled(route, known)
        with connection.execute_wrapper(watch):
            answer = client.get(address)
            if answer.streaming and not answer.is_async:  # type: ignore[attr-defined]
                b"".join(answer.streaming_content)  # type: ignore[attr-defined]
        assert answer.status_code < 500 or name == "readyz", address
        looked += answer.status_code == 200

    assert wrote == {}, looked
    assert told == {name for name in rules_by_name() if is_told(name)}
    assert looked >= FEWEST
