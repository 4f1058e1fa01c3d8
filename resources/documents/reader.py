"""The strict reader: every entrance turns outside text into plain values here, or says why not."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterator
from typing import Any

from resources.documents.kind import Fault

MAX_DEPTH = 32
MAX_KEYS = 5_000
MAX_ITEMS = 10_000
MAX_TEXT = 64 * 1024
MAX_DIGITS = 40
MAX_NUMBER = 1e15
MAX_NODES = 100_000
MAX_PROBLEMS = 50


class Unreadable(ValueError):
    """The text cannot become plain values; `problems` says where and why."""

    def __init__(self, problems: list[Fault]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


class Repeated(dict[str, Any]):
    """An object that named one key twice; remembered so that the walk can point at it."""

    key = ""


class Unacceptable:
    """A number we do not take; remembered so that the walk can point at it."""

    def __init__(self, message: str) -> None:
        self.message = message


def read_json(data: bytes | str) -> Any:
    """Read one JSON value, refusing what two readers could understand differently."""
    try:
        value = json.loads(
            decode(data),
            object_pairs_hook=unique_keys,
            parse_int=read_integer,
            parse_float=read_float,
            parse_constant=lambda name: Unacceptable(f"{name} is not a number JSON knows"),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable([Fault("", f"This is not JSON: {error.msg} at {where}.")]) from None
    except RecursionError:
        raise Unreadable([too_deep("")]) from None
    return admit(value)


def decode(data: bytes | str) -> str:
    """Decode UTF-8 strictly; a byte order mark is dropped."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"This is not UTF-8: byte {error.start} cannot be read."
        raise Unreadable([Fault("", message)]) from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object and remember the first key that came twice."""
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    repeated = Repeated(result)
    seen: set[str] = set()
    repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def read_integer(text: str) -> int | Unacceptable:
    """Read an integer of a bounded number of digits."""
    if len(text) > MAX_DIGITS:
        return Unacceptable(f"A number has at most {MAX_DIGITS} digits")
    return int(text)


def read_float(text: str) -> float | Unacceptable:
    """Read a decimal number of a bounded number of digits."""
    if len(text) > MAX_DIGITS:
        return Unacceptable(f"A number has at most {MAX_DIGITS} digits")
    return float(text)


def admit(value: Any) -> Any:
    """Return `value` with numbers in one spelling, or raise `Unreadable` with every reason."""
    walk = _Walk()
    result = walk.visit(value, ROOT, 0)
    if walk.problems:
        raise Unreadable(walk.problems)
    return result


def too_deep(pointer: str) -> Fault:
    """Say that a document nests too far."""
    return Fault(pointer, f"This nests deeper than {MAX_DEPTH} levels.")


def escape(key: str) -> str:
    """Escape one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


# Where a walk stands: the steps from the root, as links, spelt out only when there is a problem.
Path = tuple[Any, ...]
ROOT: Path = ()


def pointer_to(path: Path) -> str:
    """Spell a path as a JSON pointer; a refused key is made safe to print."""
    steps = []
    while path:
        path, step = path
        steps.append(escape(shown(str(step))))
    return "".join(f"/{step}" for step in reversed(steps))


class _Walk:
    def __init__(self) -> None:
        self.problems: list[Fault] = []
        self.nodes = 0

    def visit(self, value: Any, path: Path, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or len(self.problems) >= MAX_PROBLEMS:
            if self.nodes == MAX_NODES + 1:
                self.say(path, f"A document has at most {MAX_NODES:,} values.")
            return None
        if not isinstance(value, (dict, list)):
            return self.scalar(value, path)
        if depth >= MAX_DEPTH:
            self.problems.append(too_deep(pointer_to(path)))
            return None
        return self.container(value, path, depth + 1)

    def container(self, value: Any, path: Path, depth: int) -> Any:
        limit = MAX_KEYS if isinstance(value, dict) else MAX_ITEMS
        if len(value) > limit:
            word = "keys" if isinstance(value, dict) else "items"
            self.say(path, f"At most {limit:,} {word} are allowed here.")
            return None
        if isinstance(value, list):
            return [self.visit(each, (path, i), depth) for i, each in enumerate(value)]
        if isinstance(value, Repeated):
            self.say((path, value.key), "This key is given twice.")
        return {
            key: self.visit(each, (path, key), depth)
            for key, each in value.items()
            if plain(key) or self.key(key, path)
        }

    def key(self, key: str, path: Path) -> bool:
        for message in text_faults(key):
            self.say((path, key), f"This key cannot be stored: {message}")
            return False
        if not unicodedata.is_normalized("NFC", key):
            self.say((path, key), "This key is not in Unicode normal form C.")
            return False
        return True

    def scalar(self, value: Any, path: Path) -> Any:
        if isinstance(value, str):
            for message in () if plain(value) else text_faults(value):
                self.say(path, f"This text cannot be stored: {message}")
            return value
        if isinstance(value, Unacceptable):
            self.say(path, f"{value.message}.")
            return None
        if value is None or isinstance(value, bool):
            return value
        return self.number(value, path)

    def number(self, value: int | float, path: Path) -> int | float | None:
        if not math.isfinite(value) or abs(value) > MAX_NUMBER:
            self.say(path, "A number lies between -1e15 and 1e15.")
            return None
        # One spelling for both databases: jsonb would hand 1e3 back as 1000.
        return int(value) if value == int(value) else value

    def say(self, path: Path, message: str) -> None:
        self.problems.append(Fault(pointer_to(path), message))


def plain(text: str) -> bool:
    """Tell at a glance that nothing can be wrong with a text: most are like that."""
    return text.isascii() and len(text) <= MAX_TEXT and "\x00" not in text


def text_faults(text: str) -> Iterator[str]:
    """Yield why a text cannot be stored the same way everywhere."""
    if oversized(text):
        yield "it is longer than 64 kB."
    if "\x00" in text:
        yield "it contains a NUL character."
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield "it contains half of a surrogate pair."


def oversized(text: str) -> bool:
    """Tell whether a text passes the limit once encoded."""
    return len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT


def shown(key: str) -> str:
    """Make a refused key safe to print in a pointer."""
    return key[:80].encode("utf-8", "backslashreplace").decode().replace("\x00", "\\u0000")
