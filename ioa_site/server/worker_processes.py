"""Workers beside the web server of one machine: started with it, replaced when lost."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

logger = logging.getLogger("ioa.children")

LOOK_SECONDS = 1.0


class Workers:
    """Some `ioa worker` processes that live as long as this one."""

    def __init__(self, count: int) -> None:
        self.children: list[subprocess.Popen[bytes] | None] = [None] * count
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, name="ioa-workers", daemon=True)

    def start(self) -> None:
        """Start them."""
        if self.children:
            self.thread.start()

    def run(self) -> None:
        """Keep them running."""
        while not self.stopping.is_set():
            for place, child in enumerate(self.children):
                if child is None or child.poll() is not None:
                    self.replace(place, child)
            self.stopping.wait(LOOK_SECONDS)

    def replace(self, place: int, lost: subprocess.Popen[bytes] | None) -> None:
        """Start one worker, in the place of one that ended."""
        if lost is not None:
            logger.warning("A worker ended with %s; another takes its place.", lost.returncode)
        command = [sys.executable, "-P", "-m", "ioa_site.cli", "worker"]
        command += ["--parent", str(os.getpid())]
        self.children[place] = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def stop(self, grace: float = 5.0) -> bool:
        """End them all, at last by force."""
        self.stopping.set()
        if self.thread.ident is not None:
            self.thread.join()
        running = [child for child in self.children if child is not None]
        for child in running:
            child.terminate()
        for child in running:
            try:
                child.wait(grace)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        return True
