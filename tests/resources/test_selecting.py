"""Label selectors: how they are read, and that SQL answers as the definition says."""

from __future__ import annotations

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.store.selectors import Term, match_labels, matching, parse
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import apply, made
from tests.rows import every_row
from tests.tiers import examples

pytestmark = pytest.mark.servers

KEYS = ["tier", "region", "a.b/c-d"]
VALUES = ["", "gold", "north-1", "G.o_d"]
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
TERMS = st.one_of(
    st.builds(
        lambda key, sign, value: f"{key}{sign}{value}",
        st.sampled_from(KEYS),
        st.sampled_from(["=", "==", "!=", " = "]),
        st.sampled_from(VALUES),
    ),
    st.builds(
        lambda key, word, values: f"{key} {word} ({', '.join(values)})",
        st.sampled_from(KEYS),
        st.sampled_from(["in", "notin"]),
        st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
    ),
    st.sampled_from([*KEYS, *(f"!{key}" for key in KEYS)]),
)


@every_row(
    ("text", "terms"),
    [
        ("", ()),
        ("  ", ()),
        ("a=b", (Term("a", "in", ("b",)),)),
        ("a==b", (Term("a", "in", ("b",)),)),
        ("a!=b", (Term("a", "notin", ("b",)),)),
        ("a=", (Term("a", "in", ("",)),)),
        ("a", (Term("a", "exists"),)),
        ("!a", (Term("a", "absent"),)),
        (" a = b , ! c ", (Term("a", "in", ("b",)), Term("c", "absent"))),
        ("a in (x,y),b", (Term("a", "in", ("x", "y")), Term("b", "exists"))),
        ("a notin ( x , y )", (Term("a", "notin", ("x", "y")),)),
        ("in in (in)", (Term("in", "in", ("in",)),)),
        ("ioa.dev/tier=gold.1_x-y", (Term("ioa.dev/tier", "in", ("gold.1_x-y",)),)),
    ],
)
def test_selectors_are_read(text: str, terms: tuple[Term, ...]) -> None:
    assert parse(text) == terms


@every_row(
    "text",
    [
        ",", "a,", ",a", "a,,b", "=b", "a=b=c", "a>b", "a in x", "a in (x", "a in x)", "a in",
        "a in (x)(y)", "a b", "!a=b", "!!a", "-a=b", "a=b c", "a='b'", "a=\x00", "a in (\x00)",
        "a notin (é)", "a in (x y)", "k" * 318, "a=" + "v" * 1_025,
        ",".join(f"k{n}" for n in range(21)), "a" + " " * 60_000, "," * 60_000 + "(",
    ],
)  # fmt: skip
def test_what_is_no_selector_is_refused(text: str) -> None:
    with refuses("invalid"):
        parse(text)


def test_match_labels_is_a_selector_too() -> None:
    assert match_labels({"b": "2", "a": "1"}) == parse("a=1,b=2")
    assert match_labels({}) == ()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["gold", "north", "plain", "silver"]),
        ("tier", ["gold", "silver"]),
        ("!tier", ["north", "plain"]),
        ("tier=gold", ["gold"]),
        ("tier!=gold", ["north", "plain", "silver"]),
        ("tier in (gold, silver)", ["gold", "silver"]),
        ("tier notin (gold, silver)", ["north", "plain"]),
        ("tier notin (gold),!region", ["plain", "silver"]),
        ("region=", ["north"]),
        ("tier=gold,tier=silver", []),
        ("tier=GOLD", []),
    ],
)
def test_selectors_choose(clock: Clock, text: str, names: list[str]) -> None:
    """I-09"""
    labels = {
        "gold": {"tier": "gold"},
        "silver": {"tier": "silver"},
        "north": {"region": ""},
        "plain": {},
    }
    apply(clock.now, *(made("Domain", k, metadata={"labels": v}) for k, v in labels.items()))

    found = matching(Resource.objects.order_by("name"), parse(text))

    assert [row.name for row in found] == names


def holds(labels: dict[str, str], term: Term) -> bool:
    """What a term means, in one line each."""
    value = labels.get(term.key)
    return {
        "exists": value is not None,
        "absent": value is None,
        "in": value in term.values,
        "notin": value is None or value not in term.values,
    }[term.demand]


@pytest.mark.django_db
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LABELS, max_size=6), st.lists(TERMS, max_size=3).map(",".join))
def test_sql_answers_as_the_definition_says(
    clock: Clock, labels: list[dict[str, str]], text: str
) -> None:
    """I-09 I-10"""
    selector = parse(text)
    documents = [
        made("Domain", f"d{n}", metadata={"labels": each}) for n, each in enumerate(labels)
    ]

    with transaction.atomic():
        apply(clock.now, *documents)
        found = set(matching(Resource.objects.all(), selector).values_list("name", flat=True))
        transaction.set_rollback(True)

    assert found == {
        f"d{n}" for n, each in enumerate(labels) if all(holds(each, term) for term in selector)
    }
