"""A dimension of drift is one file: the product then measures, weighs, shows and describes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from controllers.engine.drift import ALL, DIMENSIONS, WEIGHTS
from resources.documents.kinds import by_name

ROOT = Path(__file__).parents[2]
SEED = {"kpi": 0.3, "health": 0.3, "budget": 0.2, "security": 0.2, "field": 0.0}


def test_the_five_dimensions_weigh_what_the_specification_says() -> None:
    assert dict(WEIGHTS) == SEED
    assert tuple(SEED) == DIMENSIONS


def test_each_dimension_has_its_own_words_and_place() -> None:
    for attribute in ("name", "order", "label", "heading", "meaning"):
        assert len({getattr(each, attribute) for each in ALL}) == len(ALL), attribute


def test_the_schema_names_these_and_takes_others() -> None:
    kind = by_name("Controller")
    assert kind is not None
    declared = kind.schema["properties"]["spec"]["properties"]["drift"]["properties"]

    for name in ("weights", "dimensionThresholds"):
        [shape] = {json.dumps(each) for each in declared[name]["properties"].values()}
        assert tuple(declared[name]["properties"]) == DIMENSIONS
        assert declared[name]["additionalProperties"] == json.loads(shape)


@pytest.mark.sqlite
def test_a_new_dimension_is_a_new_file() -> None:
    folder = "tests.engine.new_dimension"
    exercise = f"{folder.replace('.', '/')}/exercise.py"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", f"{folder}.plugin", exercise],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout[-6000:]
    assert "4 passed" in ran.stdout
