"""Run an `ioa` command in a process whose clock is wrong by so many seconds.

`python -m faults.shifted SECONDS COMMAND …`: the product reads the time through
`django.utils.timezone.now` alone, so that is what is moved; the clocks of all others stay right.
"""

from __future__ import annotations

import sys
from datetime import timedelta


def main(arguments: list[str]) -> int:
    """Move the clock, then run the command."""
    from django.utils import timezone

    true, wrong = timezone.now, timedelta(seconds=float(arguments[0]))
    timezone.now = lambda: true() + wrong
    from ioa_site import cli

    return cli.main(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
