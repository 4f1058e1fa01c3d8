"""One run on one database: servers and a product of its own, all cases, and what came of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cases.judging import Finding
from cases.playing import Plan, Play, Progress, Tally
from cases.scene import Scene
from tests.journeys.product import Product
from tests.services import ServiceUnavailable as Unavailable
from tests.services import start_postgres, start_redis

__all__ = ["Plan", "Unavailable", "run"]

# It is the answers that are looked at, not how many there may be.
UNHURRIED = {"IOA_API_RATE": "1000000"}


@contextmanager
def servers(name: str) -> Iterator[Mapping[str, str]]:
    """Yield the servers of a run: none for SQLite, or new ones; a given one is somebody's."""
    if name == "sqlite":
        yield {}
        return
    for each in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(each, None)
    with start_postgres() as database, start_redis() as redis:
        yield {"DATABASE_URL": database, "REDIS_URL": redis}


@contextmanager
def staged(folder: Path, given: Mapping[str, str]) -> Iterator[Scene]:
    """Start a product with the example organisation, and let everybody sign in."""
    with ExitStack() as stack:
        product = Product(folder / "data", "--demo", given={**given, **UNHURRIED})
        stack.push(product)
        start(product)
        scene = Scene(product)
        stack.callback(scene.close)
        yield scene


def start(product: Product) -> None:
    """Start a product; on a busy machine that takes longer than a journey waits."""
    try:
        with suppress(AssertionError):
            product.start()
        product.wait_until_it_answers()
    except AssertionError as error:
        raise Unavailable(str(error)) from None


def run(name: str, plan: Plan, progress: Progress, tell: Callable[[Finding], None]) -> Tally:
    """Play so many cases on one database."""
    with (
        tempfile.TemporaryDirectory(prefix="ioa-cases-") as folder,
        servers(name) as given,
        staged(Path(folder), given) as scene,
    ):
        return Play(scene, plan, progress, tell).run()
