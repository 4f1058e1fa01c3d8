"""How to begin: the example, documents of one's own, and what the page tells people to type."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponseBase
from django.test import Client

from controllers.access import people
from ioa_site.settings import environment
from resources.documents import validation
from resources.documents.yaml_text import read_all
from resources.tables.models import LedgerEvent, Resource
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.web.conftest import SignIn
from tests.web.test_overview import text_of, without_secrets

pytestmark = pytest.mark.sqlite

DOMAIN = """apiVersion: ioa.dev/v0.2
kind: Domain
metadata:
  name: growth
spec:
  purpose: Win customers and keep them.
"""
AGENT = """apiVersion: ioa.dev/v0.2
kind: Agent
metadata:
  name: scribe
spec:
  domain: nowhere
  type: supervised
  purpose: Write it down.
"""
BROKEN = """apiVersion: ioa.dev/v0.2
kind: Domain
metadata:
  name: broken
spec:
  purpose: 7
"""
PARTS = ("welcome-head", "guide", "starts", "stages")


@pytest.fixture
def admin(transactional_db: None, clock: Clock, sign_in: SignIn) -> Client:
    """Return an administrator's browser, before there is anything."""
    people.ensure_administrator(clock.now)
    people.ensure_samples(clock.now)
    return sign_in("admin")


def test_an_empty_organisation_offers_three_ways_to_start(admin: Client) -> None:
    said = text_of(admin.get("/welcome"))

    assert "Your organisation is empty. Start in one of three ways." in said
    assert "6 domains, 23 agents, 6 budgets, 5 workflows, 6 controllers and more" in said
    assert "95 resources in all" in said
    assert "Until your first decision 1 of 5" in said


def test_the_example_is_loaded_with_one_click_and_by_name(admin: Client) -> None:
    answer = admin.post("/welcome/example", follow=True)

    assert answer.redirect_chain == [("/", 303)]
    assert "Loaded 95 resources." in text_of(answer)
    assert Resource.objects.count() == 95
    assert LedgerEvent.objects.get(event="example.loaded").actor == "person/admin"


@pytest.mark.parametrize("username", ["vera", "maya"])
def test_whoever_may_not_add_resources_sees_no_button_and_is_refused(
    admin: Client, sign_in: SignIn, username: str
) -> None:
    client = sign_in(username)
    page = client.get("/welcome")

    assert b"<form" not in page.content.split(b'id="starts"')[1].split(b"How it works")[0]
    assert b"Create a token" not in page.content
    for refused in (client.post("/welcome/example"), client.get("/welcome/apply")):
        assert refused.status_code == 403
        assert "Only operators and administrators may add resources." in text_of(refused)
    assert client.post("/welcome/apply", {"text": DOMAIN, "step": "check"}).status_code == 403
    assert not Resource.objects.exists()


def test_the_example_stays_out_of_somebodys_own_data(admin: Client) -> None:
    apply_text(admin, DOMAIN)

    refused = admin.post("/welcome/example")

    assert refused.status_code == 409
    assert "already holds an organisation" in text_of(refused)
    assert Resource.objects.count() == 1


def test_the_example_is_not_loaded_by_a_look(admin: Client) -> None:
    assert admin.get("/welcome/example").status_code == 405


def test_documents_are_shown_before_anything_is_saved(admin: Client) -> None:
    answer = admin.post("/welcome/apply", {"text": DOMAIN, "source": "", "step": "check"})

    assert answer.status_code == 200
    assert "1 resource would change. Nothing is saved yet." in text_of(answer)
    assert "growth Domain Created" in text_of(answer)
    assert not Resource.objects.exists()


def test_what_was_looked_at_is_applied(admin: Client) -> None:
    answer = apply_text(admin, DOMAIN)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/resources")
    created = LedgerEvent.objects.get(event="resource.created")
    assert (created.subject, created.actor) == ("domain/growth", "person/admin")


def apply_text(client: Client, text: str) -> HttpResponseBase:
    """Look at a document, then apply it."""
    looked = client.post("/welcome/apply", {"text": text, "source": "", "step": "check"})
    return client.post("/welcome/apply", fields(looked.content) | {"step": "apply"})


def fields(content: bytes) -> dict[str, str]:
    """Return what a form of one text holds."""
    page = content.decode()
    seen = re.search(r'name="seen" value="(\w+)"', page)
    source = re.search(r'name="source" value="([^"]*)"', page)
    text = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert seen
    assert source
    assert text
    return {"seen": seen[1], "source": unescape(source[1]), "text": unescape(text[1])}


def test_a_text_that_was_changed_since_is_shown_again_instead(admin: Client) -> None:
    looked = admin.post("/welcome/apply", {"text": DOMAIN, "source": "", "step": "check"})
    other = fields(looked.content) | {"text": DOMAIN.replace("growth", "other"), "step": "apply"}

    answer = admin.post("/welcome/apply", other)

    assert answer.status_code == 409
    assert "The text is another one than you looked at." in text_of(answer)
    assert "other Domain Created" in text_of(answer)
    assert not Resource.objects.exists()


