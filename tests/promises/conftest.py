"""A running product for each file of promises, and those who speak to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browsing.stage import servers
from tests.journeys.product import Product
from tests.promises.callers import People, Person, Tokens


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Start the product on the database of this pass, with nothing in it."""
    folder = tmp_path_factory.mktemp("promise") / "data"
    with servers() as given, Product(folder, given={**given, "IOA_API_RATE": "1000"}) as started:
        yield started
    assert "Traceback" not in started.said()


@pytest.fixture(scope="module")
def people(product: Product) -> People:
    """Return who can be let in."""
    return People(product)


@pytest.fixture(scope="module")
def admin(people: People) -> Person:
    """Return the first administrator, who decides, too."""
    return people.first


@pytest.fixture(scope="module")
def bo(people: People) -> Person:
    """Return somebody else who decides."""
    return people.invite("bo", "approver")


@pytest.fixture(scope="module")
def token(product: Product) -> Iterator[Tokens]:
    """Return who makes tokens: call it with the name of an agent."""
    with Tokens(product) as made:
        yield made
