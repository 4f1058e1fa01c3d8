"""How events are named: two spellings of one name are one event."""

from __future__ import annotations

import re

LONGEST = 100
_FORM = re.compile(r"[a-z]+\.[a-z][a-z0-9_]*")


def canonical(name: str) -> str:
    """Return the one spelling of a name; `controller.a-b` is `system.controller_a_b`."""
    prefix, dot, action = name.partition(".")
    action = action.replace("-", "_")
    return f"system.controller_{action}" if prefix == "controller" else f"{prefix}{dot}{action}"


def is_name(name: str) -> bool:
    """Tell whether a canonical name is one that a contract could have."""
    return len(name) <= LONGEST and _FORM.fullmatch(name) is not None
