"""Who did it: every write carries the person, agent, controller, policy or system behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["person", "agent", "controller", "policy", "system"]


@dataclass(frozen=True)
class Actor:
    """The one who acts; written as `person/alice` or `agent/growth-optimizer`."""

    kind: ActorKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


SYSTEM = Actor("system", "ioa")
