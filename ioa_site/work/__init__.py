"""Work: what commands do with the product, behind what people type.

Everything here may use the store; it takes plain values and returns plain values, and prints
nothing.

Words:
- caller: who runs the command, and when
"""

__all__ = [
    "apply",
    "audit",
    "caller",
    "channels",
    "credentials",
    "database",
    "door",
    "drills",
    "endpoints",
    "export",
    "get",
    "groups",
    "names",
    "overview",
    "prices",
    "reconcile",
    "replays",
    "reports",
    "restore_watch",
]
