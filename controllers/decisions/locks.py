"""Who goes first: effects share a scope, a hold has it to itself.

An effect takes its four locks before it reads anything, so whatever it reads afterwards is as it
stands until it commits. A hold takes the one lock of its scope: it waits for the effects that have
begun, and those that have not begin after it has been written. SQLite has one writer at a time,
and an IMMEDIATE transaction is that writer from its first moment.

Nobody who holds a lock or a row may ask for an exclusive one: that comes first, or two who wait
for each other wait in vain.
"""

from __future__ import annotations

from typing import Literal
from zlib import crc32

from django.db import connection

Scope = Literal["organisation", "domain", "controller", "resource", "field"]
# The first half of a lock's name spells "IO" and the scope. Names of two halves are a space of
# their own: the marks of `resources.tables.versions` are names of one.
_ORGANISATION, _DOMAIN, _CONTROLLER, _RESOURCE = 0x494F00, 0x494F01, 0x494F02, 0x494F03
_SHARED = "SELECT " + ", ".join(["pg_advisory_xact_lock_shared(%s::int, %s::int)"] * 4)
_EXCLUSIVE = "SELECT pg_advisory_xact_lock(%s::int, %s::int)"


def share(domain: str, controller: int | None, resource: int) -> None:
    """Begin an effect's transaction: nothing that would stop it comes into force before its end.

    The order is the same for everybody: organisation, domain, controller, resource.
    """
    _take(
        _SHARED,
        (_ORGANISATION, 0),
        (_DOMAIN, _number(domain)),
        (_CONTROLLER, _number(controller)),
        (_RESOURCE, _number(resource)),
    )


def exclude(scope: Scope, domain: str, controller: int | None, resource: int | None) -> None:
    """Begin a hold's transaction: wait for the effects in its scope, and let no other begin."""
    if scope == "organisation":
        _take(_EXCLUSIVE, (_ORGANISATION, 0))
    elif scope == "domain":
        _take(_EXCLUSIVE, (_DOMAIN, _number(domain)))
    elif scope == "controller":
        _take(_EXCLUSIVE, (_CONTROLLER, _number(controller)))
    else:
        _take(_EXCLUSIVE, (_RESOURCE, _number(resource)))


def _number(value: str | int | None) -> int:
    """Number a thing; two with one number wait for each other, and no harm is done."""
    number = crc32(value.encode()) if isinstance(value, str) else value or 0
    return number % 2**31


def _take(statement: str, *names: tuple[int, int]) -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("A lock is taken in the transaction that it protects.")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(statement, [half for name in names for half in name])
