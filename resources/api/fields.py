"""Fields of the API: each reads strictly, spells, describes itself, and shows an example."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import orjson
from rest_framework import serializers
from rest_framework.fields import empty

from resources.api.parameters import read_instant
from resources.documents.problems import Problem, invalid
from resources.documents.reader import escape
from resources.tables.ledger import instant

Schema = dict[str, Any]
LONGEST_ORDINAL = 18
# When things happen in examples.
AT = "2026-02-25T10:00:00Z"


def bad_value(detail: str, pointer: str = "", allowed: Sequence[str] | None = None) -> Problem:
    """Say that a value does not fit: what would, and where it stands."""
    return invalid(detail, pointer, **({} if allowed is None else {"allowed": list(allowed)}))


def within(problem: Problem, place: str | int) -> Problem:
    """Return a problem as seen from the object or list around the value."""
    problem.pointer = f"/{escape(str(place))}{problem.pointer or ''}"
    return problem


class Value(serializers.Field[Any, Any, Any, Any]):
    """A field with a sentence and an example; `detail` is what somebody hears who sends another.

    `needed` is what somebody hears who sends none; without it, none is read as `absent`.
    `null` lets null stand for nothing. `schema` says what the use case behind it checks.
    """

    absent: Any = None
    # Whether it is shown otherwise than the row has it.
    spelled = False
    # The example of what is always there, where none is given.
    usual: Any = None
    # Whether an empty text is as good as nothing to show.
    omits_empty = True

    def __init__(  # noqa: PLR0913 - each says one thing about a field
        self,
        help_text: str = "",
        *,
        example: Any = None,
        detail: str = "",
        needed: str = "",
        null: bool = False,
        absent: Any = empty,
        schema: Schema | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(help_text=help_text or None, **kwargs)
        if absent is not empty:
            self.absent = absent
        self.example = self.usual if example is None and self.required else example
        self.detail = detail
        self.needed = needed
        self.null = null
        self.schema = schema or {}

    def run_validation(self, data: Any = empty) -> Any:
        """Read a value, or nothing."""
        if data is empty or (data is None and self.null):
            if self.needed:
                raise bad_value(self.needed)
            return self.absent
        return self.to_internal_value(data)

    def to_internal_value(self, data: Any) -> Any:
        """Read a value."""
        return data

    def to_representation(self, value: Any) -> Any:
        """Spell a value."""
        return value

    def wrong(self, detail: str, allowed: Sequence[str] | None = None) -> Problem:
        """Say what would fit."""
        return bad_value(self.detail or f"{self.field_name} {detail}", allowed=allowed)

    def shape(self) -> Schema:
        """Describe what it is made of."""
        return dict(self.schema)


class Anything(Value):
    """Any JSON value; an empty text is one, too."""

    omits_empty = False

    def __init__(self, help_text: str = "Any JSON value.", **kwargs: Any) -> None:
        super().__init__(help_text, **kwargs)


class Text(Value):
    """A text, of bounded length where that is said."""

    absent: Any = ""

    def __init__(
        self,
        help_text: str = "",
        *,
        longest: int | None = None,
        shortest: int = 0,
        printable: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(help_text, **kwargs)
        self.longest = longest
        self.shortest = shortest
        self.printable = printable

    def to_internal_value(self, data: Any) -> Any:
        """Read a text."""
        if not isinstance(data, str) or not self.fits(len(data)):
            least = f"{self.shortest} to" if self.shortest else "up to"
            most = f" of {least} {self.longest:,} characters" if self.longest else ""
            raise self.wrong(f"is a text{most}.")
        if self.printable and not data.isprintable():
            raise self.wrong("has characters that cannot be printed.")
        return data

    def fits(self, length: int) -> bool:
        """Tell whether a text may be so long."""
        return length >= self.shortest and (self.longest is None or length <= self.longest)

    def shape(self) -> Schema:
        """Describe it."""
        bounds = {"minLength": self.shortest, "maxLength": self.longest}
        given = {name: each for name, each in bounds.items() if each}
        return {"type": "string", **given, **self.schema}


class TextOf(Text):
    """What is something else here and a text outside: a resource's reference, a version."""

    spelled = True

    def to_representation(self, value: Any) -> str:
        """Write it."""
        return str(value)


class Word(Text):
    """One of some words."""

    def __init__(self, words: Sequence[str], help_text: str = "", **kwargs: Any) -> None:
        super().__init__(help_text, **kwargs)
        self.words = tuple(words)

    def to_internal_value(self, data: Any) -> Any:
        """Read one of them."""
        if not isinstance(data, str) or data not in self.words:
            raise self.wrong(f"is one of {', '.join(self.words)}.", self.words)
        return data

    def shape(self) -> Schema:
        """Describe it."""
        return super().shape() | {"enum": list(self.words)}


class Ordinal(Text):
    """A fence or an epoch: the text it was told in, or a number."""

    absent: Any = None
    spelled = True

    def to_internal_value(self, data: Any) -> int:
        """Read it."""
        text = str(data) if type(data) is int else data
        plain = isinstance(text, str) and text.isascii() and text.isdecimal()
        if not plain or len(text) > LONGEST_ORDINAL:
            raise self.wrong("is the number you were given.")
        return int(text)

    def run_validation(self, data: Any = empty) -> Any:
        """Read it; it must be given where it is required."""
        if self.required and data is empty:
            return self.to_internal_value(None)
        return super().run_validation(data)

    def to_representation(self, value: Any) -> str:
        """Write it."""
        return str(value)


