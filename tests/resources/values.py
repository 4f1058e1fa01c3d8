"""Strategies for plain values that every entrance takes."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
KEYS = TEXTS.map(lambda text: unicodedata.normalize("NFC", text))
NUMBERS = st.integers(-(10**15), 10**15) | st.floats(
    -1e15, 1e15, allow_nan=False, allow_infinity=False
)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS


def values(keys: st.SearchStrategy[str] = KEYS) -> st.SearchStrategy[Any]:
    """Return a strategy for admissible JSON values, containers included."""
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )
