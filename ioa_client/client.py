"""The client: one attribute for each group of calls."""

from __future__ import annotations

from typing import Any

from ioa_client.admission import Admissions
from ioa_client.controllers import Controllers
from ioa_client.holds import Holds
from ioa_client.proposals import Proposals
from ioa_client.resources import Resources
from ioa_client.runs import Runs
from ioa_client.telemetry import Telemetry
from ioa_client.transport import Transport
from ioa_client.usage import Usage
from ioa_client.watch import Watching
from ioa_client.work import Work


class Client:
    """What an agent, or a process that runs a controller outside, says and asks."""

    def __init__(self, url: str, token: str, **options: Any) -> None:
        """Take the product's address and a token; `options` are those of `Transport`."""
        self.transport = transport = Transport(url, token, **options)
        self.resources = Resources(transport)
        self.watching = Watching(transport)
        self.admission = Admissions(transport)
        self.usage = Usage(transport)
        self.telemetry = Telemetry(transport)
        self.proposals = Proposals(transport)
        self.holds = Holds(transport)
        self.work = Work(transport)
        self.runs = Runs(transport)
        self.controllers = Controllers(transport)

    def close(self) -> None:
        """Close what is open."""
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
