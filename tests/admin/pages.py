"""Short ways to the admin's pages, and to what they say."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from django.urls import reverse

from resources.admin.resource_request import declared_text
from tests.resources.making import live


def url(kind: str, action: str, *arguments: Any) -> str:
    return reverse(f"admin:resources_{kind.lower()}_{action}", args=arguments)


def of(kind: str, name: str, action: str = "change", *arguments: Any) -> str:
    """Return the address of a page about a live resource."""
    return url(kind, action, live(kind, name).pk, *arguments)


def form(kind: str, name: str, *changes: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """Return what the edit form of a resource would send after a text was changed."""
    row = live(kind, name)
    text = declared_text(row)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return {"text": text, "message": "", "version": row.resource_version, **fields}


def said(response: Any) -> str:
    """Return the words of a page, without its markup."""
    body = re.sub(r"<(script|style).*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def kept(response: Any, name: str = "text") -> str:
    """Return what a field of the answer holds, as a browser would send it back."""
    body = response.content.decode()
    area = re.search(rf'<textarea name="{name}"[^>]*>\n?(.*?)</textarea>', body, re.DOTALL)
    hidden = re.search(
        rf'<input type="(?:hidden|text)" name="{name}"(?: value="(.*?)")?', body, re.DOTALL
    )
    found = area or hidden
    assert found, f"The page has no field {name}."
    return html.unescape(found[1] or "")


def marked(response: Any) -> list[dict[str, Any]]:
    """Return the problems that a page hands to the editor."""
    data = response.content.decode().partition('id="editor-problems"')[2]
    found: list[dict[str, Any]] = json.loads(data.partition(">")[2].partition("</script>")[0])
    return found
