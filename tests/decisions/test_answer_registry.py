"""Every answer is one object, and everything about it follows from there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from controllers.decisions import answers
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.answers.proposal_answer import AnswerField
from controllers.engine.proposal_lifecycle import ANSWERS

pytestmark = pytest.mark.sqlite
APPROVE, CHANGE = answers.find("approve"), answers.find("change")


def test_every_answer_of_the_lifecycle_has_its_object() -> None:
    assert {each.verb for each in answers.ALL if each.leads} == set(ANSWERS)
    assert {each.verb for each in answers.ALL if not each.leads} == {
        "pause",
        "review",
        "repropose",
    }


@pytest.mark.parametrize("each", answers.ALL, ids=lambda each: each.name)
def test_a_verb_of_the_package_is_what_is_done(each: ProposalAnswer) -> None:
    """The module of an answer never stands in the way of its use case."""
    known = getattr(answers, each.verb, each.use_case)

    assert known is each.use_case or each.verb in ("pause", "repropose")
    assert answers.find(each.name) is answers.said_with(each.verb) is each


@pytest.mark.parametrize("each", answers.ALL, ids=lambda each: each.name)
def test_an_answer_has_words_for_everything(each: ProposalAnswer) -> None:
    assert each.who.endswith(".")
    assert each.success.endswith(".")
    assert (each.sentence is not None) == (each.leads or each.verb == "review")
    for field in each.fields:
        assert not each.in_api or (field.help and field.example is not None)
        assert not field.on_page or field.label or field.type == "parameters"


@pytest.mark.parametrize(
    ("wrong", "about"),
    [
        ({"verb": "a_verb_that_is_too_long"}, "more than"),
        ({"key": "j"}, "is taken"),
        ({"key": "ab"}, "is taken"),
    ],
)
def test_what_no_table_or_page_could_hold_is_refused(wrong: dict[str, Any], about: str) -> None:
    assert APPROVE
    with pytest.raises(ValueError, match=about):
        replace(APPROVE, **wrong)


def test_what_asks_about_one_plan_is_not_said_about_many() -> None:
    assert CHANGE
    with pytest.raises(ValueError, match="about many"):
        replace(CHANGE, together=True)


@pytest.mark.parametrize(
    ("given", "value", "fault"),
    [
        ({"type": "text", "required": True}, "", "This is needed."),
        ({"type": "text"}, "", ""),
        ({"type": "text"}, "x" * 2_001, "It has at most 2000 characters."),
        ({"type": "number"}, float("inf"), "That is no number."),
        ({"type": "number"}, 0, ""),
        ({"type": "choice", "choices": {"a": "A"}}, "b", "It is one of a."),
        ({"type": "switch", "required": True}, False, ""),
    ],
)
def test_a_field_says_what_is_wrong(given: dict[str, Any], value: Any, fault: str) -> None:
    assert AnswerField(name="one", **given).fault(value) == fault
