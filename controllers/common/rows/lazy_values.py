"""Resources and judgements of which the parts that few looks need are still as they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from controllers.engine.terms import Document, Episode, Judgement, Resource
from resources.store.snapshots import parse_instant

NO_LABELS: Mapping[str, str] = {}
QUIET = Episode()


class Stored(Resource):
    """A resource of which the parts that few looks need are still as they are stored."""

    __slots__ = ()

    @property
    def uid(self) -> str:
        """Its uid; SQLite keeps it without dashes."""
        uid = super().uid
        if len(uid) != 32:
            return uid
        return f"{uid[:8]}-{uid[8:12]}-{uid[12:16]}-{uid[16:20]}-{uid[20:]}"

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        stored: Any = super().labels
        return orjson.loads(stored).get("labels") or NO_LABELS

    @property
    def created_at(self) -> datetime | None:
        """When it was first declared."""
        stored: Any = super().created_at
        return moment(stored)

    @property
    def reported_at(self) -> datetime | None:
        """When it last reported."""
        stored: Any = super().reported_at
        return moment(stored)


class StoredJudgement(Judgement):
    """A judgement as it is stored: most stand, and nobody asks for more than a few parts."""

    __slots__ = ()

    @property
    def drifted(self) -> bool:
        """Whether it found drift; SQLite knows only numbers."""
        return bool(super().drifted)

    @property
    def dimensions(self) -> Document:
        """Its figures."""
        stored: Any = super().dimensions
        return beyond(stored)

    @property
    def evidence(self) -> tuple[Document, ...]:
        """What is not well."""
        stored: Any = super().evidence
        return () if stored == "[]" else tuple(orjson.loads(stored))

    @property
    def since(self) -> datetime:
        """Since when it holds."""
        stored: Any = super().since
        return when(stored)

    @property
    def evaluated_at(self) -> datetime:
        """When it was made."""
        stored: Any = super().evaluated_at
        return when(stored)

    @property
    def recheck_at(self) -> datetime | None:
        """When the clock alone may change it."""
        stored: Any = super().recheck_at
        return moment(stored)

    @property
    def episode(self) -> Episode:
        """The story of its drift."""
        stored: Any = super().episode
        return episode(stored)

    @property
    def plain(self) -> bool:
        """Whether it has no story to go on with."""
        stored: tuple[Any, ...] = self
        return stored[15] == "{}" and not stored[16]

    @property
    def even(self) -> bool:
        """Whether it found nothing amiss."""
        stored: tuple[Any, ...] = self
        return bool(stored[11] == "[]")

    def whole(self) -> Judgement:
        """Decode all its parts."""
        stored: tuple[Any, ...] = self
        figures, evidence, since, evaluated_at, recheck_at, told, plan = stored[10:]
        found = () if evidence == "[]" else tuple(orjson.loads(evidence))
        times = (when(since), when(evaluated_at), moment(recheck_at))
        said = (beyond(figures), found, *times, episode(told), plan)
        return Judgement._make((*stored[:5], bool(stored[5]), *stored[6:10], *said))


def when(value: str) -> datetime:
    """Read a time in UTC; PostgreSQL says so, SQLite does not."""
    return datetime.fromisoformat(value if "+" in value else f"{value}+00:00")


def moment(value: str | None) -> datetime | None:
    """Read a time, if there is one."""
    return when(value) if value else None


@lru_cache(maxsize=4_096)
def beyond(written: str) -> Document:
    """Read a small document of which many are the same."""
    found: Document = orjson.loads(written)
    return found


def episode(stored: str) -> Episode:
    """Read an episode; most resources have none."""
    if stored == "{}":
        return QUIET
    told = orjson.loads(stored)
    times = {key: parse_instant(told[key]) for key in ("since", "settled_at") if key in told}
    return Episode(**{**told, **times})


def story(episode: Episode) -> dict[str, Any]:
    """Write an episode; what is as it always was is left out."""
    if episode == QUIET:
        return {}
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in episode._asdict().items()
        if value != getattr(QUIET, key)
    }
