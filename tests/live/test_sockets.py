"""Open pages of a real server: what is committed arrives, for those who are signed in."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client
from django.utils import timezone
from websockets.exceptions import InvalidStatus

from controllers.access import people
from resources.tables import versions
from resources.usecases import deletion
from tests.api.conftest import ALICE, agent, apply
from tests.api.serving import Server
from tests.conftest import given
from tests.live.conftest import Open
from tests.live.tabs import Tab, measure, opened

pytestmark = pytest.mark.full


def settled() -> int:
    """Return the number that a page loaded now would carry."""
    return versions.horizon()


@pytest.mark.quick
@pytest.mark.full
def test_what_another_process_commits_is_there_within_two_seconds(look: Open) -> None:
    tab = look(since=settled())

    took = [delay(tab, partial(measure, name), name) for name in ("a-1", "b-2", "c-3")]

    # The first also waits for the server to get going; a busy machine is not a slow program.
    assert min(took) < 2


def test_what_the_server_itself_commits_is_there_at_once(
    look: Open, server: Server, session: str
) -> None:
    tab = look(since=settled())
    with browser(server, session) as client:
        took = [
            delay(tab, lambda: stop_everything(client), "Everything paused"),
            delay(tab, lambda: go_on(client), "No controllers yet"),
            delay(tab, lambda: stop_everything(client), "Everything paused"),
        ]

    assert min(took) < 0.9


def delay(tab: Tab, change: Callable[[], object], text: str) -> float:
    """Return how long it takes until a page shows a change."""
    time.sleep(1)
    change()
    begun = time.monotonic()
    tab.hear_until(text)
    return time.monotonic() - begun


def browser(server: Server, session: str) -> httpx.Client:
    """Return a client that may write, as a person's browser does."""
    cookies = {"sessionid": session, "csrftoken": "a" * 32}
    headers = {"X-CSRFToken": "a" * 32, "Origin": server.url}
    return httpx.Client(base_url=server.url, cookies=cookies, headers=headers, timeout=20)


def stop_everything(client: httpx.Client) -> None:
    said = {"kind": "stop", "scope": "organisation", "reason": "We look at this together."}
    answer = client.post("/api/v1/holds", json=said)
    assert answer.status_code == 201, answer.text


def go_on(client: httpx.Client) -> None:
    said = {"reason": "We have looked."}
    (hold,) = client.get("/api/v1/holds").json()["items"]
    answer = client.post(f"/api/v1/holds/{hold['id']}/lift", json=said)
    assert answer.status_code == 200, answer.text


def test_what_happened_before_the_socket_opened_is_not_lost(look: Open) -> None:
    shown = settled()
    measure("support")

    tab = look(since=shown)

    assert "support" in tab.hear()["html"]


def test_a_page_without_a_number_is_told_what_comes(look: Open) -> None:
    measure("support")
    tab = look()
    time.sleep(1.2)
    measure("legal")

    assert "legal" in tab.hear()["html"]


@pytest.mark.quick
def test_many_changes_at_once_end_in_the_right_state_with_growing_numbers(look: Open) -> None:
    tab = look(since=settled())
    for commit in range(30):
        apply(*(agent(f"agent-{commit}-{number}", "growth") for number in range(10)))
    measure("zz-last")

    heard = tab.hear_until("zz-last", patience=20)

    numbers = [message["number"] for message in heard]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] <= versions.horizon()
    assert len(heard) < 30


def test_a_page_that_becomes_another_one_keeps_its_socket(look: Open) -> None:
    tab = look("/resources/agent/robin", since=settled())
    shown = settled()
    measure("support")
    tab.hear_until("support")

    tab.goes("/more", since=shown)
    again = tab.hear()

    assert "support" in again["html"]
    assert "sections" in again["fetch"]


def test_a_page_whose_thing_is_deleted_stops_nobody(look: Open) -> None:
    gone, other = look("/resources/agent/robin", since=settled()), look("/more", since=settled())
    deletion.delete("Agent", "robin", actor=ALICE, now=timezone.now())
    measure("support")

    assert gone.hear_until("support")
    assert other.hear_until("support")


@pytest.mark.quick
def test_nobody_hears_anything_without_signing_in(server: Server) -> None:
    assert opened(server.url, "").ending() == 4401
    assert opened(server.url, "made-up").ending() == 4401


def test_a_session_that_ended_is_closed_with_a_reason(look: Open, session: str) -> None:
    tab = look(since=settled())
    Session.objects.get(pk=session).delete()
    note_about("maya")

    assert tab.ending() == 4401


def test_who_is_deactivated_hears_nothing_more(look: Open, server: Server) -> None:
    other = Client()
    other.force_login(given(User.objects.create(username="vera"), "viewer"))
    stays = opened(server.url, other.cookies["sessionid"].value, since=settled())
    tab = look(since=settled())
    User.objects.filter(username="maya").update(is_active=False)
    note_about("maya")

    assert tab.ending() == 4401
    measure("support")
    assert stays.hear_until("support")
    stays.close()


def test_a_new_password_ends_the_pages_opened_with_the_old_one(look: Open) -> None:
    tab = look(since=settled())
    user = User.objects.get(username="maya")
    user.set_password("something quite new")
    user.save()
    note_about("maya")

    assert tab.ending() == 4401


def note_about(username: str) -> None:
    """Write that something happened to a person."""
    user = User.objects.get(username=username)
    with transaction.atomic():
        people.note(user, "person.changed", {}, actor=ALICE, now=timezone.now())


def test_pages_of_other_sites_are_refused(look: Open) -> None:
    for origin in ("http://elsewhere.example", "http://127.0.0.1:1", "null", "http://", None):
        assert refusal(look, origin=origin) == 403


def test_there_is_no_other_socket(look: Open) -> None:
    assert refusal(look, path="/elsewhere") == 403


def refusal(look: Open, **given: Any) -> int:
    """Return the status that refuses a socket."""
    with pytest.raises(InvalidStatus) as refused:
        look(**given)
    return refused.value.response.status_code


def test_what_is_not_understood_is_refused(look: Open) -> None:
    for asked in ({"page": "nowhere"}, {"page": ""}, {"since": "x"}, {"since": "-1"}):
        assert look(**asked).ending() == 1008


def test_a_page_that_talks_nonsense_is_closed_and_no_other(look: Open) -> None:
    other = look(since=settled())
    for text in ("{", "[]", '{"page": 7}', "\x00", b"\x00\x01", '{"page": "/", "since": "x"}'):
        tab = look(since=settled())
        tab.socket.send(text)
        assert tab.ending() == 1008
    long = look(since=settled())
    long.socket.send("x" * 5_000)
    assert long.ending() == 1009

    measure("support")
    assert other.hear_until("support")


def test_a_server_that_stops_tells_its_pages_to_come_back(look: Open, server: Server) -> None:
    tab = look(since=settled())
    time.sleep(0.5)

    assert server.stop() < 3
    assert tab.ending() == 1012


def test_a_quiet_page_hears_that_we_are_still_here(look: Open) -> None:
    tab = look(since=settled())

    assert b"number" in tab.socket.recv(timeout=15, decode=False)
