"""The page of settings: every variable of the environment."""

from __future__ import annotations

from ioa_site.settings import variables
from tests.reference.writing import code, table

HEAD = """\
# Settings

Everything is set by variables of the environment. Made by `python -m tests.catalogue` of
`ioa_site/settings/variables.py`; do not edit it.

"""
FOOT = """
A variable that begins with `IOA_` and is not here, or one with a bad value, stops the start with a
sentence that names it.
"""


def page() -> str:
    """Write the page."""
    found = [(code(each.name), each.sets, each.without) for each in variables.ALL]
    return HEAD + table(("Variable", "Sets", "Without it"), found) + FOOT
