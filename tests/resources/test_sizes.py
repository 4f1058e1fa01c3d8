"""How large a document may be: the same answer on every database."""

from __future__ import annotations

import random

import pytest

from resources.documents.kind import Document
from tests.conftest import Clock
from tests.resources.making import actions, apply, made

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (made("Domain", "big", {"purpose": "x" * 131_072}), "/spec"),
        (made("Agent", "big", status={"note": "x" * 131_072}), "/status"),
        (
            made("Domain", "big", metadata={"annotations": {"a": "x" * 16_384}}),
            "/metadata/annotations",
        ),
        (
            made("Domain", "big", metadata={"labels": {"k" * 318: ""}}),
            "/metadata/labels/" + "k" * 80,
        ),
        (made("Domain", "big", metadata={"labels": {"": "x"}}), "/metadata/labels/"),
        (made("Domain", "big", metadata={"labels": {"k": "x" * 1_025}}), "/metadata/labels/k"),
        (made("Domain", "big", metadata={"labels": {"k": "é" * 600}}), "/metadata/labels/k"),
        (
            made("Domain", "big", metadata={"ownerReferences": [{"kind": "K" * 33, "name": "a"}]}),
            "/metadata/ownerReferences/0/kind",
        ),
        (made("Domain", "n" * 254), "/metadata/name"),
        (
            made("Agent", "big", status={"conditions": [{"type": "t" * 254, "status": "True"}]}),
            "/status/conditions/0/type",
        ),
        (
            made(
                "Agent",
                "big",
                status={"conditions": [{"type": "T", "status": "True", "reason": "r" * 1_025}]},
            ),
            "/status/conditions/0/reason",
        ),
        (
            made(
                "Agent",
                "big",
                status={"conditions": [{"type": "T", "status": "True", "managedBy": "m" * 301}]},
            ),
            "/status/conditions/0/managedBy",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_too_large_is_refused_on_every_database(
    clock: Clock, document: Document, pointer: str
) -> None:
    outcome = apply(clock.now, document)

    assert actions(outcome) == ["refused"]
    assert [each.pointer for each in outcome.results[0].problems] == [pointer]


def test_the_largest_labels_can_be_stored(clock: Clock) -> None:
    draw = random.Random(7)  # noqa: S311
    value = "".join(chr(draw.randrange(0x1F300, 0x1F600)) for _ in range(256))

    outcome = apply(clock.now, made("Domain", "harbour", metadata={"labels": {"k" * 317: value}}))

    assert outcome.written
