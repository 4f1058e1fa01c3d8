"""Whatever is typed: an answer with a reason, the text kept, nothing written, never a 500."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.admin.pages import form, kept, marked, of, said, url
from tests.resources.making import everything
from tests.rows import every_row

pytestmark = [pytest.mark.django_db, pytest.mark.full]

HEAD = "apiVersion: ioa.dev/v0.2\nkind: Agent\nmetadata:\n  name: robin\n"
BODY = "spec:\n  domain: harbour\n  type: supervised\n  purpose: Plan berths.\n"
HOSTILE = {
    "nothing": "",
    "spaces": " \n\t\n",
    "only a comment": "# nothing",
    "a text": "hello",
    "a number": "12",
    "null": "null",
    "a list": "- a\n- b\n",
    "a list of documents": "- kind: Agent\n- kind: Agent\n",
    "two documents": HEAD + BODY + "---\n" + HEAD + BODY,
    "a NUL": HEAD + BODY.replace("Plan", "Pl\x00an"),
    "an escaped NUL": HEAD + BODY.replace("Plan berths.", '"a\\0b"'),
    "half a surrogate": HEAD + BODY.replace("Plan berths.", '"\\ud800"'),
    "a control character": HEAD + BODY.replace("Plan", "Pl\x07an"),
    "not a number": HEAD + BODY + "  tokenBudget:\n    maxDaily: .nan\n",
    "endless": HEAD + BODY + "  tokenBudget:\n    maxDaily: -.inf\n",
    "a giant number": HEAD + BODY + "  tokenBudget:\n    maxDaily: " + "9" * 400 + "\n",
    "a giant exponent": HEAD + BODY + "  tokenBudget:\n    maxDaily: 1e999\n",
    "a deep nest": "[" * 5000,
    "a deep nest that closes": "a: " + "[" * 100 + "]" * 100,
    "a deep map": "\n".join(" " * level + "a:" for level in range(200)),
    "laughs": "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]\n",
    "many laughs": "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "itself": "a: &a [*a]",
    "a python tag": "!!python/object/apply:os.system ['true']",
    "a tag": HEAD + BODY.replace("harbour", "!secret x"),
    "a merge key": "base: &b {a: 1}\nx:\n  <<: *b\n",
    "a map as a key": "? {a: b}\n: c\n",
    "a key twice": HEAD + BODY + "  purpose: Again.\n",
    "an unclosed quote": HEAD + 'spec:\n  purpose: "open\n',
    "tabs": "kind:\tAgent\n\tx: 1\n",
    "markup": HEAD + BODY.replace("harbour", "[</textarea><script>alert(1)</script>]"),
    "a closing script": HEAD + BODY.replace("type: supervised", "type: </script><b>"),
    "a wrong root": "spec: 1\nmetadata: 2\nkind: Agent\napiVersion: ioa.dev/v0.2\n",
    "metadata as a list": HEAD.replace("  name: robin\n", "  - name: robin\n") + BODY,
    "a name as a number": HEAD.replace("robin", "12") + BODY,
    "a name too long": HEAD.replace("robin", "r" * 300) + BODY,
    "a kind as a list": HEAD.replace("Agent", "[Agent]") + BODY,
    "an unknown kind": HEAD.replace("Agent", "Nonsense") + BODY,
    "an unknown version": HEAD.replace("v0.2", "v9") + BODY,
    "no spec": HEAD,
    "spec as null": HEAD + "spec:\n",
    "labels as numbers": HEAD + "  labels:\n    a: 1\n" + BODY,
    "a label too long": HEAD + f"  labels:\n    {'k' * 400}: v\n" + BODY,
    "owners as a text": HEAD + "  ownerReferences: all\n" + BODY,
    "status as a list": HEAD + BODY + "status: []\n",
    "a bad condition": HEAD
    + BODY
    + "status:\n  conditions:\n  - type: Ready\n    status: Maybe\n",
    "a long text": HEAD + BODY.replace("Plan", "x" * 70_000),
    "a directive": "%YAML 9.9\n---\n" + HEAD + BODY,
    "an unknown directive": "%FOO bar\n",
    "a lone carriage return": HEAD.replace("\n", "\r") + "x: [",
    "a byte order mark inside": HEAD + "\ufeffx: y: z\n",
    "ends too early": "---\n...\n...\nx: [",
}


@every_row("name", HOSTILE, rolled_back=True)
def test_a_hostile_text_is_refused_and_kept(harbour: Any, operator: Client, name: str) -> None:
    sent = form("Agent", "robin") | {"text": HOSTILE[name]}
    before = everything()

    for step in ("review", "save"):
        page = operator.post(of("Agent", "robin"), sent | {step: "1"})

        assert page.status_code == 400
        assert marked(page)
        assert "Nothing was saved." in said(page)
        assert kept(page).replace("\r\n", "\n") == HOSTILE[name]
        assert everything() == before


@every_row("name", HOSTILE, rolled_back=True)
def test_a_hostile_text_makes_no_resource_and_the_check_answers(
    harbour: Any, operator: Client, name: str
) -> None:
    sent = {"text": HOSTILE[name], "version": "0", "message": "", "save": "1"}
    before = everything()

    page = operator.post(url("agent", "add"), sent)
    check = operator.post(url("agent", "check"), sent)

    assert page.status_code in (409, 400)
    assert check.status_code == 200
    assert all(each["message"] and each["line"] >= 1 for each in check.json())
    assert everything() == before
