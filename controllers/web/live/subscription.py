"""Where somebody looks and how far they were told: an address and a number."""

from __future__ import annotations

from typing import NamedTuple

from resources.documents.problems import invalid
from resources.tables.visibility import Scope

LONGEST = 2_000
LARGEST = 2**53


class Seat(NamedTuple):
    """An open page: its address, and the number up to which it shows everything.

    Without a number it shows everything from now on. The scope is what its person sees; without
    one, the whole organisation.
    """

    address: str
    number: int | None = None
    scope: Scope | None = None

    def seen_with(self, scope: Scope) -> Seat:
        """Return the same page as somebody with a scope sees it."""
        # Who sees everything sees the same: their pages are made once for all of them.
        return self._replace(scope=None if scope.is_whole else scope)


def seat(address: object, since: object) -> Seat:
    """Read what a page says of itself."""
    if not isinstance(address, str) or not address.startswith("/") or len(address) > LONGEST:
        raise invalid("Name a page: a path of this site, with its query.")
    if since is None or since == "":
        return Seat(address)
    if isinstance(since, str) and since.isascii() and since.isdigit() and len(since) < 20:
        since = int(since)
    if type(since) is not int or not 0 <= since <= LARGEST:
        raise invalid("Name the last number you know: a whole number that is not negative.")
    return Seat(address, since)
