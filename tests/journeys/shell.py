"""A shell in which the commands of a document are typed, block by block."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.journeys.product import ROOT, Product

FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USUAL = "http://127.0.0.1:8000"
MARK = "=== end of block"


def blocks(document: Path) -> list[str]:
    """Return the blocks of commands in a document."""
    return FENCE.findall(document.read_text(encoding="utf-8"))


class Shell:
    """One bash that stops at the first command that fails, in a folder that looks like a clone.

    `./ioa` is there, and `ioa` as people install it.
    """

    def __init__(self, product: Product, folder: Path) -> None:
        folder.mkdir()
        command = folder / "ioa"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m ioa_site.cli "$@"\n')
        command.chmod(0o755)
        (folder / "resources").symlink_to(ROOT / "resources")
        # Documents have files of it copied inside it.
        shutil.copytree(ROOT / "deploy", folder / "deploy")
        given = product.environment
        self.base = product.base
        self.process = subprocess.Popen(
            ["/bin/bash", "-e", "-o", "pipefail"],
            env=given | {"PATH": f"{folder}:{given['PATH']}", "no_proxy": "*"},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def type(self, block: str) -> str:
        """Type a block as written but for the port, and return what it printed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{block.replace(USUAL, self.base)}\necho; echo '{MARK}'\n")
        self.process.stdin.flush()
        said: list[str] = []
        for line in self.process.stdout:
            if line.strip() == MARK:
                return "".join(said)
            said.append(line)
        raise AssertionError(f"A command failed:\n{block}\n{''.join(said)}")

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.communicate()
