"""Every command of the agents' document, typed as written against the running product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.journeys.product import ROOT, Product, until
from tests.journeys.shell import Shell, blocks

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

MANAGER = "/sign-in/2/"
AGENT = "agent/refund-resolver"
WHY = "Not now: wait until the evening peak is over."


class Manager:
    """The person who answers what is proposed about an agent, by itself or by somebody else."""

    def __init__(self, product: Product, agent: str = AGENT, proposer: str = AGENT) -> None:
        self.agent, self.proposer = agent, proposer
        link = next(link for link in product.links() if MANAGER in link)
        self.client = product.sign_in(link)

    def read(self, path: str) -> Any:
        """Read something."""
        answer = self.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def asked(self) -> int:
        """Return what is proposed about the agent."""
        found = self.read(f"proposals?resource={self.agent}&state=waiting")["items"]
        own = [each["id"] for each in found if each["proposer"] == self.proposer]
        assert len(own) == 1
        return int(own[0])

    def say(self, answer: str) -> httpx.Response:
        """Answer it."""
        path = f"/api/v1/proposals/{self.asked()}"
        headers = {
            "If-Match": self.client.get(path).headers["ETag"],
            "X-CSRFToken": self.client.cookies["csrftoken"],
        }
        found = self.client.post(f"{path}/{answer}", json={"reason": WHY}, headers=headers)
        assert found.status_code == 200, found.text
        return found


def test_an_author_types_the_document_and_gets_through_it(tmp_path: Path) -> None:
    typed = blocks(ROOT / "docs" / "agents.md")
    assert len(typed) == 10

    with (
        Product(tmp_path / "data", "--demo") as product,
        Shell(product, tmp_path / "bin") as shell,
    ):
        manager = Manager(product)
        shell.type(typed[0])
        assert '"queueLength":3' in shell.type(typed[1])
        assert '"state":"redeemed"' in shell.type(typed[2])
        assert '"verdict":"counted"' in shell.type(typed[3])
        assert '"contract":"support-refund-requested"' in shell.type(typed[4])
        filed = shell.type(typed[5]).strip()
        assert int(filed) == manager.asked()

        manager.say("request-changes")
        heard = shell.type(typed[6])
        assert WHY in heard
        assert '"revision":2' in heard

        manager.say("approve")
        until(lambda: manager.read("actions?state=claimable")["items"], 30)
        done = shell.type(typed[7])
        assert '"outputs":{"pid":4711}' in done
        assert '"state":"completed"' in shell.type(typed[8])
        last = shell.type(typed[9])
        assert '"epoch"' in last
        assert "event: BOOKMARK" in last
        code = product.stop()

    assert code == 0
    assert "Traceback" not in product.said()
