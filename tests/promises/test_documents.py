"""Documents over HTTP and by command: versions, parts, history, owners and the way back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.journeys.product import Product
from tests.promises.callers import MERGE, Person, until
from tests.promises.organisation import agent, controller, document, domain

pytestmark = [pytest.mark.product, pytest.mark.full]


def test_requests_can_be_conditional(admin: Person) -> None:
    """F-52"""
    admin.apply(domain("dated"))
    read = admin.get("resources/domain/dated")
    tag = read.headers["ETag"]
    assert tag == f'"{read.json()["metadata"]["resourceVersion"]}"'
    assert admin.get("resources/domain/dated", If_None_Match=tag).status_code == 304
    first = admin.patch("domain/dated", {"spec": {"purpose": "One."}}, If_Match=tag)
    late = admin.patch("domain/dated", {"spec": {"purpose": "Two."}}, If_Match=tag)

    assert (first.status_code, late.status_code) == (200, 409)
    assert admin.resource("domain/dated")["spec"]["purpose"] == "One."
    whole = admin.call("PUT", "resources/domain/dated", domain("dated"))
    assert whole.status_code == 428


def test_documents_can_be_patched(admin: Person) -> None:
    """F-53"""
    admin.apply(domain("patched", priority="high", kpis=[]))
    said = admin.patch("domain/patched", {"spec": {"purpose": "New.", "priority": None}})
    assert said.json()["spec"] == {"purpose": "New.", "kpis": []}
    assert admin.patch("domain/patched", {"spec": {"purpose": 5}}).status_code == 400


@pytest.mark.quick
def test_spec_and_status_are_written_apart(admin: Person) -> None:
    """F-54 F-43 I-05"""
    admin.apply(domain("apart"), agent("parted", "apart"))
    admin.report("agent/parted", {"errorRate": 0.2})
    tag = admin.get("resources/agent/parted").headers["ETag"]
    mixed = {**agent("parted", "apart", purpose="Sorts."), "status": {"errorRate": 0.0}}
    assert admin.call("PUT", "resources/agent/parted", mixed, If_Match=tag).status_code == 200
    now = admin.resource("agent/parted")
    assert (now["spec"]["purpose"], now["status"]["errorRate"]) == ("Sorts.", 0.2)

    admin.report("agent/parted", {"errorRate": 0.3})
    after = admin.resource("agent/parted")
    assert after["spec"] == now["spec"]
    assert after["metadata"]["generation"] == now["metadata"]["generation"] == 2


def test_every_spec_is_kept_and_reports_add_none(admin: Person) -> None:
    """F-55"""
    admin.apply(domain("kept"), agent("keeper", "kept"))
    for purpose in ("Sorts.", "Counts."):
        admin.patch("agent/keeper", {"spec": {"purpose": purpose}})
        admin.report("agent/keeper", {"errorRate": 0.1, "note": purpose})

    found = admin.items("resources/agent/keeper/revisions")
    declared = [each for each in found if "declared" in each["parts"]]
    assert [each["generation"] for each in declared] == [3, 2, 1]
    path = f"resources/agent/keeper/revisions/{declared[1]['resourceVersion']}"
    assert admin.read(path)["spec"]["purpose"] == "Sorts."
    assert admin.call("PUT", path, {}).status_code == 405


def test_the_past_can_be_read_and_what_was_deleted_too(admin: Person) -> None:
    """O-59 O-61"""
    admin.apply(domain("past", purpose="First."))
    moment = admin.resource("domain/past")["metadata"]["updatedAt"]
    admin.patch("domain/past", {"spec": {"purpose": "Second."}})
    later = admin.resource("domain/past")["metadata"]["updatedAt"]
    assert admin.call("DELETE", "resources/domain/past").status_code == 204

    assert admin.read(f"resources/domain/past?at={moment}")["spec"]["purpose"] == "First."
    assert admin.read(f"resources/domain/past?at={later}")["spec"]["purpose"] == "Second."
    assert admin.get("resources/domain/past").status_code == 404
    assert admin.events(event="resource.deleted", subject="domain/past")


def test_events_say_whether_spec_or_status_changed(admin: Person) -> None:
    """F-56 F-51"""
    admin.apply(domain("told"), agent("teller", "told"))
    admin.patch("agent/teller", {"spec": {"purpose": "Tells."}})
    admin.report("agent/teller", {"state": "running"})

    told = [each["type"] for each in admin.events(subject="agent/teller")]
    assert [each for each in told if "condition" not in each] == [
        "resource.created",
        "resource.spec-changed",
        "resource.status-reported",
    ]
    report = admin.events(event="resource.status-reported", subject="agent/teller")[0]
    assert report["time"]
    assert "state" in str(report["data"]["changed"])


def test_rival_writers_both_succeed(admin: Person) -> None:
    """A-18 F-13"""
    admin.apply(domain("busy"), agent("rivals", "busy"))
    answers: list[int] = []

    def write(path: str, field: str) -> None:
        for number in range(10):
            body = {"spec": {"purpose": f"{number}."}} if field == "spec" else {field: number}
            answers.append(admin.call("PATCH", path, body, Content_Type=MERGE).status_code)

    threads = [
        threading.Thread(target=write, args=each)
        for each in (
            ("resources/agent/rivals", "spec"),
            ("resources/agent/rivals/status", "left"),
            ("resources/agent/rivals/status", "right"),
        )
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)

    found = admin.resource("agent/rivals")
    assert set(answers) == {200}
    assert (found["status"]["left"], found["status"]["right"]) == (9, 9)
    assert (found["spec"]["purpose"], found["metadata"]["generation"]) == ("9.", 11)


def test_a_child_knows_its_owner_and_follows_its_policy(admin: Person) -> None:
    """F-38 F-39"""
    memory = {"scope": "domain", "entryType": "context", "content": "Something."}
    for name in ("cascade", "orphan", "block"):
        owner = {"kind": "Domain", "name": f"owns-{name}", "deletePolicy": name}
        child = document("Memory", f"of-{name}", memory, ownerReferences=[owner])
        admin.apply(domain(f"owns-{name}"), child)
        assert admin.resource(f"memory/of-{name}")["metadata"]["ownerReferences"] == [owner]

    gone = [admin.call("DELETE", f"resources/domain/owns-{n}").status_code for n in POLICIES]
    there = [admin.get(f"resources/memory/of-{n}").status_code for n in POLICIES]
    assert gone == [204, 204, 409]
    assert there == [404, 200, 200]
    assert "ownerReferences" not in admin.resource("memory/of-orphan")["metadata"]


POLICIES = ("cascade", "orphan", "block")


def test_a_watch_tells_every_change_and_goes_on_where_it_ended(admin: Person) -> None:
    admin.apply(domain("feed"))
    start = admin.resource("domain/feed")["metadata"]["resourceVersion"]
    admin.patch("domain/feed", {"spec": {"purpose": "Moves."}})
    admin.call("DELETE", "resources/domain/feed")
    path = f"/api/v1/watch?kind=domain&since={start}&bookmarkSeconds=1"
    seen = []
    with admin.line.stream("GET", path) as stream:
        for line in stream.iter_lines():
            if line.startswith("event: "):
                seen.append(line.removeprefix("event: "))
            if "BOOKMARK" in seen:
                break

    assert seen[:2] == ["MODIFIED", "DELETED"]


def test_an_organisation_goes_out_and_comes_back(
    admin: Person, product: Product, tmp_path: Path
) -> None:
    """O-33 I-101 O-27"""
    admin.apply(domain("travel"), agent("traveller", "travel"))
    folder = tmp_path / "out"
    assert product.run("export", str(folder)).returncode == 0
    kept = folder / "agents" / "traveller.yaml"
    assert product.run("diff", "-f", str(kept)).returncode == 0

    admin.patch("agent/traveller", {"spec": {"purpose": "Roams."}})
    assert product.run("diff", "-f", str(kept)).returncode == 1
    assert product.run("apply", "-f", str(kept), "--dry-run").returncode == 0
    assert admin.resource("agent/traveller")["spec"]["purpose"] == "Roams."
    assert product.run("apply", "-f", str(kept)).returncode == 0
    assert admin.resource("agent/traveller")["spec"]["purpose"] == "Packs."


def test_a_pipeline_runs_a_cycle(admin: Person, product: Product) -> None:
    """I-80"""
    admin.apply(domain("line"), agent("piped", "line", labels={"by": "line"}))
    admin.apply(controller("of-line", "Agent", "line"))
    admin.report("agent/piped", {"errorRate": 0.5})

    assert product.run("reconcile", "of-line", "--exit-code").returncode == 2
    admin.report("agent/piped", {"errorRate": 0})
    assert product.run("reconcile", "of-line", "--exit-code").returncode == 0


def test_a_misspelt_document_is_refused_at_the_top(admin: Person) -> None:
    """X-29"""
    odd = {**domain("odd"), "statuss": {}}
    assert admin.call("PUT", "resources/domain/odd", odd).status_code == 400
    kept = domain("extended", priority="high")
    assert admin.call("PUT", "resources/domain/extended", kept).status_code == 201
    assert until(lambda: admin.resource("domain/extended"))["spec"]["priority"] == "high"
