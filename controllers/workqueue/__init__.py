"""Work queue: what has to be looked at, by which controller, and who may do it.

Items are never lost and never doubled. A lease lets one worker at a time run a controller; a
worker that was replaced cannot write. Here a cycle reads its targets, in chunks, each at one
moment.

Words:
- lease: the right of one worker to run a controller, with a token that grows
- chunk: the resources that a cycle reads and writes together
- compiled controller: its document, read once for each generation
"""

__all__ = [
    "chunk_snapshot",
    "compiled_controllers",
    "concurrent_changes",
    "cycle_effects",
    "drift_episodes",
    "leases",
    "queue",
    "target_store",
]
