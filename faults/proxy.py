"""A way to PostgreSQL that loses the answer to some commits: nobody knows what became of them."""

from __future__ import annotations

import random
import socket
import threading
from contextlib import suppress

COMMIT = b"COMMIT"
CHUNK = 65_536


class Proxy:
    """Passes everything on, but the answers to a share of all commits."""

    def __init__(self, port: int, share: float, random: random.Random) -> None:
        self.target, self.share, self.random = port, share, random
        self.dropped = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.pairs: set[socket.socket] = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        """Take connections until the listener is closed."""
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
                line = Line(self, near, far)
                self.pairs |= {near, far}
                threading.Thread(target=line.there, daemon=True).start()
                threading.Thread(target=line.back, daemon=True).start()

    def close(self) -> None:
        """Pass nothing on any more."""
        self.listener.close()
        for each in self.pairs:
            with suppress(OSError):
                each.close()


class Line:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, near: socket.socket, far: socket.socket) -> None:
        self.proxy, self.near, self.far = proxy, near, far
        self.losing = False

    def there(self) -> None:
        """Pass on what is asked; now and then remember to lose the answer to a commit."""
        with suppress(OSError):
            while asked := self.near.recv(CHUNK):
                if COMMIT in asked and self.proxy.random.random() < self.proxy.share:
                    self.losing = True
                self.far.sendall(asked)
        self.end()

    def back(self) -> None:
        """Pass on what is answered; an answer that is to be lost ends the connection."""
        with suppress(OSError):
            while answered := self.far.recv(CHUNK):
                if self.losing:
                    self.proxy.dropped += 1
                    break
                self.near.sendall(answered)
        self.end()

    def end(self) -> None:
        """Hang up on both sides."""
        for each in (self.near, self.far):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
