"""Loop: cycles of controllers, from what changed to the report.

Routing turns marks into work, registration follows the declared controllers, a cycle takes its
resources through the engine in chunks and always reports. Each chunk is one short transaction
under the worker's lease.

Words:
- mark: a note that a resource changed
- routing: from marks to work items
- watchdog: notices controllers that no longer finish cycles
"""

__all__ = [
    "chunk_writer",
    "controller_status",
    "cycle_begin",
    "cycle_counts",
    "cycle_end",
    "cycle_run",
    "recovery",
    "registration",
    "restore_watch",
    "routing",
    "watchdog",
]
