"""A problem says its file, document, line and pointer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from resources.documents import files
from resources.documents.kind import Fault

pytestmark = pytest.mark.sqlite

AGENT = """apiVersion: ioa.dev/v0.2
kind: Agent
metadata:
  name: robin
spec:
  domain: growth
  capabilities:
    - name: plan
    - name: act
"""


def place(text: str, pointer: str, *, number: int = 1, source: str = "agents/a.yaml") -> str:
    loaded = files.load_text(text, source=source, media=files.media_of(source, text))
    return files.where(loaded[number - 1], Fault(pointer, ""))


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/spec/domain", "agents/a.yaml, line 6, /spec/domain"),
        ("/spec/capabilities/1/name", "agents/a.yaml, line 9, /spec/capabilities/1/name"),
        ("/spec/purpose", "agents/a.yaml, line 5, /spec/purpose"),
        ("", "agents/a.yaml"),
    ],
)
def test_a_single_document_needs_no_number(pointer: str, expected: str) -> None:
    assert place(AGENT, pointer) == expected


def test_a_document_of_a_stream_has_its_number_and_its_own_lines() -> None:
    text = AGENT + "---\n" + AGENT

    assert place(text, "/spec/domain", number=2) == (
        "agents/a.yaml, document 2, line 16, /spec/domain"
    )
    assert place(text, "/spec/domain") == "agents/a.yaml, document 1, line 6, /spec/domain"


@pytest.mark.parametrize("wrap", [lambda item: [item, item], lambda item: {"items": [item, item]}])
def test_an_item_of_a_json_list_has_its_line(wrap: Callable[[Any], Any]) -> None:
    item = {"apiVersion": "ioa.dev/v0.2", "kind": "Agent", "spec": {"domain": "growth"}}
    text = json.dumps(wrap(item), indent=2)
    line = 1 + [n for n, each in enumerate(text.splitlines()) if '"domain"' in each][1]

    found = place(text, "/spec/domain", number=2, source="b.json")

    assert found == f"b.json, document 2, line {line}, /spec/domain"


def test_a_text_that_breaks_off_still_gives_the_lines_before() -> None:
    text = AGENT + "---\nkind: [\n"

    assert place(text, "/spec/domain") == "agents/a.yaml, line 6, /spec/domain"
    assert place(text, "", number=2) == "agents/a.yaml, document 2"
