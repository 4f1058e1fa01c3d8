"""The page of policies says what the engine, the controllers and Governance say."""

from __future__ import annotations

from typing import get_args

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.engine import gate
from controllers.engine.terms import Class, Mode
from controllers.web.manage.policies import BEFORE, CASES, TONES, cell
from tests.resources.making import apply, made
from tests.rights.world import signed_in

pytestmark = pytest.mark.sqlite

PAGE = "/manage/policies"


def test_every_class_of_actions_has_a_case() -> None:
    assert {question.kind for _, _, question in CASES} == set(get_args(Class))


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize(("title", "note", "question"), CASES)
def test_the_table_is_the_engines_own(mode: Mode, title: str, note: str, question: object) -> None:
    from controllers.engine.gate import Question

    assert isinstance(question, Question)
    word = gate.disposition(
        mode, question.kind, question.risk, question.reversible, question.approval
    )

    assert cell(question, mode).tone == TONES.get(word, "")


def test_it_says_how_many_people_are_asked(client: Client) -> None:
    html = client.get(PAGE).content.decode()

    for words in ("Asks a person", "Asks 2 people", "Suggests it", "Only notes it", "Denies it"):
        assert words in html


def test_what_stands_in_the_way_is_the_gates_own_sentence(client: Client) -> None:
    html = client.get(PAGE).content.decode()

    assert "It waits for the maintenance window." in html
    assert "It is protected: people are told instead." in html
    assert all(when in html for when, _ in BEFORE)


def test_it_says_how_each_controller_decides(client: Client) -> None:
    window = {"cron": "0 18 * * 5", "timezone": "Europe/Brussels", "duration": "62h"}
    alone = {"enforcementMode": "enforce", "approval": "auto", "maintenanceWindow": window}
    earns = {"enforcementMode": "warn", "autonomy": {"approvals": 12, "within": "30d"}}
    outcome = apply(
        timezone.now(), made("Controller", "alone", alone), made("Controller", "earner", earns)
    )
    assert outcome.written

    html = client.get(PAGE).content.decode()

    assert "Run without asking" in html
    assert "0 18 * * 5 Europe/Brussels, for 62h" in html
    assert "After 12 approvals in a row within 30 days" in html
    assert "/controllers/earner/mode" in html


def test_it_says_who_is_told_when_nobody_answers(client: Client) -> None:
    rules = {
        "domain": "growth",
        "escalation": {
            "paths": [{"level": 1, "role": "growth-lead", "channel": "pager", "timeout": "20m"}]
        },
        "humanOverride": {"maxResponseTime": "10m", "attention": {"perHour": 4}},
    }
    assert apply(timezone.now(), made("Governance", "growth-rules", rules)).written

    html = " ".join(client.get(PAGE).content.decode().split())

    assert "growth-lead on pager" in html
    assert "after 20m again" in html
    assert "4 in 1 h" in html
    assert "/resources/governance/growth-rules" in html
    assert "Nobody is declared: it is told in the inbox" in html


def test_it_says_who_has_to_approve_besides(client: Client) -> None:
    grave = {"operations": ["pause", "restart"], "risks": ["high"], "reversible": False}
    policies = [{"name": "two-eyes", "people": 2, "match": grave}, {"name": "all"}]
    rules = {"domain": "growth", "approvalPolicies": policies}
    assert apply(timezone.now(), made("Governance", "growth-rules", rules)).written

    html = client.get(PAGE).content.decode()

    assert "Pause or restart, of high risk, cannot be taken back" in html
    assert "2 people" in html
    assert "Everything" in html


def test_every_member_reads_it_as_far_as_they_see(vic: User, gil: User) -> None:
    assert "finance" in signed_in(vic).get(PAGE).content.decode()
    near = signed_in(gil).get(PAGE).content.decode()
    assert "/resources/domain/growth" in near
    assert "/resources/domain/finance" not in near
    newcomer = User.objects.create(username="newcomer")
    assert signed_in(newcomer).get(PAGE).status_code == 404
