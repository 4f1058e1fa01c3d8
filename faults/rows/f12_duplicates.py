"""F12: everything comes many times: rings, requests, and calls whose answers are lost."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from faults import staging
from faults.calling import API
from faults.run import Row, Run

TIMES = 40
RING = "from ioa_site.celery import ring\nfor _ in range(100): ring.apply_async(retry=False)"


def act(run: Run) -> None:
    """Ring a hundred times, send each request many times at once, and lose answers."""
    with run.traffic():
        run.place.python("-c", f"import django; django.setup()\n{RING}")
        run.strike(100)
        propose_often(run)
        stop_often(run)
        run.place.receiver.mode = "lost"
        time.sleep(run.seconds)
        run.place.receiver.mode = "ok"
        run.last()
    lost = sum(e["mode"] == "lost" for e in run.place.calls.read() if e["at"] >= run.began)
    run.strike(lost)
    run.done = f"100 rings, two requests {TIMES} times each, {lost} answers of calls lost"


def propose_often(run: Run) -> None:
    """File one proposal many times; there is one."""
    unit = staging.units()[1]
    parameters = {"agent": unit, "factor": round(run.random.uniform(0.1, 0.9), 6)}
    body = {
        "resource": f"agent/{unit}",
        "actions": [{"operation": "throttle", "parameters": parameters}],
        "why": "Sent again and again.",
    }
    client = run.place.client({"Authorization": f"Bearer {run.place.tokens[unit]}"})
    found = often(run, client, "proposals", body)
    ids = {each.json()["id"] for each in found if each.is_success}
    statuses = Counter(each.status_code for each in found)
    if len(ids) != 1 or statuses[201] > 1 or set(statuses) - {200, 201, 409, 503}:
        run.breach(f"One proposal filed {TIMES} times became {len(ids)}: {dict(statuses)}.")


def stop_often(run: Run) -> None:
    """Pause one agent many times under one name; there is one hold."""
    client = run.place.person("ines")
    body = {"kind": "pause", "scope": "resource", "resource": "agent/unit-02", "reason": "Look."}
    found = often(run, client, "holds", body)
    ids = {each.json()["hold"]["id"] for each in found if each.is_success}
    if len(ids) != 1:
        said = Counter(each.status_code for each in found)
        run.breach(f"One pause asked for {TIMES} times became {len(ids)}: {dict(said)}.")
    lifter = run.place.person("admin")
    for key in ids:
        lifter.post(f"{API}holds/{key}/lift", json={"reason": "Seen."}).raise_for_status()


def often(run: Run, client: httpx.Client, path: str, body: Any) -> list[httpx.Response]:
    """Send the same request many times at once, under one name."""
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    run.strike(TIMES)
    with ThreadPoolExecutor(8) as pool:
        sent = [
            pool.submit(client.post, f"{API}{path}", json=body, headers=headers, timeout=60)
            for _ in range(TIMES)
        ]
        return [each.result() for each in sent]


ROW = Row(
    "F12",
    "rings, requests and calls come many times",
    "one effect, and the same answer every time",
    act,
    quick=6,
    thorough=40,
)
