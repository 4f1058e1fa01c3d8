"""What can be had as JSON can be had as YAML, with the same values."""

from __future__ import annotations

import pytest

from resources.documents.yaml_text import read_yaml
from tests.api.conftest import Api, apply, domain
from tests.api.spending import agent, another

pytestmark = pytest.mark.django_db


@pytest.fixture
def robin() -> Api:
    """Return an agent that asks."""
    apply(domain("growth"), agent("robin"))
    return another("robin")


@pytest.mark.parametrize("media_type", ["application/yaml", "text/yaml"])
def test_an_answer_comes_as_yaml_with_the_values_of_json(robin: Api, media_type: str) -> None:
    body = {"operation": "execute", "resource": "agent/robin", "tokens": {"input": 1}}

    made = robin.post("admission", body, Accept=media_type)
    found = robin.get(f"admission/{read_yaml(made.content)['id']}")

    assert made.status_code == 200, made.content
    assert made["Content-Type"].partition(";")[0] == media_type
    assert read_yaml(made.content) == found.json()
