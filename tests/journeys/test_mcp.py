"""An agent's day through the Model Context Protocol, over both of its ways."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from ioa_mcp import server
from tests.journeys.product import Product, free_port, until
from tests.journeys.test_agents_document import Manager

pytestmark = pytest.mark.sqlite

AGENT = "refund-resolver"
SCOPES = (
    "resources:read,status:write,admission:ask,usage:write,"
    "telemetry:write,runs:write,actions:write,proposals:write"
)
PLAIN = "resources:read,status:write,proposals:write"
QUESTION = {"tokens": {"input": 900, "output": 100}}
RESTART = [{"operation": "restart", "parameters": {}}]


def token(product: Product, scopes: str, agent: str = AGENT) -> str:
    """Make a token as a person does."""
    done = product.run("token", "create", agent, "--scope", scopes)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def serving(product: Product, folder: Path) -> Iterator[str]:
    """Run the server over HTTP, and return its address."""
    port = free_port()
    arguments = product.command("mcp", "--url", product.base, "--http", f"127.0.0.1:{port}")
    with (folder / "mcp.log").open("wb") as log:
        process = subprocess.Popen(arguments, stdout=log, stderr=log, env=product.environment)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                httpx.get(f"http://127.0.0.1:{port}/mcp")
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in (folder / "mcp.log").read_text(encoding="utf-8")


@asynccontextmanager
async def over_stdio(product: Product, text: str) -> AsyncIterator[Client]:
    """Start the server as a client's configuration does."""
    command, *arguments = product.command("mcp", "--url", product.base)
    environment = product.environment | {"IOA_TOKEN": text}
    started = StdioServerParameters(command=command, args=arguments, env=environment)
    async with Client(started) as client:
        yield client


@asynccontextmanager
async def over_http(address: str, text: str) -> AsyncIterator[Client]:
    """Connect to a server that runs."""
    headers = {"Authorization": f"Bearer {text}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as line,
        Client(streamable_http_client(address, http_client=line)) as client,
    ):
        yield client


async def use(client: Client, tool: str, **arguments: Any) -> Any:
    """Use a tool and return what it found."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return found.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Use a tool that refuses and return what it says."""
    found = await client.call_tool(tool, arguments)
    assert found.is_error
    return str(found.content[0].text)  # type: ignore[union-attr]


async def morning(client: Client) -> None:
    """Say how things are, look around, and be refused in the product's own words."""
    said = await use(client, "report_status", agent=AGENT, status={"queueLength": 2})
    assert said["queueLength"] == 2
    read = await use(client, "read_resource", kind="agent", name=AGENT)
    assert read["status"]["queueLength"] == 2
    listed = await use(client, "list_resources", kind="agent", limit=1)
    assert (len(listed["items"]), listed["more"]) == (1, True)
    assert (await use(client, "read_holds"))["items"] == []
    item = {"kind": "Agent", "name": AGENT, "status": {"errorRate": 0.01}}
    seen = await use(client, "report_observations", items=[item])
    assert seen["items"][0]["verdict"] == "changed"
    other = await refused(client, "report_status", agent="support-triage", status={})
    assert other.endswith("An agent reports only for itself: this token is refund-resolver's.")
    missing = await refused(client, "read_resource", kind="agent", name="nobody")
    assert missing.endswith("There is no agent/nobody.")


async def noon(client: Client) -> None:
    """Ask, act, account, tell."""
    ask: dict[str, Any] = {"operation": "read", "resource": "asset/tickets", "details": QUESTION}
    asked = await use(client, "ask_admission", **ask)
    assert asked["decision"] == "allowed"
    permit = asked["permit"]
    used = await use(client, "redeem_permit", admission=asked["id"], permit=permit, **ask)
    assert used["state"] == "redeemed"
    again = await refused(client, "redeem_permit", admission=asked["id"], permit=permit, **ask)
    assert "permit" in again
    spent = await use(client, "report_usage", records=[{"permit": permit, **QUESTION}])
    assert spent["items"][0]["verdict"] == "counted"
    event = {"event": "support.refund_requested", "payload": {"amount": 35}}
    told = await use(client, "send_telemetry", events=[event])
    assert told["items"][0]["contract"] == "support-refund-requested"
    wrong = await refused(client, "ask_admission", **{**ask, "details": {"operation": "x"}})
    assert "There is no detail 'operation'" in wrong


