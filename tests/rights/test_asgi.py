"""Under the server that the product runs on, people see the same: over ASGI, streams too."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.urls import reverse

from tests.conftest import given
from tests.rights import world
from tests.rights.world import HERE, THERE


async def fetched(client: AsyncClient, address: str) -> str:
    answer: Any = await client.get(address)
    if not answer.streaming:
        return f"{answer.status_code} {answer.content.decode()}"
    pieces = [piece async for piece in answer.streaming_content]
    return f"{answer.status_code} {b''.join(pieces).decode()}"


@pytest.mark.django_db(transaction=True)
def test_pages_files_and_the_api_are_narrowed_over_asgi() -> None:
    there = world.build()
    user = given(User.objects.create(username="vic"), "operator", domain=HERE)
    client = AsyncClient()
    client.cookies = session(user)
    lists = [reverse("resources"), reverse("resources-csv"), "/api/v1/resources/agent"]
    lists += [reverse("audit-csv"), reverse("start")]

    said = {address: async_to_sync(fetched)(client, address) for address in lists}
    far = async_to_sync(fetched)(client, reverse("proposal", args=[there[THERE].proposal.pk]))

    assert all(text.startswith("200") and HERE in text for text in said.values())
    assert not [address for address, text in said.items() if THERE in text]
    assert far.startswith("404")
    held = async_to_sync(client.post)(reverse("pause"), {"reason": "x"}, follow=False)
    assert held.status_code == 403


def session(user: User) -> Any:
    """Return the cookies of somebody who signed in."""
    browser = Client()
    browser.force_login(user)
    return browser.cookies
