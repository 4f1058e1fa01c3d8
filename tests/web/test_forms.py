"""Every form keeps what was typed, says above what is wrong, and marks what that is about."""

from __future__ import annotations

import re

import pytest
from django import forms
from django.http import QueryDict
from django.test import Client

from controllers.models import Hold
from controllers.web import urls
from controllers.web.base.form import ChosenField, FormPage, MomentInput, TypedField, WebForm

NEW = "/overrides/new"
PAUSE = {"kind": "pause", "on": "controller/agent-performance", "lasts": "8h"}


class Order(WebForm):
    """One field of each sort."""

    ids = "order-%s"

    what = TypedField("What", needed=True, hint="As it is called.", list="things", maxlength="9")
    why = TypedField("Why?", forms.Textarea(), needed=True)
    when = TypedField("When", MomentInput())
    size = TypedField("Size", forms.RadioSelect(choices=[("s", "Small"), ("l", "Large")]))
    place = TypedField("Where", forms.Select(), initial="b")
    extras = ChosenField("With")


def order(**typed: str) -> Order:
    """Return the form with what somebody typed."""
    query = QueryDict(mutable=True)
    query.update(typed)
    return Order(query)


def test_a_field_has_its_label_its_hint_and_what_was_typed() -> None:
    shown = order(what='<a "b">')["what"].as_field_group()

    assert '<label for="order-what">What</label>' in shown
    assert 'value="&lt;a &quot;b&quot;&gt;"' in shown
    assert 'aria-describedby="order-what_helptext"' in shown
    assert '<p class="hint" id="order-what_helptext">As it is called.</p>' in shown
    assert "required" in shown
    assert 'maxlength="9"' in shown


def test_a_field_suggests_words_only_where_there_are_some() -> None:
    form = order()
    assert "datalist" not in form["what"].as_field_group()

    form.suggest("what", lambda: ["tea", "<milk>"])

    shown = form["what"].as_field_group()
    assert 'list="things"' in shown
    assert '<datalist id="things">' in shown
    assert '<option value="&lt;milk&gt;">' in shown


def test_a_choice_that_was_made_stays_made() -> None:
    form = order(size="l", place="c", extras="y")
    form.offer("place", lambda: [("b", "Bar"), ("c", "Café")])
    form.offer("extras", lambda: [("x", "Ice"), ("y", "Lemon")])

    assert re.findall(r'value="(\w)"[^>]* checked', form["size"].as_field_group()) == ["l"]
    assert '<option value="c" selected>' in form["place"].as_field_group()
    assert re.findall(r'value="(\w)"[^>]* checked', form["extras"].as_field_group()) == ["y"]
    assert (
        form["size"]
        .as_field_group()
        .replace("\n", "")
        .replace("  ", "")
        .startswith('<fieldset class="field"><legend>Size</legend>')
    )


def test_before_anything_is_typed_the_usual_is_chosen() -> None:
    assert (Order().text("place"), Order().text("what"), Order().chosen("extras")) == ("b", "", [])
    assert Order(initial={"what": "tea"}).text("what") == "tea"


def test_a_time_says_in_which_zone() -> None:
    shown = order()["when"].as_field_group()

    assert "<span data-zone>(UTC)</span>" in shown
    assert 'type="datetime-local"' in shown


def test_a_form_refuses_nothing_by_itself() -> None:
    form = order(size="huge", extras="no such", what="x\x00" * 99)

    assert form.is_valid()
    assert form.cleaned_data["what"] == "x\x00" * 99


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        ({}, ["what", "why"]),
        ({"what": "tea"}, ["why"]),
        ({"what": "tea", "why": "  "}, ["why"]),
        ({"what": "tea", "why": "thirst"}, ["place"]),
    ],
)
def test_a_refusal_marks_what_was_left_empty_or_what_it_is_about(
    typed: dict[str, str], marked: list[str]
) -> None:
    form = order(**typed)

    form.mark("place")

    found = [name for name in form.fields if "aria-invalid" in form[name].as_widget()]
    assert found == marked


def test_marking_one_form_marks_no_other() -> None:
    order().mark("")

    assert "aria-invalid" not in order()["what"].as_field_group()


def test_what_is_marked_is_described_by_the_sentence_above(ines: Client) -> None:
    answer = ines.post(NEW, {**PAUSE, "reason": " "}, headers={"HX-Request": "true"})
    html = answer.content.decode()

    assert answer.status_code == 400
    assert not Hold.objects.exists()
    assert re.search(r'role="alert" id="form-problem">.*?<p>[A-Z][^<]+</p>', html)
    assert 'aria-describedby="form-problem"' in html
    assert 'value="controller/agent-performance"' in html
    assert '<option value="8h" selected>' in html


def test_a_hint_still_describes_what_is_marked() -> None:
    form = order()

    form.mark("")

    shown = form["what"].as_field_group()
    assert 'aria-describedby="order-what_helptext form-problem"' in shown


def test_every_form_of_a_page_is_the_one_form() -> None:
    assert urls.urlpatterns
    waiting, found = [FormPage], []
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found.append(kind.form_class)

    assert len(found) > 10
    assert all(issubclass(kind, WebForm) for kind in found)
