"""Worker: the process that does what is due, and what people ask of it directly.

One loop finds due work in the database and does it, in any number of processes. Housekeeping,
drills, external controllers and the metrics export are its duties besides cycles and effects.

Words:
- drill: a try of the pause on a canary, on the live system
- external controller: a controller that somebody else's process runs
- housekeeping: duties that the clock brings
"""

__all__ = [
    "controller_commands",
    "drills",
    "example_organisation",
    "external_controllers",
    "housekeeping",
    "metrics_export",
    "worker_loop",
]
