"""The client against the running product: it follows changes, and runs a controller outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioa_client import Client, Problem
from tests.journeys.product import Product

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

AGENT = "refund-resolver"
KEEPER = """
apiVersion: ioa.dev/v0.2
kind: Controller
metadata: {name: machine-keeper}
spec:
  targetKind: Agent
  reconcileInterval: 5m
  runner: external
  enforcementMode: observe
  actions:
    onDrift: [{type: reconcile, strategy: immediate}]
"""
WELL = {"resource": f"agent/{AGENT}", "dimensions": {"health": {"score": 0, "of": 1}}}


def token(product: Product, bearer: str, scopes: str) -> str:
    """Make a token as a person does."""
    done = product.run("token", "create", bearer, "--scope", scopes)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_watch_goes_on_after_the_product_was_started_again(tmp_path: Path) -> None:
    with Product(tmp_path / "data") as product:
        product.run("apply", "-f", "-", text=declared("scribe"))
        text = token(product, "scribe", "resources:read,status:write")
        with Client(product.base, text, timeout=20, attempts=10) as client:
            watch = client.watching.changes("agent", since="0")
            first = next(watch)
            assert first.document["metadata"]["name"] == "scribe"
            product.stop()
            product.start()
            client.resources.report("agent", "scribe", {"queueLength": 7})
            seen = next(change for change in watch if change.version > first.version)
            assert seen.document["status"]["queueLength"] == 7
            with pytest.raises(Problem) as caught:
                next(client.watching.changes("nonsense"))

    assert caught.value.status in (400, 404)
    assert client.transport.streams == set()


def declared(name: str) -> str:
    """Return an agent in a domain."""
    return f"""
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {{name: growth}}
spec: {{purpose: Grows}}
---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {{name: {name}}}
spec: {{domain: growth, type: autonomous, purpose: Writes}}
"""


def test_a_process_runs_a_controller_outside(tmp_path: Path) -> None:
    with Product(tmp_path / "data", "--demo") as product:
        done = product.run("apply", "-f", "-", text=KEEPER)
        assert done.returncode == 0, done.stdout + done.stderr
        text = token(product, "controller/machine-keeper", "resources:read,cycles:write")
        with Client(product.base, text) as client:
            assert client.controllers.heartbeat("machine-keeper")["holds"] == []
            opened = client.controllers.open("machine-keeper")
            tried = client.controllers.find(opened, [WELL], dry_run=True)
            found = client.controllers.find(opened, [WELL])
            assert tried["items"][0]["drifted"] is found["items"][0]["drifted"] is False
            client.controllers.heartbeat("machine-keeper", opened["fence"])
            closed = client.controllers.close(opened, watched=1)
            assert closed["cycle"]["outcome"] == "converged"
            with pytest.raises(Problem) as caught:
                client.controllers.find(opened, [WELL])

    assert caught.value.status == 409
