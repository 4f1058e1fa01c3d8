"""Check proposals: now and then one that is plainly bad, to see whether people look.

It looks like its neighbours and can never bring anything about: whatever is answered is taken back
before it is true, and the executor leaves it alone in any state. It counts nowhere but here.
"""

from __future__ import annotations

from controllers.checks.ending import answered, open_of, told
from controllers.checks.making import make, per_week
from controllers.checks.sweeping import sweep

__all__ = ["answered", "make", "open_of", "per_week", "sweep", "told"]