class Count(Value):
    """A whole number within bounds."""

    def __init__(
        self, help_text: str = "", *, least: int = 0, largest: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(help_text, **kwargs)
        self.least = least
        self.largest = largest

    def to_internal_value(self, data: Any) -> int:
        """Read a whole number."""
        fits = type(data) is int and data >= self.least
        if not fits or (self.largest is not None and data > self.largest):
            most = f" to {self.largest:,}" if self.largest is not None else ""
            raise self.wrong(f"is a whole number from {self.least}{most}.")
        return int(data)

    def shape(self) -> Schema:
        """Describe it."""
        return {"type": "integer", "minimum": self.least, **self.schema}


class Key(Count):
    """The number of a row."""

    def __init__(self, help_text: str = "", **kwargs: Any) -> None:
        super().__init__(help_text, least=1, **kwargs)


class Number(Value):
    """A number within bounds; neither true nor false is one."""

    def __init__(
        self,
        help_text: str = "",
        *,
        least: float | None = None,
        largest: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(help_text, **kwargs)
        self.least = least
        self.largest = largest

    def to_internal_value(self, data: Any) -> Any:
        """Read a number."""
        least = float("-inf") if self.least is None else self.least
        largest = float("inf") if self.largest is None else self.largest
        # What is not a number is not between any two.
        if type(data) not in (int, float) or not least <= data <= largest:
            raise self.wrong(f"is a number{self.bounds()}.")
        return data

    def bounds(self) -> str:
        """Say between what it lies."""
        low = f" from {self.least:g}" if self.least is not None else ""
        return low + (f" to {self.largest:,.10g}" if self.largest is not None else "")

    def shape(self) -> Schema:
        """Describe it."""
        low = {"minimum": self.least} if self.least is not None else {}
        return {"type": "number", **low, **self.schema}


class Share(Number):
    """A number from 0 to 1."""

    def __init__(self, help_text: str = "", **kwargs: Any) -> None:
        super().__init__(help_text, least=0, largest=1, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        """Read a share."""
        return float(super().to_internal_value(data))

    def shape(self) -> Schema:
        """Describe it."""
        return super().shape() | {"maximum": 1}


class Flag(Value):
    """True or false."""

    absent: Any = False

    def to_internal_value(self, data: Any) -> bool:
        """Read a switch."""
        if not isinstance(data, bool):
            raise self.wrong("is true or false.")
        return data

    def shape(self) -> Schema:
        """Describe it."""
        return {"type": "boolean", **self.schema}


class Time(Value):
    """A time with a zone, told in UTC; null is as good as none."""

    spelled = True
    usual = AT

    def __init__(self, help_text: str = "", *, null: bool = True, **kwargs: Any) -> None:
        super().__init__(help_text, null=null, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        """Read a time."""
        found = read_instant(data) if isinstance(data, str) else None
        if found is None:
            raise self.wrong("is a time with a zone, such as 2026-02-25T10:00:00Z.")
        return found

    def to_representation(self, value: Any) -> str:
        """Write a time; what is stored as a text is one."""
        return value if isinstance(value, str) else instant(value)

    def shape(self) -> Schema:
        """Describe it."""
        return {"type": "string", "format": "date-time", **self.schema}


class Day(Value):
    """A day."""

    spelled = True

    def to_representation(self, value: date) -> str:
        """Write a day."""
        return value.isoformat()

    def shape(self) -> Schema:
        """Describe it."""
        return {"type": "string", "format": "date", **self.schema}


class Object(Value):
    """An object of which nobody here knows the fields; `largest` is how many bytes it may have."""

    def __init__(self, help_text: str = "", *, largest: int | None = None, **kwargs: Any) -> None:
        super().__init__(help_text, **kwargs)
        self.largest = largest

    def run_validation(self, data: Any = empty) -> Any:
        """Read an object; none is an empty one."""
        return {} if data is empty else super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        """Read an object."""
        if not isinstance(data, dict):
            raise self.wrong("is an object.")
        if self.largest and len(orjson.dumps(data)) > self.largest:
            raise self.wrong(f"has at most {self.largest:,} bytes.")
        return data

    def shape(self) -> Schema:
        """Describe it."""
        return {"type": "object", "additionalProperties": True, **self.schema}


class MapOf(Object):
    """An object of values that are all alike."""

    def __init__(self, child: Value, help_text: str = "", **kwargs: Any) -> None:
        super().__init__(help_text, **kwargs)
        self.child = child

    def shape(self) -> Schema:
        """Describe it."""
        return {"type": "object", "additionalProperties": described(self.child), **self.schema}


class ListOf(Value):
    """A list of values that are all alike, of bounded length where that is said."""

    def __init__(
        self, child: Value, help_text: str = "", *, most: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(help_text, **kwargs)
        self.child = child
        self.most = most
        self.spelled = child.spelled

    def bind(self, field_name: str, parent: Any) -> None:
        """Learn its name; its values are called so, too."""
        super().bind(field_name, parent)
        self.child.field_name = field_name

    def run_validation(self, data: Any = empty) -> Any:
        """Read a list; none is an empty one."""
        if data is empty and not self.needed:
            return []
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> list[Any]:
        """Read each of its values."""
        if not isinstance(data, list) or (self.most is not None and len(data) > self.most):
            raise self.wrong("is a list." if self.most is None else f"lists up to {self.most}.")
        return [self.child.run_validation(each) for each in data]

    def to_representation(self, value: Any) -> list[Any]:
        """Spell each of its values."""
        return [self.child.to_representation(each) for each in value]

    def shape(self) -> Schema:
        """Describe it."""
        most = {"maxItems": self.most} if self.most is not None else {}
        return {"type": "array", "items": described(self.child), **most, **self.schema}


def described(value: Value) -> Schema:
    """Describe a value inside another, with its sentence."""
    found = value.shape()
    if value.help_text:
        found["description"] = str(value.help_text)
    return found
