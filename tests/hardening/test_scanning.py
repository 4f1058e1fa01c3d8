"""What scanners find, somebody looked at; and rules of our own that no scanner has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rows import every_row

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("controllers", "resources", "ioa_site", "ioa_client", "ioa_mcp")
# Bandit's rules that ruff has under another number; others differ by their letter alone.
SAME = {"B703": "S308"}
# Programs are started from lists of arguments, here as in `pyproject.toml`.
EVERYWHERE = {"B404", "B603"}


def findings() -> list[dict[str, Any]]:
    """Return what bandit finds."""
    command = [sys.executable, "-m", "bandit", "--quiet", "--format", "json", "--recursive"]
    ran = subprocess.run([*command, *PACKAGES], cwd=ROOT, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    assert found["errors"] == []
    assert found["metrics"]["_totals"]["loc"] > 30_000
    return list(found["results"])


def is_seen(finding: dict[str, Any]) -> bool:
    """Tell whether somebody looked at a finding and said so where it is."""
    rule = str(finding["test_id"])
    # A sentence that speaks of passwords is none.
    if rule in EVERYWHERE or (rule == "B105" and " " in finding["issue_text"].split(": ")[1]):
        return True
    lines = (ROOT / finding["filename"]).read_text(encoding="utf-8").splitlines()
    there = [lines[number - 1] for number in finding["line_range"]]
    mark = SAME.get(rule, f"S{rule[1:]}")
    return any(re.search(rf"# noqa: .*\b{mark}\b", line) for line in there)


@pytest.mark.full
def test_what_bandit_finds_was_looked_at() -> None:
    unseen = [
        f"{each['filename']}:{each['line_number']} {each['test_id']} {each['issue_text']}"
        for each in findings()
        if not is_seen(each)
    ]

    assert unseen == []


def test_a_finding_that_nobody_looked_at_is_told(tmp_path: Path) -> None:
    found = {"test_id": "B307", "filename": "manage.py", "line_range": [1], "issue_text": "x: y"}

    assert not is_seen(found)


SAFE_CALLERS = ("controllers/signin/provider.py", "controllers/operations/webhooks.py", "ioa_")
# Rule, what it looks for, and where it is right after all.
RULES: list[tuple[str, str, tuple[str, ...]]] = [
    ("no text becomes code", r"(?<![.\w])(eval|exec)\(|__import__\(|pickle|yaml\.load\(", ()),
    ("no shell", r"shell=True|os\.system\(|os\.popen\(|subprocess\.getoutput", ()),
    ("certificates are checked", r"verify=False|CERT_NONE|_create_unverified", ()),
    ("no weak digest", r"hashlib\.(md5|sha1)\(", ()),
    ("secrets are compared in constant time", r"(token|secret|signature) == ", ()),
    ("no random number is a secret", r"\brandom\.(choice|choices|randint|getrandbits)\(", ()),
    ("forms are never exempt", r"csrf_exempt\b", ("controllers/signin/reports.py",)),
    (
        "calls outside go the one safe way",
        r"^(import|from) (requests|httpx|aiohttp|http\.client|urllib\.request)\b",
        SAFE_CALLERS,
    ),
    ("nothing is printed", r"^\s*print\(", ()),
    ("no body is logged", r"logger\.\w+\([^)]*request\.(body|data|POST)", ()),
]


def sources() -> Iterator[tuple[str, str]]:
    """Yield every source file of the product."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@every_row(("name", "wrong", "right_in"), RULES)
def test_a_rule_of_our_own_is_kept(name: str, wrong: str, right_in: tuple[str, ...]) -> None:
    breaches = [
        f"{path}:{text[: found.start()].count(chr(10)) + 1} {found[0]}"
        for path, text in sources()
        if not path.startswith(right_in)
        for found in re.finditer(wrong, text, re.MULTILINE)
    ]

    assert breaches == []


@every_row(
    ("name", "planted"),
    [
        ("no text becomes code", "eval(text)"),
        ("no shell", "run(x, shell=True)"),
        ("certificates are checked", "get(x, verify=False)"),
        ("no weak digest", "hashlib.md5(b'')"),
        ("secrets are compared in constant time", "if token == given:"),
        ("no random number is a secret", "random.choice(x)"),
        ("forms are never exempt", "@csrf_exempt"),
        ("calls outside go the one safe way", "import requests"),
        ("nothing is printed", "    print(x)"),
        ("no body is logged", "logger.info('x', request.body)"),
    ],
)
def test_each_rule_finds_what_it_is_for(name: str, planted: str) -> None:
    wrong = next(each[1] for each in RULES if each[0] == name)

    assert re.search(wrong, planted, re.MULTILINE)
