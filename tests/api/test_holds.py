"""People say no over HTTP: placing is wide, lifting is narrow, and a token only stops itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from controllers.common import idempotency
from controllers.decisions import holds
from controllers.decisions.holds import Shadowed
from controllers.models import Answered, Hold, Step
from resources.tables import ledger
from resources.tables.models import Resource
from tests.api.conftest import Api, issue
from tests.api.deciding import WHY, as_person, as_user, good, problem, say, traces
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal
from tests.resources.making import live
from tests.rows import every_row

pytestmark = pytest.mark.django_db

PAUSE = {"kind": "pause", "scope": "resource", "resource": "agent/scribe", "reason": WHY}
STOP = {"kind": "stop", "scope": "organisation", "reason": WHY}
BUDGET = {"path": "spec.tokenBudget.maxDaily", "value": 7}
WINDOW = {"cron": "0 18 * * 5", "timezone": "Europe/Brussels", "duration": "62h"}


@pytest.fixture
def scribe(today: Clock) -> Resource:
    return agent(today)


@pytest.fixture
def keeper(today: Clock) -> Resource:
    return controller(today)


@pytest.fixture
def maya(today: Clock, db: None) -> Api:
    return as_person(today, "maya", "approver")


@pytest.fixture
def ines(today: Clock, db: None) -> Api:
    return as_person(today, "ines", "operator")


@pytest.fixture
def hold(ines: Api, scribe: Resource) -> Hold:
    """A pause of the agent, placed by Ines."""
    good(ines.post("holds", PAUSE), "PlacedHold", 201)
    return Hold.objects.get()


def listed(who: Api, query: str = "") -> list[int]:
    found = good(who.get("holds", query), "HoldList")
    return [each["id"] for each in found["items"]]


# Placing.


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "stop", "scope": "organisation"},
        {"kind": "stop", "scope": "organisation", "openEnded": True},
        {"kind": "freeze", "scope": "organisation", "window": WINDOW},
        {"kind": "freeze", "scope": "domain", "domain": "growth"},
        {"kind": "pause", "scope": "domain", "domain": "growth"},
        {"kind": "pause", "scope": "controller", "controller": "keeper"},
        {"kind": "pause", "scope": "controller", "controller": "controller/keeper"},
        {"kind": "pause", "scope": "resource", "resource": "agent/scribe", "inFlight": "finish"},
        {"kind": "override", "scope": "resource", "resource": "agent/scribe", "owner": "maya"},
        {"kind": "override", "scope": "field", "resource": "agent/scribe", **BUDGET},
    ],
)
def test_an_operator_places_every_kind_of_hold(
    ines: Api, maya: Api, scribe: Resource, keeper: Resource, body: dict[str, Any]
) -> None:
    found = good(ines.post("holds", body | {"reason": WHY}), "PlacedHold", 201)

    hold = found["hold"]
    assert (hold["kind"], hold["scope"]) == (body["kind"], body["scope"])
    assert (hold["author"], hold["reason"]) == ("person/ines", WHY)
    assert hold["owner"] == body.get("owner", "ines")
    assert ("endsAt" in hold) == ("openEnded" not in body)
    assert (found["inFlight"], found["detail"]) == ([], "Nothing is under way.")
    assert good(ines.get(f"holds/{hold['id']}"), "HoldRecord")["hold"] == hold


def test_an_override_puts_its_value_into_the_spec(ines: Api, scribe: Resource) -> None:
    body = {"kind": "override", "scope": "field", "resource": "agent/scribe", "reason": WHY}
    found = ines.post("holds", body | BUDGET).json()["hold"]

    assert (found["value"], found["former"]) == (7, 1_000_000)
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 7


def test_a_hold_ends_when_it_is_told_to(ines: Api, today: Clock, scribe: Resource) -> None:
    ends = ledger.instant(today.now + timedelta(hours=2))

    assert ines.post("holds", PAUSE | {"endsAt": ends}).json()["hold"]["endsAt"] == ends


def test_placing_answers_with_the_calls_under_way(
    ines: Api, today: Clock, scribe: Resource, keeper: Resource
) -> None:
    """I2: pause, then the list of what is already on the wire, then drained."""
    row = proposal(today, scribe, keeper, state="executing")
    Step.objects.create(
        proposal=row,
        sequence=1,
        operation="throttle",
        executor="webhook",
        idempotent=True,
        state="dispatched",
        key="k",
        deadline=today.now + timedelta(minutes=1),
    )
    found = good(ines.post("holds", PAUSE), "PlacedHold", 201)

    [flight] = found["inFlight"]
    assert (flight["proposal"], flight["operation"]) == (row.pk, "throttle")
    assert (flight["target"], flight["state"]) == ("agent/scribe", "dispatched")
    assert found["detail"].startswith("1 call already on the wire, drained by ")
    path = f"holds/{found['hold']['id']}"
    assert ines.get(path).json()["underWay"] == [flight]
    Step.objects.update(state="done")
    assert ines.get(path).json()["underWay"] == []


def test_who_may_only_look_stops_nothing(today: Clock, scribe: Resource) -> None:
    vera = as_person(today, "vera", "viewer")

    assert problem(vera.post("holds", PAUSE), 403, "forbidden")["code"] == "NotOperator"
    assert not Hold.objects.exists()


def test_an_operator_of_a_domain_stops_that_domain_only(today: Clock, scribe: Resource) -> None:
    omar = as_person(today, "omar", "operator", domain="growth")
    agent(today, "clerk", domain="finance")

    problem(omar.post("holds", PAUSE | {"resource": "agent/clerk"}), 404, "not-found")
    problem(omar.post("holds", STOP), 403, "forbidden")
    good(omar.post("holds", PAUSE), "PlacedHold", 201)


# Reading.


def test_a_preview_says_what_lifting_would_bring(
    maya: Api, today: Clock, scribe: Resource, keeper: Resource, hold: Hold
) -> None:
    row = proposal(today, scribe, keeper)
    say(maya, row, "approve")
    shadow = Shadowed(hold.pk, keeper.pk, scribe.pk, "d" * 64, [action()], "It would.")
    holds.shadow([shadow], today.now)

    found = good(maya.get(f"holds/{hold.pk}"), "HoldRecord")["preview"]

    assert (found["hold"], found["subject"], found["runs"]) == (hold.pk, "agent/scribe", 1)
    assert [each["proposal"] for each in found["proposals"]] == [row.pk]
    assert [each["explanation"] for each in found["shadows"]] == ["It would."]


def test_holds_come_newest_first_and_pages_join(maya: Api, ines: Api, hold: Hold) -> None:
    for _ in range(3):
        ines.post("holds", STOP)
    maya.post(f"holds/{hold.pk}/lift", {"reason": WHY})

    everything = listed(maya)
    assert everything == sorted(everything, reverse=True)
    assert listed(maya, "standing=false") == [hold.pk]
    assert listed(maya, "standing=true") == everything[:3]
    first = maya.get("holds", "limit=3").json()
    assert listed(maya, f"limit=3&cursor={first['nextCursor']}") == [hold.pk]
    assert first["epoch"] == str(holds.epoch()) == "5"


def test_a_hold_whose_end_has_passed_does_not_stand(maya: Api, today: Clock, hold: Hold) -> None:
    """Nobody has to sweep first."""
    Hold.objects.update(ends_at=today.now - timedelta(seconds=1))

    assert (listed(maya, "standing=true"), listed(maya, "standing=false")) == ([], [hold.pk])


@pytest.mark.parametrize("query", ["standing=perhaps", "limit=0", "cursor=x", "kind=stop"])
def test_a_bad_filter_is_refused(maya: Api, query: str) -> None:
    assert maya.get("holds", query).status_code == 400


def test_there_is_no_such_hold(maya: Api) -> None:
    for key in ("1", "x", "9" * 19):
        problem(maya.get(f"holds/{key}"), 404, "not-found")
        problem(maya.post(f"holds/{key}/lift", {"reason": WHY}), 404, "not-found")
        problem(maya.post(f"holds/{key}/renew", {"reason": WHY}), 404, "not-found")


def test_an_agent_sees_the_holds_that_reach_it_and_nothing_else(
    robin: Api, ines: Api, today: Clock, scribe: Resource
) -> None:
    """I17: whom else a hold keeps from something is none of its business."""
    agent(today, "clerk", domain="finance")
    places = [
        STOP,
        PAUSE,
        {"kind": "pause", "scope": "domain", "domain": "growth"},
        PAUSE | {"resource": "agent/clerk"},
        {"kind": "pause", "scope": "domain", "domain": "finance"},
    ]
    keys = [ines.post("holds", {"reason": WHY} | each).json()["hold"]["id"] for each in places]
    proposal(today, live("Agent", "clerk"))

    assert listed(robin) == [keys[2], keys[1], keys[0]]
    for key in keys[3:]:
        problem(robin.get(f"holds/{key}"), 404, "not-found")
    assert good(robin.get(f"holds/{keys[0]}"), "HoldRecord").keys() == {"hold"}


# Lifting.


def test_an_approver_lifts_and_an_operator_does_not(maya: Api, ines: Api, hold: Hold) -> None:
    path = f"holds/{hold.pk}/lift"
    assert problem(ines.post(path, {"reason": WHY}), 403, "forbidden")["code"] == "NotApprover"

    found = good(maya.post(path, {"reason": "It is over."}), "Hold")

    assert (found["endedBy"], found["endReason"]) == ("person/maya", "It is over.")
    told = problem(maya.post(path, {"reason": WHY}), 409, "refused")
    assert told["detail"].endswith("by person/maya: It is over.")


def test_lifting_an_override_may_restore_what_was_there(
    maya: Api, ines: Api, scribe: Resource
) -> None:
    body = {"kind": "override", "scope": "field", "resource": "agent/scribe", "reason": WHY}
    key = ines.post("holds", body | BUDGET).json()["hold"]["id"]

    good(maya.post(f"holds/{key}/lift", {"reason": WHY, "restore": True}), "Hold")

    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 1_000_000


def test_a_hold_is_renewed(ines: Api, today: Clock, hold: Hold) -> None:
    later = ledger.instant(today.now + timedelta(days=30))

    found = good(ines.post(f"holds/{hold.pk}/renew", {"reason": WHY, "endsAt": later}), "Hold")

    assert found["endsAt"] == later


def test_a_session_needs_its_csrf_token(today: Clock, hold: Hold) -> None:
    maya = as_user(person(today, "maya", "approver"), enforce_csrf_checks=True)
    later = ledger.instant(today.now + timedelta(days=30))
    before = traces()

    for answer in (
        maya.post("holds", PAUSE),
        maya.post(f"holds/{hold.pk}/lift", {"reason": WHY}),
        maya.post(f"holds/{hold.pk}/renew", {"reason": WHY, "endsAt": later}),
    ):
        assert "CSRF" in problem(answer, 403, "forbidden")["detail"]
    assert traces() == before


def test_nobody_holds_without_signing_in(stranger: Api, hold: Hold) -> None:
    problem(stranger.get("holds"), 401, "not-signed-in")
    for path in ("holds", f"holds/{hold.pk}/lift", f"holds/{hold.pk}/renew"):
        problem(stranger.post(path, {"reason": WHY}), 401, "not-signed-in")


# Tokens.

SELF = {"kind": "pause", "scope": "resource", "resource": "agent/robin", "reason": WHY}


def test_an_agent_pauses_itself_and_only_a_person_sets_it_going(robin: Api, maya: Api) -> None:
    """A machine may stop, never start; not even the clock does."""
    found = good(robin.post("holds", SELF), "PlacedHold", 201)["hold"]

    assert (found["author"], found["resource"]) == ("agent/robin", "agent/robin")
    assert "endsAt" not in found
    again = good(robin.post("holds", SELF), "PlacedHold", 201)["hold"]
    assert again["id"] == found["id"]
    before = traces()
    for path in (f"holds/{found['id']}/lift", f"holds/{found['id']}/renew"):
        told = problem(robin.post(path, {"reason": WHY}), 403, "forbidden")
        assert told["detail"] == "Only people decide, lift and resume: a token never does."
    assert traces() == before
    good(maya.post(f"holds/{found['id']}/lift", {"reason": WHY}), "Hold")


@pytest.mark.parametrize(
    "body",
    [
        STOP,
        PAUSE,
        PAUSE | {"resource": "agent/wren"},
        SELF | {"kind": "override"},
        SELF | {"kind": "override", "scope": "field", **BUDGET},
        SELF | {"scope": "domain", "domain": "growth"},
        SELF | {"owner": "maya"},
        SELF | {"endsAt": "2126-01-01T00:00:00Z"},
        SELF | {"resource": ["agent/robin"]},
        {"kind": "pause", "scope": "controller", "controller": "keeper", "reason": WHY},
        {"kind": "freeze", "scope": "organisation", "reason": WHY},
        {},
    ],
)
def test_an_agent_stops_nothing_but_itself(
    robin: Api, scribe: Resource, keeper: Resource, body: dict[str, Any]
) -> None:
    told = problem(robin.post("holds", body), 403, "forbidden")

    assert told["detail"] == "An agent may only pause itself."
    assert not Hold.objects.exists()


def test_a_pause_of_itself_needs_the_scope_for_its_status(organisation: None) -> None:
    reader = Api(Client(), issue("robin", "resources:read", "proposals:write"))

    told = problem(reader.post("holds", SELF), 403, "forbidden")

    assert told["detail"] == "This token lacks the scope status:write."


# Nonsense.

HOSTILE: dict[str, Any] = {
    "list": [],
    "text": "stop",
    "null": b"null",
    "no-body": b"",
    "empty": {},
    "unknown-field": STOP | {"author": "person/maya"},
    "odd-field": STOP | {"~/": 1},
    "kind-number": STOP | {"kind": 1},
    "kind-odd": STOP | {"kind": "explode"},
    "scope-odd": STOP | {"scope": "world"},
    "scope-list": STOP | {"scope": ["organisation"]},
    "scope-too-small": STOP | {"scope": "domain", "domain": "growth"},
    "no-reason": {"kind": "stop", "scope": "organisation"},
    "reason-blank": STOP | {"reason": " "},
    "reason-null": STOP | {"reason": None},
    "reason-2001": STOP | {"reason": "x" * 2_001},
    "reason-nul": b'{"kind": "stop", "scope": "organisation", "reason": "\\u0000"}',
    "reason-surrogate": b'{"kind": "stop", "scope": "organisation", "reason": "\\ud800"}',
    "names-too-much": STOP | {"domain": "growth"},
    "domain-unknown": {"kind": "pause", "scope": "domain", "domain": "nowhere", "reason": WHY},
    "domain-number": {"kind": "pause", "scope": "domain", "domain": 1, "reason": WHY},
    "controller-number": {"kind": "pause", "scope": "controller", "controller": 1, "reason": WHY},
    "controller-missing": {"kind": "pause", "scope": "controller", "reason": WHY},
    "resource-odd": PAUSE | {"resource": "scribe"},
    "resource-odd-kind": PAUSE | {"resource": "thing/scribe"},
    "resource-object": PAUSE | {"resource": {}},
    "path-odd": PAUSE | {"kind": "override", "scope": "field", "path": "spec[0]"},
    "path-long": PAUSE | {"kind": "override", "scope": "field", "path": "spec." + "x" * 600},
    "path-number": PAUSE | {"kind": "override", "scope": "field", "path": 1},
    "value-of-a-pause": PAUSE | {"value": 1},
    "value-unfit": PAUSE
    | {"kind": "override", "scope": "field", "path": BUDGET["path"], "value": "many"},
    "value-through-a-text": PAUSE
    | {"kind": "override", "scope": "field", "path": "spec.type.x", "value": 1},
    "starts-odd": STOP | {"kind": "freeze", "startsAt": "tomorrow"},
    "starts-of-a-stop": STOP | {"startsAt": "2126-01-01T00:00:00Z"},
    "ends-number": STOP | {"endsAt": 1},
    "ends-without-zone": STOP | {"endsAt": "2026-12-01T00:00:00"},
    "ends-in-the-past": STOP | {"endsAt": "2020-01-01T00:00:00Z"},
    "ends-too-late": STOP | {"endsAt": "2126-01-01T00:00:00Z"},
    "ends-never-year": STOP | {"endsAt": "9999-12-31T23:59:59-23:59"},
    "open-ended-text": STOP | {"openEnded": "yes"},
    "open-ended-pause": PAUSE | {"openEnded": True},
    "window-text": STOP | {"kind": "freeze", "window": "weekends"},
    "window-odd": STOP | {"kind": "freeze", "window": {"cron": "x"}},
    "window-numbers": STOP
    | {"kind": "freeze", "window": {"cron": 1, "timezone": 2, "duration": 3}},
    "window-zone": STOP | {"kind": "freeze", "window": WINDOW | {"timezone": "Mars/Base"}},
    "window-of-a-stop": STOP | {"window": WINDOW},
    "in-flight-odd": STOP | {"inFlight": "explode"},
    "in-flight-number": STOP | {"inFlight": 1},
    "owner-unknown": STOP | {"owner": "nobody"},
    "owner-number": STOP | {"owner": 1},
}


@every_row(
    "body", [pytest.param(body, id=name) for name, body in HOSTILE.items()], rolled_back=True
)
def test_nonsense_is_refused_in_words_and_holds_nothing(
    ines: Api, scribe: Resource, body: Any
) -> None:
    before = traces()

    refused(ines.post("holds", body))
    assert traces() == before


@every_row(
    ("verb", "body"),
    [
        ("lift", []),
        ("lift", {}),
        ("lift", {"reason": " "}),
        ("lift", {"reason": 1}),
        ("lift", {"reason": WHY, "force": True}),
        ("lift", {"reason": WHY, "restore": "yes"}),
        ("lift", {"reason": WHY, "restore": True}),
        ("renew", {"reason": WHY}),
        ("renew", {"endsAt": "2026-12-01T00:00:00Z"}),
        ("renew", {"reason": WHY, "endsAt": "2020-01-01T00:00:00Z"}),
        ("renew", {"reason": WHY, "endsAt": "2126-01-01T00:00:00Z"}),
        ("renew", {"reason": WHY, "endsAt": True}),
    ],
    rolled_back=True,
)
def test_a_lift_that_makes_no_sense_is_refused_in_words(
    maya: Api, hold: Hold, verb: str, body: Any
) -> None:
    before = traces()

    refused(maya.post(f"holds/{hold.pk}/{verb}", body))
    assert traces() == before


def refused(reply: Any) -> None:
    assert reply.status_code == 400, reply.content
    told = reply.json()
    assert told["detail"]
    assert "pointer" in told


# Sent twice.


def test_a_hold_that_is_sent_twice_is_placed_once(ines: Api, scribe: Resource) -> None:
    first = ines.post("holds", PAUSE, idempotency_key="stop-1")
    again = ines.post("holds", PAUSE, idempotency_key="stop-1")

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Hold.objects.count() == 1
    assert ines.post("holds", PAUSE, idempotency_key="stop-2").json() != first.json()


def test_a_name_of_another_request_is_refused(ines: Api, maya: Api, scribe: Resource) -> None:
    good(ines.post("holds", PAUSE, idempotency_key="stop-1"), "PlacedHold", 201)

    other = ines.post("holds", PAUSE | {"reason": "Another."}, idempotency_key="stop-1")
    said = problem(other, 409, "conflict")
    assert "names another request" in said["detail"]
    assert Hold.objects.count() == 1
    good(maya.post("holds", PAUSE, idempotency_key="stop-1"), "PlacedHold", 201)


def test_what_was_refused_may_be_sent_again_under_its_name(ines: Api, scribe: Resource) -> None:
    body = {"kind": "pause", "scope": "resource", "resource": "agent/scribe"}
    problem(ines.post("holds", body, idempotency_key="stop-1"), 400, "invalid")

    good(ines.post("holds", body | {"reason": WHY}, idempotency_key="stop-1"), "PlacedHold", 201)
    problem(ines.post("holds", body, idempotency_key="x" * 201), 400, "invalid")


def test_names_are_forgotten_after_a_day(ines: Api, scribe: Resource) -> None:
    ines.post("holds", PAUSE, idempotency_key="stop-1")
    placed = Answered.objects.get().at

    assert idempotency.forget(placed + idempotency.KEPT) == 0
    assert idempotency.forget(placed + idempotency.KEPT + timedelta(seconds=1)) == 1
