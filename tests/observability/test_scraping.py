"""Who may read the metrics: whoever has the token, or without one only this machine."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from controllers.worker import metrics_export
from ioa_site.settings import environment
from tests.journeys.product import PATIENCE, Product
from tests.observability.reading import numbers
from tests.rows import every_row

TOKEN = "a-token-of-enough-letters"


@pytest.mark.django_db
def test_this_machine_needs_no_sign_in_while_there_is_no_token() -> None:
    answer = Client().get("/metrics")

    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert numbers(answer.content.decode())["ioa_database_up"] == 1


@every_row(
    "given",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": "2001:db8::1"},
        {"REMOTE_ADDR": ""},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
        {"HTTP_X_FORWARDED_FOR": ""},
    ],
)
def test_everybody_else_finds_nothing(given: dict[str, str]) -> None:
    assert Client().get("/metrics", **given).status_code == 404  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
def test_this_machine_has_many_names(address: str) -> None:
    assert metrics_export.permitted({}, address)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 404),
        (f"bearer{TOKEN}", 404),
        (TOKEN, 404),
        ("Bearer ", 404),
        ("Bearer \u00e9\u00e9", 404),
        (None, 404),
    ],
)
def test_with_a_token_only_its_bearer_reads_from_wherever(
    settings: Any, sent: str | None, status: int
) -> None:
    settings.METRICS_TOKEN = TOKEN
    headers = {"Authorization": sent} if sent is not None else {}

    for address in ("127.0.0.1", "192.0.2.7"):
        answer = Client(REMOTE_ADDR=address).get("/metrics", headers=headers)
        assert answer.status_code == status


@pytest.mark.parametrize("value", ["short", "with a space in its middle", "é" * 20])
def test_a_token_that_nobody_could_send_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("IOA_METRICS_TOKEN", value)

    with pytest.raises(ImproperlyConfigured, match="IOA_METRICS_TOKEN must have at least 16"):
        environment.env_token("IOA_METRICS_TOKEN")


@pytest.fixture(params=["", TOKEN])
def worker(tmp_path: Path, request: Any) -> Iterator[tuple[str, str]]:
    """Start a worker with metrics; return where they are and the token they need."""
    given = {"IOA_METRICS_TOKEN": request.param} if request.param else {}
    product = Product(tmp_path / "data", given=given)
    assert product.run("migrate").returncode == 0
    process = subprocess.Popen(
        product.command("worker", "--metrics-port", "0"),
        env=product.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = [process.stdout.readline(), process.stdout.readline()]
    yield re.findall(r"http\S+", said[1])[0], request.param
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    process.stdout.close()


@pytest.mark.full
@pytest.mark.sqlite
def test_a_worker_serves_its_own_numbers_by_the_same_rule(worker: tuple[str, str]) -> None:
    where, token = worker
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    answer = httpx.get(where, headers=headers)
    wrong = {"Authorization": "Bearer something-else-entirely"} if token else {"Via": "1.1 proxy"}

    assert answer.status_code == 200
    assert numbers(answer.text)["ioa_database_up"] == 1
    assert "ioa_cycle_seconds_count" in numbers(answer.text)
    assert httpx.get(where, headers=wrong).status_code == 404
    assert httpx.get(where.replace("/metrics", "/"), headers=headers).status_code == 404


@pytest.mark.sqlite
def test_a_worker_whose_metrics_port_is_taken_says_so(tmp_path: Path) -> None:
    product = Product(tmp_path / "data")
    product.run("migrate")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = product.run("worker", "--metrics-port", str(taken.getsockname()[1]))

    assert done.returncode == 2
    assert "Choose another with --metrics-port." in done.stderr
