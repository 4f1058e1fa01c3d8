"""What every serializer of the API shares: one class reads, writes, describes and exemplifies.

Attributes are written as Python does (`correlation_id`, `class_`) and sent as the API does
(`correlationId`, `class`). A value comes from the row's attribute of that name, from `source`, or
from a method `get_correlation_id`. What is not `required` is left out where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request

from resources.api import fields
from resources.api.fields import Value, bad_value, within
from resources.api.parameters import Cursor
from resources.documents.kind import Document
from resources.documents.problems import Problem
from resources.documents.reader import escape

Body = dict[str, Any]


def camel_case(attribute: str) -> str:
    """Return a Python name as the API spells it."""
    first, *others = attribute.rstrip("_").split("_")
    return first + "".join(each.capitalize() for each in others)


class Part(NamedTuple):
    """How one field is shown."""

    name: str
    # From the row, or by a method of the serializer.
    read: Callable[..., Any]
    is_method: bool
    # From the value, or from the serializer and an object inside; nothing leaves it as it is.
    spell: Callable[..., Any] | None
    is_inside: bool
    always: bool
    omits_empty: bool


class Many(serializers.ListSerializer[Any]):
    """A list of objects that are all alike."""

    child: ApiSerializer
    min_length: int | None
    max_length: int | None

    def run_validation(self, data: Any = empty) -> Any:
        """Read each of them; none is an empty list."""
        given = [] if data is empty else data
        if not isinstance(given, list) or not self.fits(len(given)):
            raise bad_value(self.child.refusal or f"{self.field_name} is a list of objects.")
        return [self.read_one(place, each) for place, each in enumerate(given)]

    def fits(self, count: int) -> bool:
        """Tell whether so many may be sent at once."""
        most = count if self.max_length is None else self.max_length
        return (self.min_length or 0) <= count <= most

    def shape(self) -> dict[str, Any]:
        """Describe how many there are."""
        bounds = {"minItems": self.min_length, "maxItems": self.max_length}
        return {name: each for name, each in bounds.items() if each} | self.child.schema

    def read_one(self, place: int, data: Any) -> Any:
        """Read one of them."""
        try:
            return self.child.run_validation(data)
        except Problem as problem:
            raise within(problem, place) from None


class ApiSerializer(serializers.Serializer[Any]):
    """One object that the API takes or answers with."""

    # The Python name of each field.
    attributes: ClassVar[dict[str, str]] = {}
    # What somebody hears who sends something else than an object.
    not_an_object: ClassVar[str] = ""
    # Whether an answer of this shape comes with its version as its ETag.
    versioned: ClassVar[bool] = False
    # Whether it has fields that are not named here.
    has_more_fields: ClassVar[bool] = False
    # What it is one of, instead of having fields.
    one_of: ClassVar[tuple[Any, ...]] = ()

    class Meta:
        list_serializer_class = Many

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        named: dict[str, str] = {}
        for base in reversed(cls.__mro__[1:]):
            named |= base.__dict__.get("attributes", {})
        declared = {}
        attributes = {}
        for attribute, field in cls._declared_fields.items():
            name = camel_case(attribute)
            declared[name] = field
            attributes[name] = named.get(attribute, attribute)
        cls._declared_fields = declared
        cls.attributes = attributes

    def __init__(
        self,
        *args: Any,
        example: Any = empty,
        detail: str = "",
        schema: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.shown = example
        # Of a list of them: what somebody hears who sends another, and what else holds of it.
        self.refusal = detail
        self.schema = schema or {}

    # Reading.

    @classmethod
    def read(cls, data: Any) -> Body:
        """Read an object strictly, by its fields' Python names, or answer 400."""
        found: Body = reader(cls).run_validation(data)
        return found

    @classmethod
    def read_body(cls, request: Request) -> Body:
        """Read the body of a request; one that is missing is an empty object."""
        return cls.read(request.data if request.stream is not None else {})

    def run_validation(self, data: Any = empty) -> Any:
        """Read an object and what holds between its fields; one that is required must be sent."""
        if data is empty and not self.required:
            return None
        return self.validate(self.to_internal_value(data))

    def to_internal_value(self, data: Any) -> Body:
        """Read each field in its order; the first that is wrong is told."""
        self.refuse_unknown(data)
        found = dict(data) if self.has_more_fields else {}
        for name, key, read in self.readers:
            try:
                found[key] = read(data.get(name, empty))
            except Problem as problem:
                raise within(problem, name) from None
        return found

    @cached_property
    def readers(self) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
        """How each field is read, worked out once, for bodies hold many objects."""
        return tuple(
            (name, self.attributes[name], field.run_validation)
            for name, field in self.fields.items()
        )

    def refuse_unknown(self, data: Any) -> None:
        """Refuse what is not an object, and fields that nobody reads."""
        if not isinstance(data, dict):
            raise bad_value(self.not_an_object or self.usual_refusal())
        if not self.has_more_fields and not data.keys() <= self.attributes.keys():
            unknown = sorted(set(data) - set(self.attributes))
            raise unknown_field(unknown[0], list(self.attributes))

    def usual_refusal(self) -> str:
        """Say what an object is sent for."""
        if self.field_name is None:
            return "Send an object."
        return f"{self.field_name} is an object with {', '.join(self.fields)}."

    # Showing.

    @classmethod
    def show(cls, row: Any, **context: Any) -> Document:
        """Write one row as a document; methods find what else they need in `context`."""
        return writer(cls, context).to_representation(row)

    @classmethod
    def show_all(cls, rows: Iterable[Any], **context: Any) -> list[Document]:
        """Write many rows."""
        serializer = writer(cls, context)
        return [serializer.to_representation(row) for row in rows]

    def to_representation(self, instance: Any) -> Document:
        """Write each field that there is something to say about."""
        found: Document = {}
        for name, read, is_method, spell, is_inside, always, omits_empty in parts(type(self)):
            value = read(self, instance) if is_method else read(instance)
            if value is None or (omits_empty and value == ""):
                if always:
                    found[name] = value
            elif spell is None:
                found[name] = value
            else:
                found[name] = spell(self, value) if is_inside else spell(value)
        return found

    # Describing.

    @classmethod
    def also(cls, **more: Any) -> None:
        """Add fields that only those who stand above know of."""
        named = {camel_case(attribute): attribute for attribute in more}
        cls.attributes |= named
        cls._declared_fields |= {name: more[named[name]] for name in named}

    @classmethod
    def component(cls) -> str:
        """Return what the description calls it."""
        return cls.__name__.removesuffix("Serializer")

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example, put together from those of its fields; None leaves a field out."""
        found = {name: exemplified(field) for name, field in cls._declared_fields.items()}
        return {name: each for name, each in (found | changes).items() if each is not None}


class ItemSerializer(ApiSerializer):
    """One of many objects, each with its own verdict: everything that is wrong with it is told."""

    not_an_object = "must be an object"
    # What somebody hears who sends a field that nobody reads.
    unknown: ClassVar[str] = "is not a known field"

    @classmethod
    def collect(cls, data: Document) -> tuple[Body, list[Problem]]:
        """Read an object, with all that does not fit."""
        own: Any = reader(cls)
        found: tuple[Body, list[Problem]] = own.collected(data)
        return found

    def collected(self, data: Document) -> tuple[Body, list[Problem]]:
        """Read each field; those inside are read so, too."""
        found: Body = {}
        faults: list[Problem] = []
        for name, key, read in self.readers:
            given = data.get(name, empty)
            if name in self.inside and isinstance(given, dict):
                found[key], wrong = self.inside[name].collected(given)
                faults += [within(each, name) for each in wrong]
                continue
            try:
                found[key] = read(given)
            except Problem as problem:
                faults.append(within(problem, name))
        for name in sorted(data.keys() - self.attributes.keys()):
            faults.append(bad_value(self.unknown, f"/{escape(name[:80])}"))
        return found, faults

    @cached_property
    def inside(self) -> dict[str, ItemSerializer]:
        """Those of its fields that are read in the same way."""
        return {
            name: field for name, field in self.fields.items() if isinstance(field, ItemSerializer)
        }


class EmptySerializer(ApiSerializer):
    """Nothing: an object without fields, or no body at all."""


class PageSerializer(ApiSerializer):
    """One page of a list."""

    next_cursor = fields.Text(
        "Where the next page begins; absent on the last.", required=False, example="IjQyIg:5T3…"
    )

    @classmethod
    def page(
        cls,
        rows: Sequence[Any],
        most: int,
        cursor: Cursor,
        place: Callable[[Any], Any] = attrgetter("pk"),
    ) -> Document:
        """Write the first rows; one more than a page holds shows that there is another."""
        shown: Any = cls._declared_fields["items"]
        return cls.paged(type(shown.child).show_all(rows[:most]), rows, most, cursor, place)

    @staticmethod
    def paged(
        items: list[Document],
        rows: Sequence[Any],
        most: int,
        cursor: Cursor,
        place: Callable[[Any], Any] = attrgetter("pk"),
    ) -> Document:
        """Write a page of items that are documents already."""
        page: Document = {"items": items}
        if len(rows) > most:
            page["nextCursor"] = cursor.following(str(place(rows[most - 1])))
        return page


def unknown_field(name: str, known: Sequence[str]) -> Problem:
    """Say that nobody reads a field."""
    shown = name[:80]
    return bad_value(f"There is no field {shown!r} here.", f"/{escape(shown)}", known)


@cache
def reader(serializer: type[ApiSerializer]) -> ApiSerializer:
    """Return the one that reads bodies: its fields keep nothing of what they read."""
    return serializer()


@cache
def parts(serializer: type[ApiSerializer]) -> tuple[Part, ...]:
    """Return how each field of a serializer is shown; worked out once, for lists are long."""
    return tuple(
        Part(
            name,
            *reading(serializer, field, serializer.attributes[name]),
            *spelling(field),
            field.required,
            getattr(field, "omits_empty", True),
        )
        for name, field in serializer._declared_fields.items()
    )


def reading(
    serializer: type[ApiSerializer], field: Any, attribute: str
) -> tuple[Callable[..., Any], bool]:
    """Return how a field's value is found, and whether by a method."""
    own: Callable[[Any, Any], Any] | None = getattr(serializer, f"get_{attribute}", None)
    # REST framework has methods of such names, too.
    if own is not None and own is not getattr(ApiSerializer, f"get_{attribute}", None):
        return own, True
    return attrgetter(field.source or attribute.rstrip("_")), False


