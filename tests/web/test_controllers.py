"""The page of all controllers."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import holds
from controllers.loop.cycle_run import Means
from controllers.models import Runtime
from controllers.web.controllers.cycle_text import took
from controllers.worker import controller_commands, worker_loop
from resources.documents.actor import SYSTEM
from resources.tables.models import Resource
from resources.usecases import specs
from resources.usecases.specs import DesiredDocument
from tests.admin.counts import expected, statements
from tests.conftest import Clock, given
from tests.resources.making import made
from tests.web.conftest import SignIn

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

LIST = "/controllers"


def text(client: Client, address: str = LIST) -> str:
    """Return a page as it is sent, the ages of things left out."""
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def without_times(html: str) -> str:
    """Leave out what every look writes anew: how long ago something was, and form tokens."""
    html = re.sub(r"<time[^>]*>[^<]*</time>", "", html)
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", html)


def row_of(html: str, name: str) -> str:
    """Return the row of one controller."""
    found = re.search(rf'<tr id="c-{name}">.*?</tr>', html, re.DOTALL)
    assert found is not None
    return found[0]


def trip(clock: Clock, name: str = "workflow-monitor", reason: str = "It loops.") -> None:
    """Let the operator stop a controller."""
    ines = User.objects.get(username="ines")
    controller_commands.trip_breaker(name, person=ines, now=clock.now, reason=reason)


def test_the_first_sentence_says_that_all_run(maya: Client) -> None:
    html = text(maya)

    assert html.count("<h1") == 1
    assert "<h1>All 6 controllers run.</h1>" in html


def test_each_row_shows_what_the_last_cycle_counted(maya: Client) -> None:
    row = row_of(text(maya), "agent-performance")

    assert re.findall(r"<b[^>]*>([\d,]+)</b>", row) == ["23", "23", "12", "8"]
    assert "23 agents" in row
    assert re.search(r'4 <span class="muted">of 23</span>', row)
    assert "every 5 min" in row
    assert "data-left" in row
    assert "Last cycles: 1 found drift" in row
    assert 'href="/pause?controller=agent-performance"' in row
    assert ">Ready<" in row
    assert ">Warn<" in row


def test_a_stopped_controller_is_named_with_why_and_what_helps(
    organisation: Clock, ines: Client
) -> None:
    trip(organisation)
    html = text(ines)

    assert "<h1>5 of 6 controllers run. workflow-monitor is stopped.</h1>" in html
    assert "Ines Okafor: It loops." in html
    assert "person/ines" not in html
    assert 'href="/controllers/workflow-monitor/breaker?do=reset"' in html
    assert "Tripped" in row_of(html, "workflow-monitor")


def test_who_may_not_run_controllers_is_offered_nothing_that_would_be_refused(
    organisation: Clock, vera: Client, maya: Client
) -> None:
    trip(organisation)

    assert "do=reset" not in text(vera)
    # The rows are the same for everybody; what may not be pressed is not shown.
    assert 'class="stops look-only"' in text(vera)
    assert "look-only" not in text(maya)
    assert "New controller" not in text(vera)


def test_a_paused_controller_is_named_and_can_be_resumed(
    organisation: Clock, maya: Client
) -> None:
    key = Resource.objects.get(kind="Controller", name="budget-guardian").pk
    wanted = holds.HoldRequest("pause", "controller", "Month end.", controller=key)
    holds.place(wanted, person=User.objects.get(username="maya"), now=organisation.now)
    html = text(maya)

    assert "5 of 6 controllers run. budget-guardian is paused." in html
    assert 'href="/resume?controller=budget-guardian"' in row_of(html, "budget-guardian")


def test_when_everything_is_paused_the_sentence_says_by_whom(
    organisation: Clock, maya: Client
) -> None:
    wanted = holds.HoldRequest("stop", "organisation", "Storm.")
    holds.place(wanted, person=User.objects.get(username="maya"), now=organisation.now)
    html = text(maya)

    assert "<h1>Everything is paused by Maya Chen.</h1>" in html
    assert "Controllers still watch and measure, nothing acts." in html


@pytest.mark.usefixtures("organisation")
def test_a_controller_that_cannot_run_says_so(organisation: Clock, maya: Client) -> None:
    Runtime.objects.filter(controller__name="domain-health").update(problem="No interval.")

    html = text(maya)

    assert "domain-health cannot run." in html
    assert "Cannot run" in row_of(html, "domain-health")


def test_without_controllers_the_page_says_how_to_get_one(
    transactional_db: None, sign_in: SignIn
) -> None:
    given(User.objects.create(username="vera"), "viewer")
    html = text(sign_in("vera"))

    assert "<h1>No controllers yet.</h1>" in html
    assert "Declare a document of kind Controller" in html


def test_the_table_is_sorted_as_asked(maya: Client) -> None:
    def names(address: str) -> list[str]:
        return re.findall(r'<tr id="c-([\w-]+)"', text(maya, address))

    assert names(LIST) == sorted(names(LIST))
    assert names(f"{LIST}?sort=drifting")[0] == "agent-performance"
    assert 'aria-sort="descending"' in text(maya, f"{LIST}?sort=last")


@pytest.mark.parametrize(
    "query", ["sort=x", "page=abc", "page=-1", "page=99999999999999", "sort=%00", "page=%D9%A1"]
)
def test_an_address_that_makes_no_sense_shows_the_usual(maya: Client, query: str) -> None:
    assert 'id="c-agent-performance"' in text(maya, f"{LIST}?{query}")


def test_a_page_beyond_the_end_is_empty_and_no_error(maya: Client) -> None:
    assert "No controllers here" in text(maya, f"{LIST}?page=7")


@pytest.mark.parametrize("part", ["standing", "stops", "loops"])
def test_each_part_alone_is_as_in_the_page(organisation: Clock, maya: Client, part: str) -> None:
    trip(organisation)
    answer = maya.get(LIST, headers={"Live-Parts": part}).content.decode().strip()

    assert f'id="{part}"' in answer
    assert without_times(answer) in without_times(text(maya))


def more(clock: Clock, count: int) -> None:
    """Declare more controllers and let each look once."""
    spec = {"targetKind": "Domain", "reconcileInterval": "5m"}
    wishes = [
        DesiredDocument(made("Controller", f"extra-{number}", spec)) for number in range(count)
    ]
    assert specs.apply(wishes, actor=SYSTEM, now=clock.now).written
    worker_loop.work("test", Means(lambda: clock.now))


def test_the_page_costs_the_same_however_many_controllers_there_are(
    organisation: Clock, vera: Client
) -> None:
    trip(organisation)
    text(vera)
    few = statements(vera, LIST)
    more(organisation, 5)
    trip(organisation, "extra-1")
    text(vera)

    assert statements(vera, LIST) == few
    assert few == expected("web", "controllers", few)


def test_cycles_beyond_the_last_thirty_are_left_out(organisation: Clock, maya: Client) -> None:
    for _ in range(35):
        organisation.advance(minutes=1)
        worker_loop.work("test", Means(lambda: organisation.now))

    assert "Last cycles: 30 found drift" in row_of(text(maya), "security-auditor")


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0, "under 1 ms"), (45.4, "45 ms"), (170, "0.17 s"), (1_900, "1.90 s"), (12_000, "12 s")],
)
def test_how_long_something_took_is_short(milliseconds: float, words: str) -> None:
    assert took(milliseconds) == words


def test_times_ahead_are_written_for_every_zone(organisation: Clock, maya: Client) -> None:
    row = row_of(text(maya), "budget-guardian")
    due = organisation.now + timedelta(minutes=15)

    assert f'datetime="{due:%Y-%m-%dT%H:%M}' in row
