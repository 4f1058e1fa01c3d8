"""What a page asks while it has no socket."""

from __future__ import annotations

import pytest
from django.test import Client

from resources.tables import versions
from tests.api.conftest import apply, domain

pytestmark = pytest.mark.usefixtures("growth")


def test_a_page_learns_which_parts_are_old(maya: Client) -> None:
    before = versions.horizon()
    apply(domain("support"))

    answer = maya.get("/live/poll", {"page": "/more", "since": str(before)})

    assert answer.json()["number"] == versions.horizon()
    assert {"domains", "power", "sections"} <= set(answer.json()["fetch"])
    assert "no-store" in answer.headers["Cache-Control"]


def test_a_page_that_missed_nothing_is_told_nothing(maya: Client) -> None:
    answer = maya.get("/live/poll", {"page": "/more", "since": str(versions.horizon())})

    assert answer.status_code == 204
    assert answer.content == b""


def test_a_page_that_knows_no_number_is_told_the_current_one(maya: Client) -> None:
    answer = maya.get("/live/poll", {"page": "/more"})

    assert answer.json() == {"number": versions.horizon(), "fetch": []}


@pytest.mark.parametrize(
    "query",
    ["", "page=more&since=1", "page=/more&since=x", "page=/more&since=-1", "page=%00", "since=3"],
)
def test_what_is_not_understood_is_refused_with_a_sentence(maya: Client, query: str) -> None:
    answer = maya.get(f"/live/poll?{query}")

    assert answer.status_code == 400
    assert answer.json()["detail"].endswith(".")


@pytest.mark.parametrize("page", ["/nowhere", "/resources/agent/%00", "//", "/approvals?page=abc"])
def test_a_page_that_is_not_there_breaks_nothing(maya: Client, page: str) -> None:
    assert maya.get("/live/poll", {"page": page, "since": "0"}).status_code == 200


def test_who_is_not_signed_in_is_sent_to_sign_in(maya: Client) -> None:
    maya.logout()

    answer = maya.get("/live/poll", {"page": "/more"})

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/sign-in/")


def test_asking_changes_nothing(maya: Client) -> None:
    assert maya.post("/live/poll", {"page": "/more"}).status_code == 405


def test_a_fresh_page_says_up_to_where_it_shows_everything(maya: Client) -> None:
    page = maya.get("/more")
    part = maya.get("/more", headers={"Live-Parts": "power"})

    assert f'data-number="{versions.horizon()}"' in page.content.decode()
    assert b"data-number" not in part.content
