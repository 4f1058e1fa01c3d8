"""An agent that calls far too often is told so, while people go on working."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ioa_client import Client
from tests.browsing.stage import servers
from tests.journeys.product import Product
from tests.journeys.test_agents_document import MANAGER

pytestmark = [pytest.mark.product, pytest.mark.full]

AGENT = "refund-resolver"
CALLS = 100
# Few enough that a slow machine passes it too.
RATE = "4"


def test_a_burst_of_reports_meets_429_and_the_pages_stay_usable(tmp_path: Path) -> None:
    """A-33"""
    with (
        servers() as given,
        Product(tmp_path / "data", "--demo", given={**given, "IOA_API_RATE": RATE}) as product,
    ):
        person = product.sign_in(next(link for link in product.links() if MANAGER in link))
        made = product.run("token", "create", AGENT, "--scope", "resources:read,status:write")
        token = made.stdout.strip()
        answers: list[httpx.Response] = []

        def report(number: int) -> None:
            answers.append(line.patch(path, json={"queueLength": number}))

        path = f"/api/v1/resources/agent/{AGENT}/status"
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/merge-patch+json",
        }
        with (
            httpx.Client(base_url=product.base, headers=headers, timeout=60) as line,
            ThreadPoolExecutor(4) as threads,
        ):
            sent = threads.map(report, range(CALLS))
            pages = [person.get(page) for page in ("/approvals", "/controllers", "/")]
            list(sent)

        counted = Counter(answer.status_code for answer in answers)
        assert set(counted) == {200, 429}
        late = [answer for answer in answers if answer.status_code == 429]
        assert all(int(answer.headers["Retry-After"]) >= 1 for answer in late)
        assert late[0].headers["Content-Type"] == "application/problem+json"
        assert [page.status_code for page in pages] == [200, 200, 200]
        begun = time.monotonic()
        with Client(product.base, token) as client:
            said = client.resources.report("agent", AGENT, {"queueLength": 0})
        assert said["queueLength"] == 0
        assert time.monotonic() - begun < 10

    assert "Traceback" not in product.said()
