"""A whole outside controller: machines are files, and it starts those that have stopped."""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

BASE, NAME, WORLD = sys.argv[1], sys.argv[2], Path(sys.argv[3])
HEADERS = {"Authorization": f"Bearer {os.environ['IOA_TOKEN']}"}
SICK = {"subject": "machine/state", "verdict": "missed", "desired": "running"}


def call(method: str, path: str, body: Any = None) -> tuple[int, Any]:
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    data = None if body is None else json.dumps(body).encode()
    sent = (f"{BASE}/api/v1/{path}", data, HEADERS | {"Content-Type": kind})
    request = urllib.request.Request(*sent, method=method)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def finding(machine: Path) -> dict[str, Any]:
    found, state = {"resource": f"agent/{machine.name}"}, machine.read_text()
    if state == "running":
        return found | {"dimensions": {"health": {"score": 0}}}
    health = {"score": 1, "evidence": [SICK | {"observed": state}]}
    return found | {"dimensions": {"health": health}, "actions": [{"operation": "restart"}]}


def work(address: str, machine: Path) -> tuple[int, Any]:
    status, claim = call("POST", f"{address}/claim", {})
    mine = {"fence": claim.get("fence", "0")}
    for percent in range(10, 100, 10):
        if status != 200:
            said = {"outcome": "failure", "class": "stopped", "detail": claim["detail"]}
            return call("POST", f"{address}/result", mine | said)
        time.sleep(0.3)
        beat = mine | {"epoch": claim["epoch"], "percent": percent}
        status, claim = call("POST", f"{address}/progress", beat)
    machine.write_text("running")
    return call("POST", f"{address}/result", mine | {"outcome": "success"})


while call("POST", f"controllers/{NAME}/heartbeat", {})[0] == 200:
    _, opened = call("POST", f"controllers/{NAME}/cycles", {})
    cycle, fence = f"controllers/{NAME}/cycles/{opened['cycle']['number']}", opened["fence"]
    findings = [finding(each) for each in WORLD.iterdir()]
    call("POST", f"{cycle}/findings", {"fence": fence, "findings": findings})
    call("PATCH", cycle, {"fence": fence, "outcome": "completed"})
    for each in call("GET", "actions?state=claimable")[1]["items"]:
        target = WORLD / each["target"].partition("/")[2]
        sys.stderr.write(f"{work('actions/' + str(each['id']), target)}\n")
    time.sleep(0.3)
