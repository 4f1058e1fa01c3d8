"""Templates are laid out to be read: no long lines, and indentation by two."""

from __future__ import annotations

import re

from ioa_site import places

LONGEST = 120
DRAWN = re.compile(r'\s(?:d|points)="')
# What stands between these shows its spaces on the page.
KEPT = re.compile(r"<(pre|textarea)\b")


def faults(text: str) -> list[tuple[int, str]]:
    """Return what is wrong with the lines of a template."""
    found = []
    kept = ""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST and not DRAWN.search(line):
            found.append((number, f"{len(line)} characters"))
        if "\t" in line:
            found.append((number, "a tab"))
        if line != line.rstrip():
            found.append((number, "spaces at the end"))
        if not kept and (len(line) - len(line.lstrip(" "))) % 2:
            found.append((number, "odd indentation"))
        for opened in KEPT.finditer(line):
            kept = opened[1]
        if kept and f"</{kept}>" in line:
            kept = ""
    return found


def test_no_template_has_long_or_crooked_lines() -> None:
    """Templates are read by people: only a drawn path may be longer than 120 characters."""
    folder = places.PAGES / "templates"
    templates = sorted(folder.rglob("*.html"))
    assert templates

    wrong = [
        f"{template.relative_to(folder)}:{number}: {fault}"
        for template in templates
        for number, fault in faults(template.read_text(encoding="utf-8"))
    ]

    assert not wrong, "\n" + "\n".join(wrong)
