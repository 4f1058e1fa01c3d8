"""The package: built, installed where nothing of ours is, and started in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.journeys.product import ROOT, Product

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
VERSION = re.findall(r"^## v(\S+)", CHANGELOG, re.MULTILINE)[0]
# One run is enough: what is in the package does not depend on the database.
pytestmark = [pytest.mark.product, pytest.mark.sqlite, pytest.mark.timeout(300), pytest.mark.full]

PAGES = ("templates", "static")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
PACKAGES = {each.rstrip("*") for each in SETTINGS["setuptools"]["packages"]["find"]["include"]}
# Written for whoever looks into the folder.
NOT_READ = {"resources/example/README.md"}
DOCUMENT = """apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: depot, owner: {name: Ana, role: lead}}
spec: {purpose: Ships parcels.}
"""
SOURCE = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
BUILD = ("wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir")


class Installation(NamedTuple):
    """An environment that holds the package, and the machine of whoever uses it."""

    ioa: Path
    packages: Path
    home: Path
    empty: Path

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables of a machine that has none of ours set."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("IOA_", "PYTHON", "XDG_"))
                and name not in ("DATABASE_URL", "REDIS_URL")}  # fmt: skip
        return kept | {"HOME": str(self.home)}

    @property
    def data(self) -> Path:
        """Return where this machine keeps what programs write."""
        own = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
        return self.home / own / "ioa-control"

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run one command in the empty folder."""
        return subprocess.run([self.ioa, *arguments], cwd=self.empty, env=self.variables,
                              input=text, capture_output=True, text=True, timeout=60)  # fmt: skip


class Installed(Product):
    """The product as the package starts it, with nothing said about where its data goes."""

    def __init__(self, installation: Installation, log: Path, *options: str) -> None:
        super().__init__(log, *options, bare=True)
        self.installation = installation

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of the machine."""
        return self.installation.variables

    def command(self, *arguments: str) -> list[str]:
        """Return the command line that a person types."""
        return [str(self.installation.ioa), *arguments]


def done(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def tracked() -> list[str]:
    """Return the files of this tree, as they are now, without what git ignores."""
    listed = done("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this tree: a build leaves its traces beside what it builds."""
    folder = tmp_path_factory.mktemp("source")
    for name in tracked():
        if not name.startswith(("docs/", "tests/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done(*PIP, *BUILD, folder, ".", cwd=source)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Install the package alone; what it needs is borrowed from the environment of the tests."""
    folder = tmp_path_factory.mktemp("machine")
    home, empty, environment = folder / "home", folder / "empty", folder / "environment"
    home.mkdir()
    empty.mkdir()
    done(sys.executable, "-m", "venv", "--without-pip", environment, cwd=folder)
    python = environment / "bin" / "python"
    done(*PIP, "--python", python, "install", "--no-index", "--no-deps", wheel, cwd=folder)
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(done(python, "-I", "-c", asked, cwd=folder).strip())
    # A path that another path file names: those of the environment of the tests are not read.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    where = done(python, "-I", "-c", "import ioa_site; print(ioa_site.__file__)", cwd=folder)
    assert Path(where.strip()).is_relative_to(packages)
    return Installation(environment / "bin" / "ioa", packages, home, empty)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_package_holds_every_file_that_the_product_reads(wheel: Path) -> None:
    ours = {name for name in tracked() if name.split("/")[0] in PACKAGES} - NOT_READ
    pages = {f"ioa_site/{name}" for name in tracked() if name.split("/")[0] in PAGES}

    assert ours
    assert pages
    assert sorted((ours | pages) - names(wheel)) == []


def test_a_source_distribution_builds_the_same_package(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    done(sys.executable, "-c", SOURCE, tmp_path, cwd=source)
    (archive,) = tmp_path.glob("*.tar.gz")

    done(*PIP, *BUILD, tmp_path, archive, cwd=tmp_path)

    (built,) = tmp_path.glob("*.whl")
    assert names(built) == names(wheel)


def test_the_package_knows_its_version(installation: Installation) -> None:
    (metadata,) = installation.packages.glob("ioa_control-*.dist-info/METADATA")

    assert f"\nVersion: {VERSION}\n" in metadata.read_text(encoding="utf-8")
    assert installation.run("--version").stdout == f"ioa {VERSION}\n"


def test_the_package_checks_documents(installation: Installation) -> None:
    ran = installation.run("validate", "-", text=DOCUMENT)

    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("name", ["bench", "cases", "faults", "setup", "test"])
def test_what_only_a_clone_can_do_says_so(installation: Installation, name: str) -> None:
    ran = installation.run(name)

    assert ran.returncode == 2
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert "part of a clone" in line


@pytest.mark.quick
def test_the_package_serves_the_demo_from_an_empty_folder(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(installation.empty)
    before = {path for path in installation.packages.rglob("*") if path.suffix != ".pyc"}

    with Installed(installation, tmp_path / "up", "--demo") as product:
        entrance = httpx.get(f"{product.base}/sign-in/").text
        wanted = sorted(set(re.findall(r'(?:href|src)="(/static/[^"#]+)', entrance)))
        served = {path: httpx.get(product.base + path).status_code for path in wanted}
        overview = product.sign_in(product.links()[0]).get("/").text
        assert product.stop(signal.SIGINT) == 0

    assert "Sign in" in entrance
    assert len(served) >= 3
    assert set(served.values()) == {200}
    assert "Overview" in overview
    assert "Traceback" not in product.said()
    assert (installation.data / "ioa.sqlite3").is_file()
    assert list(installation.empty.iterdir()) == []
    after = {path for path in installation.packages.rglob("*") if path.suffix != ".pyc"}
    assert [path for path in after - before if path.name != "__pycache__"] == []
