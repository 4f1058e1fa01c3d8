"""One shape per answer: what is read, shown, described and exemplified is the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from resources.api import fields
from resources.api.description import description
from resources.api.serializer_base import ApiSerializer
from resources.documents.problems import Problem
from tests.api.conftest import Api, apply, assert_fits, domain

# Documents are read by their kinds, and statuses by the store.
STORED = {"Resource", "Documents", "Patch", "Status"}
# One of several: each item of them is read by itself.
SEVERAL = {"TelemetryBatch", "UsageReport"}


class InnerSerializer(ApiSerializer):
    """An object inside."""

    number = fields.Number(least=0, required=False, example=1)
    for_ = fields.Text(longest=3, required=False, example="abc")


class OuterSerializer(ApiSerializer):
    """Every kind of field once."""

    text = fields.Text("A text.", example="a")
    count = fields.Count(largest=5, required=False, example=2)
    flag = fields.Flag(required=False)
    word = fields.Word(["up", "down"], required=False)
    at_time = fields.Time(required=False)
    free = fields.Object(required=False, largest=20)
    texts = fields.ListOf(fields.Text(), required=False, most=2)
    inner_ones = InnerSerializer(many=True, required=False, max_length=2)


@dataclass
class Row:
    """What is shown."""

    text: str
    count: int | None
    inner_ones: list[Any]


def described() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(description())
    return found


def bodies() -> Iterator[str]:
    """Return the name of every shape that is sent."""
    for methods in described()["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                yield content["schema"]["$ref"].rpartition("/")[2]


def serializers(base: type[ApiSerializer] = ApiSerializer) -> Iterator[type[ApiSerializer]]:
    for each in base.__subclasses__():
        yield each
        yield from serializers(each)


def test_every_example_of_a_body_is_one_that_is_read() -> None:
    known = {each.component(): each for each in serializers()}
    names = set(bodies()) - STORED - SEVERAL

    assert len(names) > 15
    for name in sorted(names):
        known[name].read(known[name].example())


def test_no_two_serializers_have_one_name() -> None:
    found = [each.component() for each in serializers()]

    assert sorted(found) == sorted(set(found))


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ([], ""),
        ({"text": 1}, "/text"),
        ({"text": None}, "/text"),
        ({"count": "1"}, "/count"),
        ({"count": True}, "/count"),
        ({"count": 6}, "/count"),
        ({"count": 1.0}, "/count"),
        ({"flag": 1}, "/flag"),
        ({"word": "left"}, "/word"),
        ({"word": ["up"]}, "/word"),
        ({"atTime": "2026-02-25"}, "/atTime"),
        ({"atTime": 7}, "/atTime"),
        ({"free": []}, "/free"),
        ({"free": {"long": "x" * 20}}, "/free"),
        ({"texts": ["a", 1]}, "/texts"),
        ({"texts": ["a", "b", "c"]}, "/texts"),
        ({"innerOnes": {}}, "/innerOnes"),
        ({"innerOnes": [{}, {}, {}]}, "/innerOnes"),
        ({"innerOnes": [{}, 1]}, "/innerOnes/1"),
        ({"innerOnes": [{}, {"number": float("nan")}]}, "/innerOnes/1/number"),
        ({"innerOnes": [{"number": "1"}]}, "/innerOnes/0/number"),
        ({"innerOnes": [{"for": "abcd"}]}, "/innerOnes/0/for"),
        ({"innerOnes": [{"for_": "abc"}]}, "/innerOnes/0/for_"),
        ({"at_time": None}, "/at_time"),
        ({"a/b~c": 1}, "/a~1b~0c"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_stands(body: Any, pointer: str) -> None:
    with pytest.raises(Problem) as refused:
        OuterSerializer.read(body)

    assert (refused.value.status, refused.value.pointer) == (400, pointer)


def test_what_is_not_sent_is_read_as_nothing() -> None:
    found = OuterSerializer.read({"text": "a", "atTime": None, "innerOnes": [{"for": "abc"}]})

    assert found == {
        "text": "a",
        "count": None,
        "flag": False,
        "word": "",
        "at_time": None,
        "free": {},
        "texts": [],
        "inner_ones": [{"number": None, "for_": "abc"}],
    }


class ShownSerializer(ApiSerializer):
    """What a row is shown as."""

    text = fields.Text(example="a")
    count = fields.Count(required=False)
    more = fields.Text(required=False)
    inner_ones = InnerSerializer(many=True)

    def get_more(self, row: Row) -> str:
        return str(self._context.get("more", ""))


def test_what_there_is_nothing_to_say_about_is_left_out() -> None:
    stored = {"number": 1, "unknown": "as it is stored"}

    assert ShownSerializer.show(Row("", None, [stored])) == {"text": "", "innerOnes": [stored]}
    assert ShownSerializer.show(Row("a", 0, []), more="b") == {
        "text": "a",
        "count": 0,
        "more": "b",
        "innerOnes": [],
    }


@pytest.mark.django_db
def test_stored_documents_are_what_their_serializers_say(alice: Api, organisation: None) -> None:
    """Documents are passed on as they are stored: no field of theirs is one nobody described."""
    apply(domain("sales"))
    status = {"health": "healthy", "conditions": [{"type": "Ready", "status": "True"}]}
    report = {"items": [{"kind": "Domain", "name": "sales", "status": status}, {"kind": "?"}]}
    listed = alice.get("resources/domain").json()
    version = listed["items"][0]["metadata"]["resourceVersion"]

    assert_fits(listed, "ResourceList")
    assert_fits(alice.post("observations", report).json(), "Observed")
    assert_fits(alice.get("resources/domain/sales").json(), "Resource")
    assert_fits(alice.get("resources/domain/sales/conditions").json(), "ConditionList")
    assert_fits(alice.get("resources/domain/sales/revisions").json(), "RevisionList")
    assert_fits(alice.get("events").json(), "EventList")
    planned = alice.post(
        "apply", {"items": [domain("sales", purpose="Sells."), {"kind": "?"}]}, "dryRun=true"
    )
    assert_fits(planned.json(), "Applied")
    assert int(version) > 0
