"""With workers, Redis and sockets all off people still run the organisation."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.models import Hold, Proposal
from ioa_site.cli import main
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.web.conftest import clock as clock
from tests.web.conftest import organisation as organisation

PASSWORD = "correct horse battery"
NOBODY = "redis://127.0.0.1:1/0"


@pytest.fixture
def alone(organisation: Clock, settings: Any) -> Clock:
    """Let Redis be away; no loop, worker or socket runs here."""
    settings.REDIS_URL = NOBODY
    for name in ("maya", "tomas", "admin"):
        user = User.objects.get(username=name)
        user.set_password(PASSWORD)
        user.save()
    return organisation


def signed_in(name: str) -> Client:
    client = Client()
    answer = client.post("/sign-in/", {"login": name, "password": PASSWORD})
    assert answer["Location"] == "/"
    return client


def test_with_the_machines_off_people_do_everything_that_is_theirs(
    alone: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """I27: sign in, see, decide, override, pause, edit a spec, read and verify the ledger."""
    maya, admin = signed_in("maya"), signed_in("admin")
    for page in ("/", "/approvals", "/resources", "/controllers", "/overrides", "/audit"):
        assert maya.get(page, follow=True).status_code == 200

    decide(maya)
    override(maya)
    pause(maya)
    edit(admin)

    assert "person.signed-in" in admin.get("/audit").content.decode()
    assert admin.get("/api/v1/audit/verify").json()["ok"] is True
    assert main(["audit", "verify"]) == 0
    assert maya.get("/live/poll?page=/approvals").status_code == 200


def decide(maya: Client) -> None:
    """Approve one and reject another."""
    first, second = Proposal.objects.filter(
        state="pending", risk="low", people=1, reversible=True
    ).order_by("pk")[:2]
    for proposal, verdict, state in (
        (first, "approve", "approved"),
        (second, "reject", "rejected"),
    ):
        said = {"tag": proposal.tag, "reason": "Checked by hand."}
        maya.post(f"/approvals/{proposal.pk}/decide?verdict={verdict}", said)
        proposal.refresh_from_db()
        assert proposal.state == state


def override(maya: Client) -> None:
    """Hold a resource as it is."""
    hold = {
        "kind": "override",
        "scope": "resource",
        "resource": "agent/growth-optimizer",
        "reason": "We look at it ourselves.",
    }
    answer = maya.post("/api/v1/holds", hold, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert Hold.objects.filter(kind="override", ended_at=None).count() == 1


def pause(maya: Client) -> None:
    """Stop everything."""
    maya.post("/pause", {"reason": "The machines are off.", "lasts": "open"})
    assert Hold.objects.filter(kind="stop", ended_at=None).count() == 1


def edit(admin: Client) -> None:
    """Declare something else."""
    where = "/api/v1/resources/agent/growth-optimizer"
    before = Resource.objects.get(kind="Agent", name="growth-optimizer").generation
    answer = admin.patch(
        where,
        {"spec": {"purpose": "Something else for a while"}},
        content_type="application/merge-patch+json",
    )
    assert answer.status_code == 200, answer.content
    after = Resource.objects.get(kind="Agent", name="growth-optimizer").generation
    assert after == before + 1