def test_a_change_names_the_fields_it_touches(admin: Client) -> None:
    apply_text(admin, DOMAIN)

    text = DOMAIN.replace("Win customers and keep them.", "Grow.")
    answer = admin.post("/welcome/apply", {"text": text, "source": "", "step": "check"})

    said = text_of(answer)
    assert '/spec/purpose "Win customers and keep them." "Grow."' in said
    assert "growth Domain Changed" in said


def test_the_same_again_changes_nothing(admin: Client) -> None:
    apply_text(admin, DOMAIN)

    answer = admin.post("/welcome/apply", {"text": DOMAIN, "source": "", "step": "check"})

    assert "Nothing would change." in text_of(answer)
    assert b'value="apply"' not in answer.content


def test_every_error_is_named_by_file_and_line_and_nothing_is_saved(admin: Client) -> None:
    files = [
        SimpleUploadedFile("good.yaml", DOMAIN.encode()),
        SimpleUploadedFile("bad.yaml", BROKEN.encode()),
        SimpleUploadedFile("torn.yaml", b"kind: [unclosed"),
        SimpleUploadedFile("latin.yaml", b"\xff\xfe\x00"),
    ]

    answer = admin.post("/welcome/apply", {"files": files, "step": "apply"})

    said = text_of(answer)
    assert answer.status_code in (409, 400)
    assert "bad.yaml, line 6, /spec/purpose" in said
    assert "torn.yaml" in said
    assert "latin.yaml" in said
    assert "not UTF-8" in said
    assert not Resource.objects.exists()


def test_what_was_typed_stays_when_it_is_refused(admin: Client) -> None:
    text = BROKEN + "# <b>mine</b>\n"

    answer = admin.post("/welcome/apply", {"text": text, "source": "", "step": "check"})

    assert answer.status_code == 400
    assert fields(answer.content)["text"] == text


def test_a_name_that_nobody_has_yet_is_a_warning_only(admin: Client) -> None:
    answer = admin.post("/welcome/apply", {"text": AGENT, "source": "", "step": "check"})

    assert answer.status_code == 200
    assert "Good to know" in text_of(answer)
    assert "nowhere" in text_of(answer)
    assert b'value="apply"' in answer.content


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Choose files or paste a document first."),
        ({"text": "   "}, "Choose files or paste a document first."),
        ({"text": "x" * (1024 * 1024 + 1)}, "That is more than 1 MB."),
        ({"text": "\x00"}, "to mend"),
        ({"text": "{"}, "to mend"),
        ({"text": "just words"}, "Not an IOA document"),
        ({"text": "[" * 5000}, "to mend"),
        ({"text": DOMAIN, "source": "\x00" * 10, "step": "\x00", "seen": "é"}, "would change"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(
    admin: Client, given: dict[str, str], sentence: str
) -> None:
    answer = admin.post("/welcome/apply", given)

    assert answer.status_code in (200, 400, 413)
    assert sentence in text_of(answer)
    assert not Resource.objects.exists()


def test_the_checklist_is_read_from_the_database(maya: Client) -> None:
    said = text_of(maya.get("/welcome", headers={"Live-Parts": "stages"}))

    assert "4 of 5" in said
    assert "Decide on your first proposal , to do" in said
    assert "You are signed in as Maya Chen , done" in said


@pytest.mark.parametrize("name", PARTS)
def test_a_part_alone_is_what_it_is_in_the_page(admin: Client, name: str) -> None:
    whole = without_secrets(admin.get("/welcome").content)

    alone = without_secrets(admin.get("/welcome", headers={"Live-Parts": name}).content)

    assert f'id="{name}"' in alone
    assert alone.strip() in whole


def test_the_first_document_is_valid(admin: Client) -> None:
    page = admin.get("/welcome/apply").content.decode()
    shown = re.search(r'id="first-document">(.*?)</pre>', page, re.DOTALL)
    assert shown

    documents = read_all(unescape(re.sub(r"<[^>]+>", "", shown[1])))

    assert [document["kind"] for document in documents] == ["Domain", "Agent"]
    assert [problem for document in documents for problem in validation.check(document)] == []


def test_the_commands_name_this_product(admin: Client) -> None:
    said = text_of(admin.get("/welcome", headers={"host": "localhost:8123"}))

    assert "http://localhost:8123/api/v1/resources/agent/growth-optimizer/status" in said
    assert "./ioa apply -f" in said
    assert set(re.findall(r"\bIOA_\w+", said)) <= environment.KNOWN


def test_without_scripts_there_is_no_button_that_needs_them(admin: Client) -> None:
    for address in ("/welcome", "/welcome/apply"):
        buttons = re.findall(r"<button[^>]*data-act=[^>]*>", admin.get(address).content.decode())

        assert buttons
        assert all(" hidden" in each for each in buttons)


def test_only_staff_is_offered_the_admin_site(admin: Client, sign_in: SignIn) -> None:
    assert ">Admin<" in admin.get("/welcome").content.decode()
    assert ">Admin<" not in sign_in("vera").get("/welcome").content.decode()


def test_the_page_takes_a_known_number_of_statements(admin: Client) -> None:
    admin.get("/welcome")
    seen = statements(admin, "/welcome")

    assert expected("web", "welcome", seen) == seen
