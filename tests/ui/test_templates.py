"""Rules that every template keeps, read from its source."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rows import every_row

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SHEETS = ["app.css", "editor.css", "admin.css"]

# A strict CSP turns an htmx trigger filter into "always": a shortcut would fire on any key.
FORBIDDEN = {
    "an inline script": r"<script(?![^>]*\bsrc=)",
    "an inline style": r"<style|\sstyle=",
    "an inline handler": r"\son\w+=",
    "a trigger filter": r'hx-trigger="[^"]*\[',
    "htmx code in an attribute": r"\bhx-on|js:|javascript:",
    "an address of another host": r'(?:src|href|action)="(?:https?:)?//',
}


@every_row("template", TEMPLATES, ids=lambda file: str(file.relative_to(ROOT)))
@every_row("name", FORBIDDEN)
def test_no_template_holds(template: Path, name: str) -> None:
    assert not re.search(FORBIDDEN[name], template.read_text())


def _classes(template: Path) -> set[str]:
    text = re.sub(r"{%.*?%}|{{.*?}}", " ", template.read_text())
    return {name for value in re.findall(r'class="([^"]*)"', text) for name in value.split()}


@every_row("template", TEMPLATES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_class_is_in_a_stylesheet(template: Path) -> None:
    sheets = "".join((ROOT / "static" / sheet).read_text() for sheet in SHEETS)

    assert _classes(template) <= set(re.findall(r"\.([a-zA-Z][\w-]*)", sheets))


# Words that a view hands to a template, which writes them as a class.
RISKS = {"low", "medium", "high", "critical"}
DIMENSIONS = {"kpi", "health", "budget", "security"}
TONES = {"info", "held", "phase"}


def _of_tags() -> tuple[set[str], tuple[str, ...]]:
    """Return the classes the chart and icon tags write, and how those begin that they make up."""
    source = (ROOT / "controllers/templatetags/charts.py").read_text()
    names = {
        name
        for value in re.findall(r'class="([^"]*)"|svg\(f?"([^"]*)"', source)
        for name in "".join(value).split()
    }
    made_up = tuple(name.partition("{")[0] for name in names if "{" in name)
    return names | {"i", "s", "l"}, tuple(filter(None, made_up))


def test_every_class_of_the_stylesheet_is_used() -> None:
    sheet = (ROOT / "static/app.css").read_text()
    rules = re.sub(r"/\*.*?\*/|url\([^)]*\)", "", sheet, flags=re.DOTALL)
    named, made_up = _of_tags()
    used = named.union(RISKS, DIMENSIONS, TONES, *map(_classes, TEMPLATES))

    defined = set(re.findall(r"\.([a-zA-Z][\w-]*)(?=[^{};]*\{)", rules))

    assert not {name for name in defined - used if not name.startswith(made_up)}
