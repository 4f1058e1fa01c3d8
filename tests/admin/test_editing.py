"""Edit as YAML: type, review, save; problems at their lines; nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from resources.admin.typed_document import skeleton
from resources.documents import kinds, validation
from resources.documents.kind import Kind
from resources.documents.yaml_text import write_yaml
from resources.tables.models import LedgerEvent, ResourceRevision
from tests.admin.pages import form, kept, marked, of, said, url
from tests.conftest import Clock
from tests.resources.making import everything, live, made, report

pytestmark = pytest.mark.django_db

PURPOSE = ("Plan berths.", "Plan every berth.")


def test_the_form_shows_the_declaration_and_nothing_of_the_server(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    report(clock.now, "robin", {"state": "running"})

    page = operator.get(of("Agent", "robin"))

    assert kept(page).startswith(
        "apiVersion: ioa.dev/v0.2\nkind: Agent\nmetadata:\n  name: robin\n"
    )
    assert not any(word in kept(page) for word in ("status", "uid", "resourceVersion", "running"))
    assert kept(page, "version") == str(live("Agent", "robin").resource_version)


def test_review_shows_the_difference_and_writes_nothing(harbour: Any, operator: Client) -> None:
    before = everything()

    page = operator.post(of("Agent", "robin"), form("Agent", "robin", PURPOSE, review="1"))

    assert page.status_code == 200
    assert "Nothing is saved yet. Changed spec.purpose." in said(page)
    assert "<del>  purpose: Plan berths.</del>" in page.content.decode()
    assert "<ins>  purpose: Plan every berth.</ins>" in page.content.decode()
    assert everything() == before


def test_save_writes_through_the_use_case_with_the_reason(harbour: Any, operator: Client) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1", message="Ships wait.")

    answer = operator.post(of("Agent", "robin"), sent)

    row = live("Agent", "robin")
    revision = ResourceRevision.objects.get(resource_version=row.resource_version)
    assert answer.headers["Location"] == "/resources/agent/robin"
    assert (row.spec["purpose"], row.generation) == ("Plan every berth.", 2)
    assert (revision.actor, revision.message) == ("person/ines", "Ships wait.")
    assert LedgerEvent.objects.filter(event="resource.spec-changed", actor="person/ines").exists()
    assert "Saved robin, generation 2." in said(operator.get("/resources/agent/robin"))


def test_going_back_to_editing_keeps_what_was_typed(harbour: Any, operator: Client) -> None:
    sent = form("Agent", "robin", PURPOSE, edit="1", message="Ships wait.")
    sent["text"] += "# a thought\n"

    page = operator.post(of("Agent", "robin"), sent)

    assert kept(page) == sent["text"]
    assert kept(page, "message") == "Ships wait."
    assert kept(page, "version") == str(sent["version"])


def test_the_review_carries_the_typed_text_word_for_word(harbour: Any, operator: Client) -> None:
    sent = form("Agent", "robin", PURPOSE, review="1")
    sent["text"] = '# "why" & <what>\n' + sent["text"].replace("\n", "\r\n")

    page = operator.post(of("Agent", "robin"), sent)

    assert kept(page).replace("\r\n", "\n") == sent["text"].replace("\r\n", "\n")


@pytest.mark.parametrize("step", ["review", "save"])
def test_no_change_says_so_and_writes_nothing(harbour: Any, operator: Client, step: str) -> None:
    before = everything()

    page = operator.post(of("Agent", "robin"), form("Agent", "robin", **{step: "1"}))

    assert "declares what is declared already. Nothing was saved." in said(page)
    assert everything() == before


@pytest.mark.parametrize(
    ("change", "line", "pointer", "message"),
    [
        (("type: supervised", "type: loud"), 7, "/spec/type", "spec.type must be one of"),
        (("  purpose: Plan berths.\n", ""), 5, "/spec/purpose", "spec.purpose is required."),
        (("name: robin", "name: wren"), 4, "/metadata/name", "must stay robin"),
        (("kind: Agent", "kind: Domain"), 2, "/kind", "kind must be Agent on this page."),
        (("kind: Agent", "kind: Agent\nkind: Agent"), 3, "/kind", "This key is given twice."),
        (("type: supervised", "type: [unclosed"), 8, "", "This is not YAML"),
        (("apiVersion:", "--- 1\n---\napiVersion:"), 1, "", "Give exactly one document here"),
    ],
)
def test_problems_are_listed_with_line_and_pointer(
    harbour: Any,
    operator: Client,
    change: tuple[str, str],
    line: int,
    pointer: str,
    message: str,
) -> None:
    sent = form("Agent", "robin", change, review="1")

    page = operator.post(of("Agent", "robin"), sent)
    live_check = operator.post(of("Agent", "robin", "check_one"), sent).json()

    marks = marked(page)
    first = marks[0]
    assert page.status_code == 400
    assert (first["line"], first["pointer"]) == (line, pointer)
    assert message in first["message"]
    assert f"Line {line}" in said(page)
    assert message in said(page)
    assert live_check == marks
    assert kept(page) == sent["text"]


def test_a_name_that_leads_nowhere_is_a_warning_that_can_be_saved(
    harbour: Any, operator: Client
) -> None:
    sent = form("Agent", "robin", ("domain: harbour", "domain: pier"), review="1")

    page = operator.post(of("Agent", "robin"), sent)

    assert page.status_code == 200
    assert 'Warning. Domain "pier" does not exist. /spec/domain' in said(page)


def test_a_document_too_large_is_refused_with_its_text(harbour: Any, operator: Client) -> None:
    words = "\n".join(f"    - {'x' * 1000}" for _ in range(140))
    sent = form("Agent", "robin", review="1")
    sent["text"] += f"  constraints:\n{words}\n"

    page = operator.post(of("Agent", "robin"), sent)

    assert page.status_code == 400
    assert "This is larger than 128 kB. /spec" in said(page)
    assert kept(page) == sent["text"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("message", "x" * 501), ("message", "a\x00b"), ("version", "soon"), ("version", "")],
)
def test_a_field_that_does_not_fit_keeps_the_text(
    harbour: Any, operator: Client, field: str, value: str
) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1") | {field: value}

    page = operator.post(of("Agent", "robin"), sent)

    assert page.status_code == 400
    assert kept(page) == sent["text"]
    assert live("Agent", "robin").generation == 1


def test_an_older_spelling_is_shown_the_way_it_will_be_stored(
    harbour: Any, operator: Client
) -> None:
    sent = form("Agent", "robin", ("ioa.dev/v0.2", "ioa.dev/v0.1"), PURPOSE, review="1")

    page = operator.post(of("Agent", "robin"), sent)

    assert "added spec.role" in said(page)
    assert "<ins>apiVersion" not in page.content.decode()


def test_a_version_typed_into_the_text_does_not_stand_in_the_way(
    harbour: Any, operator: Client
) -> None:
    sent = form(
        "Agent", "robin", PURPOSE, ("  name: robin\n", '  name: robin\n  resourceVersion: "1"\n')
    )

    review = operator.post(of("Agent", "robin"), sent | {"review": "1"})
    saved = operator.post(of("Agent", "robin"), sent | {"save": "1"})

    assert (review.status_code, saved.status_code) == (200, 302)


@pytest.mark.parametrize("kind", kinds.ALL, ids=lambda kind: kind.name)
def test_a_skeleton_holds_what_its_kind_requires(kind: Kind) -> None:
    missing = [each for each in validation.check(skeleton(kind)) if each.message == "is required"]

    assert missing == []


def test_adding_goes_through_review_and_save(harbour: Any, operator: Client) -> None:
    sent = {
        "text": write_yaml(made("Domain", "pier", {"purpose": "Hold ships."})),
        "message": "",
        "version": 0,
    }

    review = operator.post(url("domain", "add"), sent | {"review": "1"})
    saved = operator.post(url("domain", "add"), sent | {"save": "1"})

    assert "This creates domain pier." in said(review)
    assert saved.headers["Location"] == "/resources/domain/pier"
    assert live("Domain", "pier").spec == {"purpose": "Hold ships."}


@pytest.mark.parametrize("step", ["review", "save"])
def test_adding_a_name_that_exists_is_told_and_writes_nothing(
    harbour: Any, operator: Client, step: str
) -> None:
    sent = form("Agent", "robin", PURPOSE, version=0, **{step: "1"})
    before = everything()

    page = operator.post(url("agent", "add"), sent)

    assert page.status_code == 409
    assert "Agent robin exists already." in said(page)
    assert kept(page) == sent["text"]
    assert everything() == before


def test_the_check_answers_only_to_post(harbour: Any, operator: Client) -> None:
    assert operator.get(of("Agent", "robin", "check_one")).status_code == 405
    assert operator.get(url("agent", "check")).status_code == 405


def test_every_form_needs_the_token_against_forgery(harbour: Any, operator: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies

    for page in (of("Agent", "robin"), of("Agent", "robin", "check_one"), url("agent", "add")):
        assert strict.post(page, form("Agent", "robin")).status_code == 403


def test_a_status_in_the_text_is_taken_as_the_first_report(harbour: Any, operator: Client) -> None:
    sent = form("Agent", "robin", PURPOSE)
    sent["text"] += "status:\n  state: idle\n"

    review = operator.post(of("Agent", "robin"), sent | {"review": "1"})
    operator.post(of("Agent", "robin"), sent | {"save": "1"})

    assert "status is taken only while nothing was reported" in said(review)
    assert live("Agent", "robin").status == {"state": "idle"}
