"""One refusal: use cases raise problems, each code has one status and one title everywhere."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from resources.api import problems as answers
from resources.documents import problems
from resources.documents.kind import Fault
from resources.documents.problems import SORTS, Problem

ROOT = Path(__file__).parents[2]
PRODUCT = ("controllers", "resources", "ioa_site")
# Exceptions that steer the product inside: whoever asks from outside never meets one by itself.
INSIDE = {
    "Blocked": "a cycle that its breaker stops",
    "Broken": "a failure that a test asks for",
    "ConditionTypeTaken": "a condition that another controller keeps",
    "Conflict": "rows that change under a cycle",
    "Disproved": "a drill that shows no stop",
    "EngineError": "what can go wrong in a cycle",
    "Exhausted": "an allowance that is used up, which becomes a verdict",
    "Fenced": "a process that was replaced",
    "Impossible": "an action that cannot be carried out, which the proposal keeps",
    "Invalid": "an expression that is none, which becomes a fault",
    "NotReady": "what a cycle waits for",
    "Permanent": "a failure that stays",
    "Rehearsed": "the end of a rehearsal",
    "Stale": "a write that comes again, or is answered as busy",
    "Stop": "a command that cannot go on, with its exit code",
    "Stopped": "a process that is asked to stop",
    "TimedOut": "a cycle that ran out of its time",
    "TooLarge": "a body that is cut off before any view",
    "Transient": "a failure that passes",
    "Unreadable": "a text or a secret that cannot be read, which becomes faults or a sentence",
    "Wrong": "fields of a form, each with its sentence",
}


def modules() -> Iterator[ast.Module]:
    """Yield the source of the product."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield ast.parse(path.read_text("utf-8"))


@cache
def classes() -> list[tuple[str, tuple[str, ...]]]:
    """Return every class of the product with the names of its bases."""
    return [
        (node.name, tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases))
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    ]


def exceptions() -> set[str]:
    """Return the classes of the product that can be raised."""
    known = {
        name
        for name, each in vars(builtins).items()
        if isinstance(each, type) and issubclass(each, BaseException)
    }
    found: set[str] = set()
    while more := {name for name, bases in classes() if (known | found) & set(bases)} - found:
        found |= more
    return found


def test_the_product_has_one_exception_for_refusals() -> None:
    assert exceptions() - set(INSIDE) == {"Problem"}
    assert set(INSIDE) <= exceptions()


def test_no_class_is_called_refused_and_none_is_a_sort_of_problem() -> None:
    assert not [name for name, bases in classes() if name == "Refused" or "Problem" in bases]


def test_every_code_has_one_status_and_a_title_of_its_own() -> None:
    codes = {
        value
        for name, value in vars(problems).items()
        if name.isupper() and isinstance(value, str)
    }

    assert codes == set(SORTS)
    assert all(400 <= sort.status <= 599 and sort.title for sort in SORTS.values())
    assert len({sort.title for sort in SORTS.values()}) == len(SORTS)
    assert all(SORTS[code].status == status for status, code in answers.BY_STATUS.items())


def test_a_problem_is_raised_with_a_code_that_there_is() -> None:
    first = [
        node.args[0].id
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name)
        if ast.unparse(node.func).rpartition(".")[2] == "Problem"
    ]

    assert len(first) > 20
    # Where a code is handed on, it is a `code`.
    assert {each.lower().replace("_", "-") for each in set(first) - {"code"}} <= set(SORTS)


@pytest.mark.parametrize("code", SORTS)
def test_the_api_writes_a_problem_as_it_was_raised(code: str) -> None:
    problem = Problem(code, "It is so.", "/spec", allowed=["a"])

    assert answers.document(problem) == {
        "type": f"/problems/{code}",
        "title": SORTS[code].title,
        "status": problem.status,
        "detail": "It is so.",
        "pointer": "/spec",
        "allowed": ["a"],
    }
    assert answers.respond(problem).status_code == SORTS[code].status


def test_only_a_right_that_is_missing_names_its_rule() -> None:
    assert problems.denied("NotApprover", "Only an approver decides this.").rule == "NotApprover"
    assert problems.forbidden("No.").rule == problems.invalid("No.").rule == ""


def test_a_document_is_refused_with_everything_that_is_wrong_in_it() -> None:
    faults = [Fault("/spec/a", "is required"), Fault("/spec/b", "is too long")]

    refused = problems.wrong(faults, within="/spec")

    assert (refused.code, refused.pointer) == ("invalid", "/a")
    assert refused.message == "/a: is required"
    assert [each["pointer"] for each in refused.facts["errors"]] == ["/a", "/b"]
