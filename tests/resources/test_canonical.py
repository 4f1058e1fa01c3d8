"""The canonical form is the one of RFC 8785, whichever encoder wrote it."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from resources.documents.canonical import canonical, digest

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53) + 1, 2**53 - 1)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(VALUES)
def test_any_value_is_written_as_the_standard_says(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(st.integers(0x3F1A000000000000, 0x430C6BF526340000))
def test_a_number_of_everyday_size_is_written_as_the_standard_says(bits: int) -> None:
    (number,) = struct.unpack("<d", bits.to_bytes(8, "little"))

    assert canonical([number, -number]) == rfc8785.dumps([number, -number])


@pytest.mark.parametrize("number", [0.31, 0.1 + 0.2, 1e-4, 999999999999999.9, 5e-324, 1.0, 1e21])
def test_a_number_at_the_edge_is_written_as_the_standard_says(number: float) -> None:
    assert canonical(number) == rfc8785.dumps(number)


@pytest.mark.parametrize("value", [2**53, {"a": [2**60]}, {1: "a"}, "\ud800"])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical(value)


def test_the_order_of_keys_does_not_matter_to_a_digest() -> None:
    assert digest({"b": 1, "a": "é", "é": 2}) == digest({"é": 2, "a": "é", "b": 1})
