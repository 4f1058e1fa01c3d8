"""How many statements each page takes: every page has a count on record, the next one too."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from controllers.access import roles
from controllers.decisions import holds
from controllers.models import Proposal
from controllers.operations import endpoints
from controllers.web import urls
from resources.documents.actor import SYSTEM
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import tokens
from tests.admin.counts import FILE, expected, statements
from tests.conftest import Clock

from .conftest import SignIn

# Answered with a redirect or a file, or only when something is sent.
NO_PAGES = {
    "approvals-csv",
    "audit-csv",
    "audit-verify",
    "channel-test",
    "controller-autonomy",
    "controllers-csv",
    "decide-many",
    "drill",
    "economics-csv",
    "end-sessions",
    "group-change",
    "group-delete",
    "group-member",
    "group-new",
    "inbox-read",
    "load-example",
    "machine-switch",
    "mfa_index",
    "overrides-csv",
    "people-invite",
    "person-active",
    "person-grant",
    "person-link",
    "person-revoke",
    "profile-deputies",
    "resources-csv",
}
KEEPER = "agent-performance"
DAY = timedelta(days=1)


def placed(clock: Clock) -> int:
    """Pause an agent for an hour, and return the number of that hold."""
    wanted = holds.HoldRequest(
        "pause",
        "resource",
        "We count stock.",
        resource=Resource.objects.get(kind="Agent", name="campaign-writer").pk,
        ends_at=clock.now + timedelta(hours=1),
    )
    return holds.place(wanted, now=clock.now, person=User.objects.get(username="maya")).hold.pk


def grouped(clock: Clock) -> int:
    """Make a group with somebody in it, and return its number."""
    ada, maya = (User.objects.get(username=name) for name in ("admin", "maya"))
    made = roles.add_group("board", "Looks at payments.", by=ada, now=clock.now)
    roles.add_member(made, maya, by=ada, now=clock.now)
    return made.pk


def managed(clock: Clock) -> dict[str, tuple[Any, ...]]:
    """Enter a machine and issue a token, and return what they are called."""
    ada, scopes = User.objects.get(username="admin"), ["status:write"]
    url = "https://rig.example.com/"
    endpoints.register("rig", url, ["restart"], "", person=ada, now=clock.now)
    issued = tokens.issue(
        "growth-optimizer", scopes=scopes, lifetime=DAY, actor=SYSTEM, now=clock.now
    )
    return {"token-revoke": (issued.token.key_id,), "machine-rotate": ("rig",)}


def addresses(clock: Clock) -> dict[str, str]:
    """Return where each page is, for something that is there."""
    of: dict[str, tuple[Any, ...]] = {
        "resource": ("agent", "growth-optimizer"),
        "cycle": (KEEPER, 1),
        "trace": (LedgerEvent.objects.latest("pk").correlation_id,),
        **dict.fromkeys(("proposal", "decide"), (Proposal.objects.earliest("pk").pk,)),
        **dict.fromkeys(("person", "person-door"), (User.objects.get(username="vera").pk,)),
        "group": (grouped(clock),),
        **managed(clock),
        **dict.fromkeys(("hold", "hold-lift", "hold-renew"), (placed(clock),)),
    }
    found = {}
    for pattern in urls.urlpatterns:
        name = str(pattern.name)
        usual = (KEEPER,) if name.startswith("controller") and name != "controllers" else ()
        if name not in NO_PAGES:
            found[name] = reverse(name, args=of.get(name, usual))
    return found


def seen(client: Client, where: str) -> int:
    """Return what a page takes once what is the same for everybody is known."""
    answer = client.get(where, follow=True)
    return statements(client, answer.redirect_chain[-1][0] if answer.redirect_chain else where)


def test_every_page_takes_a_known_number_of_statements(
    organisation: Clock, sign_in: SignIn
) -> None:
    admin = sign_in("admin")
    where = addresses(organisation)
    where["search"] += "?q=growth"
    where["make-automatic"] += f"?cause={Proposal.objects.earliest('pk').cause}"

    taken = {name: seen(admin, address) for name, address in where.items()}

    assert taken == {name: expected("each", name, count) for name, count in taken.items()}


def test_every_page_is_on_record_for_both_databases() -> None:
    pages = {str(each.name) for each in urls.urlpatterns} - NO_PAGES
    counts = json.loads(FILE.read_text("utf-8"))["each"]

    assert {name: pages - set(counts[name]) for name in ("sqlite", "postgresql")} == {
        "sqlite": set(),
        "postgresql": set(),
    }
