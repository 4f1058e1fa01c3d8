"""Colour, progress and odd characters: helpful on a terminal, absent elsewhere."""

from __future__ import annotations

import io

import pytest

from ioa_site.server.progress import Bar
from ioa_site.server.terminal import as_value, counted, paint, shown, table
from ioa_site.work.changes import dotted

pytestmark = pytest.mark.sqlite


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without wishes about colour."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_colour_is_for_terminals() -> None:
    assert paint("x", "red", Terminal()) == "\x1b[31mx\x1b[0m"
    assert paint("x", "red", io.StringIO()) == "x"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)

    assert paint("x", "red", Terminal()) == "x"


def test_control_characters_are_spelled_out() -> None:
    assert shown("a\x1b[2J\n\x9b\u202eb") == "a\\x1b[2J\\x0a\\x9b\\x202eb"
    assert as_value("a" * 200, most=10) == '"aaaaaaaa…'


def test_numbers_agree_with_their_words() -> None:
    assert counted(1, "entry", "entries") == "1 entry"
    assert counted(1200, "document") == "1,200 documents"


def test_a_table_is_as_wide_as_its_cells() -> None:
    lines = list(table([("robin", "x"), ("al", "y")], ("NAME", "B")))

    assert lines == ["NAME   B", "robin  x", "al     y"]


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/spec/kpis/0/name", "spec.kpis[0].name"),
        ("/metadata/labels/ioa.dev~1tier", 'metadata.labels["ioa.dev/tier"]'),
        ("/metadata/labels/a~0b", 'metadata.labels["a~b"]'),
    ],
)
def test_a_pointer_reads_as_a_path(pointer: str, expected: str) -> None:
    assert dotted(pointer) == expected


def test_the_bar_moves_on_a_terminal_and_goes_away() -> None:
    stream = Terminal()
    bar = Bar(forced=True, stream=stream)

    bar("read", 0, 10)
    bar("check", 10, 10)
    bar.clear()

    assert "\r\x1b[Kread   [                        ] 0 of 10" in stream.getvalue()
    assert "\r\x1b[Kcheck  [########################] 10 of 10" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_without_a_terminal_there_is_no_bar_unless_asked_for() -> None:
    silent, asked = io.StringIO(), io.StringIO()

    for stream, forced in ((silent, False), (asked, True)):
        bar = Bar(forced=forced, stream=stream)
        for done in range(1, 1001):
            bar("read", done, 1000)
        bar.clear()

    assert silent.getvalue() == ""
    assert asked.getvalue().splitlines() == [
        "read   [                        ] 1 of 1,000",
        "read   [########################] 1,000 of 1,000",
    ]


def test_a_quick_command_shows_no_bar() -> None:
    stream = Terminal()

    bar = Bar(stream=stream)
    bar("read", 1, 1)
    bar.clear()

    assert stream.getvalue() == ""
