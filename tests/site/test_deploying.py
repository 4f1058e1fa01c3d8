"""What people install from: units, image and compose file agree with the commands they start."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import resolve
from ruamel.yaml import YAML

from ioa_site import cli
from ioa_site.settings import environment
from tests.journeys.product import Product

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "Containerfile"
UNITS = sorted((DEPLOY / "systemd").glob("ioa*.service"))
KNOWN = environment.KNOWN | {"DATABASE_URL", "REDIS_URL"}
OF_PYTHON = {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
OURS = ("migrate", "web", "worker", "beat")
# What systemd knows of what we use; one that it does not know it passes over in silence.
SECTIONS = {
    "Unit": "Description After Wants PartOf StartLimitIntervalSec",
    "Install": "WantedBy",
    "Service": """Type ExecStart Restart RestartSec KillSignal TimeoutStartSec TimeoutStopSec
    LimitNOFILE User Group WorkingDirectory StateDirectory StateDirectoryMode EnvironmentFile
    Environment UMask NoNewPrivileges ProtectSystem ProtectHome PrivateTmp PrivateDevices
    ProtectClock ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables
    ProtectControlGroups ProtectProc RestrictAddressFamilies RestrictNamespaces RestrictRealtime
    RestrictSUIDSGID LockPersonality CapabilityBoundingSet SystemCallArchitectures
    SystemCallFilter""",
}
NEEDED = {"ExecStart", "User", "EnvironmentFile", "NoNewPrivileges", "ProtectSystem"}


def parsed(words: list[str]) -> Any:
    """Read a command line as `ioa` does; one that it does not know fails."""
    return cli.parser_of(words[0], cli.load(words[0])).parse_args(words[1:])


def compose() -> dict[str, Any]:
    read: dict[str, Any] = YAML(typ="safe", pure=True).load(DEPLOY / "compose.yaml")
    return read


def unit(file: Path) -> dict[str, dict[str, list[str]]]:
    """Read a unit: a name may come more than once."""
    found: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in file.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = {}
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[section].setdefault(name, []).append(value)
    return found


def instructions() -> Iterator[tuple[str, str]]:
    """Yield the instructions of the Containerfile, with their lines joined."""
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(), flags=re.MULTILINE)
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def given(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def copied() -> Iterator[tuple[list[str], str]]:
    """Yield what is copied from the repository, and where it goes."""
    for rest in given("COPY"):
        *sources, target = shlex.split(rest)
        if not sources[0].startswith("--from"):
            yield sources, target


@pytest.mark.parametrize("name", OURS)
def test_every_process_of_the_compose_file_is_a_command(name: str) -> None:
    service = compose()["services"][name]

    options = parsed(service["command"])

    assert service["command"][0] == name
    assert set(service["environment"]) <= KNOWN
    assert getattr(options, "port", 8000) == port()


def test_the_compose_file_has_what_keeps_it_going() -> None:
    services = compose()["services"]

    assert set(services) == {*OURS, "postgres", "redis", "proxy"}
    assert [services[name]["deploy"]["replicas"] for name in ("web", "worker")] == [2, 2]
    for name, service in services.items():
        assert service["restart"] == ("no" if name == "migrate" else "always")
    for name in ("web", "worker", "beat"):
        assert service_seconds(services[name]["stop_grace_period"]) >= 10
    for name in ("web", "worker"):
        after = services[name]["depends_on"]
        assert after["migrate"]["condition"] == "service_completed_successfully"
    for name in ("postgres", "redis"):
        assert services[name]["healthcheck"]["test"]
    for name in ("migrate", "worker", "beat"):
        assert services[name]["healthcheck"] == {"disable": True}


def service_seconds(text: str) -> int:
    return int(text.removesuffix("s"))


def test_every_variable_the_compose_file_asks_for_is_in_its_example() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))

    assert asked == set(variables_of(DEPLOY / "compose.env.example"))
    assert all(not name.startswith("IOA_") for name in asked)


def test_volumes_and_files_of_the_compose_file_exist() -> None:
    read = compose()
    for service in read["services"].values():
        for each in service.get("volumes", ()):
            source = each.partition(":")[0]
            assert source in read["volumes"] or (DEPLOY / source).exists(), each
    web = read["services"]["web"]
    assert (DEPLOY / web["build"]["context"]).resolve() == ROOT
    assert (ROOT / web["build"]["dockerfile"]).exists()
    assert web["volumes"] == [f"data:{data_folder_of_the_image()}"]
    assert web["environment"]["IOA_DATA_DIR"] == data_folder_of_the_image()


def test_the_proxy_leads_to_web() -> None:
    proxy = compose()["services"]["proxy"]
    caddy = (DEPLOY / "Caddyfile").read_text()

    assert proxy["environment"]["UPSTREAM"] == f"web:{port()}"
    assert set(re.findall(r"\{\$(\w+)", caddy)) == set(proxy["environment"])
    assert f"{{$UPSTREAM:127.0.0.1:{port()}}}" in caddy
    assert caddy.count("{") == caddy.count("}")


def port() -> int:
    """Return where `ioa web` listens unless it is told otherwise."""
    number: int = parsed(["web"]).port
    return number


def data_folder_of_the_image() -> str:
    (folder,) = given("VOLUME")
    return folder


def environment_of_the_image() -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in given("ENV") for pair in shlex.split(rest))


def test_the_image_copies_what_is_there_and_lets_it_through_to_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for sources, _ in copied():
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored, source
    assert len([each for each in ignored if each.startswith("!")]) == sum(
        len(sources) for sources, _ in copied()
    )


def test_the_image_runs_our_commands_as_nobody_in_particular() -> None:
    (entry,), (command,) = given("ENTRYPOINT"), given("CMD")
    options = parsed(json.loads(command))

    assert json.loads(entry) == ["python", "-P", "-m", "ioa_site.cli"]
    assert (options.host, [str(options.port)]) == ("0.0.0.0", given("EXPOSE"))  # noqa: S104
    assert int(given("USER")[0]) > 0
    named = environment_of_the_image()
    assert set(named) <= KNOWN | OF_PYTHON
    assert named["IOA_DATA_DIR"] == data_folder_of_the_image() == given("WORKDIR")[0]
    assert len(given("FROM")) == 2
    assert all(each.startswith("python:3.11-slim") for each in given("FROM"))
    assert any("--require-hashes" in each for each in given("RUN"))


def test_the_health_of_the_image_is_asked_where_it_answers() -> None:
    (check,) = given("HEALTHCHECK")
    program = json.loads(check[check.index("[") :])
    address = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", program[-1])

    assert address is not None
    assert (int(address[1]), resolve(address[2]).url_name) == (port(), "healthz")
    compile(program[-1], "healthcheck", "exec")


@pytest.mark.full
@pytest.mark.timeout(180)
def test_what_the_image_copies_is_enough_to_run(tmp_path: Path) -> None:
    """Copied as the Containerfile says and started elsewhere: pages, files and health answer."""
    for sources, target in copied():
        for source in sources:
            place = tmp_path / target.lstrip("/") / ("" if not target.endswith("/") else source)
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, place)
    (check,) = given("HEALTHCHECK")
    program = json.loads(check[check.index("[") :])[-1]
    product = Product(tmp_path / "data", given={"PYTHONPATH": str(tmp_path / "opt" / "ioa")})
    with product:
        program = program.replace(str(port()), str(product.port), 1)
        assert subprocess.run([sys.executable, "-c", program]).returncode == 0
        client = product.sign_in(product.links()[0])
        page = client.get("/").text
        style = re.search(r'href="(/static/[^"]+\.css[^"]*)"', page)
        assert style is not None
        assert client.get(style[1]).status_code == 200
    done = product.run("migrate")
    assert (done.returncode, done.stdout.strip()) == (0, "Nothing to do.")


@pytest.mark.parametrize("file", UNITS, ids=lambda each: each.name)
def test_every_unit_starts_a_command(file: Path) -> None:
    read = unit(file)
    service = {name: values[-1] for name, values in read["Service"].items()}
    program, *words = shlex.split(service["ExecStart"])

    parsed(words)
    assert program == "/opt/ioa/ioa"
    assert file.name.startswith(f"ioa-{words[0]}")
    for section, found in read.items():
        assert set(found) <= set(SECTIONS[section].split())
    assert set(service) >= NEEDED
    assert set(assigned(service["Environment"])) <= KNOWN | OF_PYTHON
    assert service["User"] != "root"
    assert f"/var/lib/{service['StateDirectory']}" in service["Environment"]


def test_the_units_are_those_of_the_processes() -> None:
    assert {each.name for each in UNITS} == {
        "ioa-beat.service",
        "ioa-migrate.service",
        "ioa-web@.service",
        "ioa-worker@.service",
    }
    for each in UNITS:
        read = unit(each)
        if "migrate" in each.name:
            assert read["Service"]["Type"] == ["oneshot"]
            continue
        assert read["Service"]["Restart"] == ["always"]
        assert read["Service"]["KillSignal"] == ["SIGTERM"]
        assert int(read["Service"]["TimeoutStopSec"][0]) >= 10
        assert read["Install"]["WantedBy"] == read["Unit"]["PartOf"] == ["ioa.target"]
        assert "ioa-migrate.service" in read["Unit"]["After"][0]


def test_web_units_share_their_port() -> None:
    (web,) = (each for each in UNITS if "web" in each.name)
    _, *words = shlex.split(unit(web)["Service"]["ExecStart"][0])

    assert parsed(words).share_port
    assert parsed(words).port == port()


def assigned(text: str) -> list[str]:
    return [each.partition("=")[0] for each in shlex.split(text)]


def variables_of(file: Path) -> list[str]:
    reader = configparser.ConfigParser(delimiters=("=",), comment_prefixes=("#",))
    reader.optionxform = str  # type: ignore[assignment,method-assign]
    reader.read_string(f"[file]\n{file.read_text()}")
    return list(reader["file"])


def test_the_example_of_the_units_variables_names_known_ones() -> None:
    assert set(variables_of(DEPLOY / "systemd" / "ioa.env.example")) <= KNOWN


def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("NOT TESTED by systemd: there is no systemd-analyze here.")
    for each in (*UNITS, DEPLOY / "systemd" / "ioa.target"):
        text = each.read_text().replace("/opt/ioa/ioa", str(ROOT / "ioa"))
        (tmp_path / each.name.replace("@", "@1")).write_text(text)

    done = subprocess.run(
        [program, "verify", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        env=os.environ | {"SYSTEMD_LOG_LEVEL": "warning"},
    )

    ours = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "ioa" in line]
    assert (done.returncode, ours) == (0, [])
