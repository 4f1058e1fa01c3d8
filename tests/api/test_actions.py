"""Work over HTTP: one claims it, a person stops it, and only who has the claim is heard."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from controllers import execution
from controllers.decisions import holds
from controllers.loop import restore_watch
from controllers.models import Proposal, Step
from controllers.web.live import broadcast
from controllers.web.live.subscription import Seat
from resources.tables import versions
from resources.tables.models import LedgerEvent
from tests.api.conftest import Api, queries, real_database
from tests.api.deciding import as_user, good, problem
from tests.api.working import as_agent, claim, manager, only, tell, waiting
from tests.conftest import Clock
from tests.decisions.carrying import now, run, state, story
from tests.decisions.making import AGENT, agent
from tests.resources.racing import together
from tests.rows import every_row

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db

SUCCESS = {"outcome": "success", "outputs": {"pid": 7}}
BEAT = {"fence": "1", "epoch": "0"}
BODIES: dict[str, Any] = {
    "claim": {},
    "heartbeat": BEAT,
    "progress": BEAT | {"percent": 5},
    "result": {"fence": "1", "outcome": "success"},
}


@pytest.fixture
def wish(today: Clock) -> Proposal:
    """A restart that waits for the agent."""
    return waiting(today)


@pytest.fixture
def scribe(wish: Proposal) -> Api:
    """The agent that is to work."""
    return as_agent()


def stop(clock: Clock) -> holds.Placed:
    wanted = holds.HoldRequest(kind="stop", scope="organisation", reason="Fire.")
    return holds.place(wanted, person=manager(clock), now=timezone.now())


def test_an_agent_claims_goes_on_and_reports(scribe: Api, wish: Proposal) -> None:
    (offered,) = good(scribe.get("actions", "state=claimable"), "ActionList")["items"]
    assert (offered["for"], offered["operation"]) == (f"agent/{AGENT}", "restart")

    held = good(claim(scribe, wish), "Claim")
    assert (held["key"], held["ttlSeconds"]) == (offered["key"], 60)
    assert scribe.get("actions", "state=claimable").json()["items"] == []
    good(tell(scribe, wish, "heartbeat", held), "Claim")
    good(tell(scribe, wish, "progress", held, percent=40, note="Draining."), "Claim")
    assert scribe.get("actions", "state=claimed").json()["items"][0]["percent"] == 40
    done = good(tell(scribe, wish, "result", held, **SUCCESS), "Action")

    assert (done["state"], done["outputs"]) == ("done", {"pid": 7})
    assert state(wish) == "verifying"
    assert [each["id"] for each in scribe.get("actions", "state=ended").json()["items"]] == [
        offered["id"]
    ]


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        ("transient", ("approved", "waiting")),
        ("permanent", ("failed", "failed")),
        ("stopped", ("approved", "waiting")),
        ("unknown", ("approved", "claimed")),
    ],
)
def test_a_failure_says_what_to_make_of_it(
    scribe: Api, wish: Proposal, failure: str, expected: tuple[str, str]
) -> None:
    held = claim(scribe, wish).json()
    body = {"outcome": "failure", "class": failure, "detail": "No answer."}

    good(tell(scribe, wish, "result", held, **body), "Action")

    assert (state(wish), only(wish).state) == expected
    assert only(wish).error == "scribe says “No answer.”"


def test_others_work_does_not_exist_for_anybody_else(
    today: Clock, scribe: Api, wish: Proposal
) -> None:
    held = claim(scribe, wish).json()
    agent(today, "editor")
    other = as_agent("editor")

    assert other.get("actions").json()["items"] == []
    problem(claim(other, wish), 404, "not-found")
    for verb in ("heartbeat", "progress", "result"):
        body = BODIES[verb] | {"fence": held["fence"]}
        problem(other.post(f"actions/{only(wish).pk}/{verb}", body), 404, "not-found")
    assert only(wish).state == "claimed"


def test_people_look_but_do_not_do_the_work(today: Clock, wish: Proposal) -> None:
    maya = as_user(manager(today))

    assert len(good(maya.get("actions"), "ActionList")["items"]) == 1
    for verb, body in BODIES.items():
        problem(maya.post(f"actions/{only(wish).pk}/{verb}", body), 403, "forbidden")


def test_a_token_needs_the_scope(wish: Proposal) -> None:
    reader = as_agent(AGENT, "resources:read", "status:write")

    assert reader.get("actions").status_code == 200
    told = problem(claim(reader, wish), 403, "forbidden")
    assert told["detail"] == "This token lacks the scope actions:write."


@pytest.mark.parametrize("verb", BODIES)
@pytest.mark.parametrize("where", Step.State.values)
def test_every_state_takes_only_the_verbs_that_fit(
    scribe: Api, wish: Proposal, where: str, verb: str
) -> None:
    later = timezone.now() + timedelta(minutes=1)
    row = Step.objects.filter(pk=only(wish).pk)
    row.update(state=where, fence=1, epoch=holds.epoch(), deadline=later)
    fits = {"waiting": ("claim",), "claimed": ("heartbeat", "progress", "result")}
    entries = LedgerEvent.objects.count()

    answer = scribe.post(f"actions/{only(wish).pk}/{verb}", BODIES[verb])

    if verb in fits.get(where, ()):
        assert answer.status_code == 200, answer.content
    else:
        problem(answer, 409, "taken")
        assert only(wish).state == where
        # Only a result that came too late leaves a trace.
        late = [each for each in story(wish) if each == "late-result"]
        assert len(late) == (verb == "result")
        assert LedgerEvent.objects.count() == entries + len(late)


def test_a_person_who_says_no_is_heard_with_the_epoch(
    today: Clock, scribe: Api, wish: Proposal
) -> None:
    """I2"""
    held = claim(scribe, wish).json()
    placed = stop(today)

    for verb in ("heartbeat", "progress"):
        told = problem(tell(scribe, wish, verb, held, **percent(verb)), 423, "stopped")
        assert (told["epoch"], "Fire." in told["detail"]) == (str(holds.epoch()), True)
    body = {"outcome": "failure", "class": "stopped", "detail": "As told."}
    good(tell(scribe, wish, "result", held, **body), "Action")
    assert state(wish) == "approved"

    run(today)
    problem(claim(scribe, wish), 423, "stopped")
    holds.lift(placed.hold.pk, person=manager(today), now=timezone.now(), reason="It is out.")
    today.now = timezone.now() + timedelta(minutes=1)
    run(today)
    assert good(claim(scribe, wish), "Claim")["key"] == held["key"]


def test_a_hold_keeps_work_from_being_claimed(today: Clock, scribe: Api, wish: Proposal) -> None:
    """I2"""
    stop(today)

    assert problem(claim(scribe, wish), 423, "stopped")["epoch"] == str(holds.epoch())
    assert only(wish).state == "waiting"


def percent(verb: str) -> dict[str, int]:
    return {"percent": 5} if verb == "progress" else {}


def test_an_epoch_from_before_is_answered_with_the_present_one(
    today: Clock, scribe: Api, wish: Proposal
) -> None:
    """I2"""
    held = claim(scribe, wish).json()
    other = agent(today, "editor")
    wanted = holds.HoldRequest(kind="pause", scope="resource", reason="Not it.", resource=other.pk)
    holds.place(wanted, person=manager(today), now=timezone.now())

    told = problem(tell(scribe, wish, "heartbeat", held), 409, "stale-epoch")
    good(tell(scribe, wish, "heartbeat", held | {"epoch": told["epoch"]}), "Claim")


def test_a_claim_that_is_not_kept_returns_and_another_process_gets_it(
    scribe: Api, wish: Proposal
) -> None:
    """I3 O-36"""
    held = claim(scribe, wish).json()
    past = timezone.now() - timedelta(seconds=1)
    Step.objects.filter(pk=only(wish).pk).update(deadline=past)
    problem(tell(scribe, wish, "heartbeat", held), 409, "taken")
    execution.recover(timezone.now())

    another = as_agent()
    (offered,) = another.get("actions", "state=claimable").json()["items"]
    mine = good(claim(another, wish), "Claim")
    assert (int(mine["fence"]) > int(held["fence"]), mine["key"]) == (True, offered["key"])

    problem(tell(scribe, wish, "result", held, **SUCCESS), 409, "taken")
    assert only(wish).state == "claimed"
    entry = LedgerEvent.objects.get(stream=wish.stream, event="proposal.late-result")
    assert (entry.payload["fence"], entry.payload["word"]) == (int(held["fence"]), "done")
    good(tell(another, wish, "result", mine, **SUCCESS), "Action")


def test_a_repeated_claim_gets_the_same_claim(scribe: Api, wish: Proposal) -> None:
    first = good(claim(scribe, wish, idempotency_key="c1"), "Claim")

    assert good(claim(scribe, wish, idempotency_key="c1"), "Claim") == first
    problem(claim(scribe, wish, idempotency_key="c2"), 409, "taken")
    problem(claim(scribe, wish), 409, "taken")
    assert only(wish).attempts == 1


def test_a_repeated_result_is_heard_once(scribe: Api, wish: Proposal) -> None:
    held = claim(scribe, wish).json()
    named = {"headers": {"idempotency_key": "r1"}}
    first = good(tell(scribe, wish, "result", held, **SUCCESS, **named), "Action")

    assert good(tell(scribe, wish, "result", held, **SUCCESS, **named), "Action") == first
    other = tell(scribe, wish, "result", held, outcome="success", **named)
    assert "Another result" in problem(other, 409, "refused")["detail"]
    assert (story(wish).count("step-done"), story(wish).count("late-result")) == (1, 0)


@every_row(
    ("verb", "body", "pointer"),
    [
        ("claim", {"ttl": 5}, "/ttl"),
        ("heartbeat", {"epoch": "1"}, "/fence"),
        ("heartbeat", {"fence": "x", "epoch": "1"}, "/fence"),
        ("heartbeat", {"fence": True, "epoch": "1"}, "/fence"),
        ("heartbeat", {"fence": "1"}, "/epoch"),
        ("heartbeat", {"fence": "9" * 40, "epoch": "1"}, "/fence"),
        ("progress", BEAT, "/percent"),
        ("progress", BEAT | {"percent": 101}, "/percent"),
        ("progress", BEAT | {"percent": 1.5}, "/percent"),
        ("progress", BEAT | {"note": "x" * 201}, "/note"),
        ("progress", BEAT | {"note": 7}, "/note"),
        ("result", {"fence": "1"}, "/outcome"),
        ("result", {"fence": "1", "outcome": "perhaps"}, "/outcome"),
        ("result", {"fence": "1", "outcome": "failure"}, "/class"),
        ("result", {"fence": "1", "outcome": "success", "class": "transient"}, "/class"),
        ("result", {"fence": "1", "outcome": "success", "outputs": []}, "/outputs"),
        (
            "result",
            {"fence": "1", "outcome": "success", "outputs": {"a": "x" * 17_000}},
            "/outputs",
        ),
        ("result", {"fence": "1", "outcome": "success", "detail": "x" * 501}, "/detail"),
    ],
    rolled_back=True,
)
def test_what_is_badly_said_is_refused_with_its_place(
    scribe: Api, wish: Proposal, verb: str, body: dict[str, Any], pointer: str
) -> None:
    entries = LedgerEvent.objects.count()
    told = problem(scribe.post(f"actions/{only(wish).pk}/{verb}", body), 400, "invalid")

    assert told["pointer"] == pointer
    assert (only(wish).state, LedgerEvent.objects.count()) == ("waiting", entries)


@pytest.mark.parametrize("query", ["state=lost", "mine=true", "limit=0", "cursor=x"])
def test_unknown_filters_are_refused(scribe: Api, query: str) -> None:
    problem(scribe.get("actions", query), 400, "invalid")


@pytest.mark.parametrize("name", ["0", "999", "x", "1e3"])
def test_work_that_is_not_there_is_not_found(scribe: Api, name: str) -> None:
    problem(scribe.post(f"actions/{name}/claim", {}), 404, "not-found")


def test_a_long_list_comes_in_pages(today: Clock, scribe: Api, wish: Proposal) -> None:
    row = only(wish)
    for number in range(2, 5):
        row.pk, row.sequence, row.key = None, number, f"{number}" * 64
        row.save()

    first = scribe.get("actions", "limit=3").json()
    rest = scribe.get("actions", f"limit=3&cursor={first['nextCursor']}").json()

    sequences = [each["sequence"] for each in (*first["items"], *rest["items"])]
    assert (sequences, "nextCursor" in rest) == ([1, 2, 3, 4], False)


# Progress


def test_progress_is_told_now_and_then_and_at_the_end(scribe: Api, wish: Proposal) -> None:
    held = claim(scribe, wish).json()
    for percent in (10, 20, 30):
        tell(scribe, wish, "progress", held, percent=percent, note="Draining.")
    assert (story(wish).count("progressed"), only(wish).percent) == (1, 30)

    past = timezone.now() - timedelta(seconds=6)
    Step.objects.filter(pk=only(wish).pk).update(noted_at=past)
    tell(scribe, wish, "progress", held, percent=40)
    tell(scribe, wish, "progress", held, percent=100)
    tell(scribe, wish, "progress", held, percent=100)

    told = LedgerEvent.objects.filter(event="proposal.progressed").order_by("pk")
    assert [each.payload["percent"] for each in told] == [10, 40, 100]
    assert {each.actor for each in told} == {f"agent/{AGENT}"}


def test_what_a_worker_says_is_quoted_and_harmless(
    today: Clock, scribe: Api, wish: Proposal
) -> None:
    """I8 The page shows the words as words, with what hides in them made visible."""
    held = claim(scribe, wish).json()
    note = "<script>alert(1)</script>\n\u202eevorppa\u200b <a href='//x'>ok</a>"
    tell(scribe, wish, "progress", held, percent=40, note=note)

    page = as_user(manager(today)).client.get(f"/approvals/{wish.pk}").content.decode()

    shown = "&lt;script&gt;alert(1)&lt;/script&gt; [U+202E]evorppa[U+200B] &lt;a href="
    assert f"40% done, which says <q>{shown}" in " ".join(page.split())
    assert f"is 40% through “Restart” of P-{wish.pk}: “{shown}" in page
    for raw in ("<script>alert(1)", "\u202e", "\u200b", "<a href='//x'"):
        assert raw not in page


@pytest.mark.django_db(transaction=True)
def test_progress_reaches_a_page_that_is_open(today: Clock) -> None:
    """I21"""
    wish = waiting(today)
    scribe = as_agent()
    held = claim(scribe, wish).json()
    seat = Seat(f"/approvals/{wish.pk}", versions.horizon())
    tell(scribe, wish, "progress", held, percent=40, note="Draining.")

    # In a thread, for its connection is closed when the round is over.
    with ThreadPoolExecutor(1) as other:
        told = other.submit(broadcast.publish, {seat}, 0).result().messages[seat]

    assert "40% done, which says" in told


def test_a_new_claim_begins_without_the_words_of_the_last(scribe: Api, wish: Proposal) -> None:
    held = claim(scribe, wish).json()
    tell(scribe, wish, "progress", held, percent=40, note="Draining.")
    Step.objects.filter(pk=only(wish).pk).update(deadline=timezone.now() - timedelta(seconds=1))
    execution.recover(timezone.now())
    claim(scribe, wish)

    assert (only(wish).percent, only(wish).note) == (None, "")


# Races and costs


@pytest.mark.servers
@pytest.mark.usefixtures("real_database")
@pytest.mark.django_db(transaction=True)
def test_of_eight_who_claim_one_action_exactly_one_succeeds(today: Clock) -> None:
    """I3"""
    wish = waiting(today)
    crowd = [as_agent() for _ in range(8)]
    key = only(wish).pk

    answers = together([partial(who.post, f"actions/{key}/claim", {}) for who in crowd])

    codes = sorted(each.status_code for each in answers)
    assert codes == [200] + [409] * 7
    assert (only(wish).attempts, story(wish).count("claimed")) == (1, 1)


@pytest.mark.parametrize("count", [4, 40])
def test_work_costs_the_same_for_4_and_40(today: Clock, count: int) -> None:
    wishes = [waiting(today, f"a{number}") for number in range(2)]
    row = only(wishes[0])
    for number in range(2, count):
        row.pk, row.sequence, row.key = None, number, f"{number:064}"
        row.save()
    who = as_agent("a1")
    who.get("actions")
    as_agent("a0").get("actions")
    first = as_agent("a0")
    first.get("actions")
    # As every process does when it starts.
    restore_watch.look(today.now)

    with queries("GET actions"):
        assert first.get("actions", "limit=200").status_code == 200
    with queries("POST actions/{id}/claim"):
        held = claim(who, wishes[1]).json()
    with queries("POST actions/{id}/heartbeat"):
        assert tell(who, wishes[1], "heartbeat", held).status_code == 200
    with queries("POST actions/{id}/progress"):
        assert tell(who, wishes[1], "progress", held, percent=5).status_code == 200
    with queries("POST actions/{id}/result"):
        assert tell(who, wishes[1], "result", held, **SUCCESS).status_code == 200
    assert now(wishes[1]).state == "verifying"