async def afternoon(client: Client, manager: Manager) -> None:
    """Propose, hear, revise, and do what was allowed."""
    why = "Answers slow down."
    filed = await use(client, "propose", resource=f"agent/{AGENT}", actions=RESTART, why=why)
    manager.say("request-changes")
    (sent_back,) = (await use(client, "read_feedback"))["items"]
    assert sent_back["feedback"]["by"].startswith("person/")
    later = {"actions": RESTART, "why": "In the evening."}
    revised = await use(client, "revise_proposal", proposal=filed["id"], **later)
    assert revised["revision"] == 2
    manager.say("approve")
    until(lambda: manager.read("actions?state=claimable")["items"], 30)
    (work,) = (await use(client, "list_work"))["items"]
    claim = await use(client, "claim_work", action=work["id"])
    held = {"action": claim["id"], "fence": claim["fence"]}
    await use(client, "heartbeat_work", **held, epoch=claim["epoch"])
    await use(client, "progress_work", **held, epoch=claim["epoch"], percent=50, note="Half.")
    done = await use(
        client, "report_work_result", **held, outcome="success", about={"outputs": {"pid": 1}}
    )
    assert done["outputs"] == {"pid": 1}
    read = await use(client, "read_proposal", proposal=filed["id"])
    assert read["steps"][0]["state"] == "done"


async def evening(client: Client) -> None:
    """Take a workflow's step."""
    await use(client, "start_run", workflow="refund-approval", inputs={"order": "4711"})
    (ready,) = (await use(client, "list_steps"))["items"]
    place = {
        "workflow": ready["workflow"],
        "run": ready["run"],
        "step": ready["step"]["number"],
    }
    begun = await use(client, "begin_step", **place)
    details = {"fence": begun["fence"], "result": {"fits": True}}
    ended = await use(client, "report_step", **place, verb="complete", details=details)
    assert ended["step"]["state"] == "completed"


@pytest.mark.full
@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_an_agent_lives_its_day_through_tools(tmp_path: Path, way: str) -> None:
    with Product(tmp_path / "data", "--demo") as product:
        manager, text = Manager(product), token(product, SCOPES)
        with serving(product, tmp_path) as address:
            line = over_stdio(product, text) if way == "stdio" else over_http(address, text)
            async with line as client:
                await morning(client)
                await noon(client)
                await afternoon(client, manager)
                await evening(client)

    assert "Traceback" not in product.said()


@pytest.mark.full
async def test_over_http_each_request_acts_as_its_own_agent(tmp_path: Path) -> None:
    with Product(tmp_path / "data", "--demo") as product, serving(product, tmp_path) as address:
        mine, other = token(product, PLAIN), token(product, PLAIN, "support-triage")
        async with over_http(address, mine) as robin, over_http(address, other) as kim:
            await use(robin, "report_status", agent=AGENT, status={"queueLength": 1})
            await use(kim, "report_status", agent="support-triage", status={"queueLength": 2})
            await refused(kim, "report_status", agent=AGENT, status={"queueLength": 3})
        async with over_http(address, "ioa_agent_nonsense") as nobody:
            said = await refused(nobody, "read_holds")
            assert said.endswith("This token is unknown, expired or revoked.")
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        signed = {"Authorization": f"Bearer {mine}", "Accept": "application/json"}

        assert httpx.post(address, json=ask).status_code == 401
        elsewhere = httpx.post(address, json=ask, headers=signed | {"Host": "evil.example"})
        assert elsewhere.status_code == 421
        borrowed = httpx.post(
            address, json=ask, headers=signed | {"Origin": "https://evil.example"}
        )
        assert borrowed.status_code == 403


async def test_no_tool_decides_lifts_or_resumes() -> None:
    built = server.build("http://127.0.0.1:9", lambda _: "x", "0")
    tools = await built.list_tools()

    forbidden = re.compile(
        "approve|reject|decide|override|adopt|accept|snooze|withdraw|undo|break|extend|resolve"
        "|lift|renew|resume|apply|reconcile|reset|place|pause"
    )
    assert len(tools) == len(server.TOOLS) > 20
    assert [each.name for each in tools if forbidden.search(each.name)] == []


def test_no_call_of_the_client_reaches_what_is_for_people() -> None:
    folder = Path(server.__file__).parent.parent / "ioa_client"
    text = "\n".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    spoken = re.findall(r'place\(([^)]*)\)|call\(\s*"[A-Z]+",\s*"([^"]*)"', text)
    paths = " ".join(path for pair in spoken for path in pair)

    assert "redeem" in paths
    assert not re.search("approve|reject|decide|lift|renew|reset|reconcile|apply", paths)
    assert not re.search(r'"POST",\s*(place\()?"holds"', text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Set IOA_TOKEN to an agent's token"),
        (("--url", "ftp://x"), "--url must begin with http"),
        (("--http", "nowhere"), "--http is HOST:PORT"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = Product(tmp_path / "data").run("mcp", *arguments)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
