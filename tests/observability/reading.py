"""Short ways to what a scrape says."""

from __future__ import annotations

import re

from django.test import Client

SAMPLE = re.compile(r"(?P<name>\w+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)")


def scrape(client: Client | None = None) -> dict[str, float]:
    """Return every number of the product, as somebody on this machine reads it."""
    answer = (client or Client()).get("/metrics")
    assert answer.status_code == 200
    return numbers(answer.content.decode())


def numbers(text: str) -> dict[str, float]:
    """Read the numbers of a page by name and labels."""
    found = [line for line in text.splitlines() if line and not line.startswith("#")]
    samples = [SAMPLE.fullmatch(line) for line in found]
    assert all(samples), found
    return {
        each["name"] + (f"{{{each['labels']}}}" if each["labels"] else ""): float(each["value"])
        for each in samples
        if each
    }


class Growth:
    """By how much the numbers grew since it was made."""

    def __init__(self) -> None:
        self.before = scrape()

    def of(self, name: str) -> float:
        """Return by how much one grew."""
        return scrape().get(name, 0.0) - self.before.get(name, 0.0)
