"""Starting, using, stopping and killing the product, as on a fresh machine."""

from __future__ import annotations

import signal
import socket
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.journeys.product import Product

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

DOMAIN = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: mine}
spec: {purpose: Something of my own}
"""


@pytest.fixture
def demo(tmp_path: Path) -> Product:
    return Product(tmp_path / "data", "--demo", given={"IOA_API_RATE": "1000000"}, bare=True)


def test_the_demo_serves_the_organisation_to_everybody_it_gave_a_link(demo: Product) -> None:
    with demo:
        links = demo.links()
        pages = [demo.sign_in(link).get("/") for link in links]
        again = httpx.get(links[0])
        ready = httpx.get(f"{demo.base}/readyz")

    assert len(links) == 5
    assert all(">95<" in page.text for page in pages)
    assert again.status_code == 410
    assert ready.json()["database"] == "ok"


@pytest.mark.quick
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_when_asked(demo: Product, how: signal.Signals) -> None:
    """F-60"""
    with demo:
        code = demo.stop(how)

    assert code == 0
    assert "Traceback" not in demo.said()


def test_it_stops_though_somebody_is_watching(demo: Product) -> None:
    with demo:
        client = demo.sign_in(demo.links()[0])
        with client.stream("GET", "/api/v1/watch?since=0") as stream:
            next(stream.iter_lines())
            code = demo.stop()

    assert code == 0
    assert "Traceback" not in demo.said()


def test_the_demo_is_loaded_once_and_its_data_stays(demo: Product) -> None:
    with demo:
        demo.stop()
    before = demo.run("status")
    with demo:
        after = demo.run("status")

    assert before.returncode == after.returncode == 0
    assert "95" in after.stdout
    assert demo.said().count("Loaded the example organisation") == 1


def test_the_demo_stays_out_of_somebodys_own_data(tmp_path: Path) -> None:
    product = Product(tmp_path / "data", "--demo")
    applied = product.run("apply", "-f", "-", text=DOMAIN)

    refused = product.run("up", "--demo", "--port", str(product.port))

    assert applied.returncode == 0, applied.stderr
    assert refused.returncode == 2
    assert "already holds an organisation" in refused.stderr


@pytest.mark.quick
def test_a_taken_port_is_said_in_one_sentence(tmp_path: Path) -> None:
    product = Product(tmp_path / "data")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        refused = product.run("up", "--port", str(taken.getsockname()[1]))

    assert refused.returncode == 2
    assert "--port" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.quick
def test_a_misspelt_variable_stops_the_start_and_is_named(tmp_path: Path) -> None:
    product = Product(tmp_path / "data")
    environment = product.environment | {"IOA_SECERT_KEY": "x" * 40}

    import subprocess

    answer = subprocess.run(
        product.command("status"), env=environment, capture_output=True, text=True, check=False
    )

    assert answer.returncode == 2
    assert "IOA_SECERT_KEY" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_killed_while_writing_it_leaves_a_whole_database_and_ledger(demo: Product) -> None:
    """O-06"""
    reported: list[int] = []
    with demo:
        token = demo.run("token", "create", "growth-optimizer").stdout.split()
        bearer = next(word for word in token if word.startswith("ioa_agent_"))
        writers = [
            threading.Thread(target=report_for_ever, args=(demo.base, bearer, reported, worker))
            for worker in range(4)
        ]
        for writer in writers:
            writer.start()
        wait_for(lambda: len(reported) >= 40)
        demo.stop(signal.SIGKILL)
        for writer in writers:
            writer.join(20)

    verified = demo.run("audit", "verify")
    with closing(sqlite3.connect(demo.data / "ioa.sqlite3")) as database:
        integrity = database.execute("PRAGMA integrity_check").fetchone()
        query = "SELECT count(*) FROM resources_ledgerevent WHERE actor = ?"
        written = database.execute(query, ["agent/growth-optimizer"]).fetchone()

    assert integrity == ("ok",)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    # What was acknowledged is there; what was cut off may be there or not.
    assert written[0] >= len(reported)


def report_for_ever(base: str, bearer: str, reported: list[int], worker: int) -> None:
    """Report new figures until the server is gone."""
    headers = {
        "Authorization": f"Bearer {bearer}",
        "Content-Type": "application/merge-patch+json",
    }
    address = f"{base}/api/v1/resources/agent/growth-optimizer/status"
    with httpx.Client(headers=headers, timeout=10) as client:
        for number in range(100_000):
            try:
                body = {f"figure{worker}": number}
                answer = client.patch(address, json=body, headers=headers)
            except httpx.TransportError:
                return
            assert answer.status_code == 200, answer.text
            reported.append(number)


def wait_for(done: object, seconds: float = 30) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline, "It took too long."
        time.sleep(0.05)
