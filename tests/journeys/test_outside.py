"""A controller of sixty lines, run outside, closes a drift and obeys a person in the middle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.journeys.product import Product, until

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

SCRIPT = Path(__file__).parent / "outside_controller.py"
DOCUMENTS = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: workshop}
spec: {purpose: Machines that somebody else looks after}
---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {name: lathe, labels: {floor: ground}}
spec: {domain: workshop, type: reactive, purpose: Turns}
---
apiVersion: ioa.dev/v0.2
kind: Controller
metadata: {name: machine-keeper}
spec:
  targetKind: Agent
  targetSelector: {matchLabels: {floor: ground}}
  reconcileInterval: 5s
  runner: external
  enforcementMode: enforce
  approval: auto
  actions: {onDrift: [{type: reconcile, strategy: immediate}]}
"""


class Manager:
    """A person who watches and decides."""

    def __init__(self, product: Product) -> None:
        self.client = product.sign_in(next(e for e in product.links() if "/sign-in/2/" in e))

    def read(self, path: str) -> Any:
        return self.client.get(f"/api/v1/{path}").json()

    def say(self, path: str, body: dict[str, Any], tag: str = "") -> httpx.Response:
        headers = {"X-CSRFToken": self.client.cookies["csrftoken"], "If-Match": f'"{tag}"'}
        return self.client.post(f"/api/v1/{path}", json=body, headers=headers)

    def proposals(self, state: str) -> Any:
        return self.read(f"proposals?controller=machine-keeper&state={state}")["items"]

    def at_work(self) -> Any:
        return [each for each in self.read("actions?state=claimed")["items"] if "percent" in each]

    def status(self) -> str:
        found = self.read("resources/agent/lathe/conditions")["items"]
        own = [each for each in found if each["type"] == "MachineKeeperConverged"]
        return str(own[0]["status"]) if own else ""


@contextmanager
def running(product: Product, world: Path, token: str) -> Iterator[Path]:
    """Run the script beside the product, as anybody would; yield what it writes."""
    said = world.parent / "said.txt"
    arguments = [sys.executable, str(SCRIPT), product.base, "machine-keeper", str(world)]
    with said.open("wb") as output:
        process = subprocess.Popen(
            arguments, env={"IOA_TOKEN": token}, stdout=output, stderr=output
        )
        try:
            yield said
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def lathe(tmp_path: Path) -> Path:
    """A machine that has stopped."""
    found = tmp_path / "world" / "lathe"
    found.parent.mkdir()
    found.write_text("stopped")
    return found


def test_an_outside_controller_closes_a_drift_and_obeys_a_pause(
    tmp_path: Path, lathe: Path
) -> None:
    """I-01 I-81 I2"""
    with Product(tmp_path / "data", "--demo") as product:
        assert product.run("apply", "-f", "-", text=DOCUMENTS).returncode == 0
        made = product.run("token", "create", "controller/machine-keeper")
        maya = Manager(product)
        with running(product, lathe.parent, made.stdout.strip()) as said:
            until(maya.at_work, 60)
            assert (lathe.read_text(), maya.status()) == ("stopped", "False")
            hold = stop_it(maya)
            until(lambda: "Hands in the machine." in said.read_text(), 30)
            assert lathe.read_text() == "stopped"
            assert maya.say(f"holds/{hold}/lift", {"reason": "Hands are out."}).is_success
            # Its next look only proposes; the one after that may act again.
            until(lambda: maya.status() == "True", 90)
            assert lathe.read_text() == "running"
            (done,) = until(lambda: maya.proposals("succeeded"), 30)
            assert done["outcome"] == "effective"
        cycles = maya.read("controllers/machine-keeper/cycles")["items"]
        assert {each["holder"].partition("/")[0] for each in cycles} == {"token"}
        assert "Traceback" not in said.read_text()


def stop_it(maya: Manager) -> int:
    """Press pause, while the machine is being started; return the hold."""
    pause = {"kind": "pause", "scope": "controller", "reason": "Hands in the machine."}
    placed = maya.say("holds", pause | {"controller": "machine-keeper"})
    assert placed.status_code == 201, placed.text
    assert [each["target"] for each in placed.json()["inFlight"]] == ["agent/lathe"]
    key: int = placed.json()["hold"]["id"]
    return key


def test_the_script_is_short_and_needs_nothing() -> None:
    text = SCRIPT.read_text("utf-8")
    needed = {each.split()[1].partition(".")[0] for each in text.splitlines() if "import" in each}

    assert len(text.splitlines()) <= 60
    assert needed <= sys.stdlib_module_names
