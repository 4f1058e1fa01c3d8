"""Every command of the README and of `docs/` is typed as written, or is named here with why not.

The README is typed by `test_newcomer`, the agents' document by `test_agents_document`. All others
are typed against one product.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ioa_site import cli
from tests.journeys.product import ROOT, Product, until
from tests.journeys.shell import Shell, blocks
from tests.journeys.test_agents_document import Manager
from tests.journeys.test_outside import DOCUMENTS as MACHINES
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

TUTORIAL = "docs/tutorial.md"
SCRIBE = "agent/ink-scribe"
ELSEWHERE = {"README.md": "test_newcomer.py", "docs/agents.md": "test_agents_document.py"}
# What the reader of a document has written before.
WRITTEN = {"docs/outside-controllers.md": {"machine-keeper.yaml": MACHINES}}
GOES_ON = "It goes on until it is stopped: tests/journeys starts it in many ways."
SERVERS = "It goes on until it is stopped, on PostgreSQL: tests/journeys/test_processes.py."
INSTALLED_APART = "It changes the machine: tests/promises/test_package.py installs it apart."
MACHINE = "It changes the machine: tests/site/test_deploying.py reads what it installs."
SUITE = "It runs tests like this one, for long."
LONG = "It takes minutes: tests/test_bench.py, tests/faults and test_cases.py run a little of it."
TOOLS = "It needs a program that not all have: test_restoring.py does the same."
NOT_TYPED: Mapping[str, Mapping[str, str]] = {
    TUTORIAL: {"./ioa up --demo": "The product that all is typed against was started so."},
    "docs/benchmarks.md": dict.fromkeys(
        (
            "./ioa bench --json figures.json          # everything, most of an hour on two cores",
            "./ioa bench --quick                      # 10,000 resources, a few minutes",
            "./ioa bench --only B1,B3 --database sqlite",
            "python -m bench.report figures.json      # this page",
        ),
        LONG,
    ),
    "docs/contributing.md": dict.fromkeys(
        (
            "./ioa test -m slow                                                   "
            "# every long run",
            "./ioa test --only postgres tests/decisions/test_pause_storm.py -m slow -n 0 -s",
            "MACHINE_STEPS=1000000 ./ioa test --only sqlite "
            "tests/decisions/test_machine.py -m slow -n 0",
        ),
        SUITE,
    ),
    "docs/for-administrators.md": {
        "./ioa up": GOES_ON,
        "./ioa up --workers 2": GOES_ON,
        "export DATABASE_URL=postgres://… REDIS_URL=redis://…": SERVERS,
        "./ioa web --host 0.0.0.0": SERVERS,
        "./ioa worker": SERVERS,
        "./ioa beat": SERVERS,
        "./ioa faults --quick": LONG,
        "./ioa bench --quick": LONG,
        "./ioa cases --cases 1500": LONG,
    },
    "docs/mcp.md": {"ioa mcp --http 127.0.0.1:8765": GOES_ON},
    "docs/running.md": {
        "ioa up": GOES_ON,
        "ioa up --demo --port 9000": GOES_ON,
        "pip install .": INSTALLED_APART,
        "git clone REPOSITORY /opt/ioa && /opt/ioa/ioa setup": MACHINE,
        "useradd --system --home-dir /var/lib/ioa ioa": MACHINE,
        "install -D --mode=0600 /opt/ioa/deploy/systemd/ioa.env.example /etc/ioa/ioa.env": MACHINE,
        "cp /opt/ioa/deploy/systemd/ioa*.service /opt/ioa/deploy/systemd/ioa.target "
        "/etc/systemd/system/": MACHINE,
        "systemctl daemon-reload": MACHINE,
        "systemctl enable --now ioa-web@1 ioa-web@2 ioa-worker@1 ioa-worker@2 ioa-beat "
        "ioa.target": MACHINE,
        "docker compose --file deploy/compose.yaml up --detach --build": MACHINE,
        "docker compose --file deploy/compose.yaml run --rm web sign-in admin --base "
        "https://control.example.com": MACHINE,
        "ioa web --host 0.0.0.0 --port 8000": SERVERS,
        "ioa worker": SERVERS,
        "ioa beat": SERVERS,
        "ioa bench --quick": LONG,
        'sqlite3 var/ioa.sqlite3 ".backup backup.sqlite3"': TOOLS,
        'sqlite3 var/ioa.sqlite3 ".restore backup.sqlite3"': TOOLS,
        'pg_dump --format=custom --file=ioa.dump "$DATABASE_URL"': TOOLS,
        "pg_restore --clean --if-exists --single-transaction "
        '--dbname="$DATABASE_URL" ioa.dump': TOOLS,
        "systemctl restart ioa-worker@1": MACHINE,
        "systemctl restart ioa-worker@2": MACHINE,
        "systemctl restart ioa-web@1": MACHINE,
        "systemctl restart ioa-web@2": MACHINE,
    },
}
# What `./ioa` does itself, before there is anything to parse.
LAUNCHER = {"setup", "test"}
OWN = re.compile(r"^(?:\./)?ioa (.+)$")
INLINE = re.compile(r"`(?:\./)?ioa ([a-z][^`]*)`")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


DOCUMENTS = {named(path): path for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]}
SHOWING = sorted(name for name, path in DOCUMENTS.items() if blocks(path))


def typed(name: str) -> Iterator[str]:
    """Return the blocks of a document without what cannot be typed."""
    left_out = NOT_TYPED.get(name, {})
    for block in blocks(DOCUMENTS[name]):
        kept = [line for line in block.splitlines() if line not in left_out]
        if kept:
            yield "\n".join(kept)


TYPED = sorted(name for name in set(SHOWING) - {TUTORIAL, *ELSEWHERE} if [*typed(name)])


@pytest.mark.full
@pytest.mark.timeout(400)
def test_a_reader_types_every_document_and_gets_through(tmp_path: Path) -> None:
    (line,) = NOT_TYPED[TUTORIAL]
    command, *options = shlex.split(line)[1:]
    with Product(tmp_path / "data", *options, command=command) as product:
        with Shell(product, tmp_path / "tutorial") as shell:
            follow_the_tutorial(product, shell)
        for number, name in enumerate(TYPED):
            with Shell(product, tmp_path / f"clone-{number}") as shell:
                for file, text in WRITTEN.get(name, {}).items():
                    (tmp_path / f"clone-{number}" / file).write_text(text, encoding="utf-8")
                for block in typed(name):
                    shell.type(block)
        code = product.stop()

    assert code == 0
    assert "Traceback" not in product.said()


def follow_the_tutorial(product: Product, shell: Shell) -> None:
    """Type it, see what it promises, and decide where it says so."""
    look, declare, report, reconcile, decided, back, prove = typed(TUTORIAL)
    assert "95 resources" in shell.type(look)
    assert "2 created" in shell.type(declare)
    assert '"avgLatency":"12s"' in shell.type(report)
    assert re.search(r"\(ask\) +throttle +agent/ink-scribe", shell.type(reconcile))

    manager = Manager(product, SCRIBE, "controller/agent-performance")
    manager.say("approve")
    until(lambda: "throttled" in str(manager.read(f"resources/{SCRIBE}")["spec"]), 30)
    assert "maxDaily: 42000" in shell.type(decided)
    assert SCRIBE not in shell.type(back).partition("not as declared")[2]

    said = shell.type(prove)
    assert "The ledger is whole" in said
    assert "Wrote 97 documents to backup." in said


@pytest.mark.parametrize("name", sorted(NOT_TYPED))
def test_what_is_not_typed_is_still_in_the_document(name: str) -> None:
    lines = {line for block in blocks(DOCUMENTS[name]) for line in block.splitlines()}

    assert set(NOT_TYPED[name]) <= lines


@pytest.mark.parametrize(("name", "test"), ELSEWHERE.items())
def test_what_is_typed_elsewhere_is_typed_there(name: str, test: str) -> None:
    assert Path(name).name in (Path(__file__).parent / test).read_text(encoding="utf-8")


def left_out() -> set[str]:
    """Return every command of ours that is shown and not typed."""
    lines = {line.partition("#")[0] for each in NOT_TYPED.values() for line in each}
    return {each.strip() for line in lines for each in OWN.findall(line)}


@every_row("line", sorted(left_out()))
def test_every_command_that_is_not_typed_exists(line: str) -> None:
    name, *rest = shlex.split(line)
    if name in LAUNCHER:
        assert f'"{name}"' in (ROOT / "ioa").read_text(encoding="utf-8")
    else:
        cli.parser_of(name, cli.load(name)).parse_args(rest)


def mentioned() -> set[str]:
    """Return every command that a sentence names; one that was decided may have gone since."""
    now = [path for path in DOCUMENTS.values() if path.parent.name != "decisions"]
    texts = [path.read_text(encoding="utf-8") for path in now]
    return {line for text in texts for line in INLINE.findall(text)}


@every_row("line", sorted(mentioned()))
def test_every_command_that_a_sentence_names_exists(line: str) -> None:
    name, *rest = line.split()
    if name in LAUNCHER:
        assert f'"{name}"' in (ROOT / "ioa").read_text(encoding="utf-8")
        return
    said = cli.parser_of(name, cli.load(name)).format_help()
    assert all(word in said for word in rest if re.fullmatch("-[-a-z]+", word))
