"""Text, files and folders become documents, or problems with a place."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resources.documents import files
from resources.documents.files import Loaded, Media
from resources.documents.kind import Fault

pytestmark = pytest.mark.sqlite

DOMAIN = "apiVersion: ioa.dev/v0.2\nkind: Domain\nmetadata:\n  name: {}\nspec:\n  purpose: Sell.\n"
FOREIGN = {"name": "acme", "version": "0.2"}


def names(loaded: list[Loaded]) -> list[str]:
    return [each.document["metadata"]["name"] for each in loaded if each.document is not None]


def messages(loaded: list[Loaded]) -> list[str]:
    return [problem.message for each in loaded for problem in each.problems]


def as_json(*wanted: str) -> list[dict[str, object]]:
    return [
        {"apiVersion": "ioa.dev/v0.2", "kind": "Domain", "metadata": {"name": name}}
        for name in wanted
    ]


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_stream_holds_many_documents_and_empty_ones_do_not_count() -> None:
    text = "---\n" + DOMAIN.format("a") + "---\n---\n# only a comment\n---\n" + DOMAIN.format("b")

    loaded = files.load_text(text, source="x.yaml", media="yaml")

    assert names(loaded) == ["a", "b"]
    assert [each.index for each in loaded] == [1, 2]
    assert [each.line for each in loaded] == [2, 12]


@pytest.mark.parametrize("wrap", [lambda many: many, lambda many: {"items": many}])
@pytest.mark.parametrize("media", ["json", "yaml"])
def test_a_list_and_items_hold_many_documents(wrap: Callable[[Any], Any], media: Media) -> None:
    text = json.dumps(wrap(as_json("a", "b")))

    loaded = files.load_text(text, source="x", media=media)

    assert names(loaded) == ["a", "b"]
    assert [each.index for each in loaded] == [1, 2]


def test_json_may_be_one_document() -> None:
    [loaded] = files.load_text(json.dumps(as_json("a")[0]), source="x", media="json")

    assert loaded.document == as_json("a")[0]
    assert not loaded.failed


def test_a_value_that_cannot_be_stored_does_not_hide_its_neighbours() -> None:
    bad = DOMAIN.format("b").replace("Sell.", ".nan")
    text = "---\n".join([DOMAIN.format("a"), bad, DOMAIN.format("c")])

    loaded = files.load_text(text, source="x.yaml", media="yaml")

    assert names(loaded) == ["a", "c"]
    assert [each.failed for each in loaded] == [False, True, False]
    assert loaded[1].problems[0].pointer == "/spec/purpose"


def test_a_syntax_error_keeps_what_was_read_before_it() -> None:
    text = DOMAIN.format("a") + "---\nkind: [\n"

    loaded = files.load_text(text, source="x.yaml", media="yaml")

    assert names(loaded) == ["a"]
    assert loaded[1].failed
    assert "line" in loaded[1].problems[0].message


def test_folders_are_read_in_order_and_hidden_ones_are_passed_over(tmp_path: Path) -> None:
    for place in ("b/b.yml", "a.yaml", ".ioa/c.json", ".git/d.yaml", "node_modules/e.yaml"):
        name = Path(place).stem
        json_text = json.dumps(as_json(name)[0])
        put(tmp_path / place, json_text if place.endswith("json") else DOMAIN.format(name))
    put(tmp_path / ".hidden.yaml", DOMAIN.format("f"))
    put(tmp_path / "notes.txt", "nothing")

    loaded = files.load_paths([str(tmp_path)])

    assert names(loaded) == ["a", "c", "b"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    file = put(tmp_path / "org" / "a.yaml", DOMAIN.format("a"))

    loaded = files.load_paths([str(file), str(tmp_path / "org")])

    assert names(loaded) == ["a"]


@pytest.mark.parametrize("content", [FOREIGN, ["a", "b"], "text", [FOREIGN, FOREIGN]])
def test_other_files_in_a_folder_are_skipped_with_one_notice(
    tmp_path: Path, content: object
) -> None:
    put(tmp_path / "config.json", json.dumps(content))

    [loaded] = files.load_paths([str(tmp_path)])

    assert not loaded.failed
    assert loaded.document is None
    assert loaded.problems[0].severity == "info"
    assert "not an IOA document" in loaded.problems[0].message


def test_the_same_file_named_directly_is_a_problem(tmp_path: Path) -> None:
    file = put(tmp_path / "config.json", json.dumps(FOREIGN))

    [loaded] = files.load_paths([str(file)])

    assert loaded.failed


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.yaml", b"", "holds no document"),
        ("latin.yaml", b"purpose: caf\xe9", "not UTF-8"),
        ("broken.json", b"{", "not JSON"),
        ("broken.yaml", b"a: [", "not YAML"),
        ("twice.json", b'{"kind": "A", "kind": "B"}', "given twice"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_of_that_file(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)

    [loaded] = files.load_paths([str(file)])

    assert loaded.failed
    assert expected in loaded.problems[0].message


def test_a_missing_path_and_a_folder_without_documents_are_problems(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    loaded = files.load_paths([str(tmp_path / "gone"), str(tmp_path / "empty")])

    assert messages(loaded) == ["does not exist", "holds no .yaml, .yml or .json file"]
    assert all(each.failed for each in loaded)


@pytest.mark.parametrize("text", [DOMAIN.format("a"), json.dumps(as_json("a"), indent=1)])
def test_standard_input_may_be_yaml_or_json(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    loaded = files.load_paths(["-"])

    assert names(loaded) == ["a"]
    assert files.where(loaded[0], Fault("", "")).startswith("standard input")


def test_progress_counts_files(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        put(tmp_path / f"{name}.yaml", DOMAIN.format(name))
    seen: list[tuple[int, int]] = []

    files.load_paths([str(tmp_path)], lambda done, total: seen.append((done, total)))

    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("media", ["json", "yaml"])
def test_what_is_written_loads_again(media: Media) -> None:
    wanted = as_json("a", "b")

    many = files.load_text(files.dump_all(wanted, media), source="x", media=media)
    [one] = files.load_text(files.dump(wanted[0], media), source="x", media=media)

    assert [each.document for each in many] == wanted
    assert one.document == wanted[0]
