"""One run in a process of its own: `python -m bench.tasks NAME ARGUMENTS`, answered as JSON."""

from __future__ import annotations

import os
import sys
from typing import Any

import orjson

from bench import floors, meter

# What is done as a web process does it, with its pool of connections.
SERVED = ("ask",)


def floor() -> meter.Readings:
    """Run the floor, without Django."""
    url = os.environ["DATABASE_URL"]
    store = floors.open_store(url)
    database = meter.in_process
    if isinstance(store, floors.Postgres):
        database = meter.of_server(store.connection.info.backend_pid)
    with meter.measured(database) as found:
        found["judged"] = floors.cycle(store)
    return found


def subject(name: str, arguments: dict[str, Any]) -> Any:
    """Run a task of the subject, with Django ready and one connection."""
    import django

    django.setup()
    from bench import asking, crowd, sharing, subjects, whole
    from ioa_site.work.database import use_one_connection

    if name not in SERVED:
        use_one_connection()
    place = next(each for each in (subjects, sharing, asking, crowd, whole) if hasattr(each, name))
    return getattr(place, name)(**arguments)


def main(name: str, arguments: str = "{}") -> None:
    """Run a task and print what it found."""
    found = floor() if name == "floor" else subject(name, orjson.loads(arguments))
    sys.stdout.write(orjson.dumps(found).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