def spelling(field: Any) -> tuple[Callable[..., Any] | None, bool]:
    """Return how a field's value is written, and whether as an object inside."""
    if isinstance(field, Many):
        inner: type[ApiSerializer] = type(field.child)
        return lambda self, rows: nested(self, inner, rows), True
    if isinstance(field, ApiSerializer):
        only = type(field)
        return lambda self, row: nested(self, only, (row,))[0], True
    return (field.to_representation if field.spelled else None), False


def writer(serializer: type[ApiSerializer], context: Mapping[str, Any]) -> ApiSerializer:
    """Return one that writes; it needs no more than a context, and many are made."""
    found = serializer.__new__(serializer)
    found._context = context
    return found


def nested(outer: ApiSerializer, serializer: type[ApiSerializer], rows: Any) -> list[Document]:
    """Write objects inside another; what is a document already stays as it is."""
    inner = writer(serializer, outer._context)
    return [row if isinstance(row, dict) else inner.to_representation(row) for row in rows]


def exemplified(field: Any) -> Any:
    """Return a field's example."""
    if isinstance(field, Value):
        return field.example
    inner: ApiSerializer = field.child if isinstance(field, Many) else field
    if inner.shown is not empty:
        return inner.shown
    found = type(inner).example()
    return [found] if inner is not field else found
