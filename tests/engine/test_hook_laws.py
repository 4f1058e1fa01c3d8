"""Laws of hooks: any text, any document; and the same answers as CEL gives to the text itself."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from cel_expr_python import cel
from hypothesis import example, given, settings
from hypothesis import strategies as st

from controllers.engine.hooks import compile_hook, evaluate
from controllers.engine.programs import compile_condition
from controllers.engine.terms import Drift, Related, Resource, Snapshot
from resources.documents.expressions import parse
from resources.documents.expressions.syntax import Node, Path, children
from tests.engine.test_hooks import CONTROLLER, NOW
from tests.tiers import examples

NAMES = ("a", "b", "c")
WORDS = ("high", "low", "a", "", "é😀", "2026-05-17T12:00:00Z")
PIECES = [
    *("target.spec.a", "domain.status.b", "budget.status.a", "self.spec.a.b", "target.spec.c[0]"),
    *("now", "cycle.score", "true", "false", "null", "has(target.spec.a)", "size(target.spec.b)"),
    *("level(target.spec.a)", "level('high')", "0", "1", "2.5", "'high'", "''", "[1, 'a']"),
    *("&&", "||", "!", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/"),
    *("(", ")", "[", "]", ",", ".", "%", "?", "matches", "'"),
]


def documents(words: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
    values = st.recursive(
        st.none() | st.booleans() | numbers | words,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
        max_leaves=6,
    )
    return st.dictionaries(st.sampled_from(NAMES), values, max_size=3)


plain = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
strange = documents(st.sampled_from([*WORDS, "x\0y", "\ud800"]) | st.text(max_size=4))
usual = documents(st.sampled_from(WORDS) | st.text(plain, max_size=4))

# Expressions that are CEL as they stand: its numbers do not mix, so each of them is decimal.
numbers = st.sampled_from(["0.0", "1.0", "2.5", "1e3"])
texts = st.sampled_from(["'high'", '"a"', "''", "'é😀'"])
paths = st.builds(
    lambda part, steps: f"target.{part}" + "".join(steps),
    st.sampled_from(["spec", "status"]),
    st.lists(st.sampled_from([".a", ".b", "['c']", "[0]"]), min_size=1, max_size=3),
)
present = st.sampled_from(["has(target.spec.a)", "has(target.status.b)", "has(target.spec.a.b)"])
atoms = numbers | texts | paths | st.sampled_from(["true", "false", "null", "[1.0, 'a']", "[]"])
figures = st.recursive(
    numbers | paths,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | inner.map("-{}".format)
    ),
    max_leaves=3,
)
comparisons = (
    st.builds("{} {} {}".format, figures, st.sampled_from(["<", "<=", ">", ">=", "=="]), figures)
    | st.builds("{} {} {}".format, atoms, st.sampled_from(["==", "!="]), paths)
    | st.builds("{} < {}".format, texts, paths)
    | st.builds("{} in {}".format, atoms, paths | st.just("[1.0, 'a', true]"))
)
conditions = st.recursive(
    comparisons | present | paths,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner)
        | inner.map("!({})".format)
    ),
    max_leaves=4,
)


def target(spec: Any, status: Any, kind: str = "Domain") -> Resource:
    return Resource(1, "u-1", kind, "harbour", "", 1, 1, {}, spec, status)


def decimal(value: Any) -> Any:
    """A document as CEL must see it for its own answer: without whole numbers."""
    if isinstance(value, dict):
        return {key: decimal(each) for key, each in value.items()}
    if isinstance(value, list):
        return [decimal(each) for each in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def answer(text: str, seen: dict[str, Any]) -> bool | None:
    """What CEL says about the text as it stands, over the whole document."""
    said = cel.NewEnv().compile(text, disable_check=True).eval(data=seen).value()
    return said if isinstance(said, bool) else None


def paths_of(node: Node) -> Iterator[Path]:
    if isinstance(node, Path):
        yield node
    for child in children(node):
        yield from paths_of(child)


def keep(kept: dict[str, Any], seen: dict[str, Any], steps: Sequence[str | int]) -> None:
    """Copy what stands at a path; a list is copied whole."""
    step, *rest = steps
    if not isinstance(step, str) or step not in seen:
        return
    if rest and isinstance(seen[step], dict):
        keep(kept.setdefault(step, {}), seen[step], rest)
    else:
        kept[step] = seen[step]


@given(
    conditions
    | st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=14).map(" ".join),
    strange,
    strange,
)
@example("-" + "-(1.0 + " * 6 + "1" + ")" * 6 + " < 0", {}, {})
@example("size([size([size([1]) + 1 < 2]) + 1 < 2]) > 0", {}, {})
@example("1" + " + 1" * 14 + " > 0", {}, {})
@settings(max_examples=examples(200), deadline=None)
def test_any_text_is_refused_or_answers_quickly(text: str, spec: Any, status: Any) -> None:
    hook = compile_hook({"name": "a", "action": f"check {text}"}, "Domain", "warn", "")
    snapshot = Snapshot(
        target(spec, status), Related({"Budget": (target(spec, status, "Budget"),)})
    )
    started = time.process_time()

    result = evaluate(hook, snapshot, CONTROLLER, Drift(None, False, ()), NOW)

    assert time.process_time() - started < 0.5
    assert result.passed in (True, False, None)
    assert bool(hook.fault) is (result.reason == "InvalidExpression")


@given(conditions, usual, usual)
@example("target.spec.a", {"a": True}, {})
@example("(target.spec.a.b == 1.0 || true)", {}, {})
@settings(max_examples=examples(200), deadline=None)
def test_answers_are_those_of_cel_for_the_text_itself(text: str, spec: Any, status: Any) -> None:
    seen = {"target": {"spec": decimal(spec), "status": decimal(status)}}

    passed, _ = compile_condition(parse(text)).check(seen)

    assert passed is answer(text, seen), text


@given(conditions, usual, usual)
@settings(max_examples=examples(100), deadline=None)
def test_no_answer_of_cel_rests_on_a_path_we_did_not_see(
    text: str, spec: Any, status: Any
) -> None:
    seen = {"target": {"spec": decimal(spec), "status": decimal(status)}}
    kept: dict[str, Any] = {"target": {"spec": {}, "status": {}}}
    for path in paths_of(parse(text)):
        keep(kept, seen, (path.root, *path.steps))

    assert answer(text, kept) is answer(text, seen), text
