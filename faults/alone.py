"""A product of its own on SQLite, for what breaks a file: the disk, and others who lock it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from faults.calling import API
from faults.history import busyness
from faults.servers import Unavailable
from tests.journeys.product import Product

DOCUMENTS = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: yard}
spec: {purpose: Where everything breaks}
"""
UNHURRIED = {"IOA_API_RATE": "100000"}


class Alone:
    """One `ioa up` and the person who uses it."""

    def __init__(self, folder: Path) -> None:
        self.product = Product(folder / "data", given=UNHURRIED)
        self.file = folder / "data" / "ioa.sqlite3"
        self.client: httpx.Client | None = None

    def write(self, number: int, seconds: float = 60) -> httpx.Response:
        """Declare something new."""
        assert self.client is not None
        document: dict[str, Any] = {
            "apiVersion": "ioa.dev/v0.2",
            "kind": "Domain",
            "metadata": {"name": f"yard-{number}"},
            "spec": {"purpose": "x" * 2_000},
        }
        token = {"X-CSRFToken": self.client.cookies["csrftoken"]}
        path = f"{API}resources/domain/yard-{number}"
        return self.client.put(path, json=document, headers=token, timeout=seconds)

    def read(self, path: str = "/resources") -> httpx.Response:
        """Open a page."""
        assert self.client is not None
        return self.client.get(path, timeout=60)

    def whole(self) -> bool:
        """Tell whether the file is in order, and the ledger too."""
        with closing(sqlite3.connect(self.file)) as connection:
            found = connection.execute("PRAGMA integrity_check").fetchone()[0]
        return bool(found == "ok" and self.product.run("audit", "verify").returncode == 0)

    def stored(self) -> set[str]:
        """Return the names that are declared."""
        with closing(sqlite3.connect(self.file)) as connection:
            rows = connection.execute("SELECT name FROM resources_resource").fetchall()
        return {name for (name,) in rows}


def start(product: Product) -> None:
    """Start a product; on a busy machine that takes longer than a journey waits."""
    with suppress(AssertionError):
        product.start()
    for _ in range(int(busyness())):
        with suppress(AssertionError):
            product.wait_until_it_answers()
            return
    raise Unavailable(f"It did not start: {product.said()[-300:]}")


@contextmanager
def alone(folder: Path) -> Iterator[Alone]:
    """Start a product on SQLite in a folder, with somebody signed in."""
    found = Alone(folder)
    with ExitStack() as stack:
        stack.push(found.product)
        start(found.product)
        done = found.product.run("apply", "-f", "-", text=DOCUMENTS)
        if done.returncode:
            raise Unavailable(done.stderr[-300:])
        found.client = found.product.sign_in(found.product.links()[0])
        yield found
