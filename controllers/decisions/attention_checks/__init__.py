"""Check proposals: now and then one that is plainly bad, to see whether people look.

It looks like its neighbours and can never bring anything about: whatever is answered is taken back
before it is true, and the executor leaves it alone in any state. It counts nowhere but here.
"""

from __future__ import annotations

from controllers.decisions.attention_checks.check_factory import make, per_week
from controllers.decisions.attention_checks.check_outcome import answered, open_of, told
from controllers.decisions.attention_checks.upkeep import sweep

__all__ = ["answered", "make", "open_of", "per_week", "sweep", "told"]
