"""What the actions of hooks may say, and the sentences that refuse the rest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from resources.documents import kinds
from resources.documents.expressions import (
    Action,
    Check,
    Emit,
    Refresh,
    Unknown,
    action_of,
    parse,
    read_action,
)
from resources.documents.expressions.syntax import KINDS, Invalid, Literal, Node, Path, children
from resources.documents.kind import Document, Fault
from resources.documents.validation import check
from tests.kinds.samples import sample
from tests.rows import every_row
from tests.tiers import examples

ROOTS = (
    "target, self, domain, agent, decision, telemetry, governance, workflow, securityPolicy, "
    "budget, memory, controller, cycle, now"
)
CALLS = "there are only has(), size() and level()"
SKIPPED = "does nothing at this point of a cycle; the hook is skipped"
PIECES = [
    *("target.spec.a", "budget.status.b[0].c", "self.metadata.labels", "now", "cycle.score"),
    *("payload", "domain", "has", "size", "level", "all", "true", "false", "null", "in"),
    *("0", "1.5", ".5", "2e3", "1e999", "7u", "'high'", '"a\\n"', "'\\x'", "'", '"'),
    *("&&", "||", "!", "==", "!=", "<", "<=", ">", ">=", "=", "+", "-", "*", "/", "%", "?", ":"),
    *("(", ")", "[", "]", "{", "}", ",", ".", " ", "\n", "\0", "é", "//"),
]


def paths(node: Node) -> list[str]:
    below = [path for child in children(node) for path in paths(child)]
    return [str(node), *below] if isinstance(node, Path) else below


def shape(node: Node) -> tuple[object, ...]:
    own = node.value if isinstance(node, Literal) else getattr(node, "operator", None)
    return (own, *map(shape, children(node)))


def refusal(action: str) -> str:
    with pytest.raises(Invalid) as caught:
        read_action(action, "Domain")
    return str(caught.value)


def read_or_sentence(action: str) -> Action | str:
    try:
        return read_action(action, "Domain")
    except Invalid as problem:
        return str(problem)


def problems(hook: Document, side: str = "preReconcile") -> list[Fault]:
    return check(sample("Controller", {f"/spec/hooks/{side}": [{"name": "look", **hook}]}))


def test_a_path_starts_with_any_kind_a_controller_can_target() -> None:
    targetable = {kind.name for kind in kinds.ALL if kind.targetable}

    assert set(KINDS.values()) == targetable
    assert all(root.lower() == kind.lower() for root, kind in KINDS.items())


@every_row(
    ("text", "expected"),
    [
        ("budget.status.utilizationRate < 0.9", ["budget.status.utilizationRate"]),
        ("securityPolicy.status.violations == 0", ["securityPolicy.status.violations"]),
        ("target.spec.kpis[0].name == 'a'", ["target.spec.kpis[0].name"]),
        ('self.metadata.labels["tier"] == "a"', ["self.metadata.labels.tier"]),
        ("self.metadata.labels['a-b'] != ''", ["self.metadata.labels['a-b']"]),
        ("has(domain.spec.budgetRef) && true", ["domain.spec.budgetRef"]),
        ("size(agent.spec.capabilities) >= 1", ["agent.spec.capabilities"]),
        ("level(decision.spec.risk) > level('low')", ["decision.spec.risk"]),
        ("memory.spec.expiresAt > now", ["memory.spec.expiresAt", "now"]),
        ("cycle.score - .5 <= -cycle.dimensions.kpi", ["cycle.score", "cycle.dimensions.kpi"]),
        ("controller.spec.mode in ['warn', 'advise']", ["controller.spec.mode"]),
        ("!(workflow.status.retries * 2 > 1e3 / 4 + 1)", ["workflow.status.retries"]),
        ("\n( governance.spec . in )== null", ["governance.spec.in"]),
        ("1 in [1, telemetry.status.rate, []]", ["telemetry.status.rate"]),
    ],
)
def test_the_paths_of_an_expression_are_known(text: str, expected: list[str]) -> None:
    assert paths(parse(text)) == expected


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("true || false && !true", "true || (false && (!true))"),
        ("1 + 2 * -3 < 4 - 5 - 6", "(1 + (2 * (-3))) < ((4 - 5) - 6)"),
        ("1 < 2 == true && 8 / 4 / 2 >= 1", "((1 < 2) == true) && (((8 / 4) / 2) >= 1)"),
    ],
)
def test_operators_bind_as_in_cel(plain: str, marked: str) -> None:
    assert shape(parse(plain)) == shape(parse(marked))


@every_row(
    ("action", "sentence"),
    [
        ("check", "ends too early"),
        ("check true &&", "ends too early"),
        ("check (true", "ends too early"),
        ("check true)", "does not expect ) at character 11"),
        ("check true false", "does not expect false at character 12"),
        ("check target.spec.a = 1", "does not expect '=' at character 21"),
        ("check target.spec.a ? true : false", "does not expect '?' at character 21"),
        ("check target.spec.a % 2 == 0", "does not expect '%' at character 21"),
        ("check {'a': 1}", "does not expect '{' at character 7"),
        ("check 7u == 7", "does not expect u at character 8"),
        ("check r'a' == 'a'", "does not expect 'a' at character 8"),
        ("check target.spec.a == 'b", "has a text without an end at character 24"),
        ("check '\\x' == ''", "has an unknown escape \\x at character 7"),
        ("check target.spec.a < 1e999", "has too large a number at character 23"),
        (
            "check target.spec.a[-1] == 1",
            "needs a whole number or a text in brackets at character 21",
        ),
        ("check target.spec.a.0 == 1", "does not expect .0 at character 20"),
        ("check (target.spec.a).b == 1", "does not expect . at character 22"),
        ("check target.spec.kpis.all(x, x > 1)", f"cannot call all() at character 24; {CALLS}"),
        (
            "check target.spec.a.matches('(a+)+$')",
            f"cannot call matches() at character 21; {CALLS}",
        ),
        ("check timestamp('x') == now", f"cannot call timestamp() at character 7; {CALLS}"),
        ("check has(1)", "needs a path that ends with a name in has() at character 7"),
        (
            "check has(target.spec.a[0])",
            "needs a path that ends with a name in has() at character 7",
        ),
        (
            "check payload.risk == 'high'",
            f"does not know payload at character 7; a path starts with {ROOTS}",
        ),
        (
            "check budgets == []",
            f"does not know budgets at character 7; a path starts with {ROOTS}",
        ),
        (
            "check budget.utilizationRate < 1",
            "must go on from budget at character 7 to metadata, spec or status",
        ),
        ("check budget == 1", "must go on from budget at character 7 to metadata, spec or status"),
        (
            "check target.metadata.uid == 'a'",
            "can see only name, labels or generation of metadata at character 7",
        ),
        ("check cycle.id == 'a'", "must go on from cycle at character 7 to score or dimensions"),
        ("check now.hour < 9", "cannot look into now at character 7"),
        ("check 1 + 2", "needs true or false at character 9, not a number"),
        ("check true && 'yes'", "needs true or false at character 15, not text"),
        ("check !1", "needs true or false at character 8, not a number"),
        ("check 'a' + 'b' == 'ab'", "needs a number at character 7, not text"),
        ("check now - 1 > 0", "needs a number at character 7, not a time"),
        ("check 1 in 'abc'", "needs a list at character 12, not text"),
        ("check size(5) > 0", "needs text or a list at character 12, not a number"),
        (
            "check target.spec.a < 1 == 'a'",
            "cannot compare text with true or false at character 25",
        ),
        ("check 1 < 'a'", "cannot compare a number with text at character 9"),
        ("check now < '2026-01-01'", "cannot compare a time with text at character 11"),
        (
            "check 1 < target.spec.a < 3",
            "cannot compare a number with true or false at character 25",
        ),
        ("check true < target.spec.a", "cannot put true or false in order at character 12"),
        (
            "check level('huge') > 1",
            "has no level at character 13; known are none, low, medium, high, critical, "
            "info, warning, error, healthy, degraded",
        ),
        ("check " + "(" * 16 + "true" + ")" * 16, "must not nest more than 16 deep"),
        ("check " + "!" * 900 + "true", "must not nest more than 16 deep"),
        ("check " + "true && " * 16 + "true", "must not nest more than 16 deep"),
        ("check 1 in [" + "1, " * 62 + "1]", "must have at most 64 parts"),
        ("check target.spec" + ".a" * 63, "must have at most 64 parts"),
        ("check " + "true ||" * 150, "must have at most 1,000 characters"),
        ("refresh", "must refresh a field of a status, such as target.status.lastEvaluation"),
        (
            "refresh domain.spec.purpose",
            "must refresh a field of a status, such as target.status.lastEvaluation",
        ),
        (
            "refresh domain.status.kpis[0].at",
            "must refresh a field of a status, such as target.status.lastEvaluation",
        ),
        ("refresh budget.status.at", "must refresh its target, and budget is another resource"),
        ("refresh now.status.at", "must refresh its target, and now is another resource"),
        ("emit", "must emit an event such as product.feature-released"),
        ("emit Product.Feature", "must emit an event such as product.feature-released"),
        ("emit released", "must emit an event such as product.feature-released"),
    ],
)
def test_every_refusal_is_one_sentence_that_names_the_spot(action: str, sentence: str) -> None:
    assert refusal(action) == sentence


@pytest.mark.parametrize(
    "action",
    [
        "check " + "(" * 15 + "true" + ")" * 15,
        "check " + "!" * 15 + "true",
        "check " + "true && " * 15 + "true",
        "check 1 in [" + "1, " * 60 + "1]",
        "check target.spec" + ".a" * 62,
        ("check '" + "a" * 984 + "' != ''"),
    ],
)
def test_what_just_fits_is_accepted(action: str) -> None:
    assert isinstance(read_action(action, "Domain"), Check)


def test_the_other_verbs_are_plain_data() -> None:
    """I-26 I-27"""
    assert read_action("refresh domain.status.lastEvaluation", "Domain") == Refresh(
        ("lastEvaluation",)
    )
    assert read_action(" refresh  target.status.a.b ", "Budget") == Refresh(("a", "b"))
    assert read_action("emit controller.reconciliation-completed", "Domain") == Emit(
        "controller.reconciliation-completed"
    )
    assert read_action("restart it all", "Domain") == Unknown("restart")
    assert read_action("", "Domain") == Unknown("")


def test_an_event_alone_is_emitted_and_an_action_comes_before_it() -> None:
    assert action_of({"event": "a.b"}) == "emit a.b"
    assert action_of({"event": "a.b", "action": "check true"}) == "check true"
    assert action_of({"event": 1}) == ""


def test_a_hook_is_refused_at_the_pointer_of_its_action() -> None:
    """A-06"""
    assert problems({"action": "check budget.status.spent <"}) == [
        Fault("/spec/hooks/preReconcile/0/action", "ends too early")
    ]
    assert problems({"event": "released"}, "postReconcile") == [
        Fault(
            "/spec/hooks/postReconcile/0/event",
            "must emit an event such as product.feature-released",
        )
    ]


def test_a_refresh_must_name_the_target_of_the_controller() -> None:
    [problem] = problems({"action": "refresh agent.status.at"}, "postReconcile")

    assert problem.message == "must refresh its target, and agent is another resource"


@pytest.mark.parametrize(
    ("side", "hook", "field", "message"),
    [
        (
            "preReconcile",
            {"action": "ponder budget.status.spent"},
            "action",
            'has an unknown verb "ponder"; the hook is skipped',
        ),
        ("preReconcile", {"action": "refresh target.status.at"}, "action", SKIPPED),
        ("preReconcile", {"event": "a.b"}, "event", SKIPPED),
        ("postReconcile", {"action": "verify target.status.a == 1"}, "action", SKIPPED),
        (
            "postReconcile",
            {"action": "emit a.b", "event": "a.c"},
            "event",
            "is ignored, because the action counts",
        ),
        (
            "preReconcile",
            {"action": "check target.spec.riskLevel >= 'high'"},
            "action",
            "puts words in the order of the alphabet at character 29; "
            "write level(target.spec.riskLevel) and level('high')",
        ),
        (
            "preReconcile",
            {"action": "check true && 'degraded' < domain.status.health"},
            "action",
            "puts words in the order of the alphabet at character 26; "
            "write level(domain.status.health) and level('degraded')",
        ),
    ],
)
def test_what_a_hook_does_not_do_is_a_warning(
    side: str, hook: Document, field: str, message: str
) -> None:
    expected = Fault(f"/spec/hooks/{side}/0/{field}", message, "warning")

    assert problems(hook, side) == [expected]


@pytest.mark.parametrize(
    "action",
    [
        "check target.spec.name >= 'harbour'",
        "check target.spec.riskLevel == 'high'",
        "check level(target.spec.riskLevel) >= level('high')",
    ],
)
def test_other_words_are_compared_without_a_warning(action: str) -> None:
    assert problems({"action": action}) == []


@pytest.mark.parametrize("value", [5, None, [], {"check": "true"}])
def test_an_action_that_is_no_text_has_one_problem(value: Any) -> None:
    [problem] = problems({"action": value})

    assert problem.pointer == "/spec/hooks/preReconcile/0/action"


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join))
@example("(" * 990)
@example("-" * 990)
@example("[" * 990)
@example("has(" * 240)
@example("1+" * 490 + "1")
@example("\ud800")
@settings(max_examples=examples(200))
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    for verb in ("check", "refresh", "emit"):
        outcome = read_or_sentence(f"{verb} {text}")

        if isinstance(outcome, str):
            assert len(outcome.split()) >= 3
        else:
            assert isinstance(outcome, Check | Refresh | Emit)
