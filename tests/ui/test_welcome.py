"""What the welcome page tells people to type is right."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from resources import validation
from resources.yaml_text import read_all

PAGE = Path(__file__).resolve().parents[2] / "templates/resources/_welcome.html"


def test_the_first_document_is_valid() -> None:
    shown = re.search(r'id="first-document">(.*?)</pre>', PAGE.read_text(), re.DOTALL)
    assert shown

    documents = read_all(unescape(re.sub(r"<[^>]+>", "", shown[1])))

    assert [document["kind"] for document in documents] == ["Domain", "Agent"]
    assert [problem for document in documents for problem in validation.check(document)] == []
