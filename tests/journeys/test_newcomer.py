"""From a clone to the first approved proposal, by the README alone, in a real browser."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import launch
from tests.journeys.product import ROOT, free_port, until
from tests.journeys.shell import blocks

pytestmark = [pytest.mark.sqlite, pytest.mark.browser, pytest.mark.timeout(300), pytest.mark.full]

README = ROOT / "README.md"
STEP = re.compile(r"^\d\. (.*)$", re.MULTILINE)
BUTTON = re.compile(r"\*\*(.+?)\*\*")
KEY = re.compile(r"`(\w+)`")
LOCK = "requirements.lock"
MOMENTS = 30_000


@contextmanager
def newcomer(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Type the commands of the README, as written but for the port, in an empty folder."""
    (typed,) = blocks(README)
    first, second = typed.splitlines()
    publish(folder / "REPOSITORY")
    log = folder / "terminal.log"
    with log.open("wb") as out:
        terminal = subprocess.Popen(
            ["/bin/sh", "-ec", f"{first}\nexec {second} --port {free_port()}"],
            cwd=folder,
            env=machine(folder),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            text=True,
        )
    try:
        yield terminal, log
    finally:
        terminal.kill()
        terminal.wait()


def machine(folder: Path) -> dict[str, str]:
    """Return the variables of a machine without ours, but with an environment that is made."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("IOA_", "PYTHON")) and not name.endswith("_URL")}  # fmt: skip
    environment = borrowed(folder / "environment", folder / "ioa-control")
    return clean | {"IOA_VENV": str(environment)}


def publish(folder: Path) -> None:
    """Commit the files of this tree, as they are now, to a repository that can be cloned."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    author = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.com")
    git(folder, *author, "commit", "--quiet", "--no-gpg-sign", "--message", "Everything.")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def borrowed(folder: Path, clone: Path) -> Path:
    """Make an environment for a clone out of the packages of this one, as if just installed."""
    python = Path(sys.executable).resolve()
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = packages / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(python)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", folder)
    lines = f"{sysconfig.get_path('purelib')}\n{clone}\n"
    (packages / "ioa-control.pth").write_text(lines, encoding="utf-8")
    digest = hashlib.sha256((ROOT / LOCK).read_bytes()).hexdigest()
    stamp = f"root {clone}\npython {python}\n{LOCK} {digest}\n"
    (folder / ".ioa-lock").write_text(stamp, encoding="utf-8")
    return folder


def printed(terminal: subprocess.Popen[str], log: Path, line: str) -> str:
    """Wait for a line in the terminal, and return the link at its end."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and terminal.poll() is None:
        said = log.read_text(encoding="utf-8")
        found = re.search(rf"^ *{line} .*?(http://\S+)$", said, re.MULTILINE)
        if found and "Press Ctrl-C to stop." in said:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(log.read_text(encoding="utf-8"))


def hears(page: Page) -> None:
    """Wait until the script of a page is at work: then it hears keys, too."""
    expect(page.locator("#live")).not_to_have_attribute("data-state", "off", timeout=MOMENTS)


def drift(page: Page) -> float:
    """Return the figure that the guided path shows."""
    return float(page.locator("#guide header b").inner_text())


def test_a_newcomer_approves_the_first_proposal_by_the_readme_alone(tmp_path: Path) -> None:
    sign_in, wait, decide, watch = STEP.findall(README.read_text(encoding="utf-8"))
    assert "a controller asks you" in wait

    with newcomer(tmp_path) as (terminal, log), launch() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(printed(terminal, log, KEY.findall(sign_in)[0]))
        page.get_by_role("button", name=BUTTON.findall(sign_in)[0]).click()
        title = page.locator("#guide h2")
        expect(title).to_contain_text("a controller asks you", timeout=120_000)
        worst = drift(page)

        (link,), (approve,) = BUTTON.findall(decide), KEY.findall(decide)
        page.get_by_role("link", name=re.compile(link.replace("…", r"\d+"))).click()
        button = page.get_by_role("button", name="Approve and run")
        expect(button).to_be_visible(timeout=MOMENTS)
        hears(page)
        page.keyboard.press(approve)
        expect(page.locator("body")).to_contain_text("Approved.", timeout=MOMENTS)

        for key in KEY.findall(watch):
            page.keyboard.press(key)
        expect(title).to_contain_text(re.compile("Approved: |back on target"), timeout=MOMENTS)
        until(lambda: drift(page) < worst, 60)

        terminal.send_signal(signal.SIGINT)
        assert terminal.wait(MOMENTS / 1_000) == 0

    assert (tmp_path / "ioa-control" / "var" / "ioa.sqlite3").exists()
    assert "Traceback" not in log.read_text(encoding="utf-8")
