"""The parts of the page of a resource, by tab and kind, and what may change what they say."""

from __future__ import annotations

from collections.abc import Mapping

from controllers.web.base.page import Part, part

# The parts of each tab, besides those that every tab has.
SHOWN: Mapping[str, tuple[str, ...]] = {
    "overview": (
        "drift-history",
        "sides",
        "conditions",
        "relations",
        "open-proposals",
        "facts",
        "history",
        "steps",
    ),
    "spec": ("sides", "changes", "steps"),
    "conditions": ("conditions",),
    "proposals": ("proposals",),
    "relations": ("relations",),
    "audit": ("entries",),
}
# What the first tab of some kinds shows besides.
OWN: Mapping[str, tuple[str, ...]] = {"Workflow": ("runs",), "Governance": ("drills",)}
# What else may change what a part says.
MORE: Mapping[str, tuple[str, ...]] = {
    "drift-history": ("controller",),
    "sides": ("controller", "hold"),
    "facts": ("controller",),
    "changes": ("retention.dropped",),
    "relations": ("resource",),
}


def of(kind: str, tab: str, about: str) -> dict[str, Part]:
    """Return the parts of a tab, besides those that every tab has."""
    own = OWN.get(kind, ()) if tab == "overview" else ()
    return {name: piece(name, about) for name in (*SHOWN[tab], *own)}


def piece(name: str, about: str) -> Part:
    """Return a part: what it is about besides this resource, and whether it is for everybody."""
    template = f"resources/_{name.replace('-', '_')}.html"
    if name in ("open-proposals", "drills"):
        return part(template, about, "person")
    return part(template, about, *MORE.get(name, ()), shared=True)
