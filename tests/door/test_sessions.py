"""Where people are signed in: listed, limited, and ended at once, also for open pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from controllers.access import deactivation, session_records
from controllers.models import Visit
from controllers.web.live import hub
from ioa_site.cli import main
from tests.api.serving import Server
from tests.door.conftest import PASSWORD, Enter, person
from tests.live.conftest import growth as growth
from tests.live.conftest import server as server
from tests.live.tabs import Tab, opened
from tests.live.test_sockets import settled
from tests.problems import refuses

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        (FIREFOX, "Firefox on Linux"),
        (PHONE, "Safari on iPhone"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "Unknown device"),
        ("\x1b[31m<b>" + "x" * 500, "[31m<b>" + "x" * 93),
    ],
)
def test_a_device_is_named(agent: str, named: str) -> None:
    assert session_records.device(agent) == named


@pytest.mark.django_db
def test_one_sees_where_one_is_signed_in_and_nobody_elses(maya: User, enter: Enter) -> None:
    person("vera")
    here = enter("maya", **{"User-Agent": FIREFOX})
    enter("maya", **{"User-Agent": PHONE})
    enter("vera", **{"User-Agent": "curl/8.5.0"})

    page = here.get("/profile/security").content.decode()

    assert page.count("This one") == 1
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    assert "curl" not in page
    assert not any(each.session in page for each in Visit.objects.all())


@pytest.mark.django_db
def test_one_signs_out_there_and_everywhere_else(maya: User, enter: Enter) -> None:
    here, there, third = enter("maya"), enter("maya"), enter("maya")
    that = Visit.objects.get(session=there.session.session_key)

    here.post("/profile/security/sessions", {"visit": that.pk})
    assert there.get("/profile").status_code == 302
    assert third.get("/profile").status_code == 200
    here.post("/profile/security/sessions", {"visit": "others"})

    assert third.get("/profile").status_code == 302
    assert here.get("/profile").status_code == 200


@pytest.mark.django_db
def test_nobody_ends_a_session_of_somebody_else(maya: User, enter: Enter) -> None:
    person("mallory")
    hers, mallory = enter("maya"), enter("mallory")
    visit = Visit.objects.get(session=hers.session.session_key)

    for odd in (str(visit.pk), "", "x", "9" * 40, "²"):
        assert mallory.post("/profile/security/sessions", {"visit": odd}).status_code == 303

    assert hers.get("/profile").status_code == 200
    with refuses("forbidden"):
        session_records.end_all(maya, by=User.objects.get(username="mallory"), now=timezone.now())


@pytest.mark.django_db
def test_a_session_ends_after_half_an_hour_idle(maya: User, enter: Enter) -> None:
    client, start = enter("maya"), timezone.now()
    for minutes in (20, 40, 60):
        with time_machine.travel(start + timedelta(minutes=minutes)):
            assert client.get("/profile").status_code == 200
    with time_machine.travel(start + timedelta(minutes=91)):
        assert client.get("/profile").status_code == 302
        assert client.get("/api/v1/proposals").status_code in (401, 403)
    assert not Session.objects.exists()


@pytest.mark.django_db
def test_a_page_that_asks_by_itself_does_not_keep_a_session_alive(
    maya: User, enter: Enter
) -> None:
    client, start = enter("maya"), timezone.now()
    with time_machine.travel(start + timedelta(minutes=25)):
        assert client.get("/live/poll?page=/more").status_code == 200
        assert client.get("/more", headers={"Live-Parts": "sections"}).status_code == 200
    with time_machine.travel(start + timedelta(minutes=31)):
        assert client.get("/profile").status_code == 302


@pytest.mark.django_db
def test_a_session_ends_after_twelve_hours_however_busy(maya: User, enter: Enter) -> None:
    client, start = enter("maya"), timezone.now()
    for minutes in range(25, 12 * 60, 25):
        with time_machine.travel(start + timedelta(minutes=minutes)):
            assert client.get("/shortcuts").status_code == 200
    with time_machine.travel(start + timedelta(hours=12, seconds=1)):
        assert client.get("/profile").status_code == 302


@pytest.mark.django_db
def test_looking_often_writes_seldom(maya: User, enter: Enter) -> None:
    client = enter("maya")
    seen = Visit.objects.get().seen_at
    client.get("/shortcuts")
    assert Visit.objects.get().seen_at == seen

    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        client.get("/shortcuts")
    assert Visit.objects.get().seen_at > seen


class TimedTab(NamedTuple):
    """An open page, and when it was opened: then its server looked whether its session is good."""

    tab: Tab
    opened: float

    def was_told(self) -> bool:
        """Tell whether a page is sent away before its server looks again by itself."""
        assert self.tab.ending() == 4401
        return time.monotonic() - self.opened < hub.CHECK_SECONDS


@pytest.fixture
def page(server: Server, enter: Enter) -> Iterator[TimedTab]:
    """Open a page of somebody who signed in."""
    person("maya", "Approvers")
    person("ada", "Administrators")
    client = enter("maya")
    began = time.monotonic()
    tab = opened(server.url, client.cookies["sessionid"].value, since=settled())
    yield TimedTab(tab, began)
    tab.close()


def test_an_open_page_hears_at_once_that_its_session_was_ended(
    page: TimedTab, enter: Enter
) -> None:
    elsewhere = enter("maya")

    elsewhere.post("/profile/security/sessions", {"visit": "others"})

    assert page.was_told()


@pytest.mark.full
def test_an_open_page_hears_at_once_that_its_person_was_shut_out(page: TimedTab) -> None:
    maya, ada = (User.objects.get(username=each) for each in ("maya", "ada"))

    assert deactivation.shut_out(maya, by=ada, now=timezone.now())

    assert page.was_told()
    answer = Client().post("/sign-in/", {"login": "maya", "password": PASSWORD})
    assert answer["Location"] == "/sign-in/inactive/"
    assert deactivation.let_in(maya, by=ada, now=timezone.now())


@pytest.mark.full
def test_an_open_page_hears_at_once_of_a_new_password(page: TimedTab, enter: Enter) -> None:
    elsewhere, new = enter("maya"), "quite another phrase"
    typed = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert elsewhere.post("/profile/password", typed).status_code == 302

    assert page.was_told()


def test_an_administrator_signs_somebody_out_from_the_command_line(
    page: TimedTab, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["door", "sign-out", "maya", "--as", "ada"]) == 0

    assert page.was_told()
    assert "maya is signed out of 1 sessions." in capsys.readouterr().out
    assert main(["door", "sign-out", "ada", "--as", "maya"]) == 1
    assert "Only an administrator" in capsys.readouterr().err
