"""A page of the product around some content, with its scripts, for browser tests."""

from __future__ import annotations

SCRIPTS = "".join(
    f'<script src="/static/{name}.js" defer></script>'
    for name in ("vendor/htmx.min", "app", "keys")
)
CONFIG = '<meta name="htmx-config" content=\'{"allowEval":false,"includeIndicatorStyles":false}\'>'
SHELL = """
<a href="/search" data-act="palette">Search</a>
<div id="power"><a href="/pause" data-act="dialog">Pause all</a></div>
<nav id="sections"><a href="/approvals">Approvals</a><a href="/audit">Audit log</a></nav>
<a href="/shortcuts" data-act="shortcuts">Shortcuts</a>
"""
END = '<dialog class="dialog" id="dialog"></dialog><div id="toasts" role="status"></div>'


def whole(main: str, attributes: str = "") -> str:
    """Write a page of the product around some content."""
    return (
        f'<!doctype html><html lang="en"><title>Page</title>'
        f'<link rel="stylesheet" href="/static/app.css">{CONFIG}{SCRIPTS}'
        f'<body {attributes}>{SHELL}<main id="main" tabindex="-1">{main}</main>{END}'
    )
