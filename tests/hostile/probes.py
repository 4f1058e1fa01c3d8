"""Documents meant to break a reader, each with the verdict every entrance must give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["accepted", "refused"]

NAME = "probe"
GOOD = {
    "apiVersion": "ioa.dev/v0.2",
    "kind": "Domain",
    "metadata": {"name": NAME},
    "spec": {"purpose": "Be probed"},
}


@dataclass(frozen=True)
class Probe:
    """One body, and what must become of it."""

    name: str
    media: Literal["json", "yaml"]
    body: bytes
    verdict: Verdict = "refused"

    def __str__(self) -> str:
        return f"{self.media}-{self.name}"


def document(**parts: object) -> bytes:
    """Return the good document with some of its roots replaced."""
    return json.dumps({**GOOD, **parts}).encode()


def with_value(raw: str) -> bytes:
    """Return the good document with raw JSON as the value of an extension of its spec."""
    return with_member(f'"extra": {raw}')


def with_member(raw: str) -> bytes:
    """Return the good document with a raw member in its spec."""
    text = json.dumps(GOOD).replace('"Be probed"', f'"Be probed", {raw}')
    return text.encode("utf-8", "surrogatepass")


def nested(opening: str, closing: str, depth: int) -> str:
    """Return a value nested so many levels deep."""
    return opening * depth + "1" + closing * depth


NUMBERS = {
    "nan": "NaN",
    "infinity": "Infinity",
    "minus-infinity": "-Infinity",
    "exponent-400": "1e400",
    "minus-exponent-400": "-1e400",
    "integer-of-400-digits": "1" + "0" * 400,
    "integer-of-5000-digits": "7" * 5000,
    "integer-of-41-digits": "1" * 41,
    "fraction-of-50-digits": "0." + "1" * 50,
    "just-too-large": "1000000000000001",
    "just-too-small": "-1000000000000001",
    "1e16": "1e16",
    "leading-zero": "012",
    "plus-sign": "+1",
    "hexadecimal": "0x1F",
    "bare-point": ".5",
    "trailing-point": "5.",
}
TEXTS = {
    "nul": r'"\u0000"',
    "nul-inside": r'"a\u0000b"',
    "high-surrogate": r'"\ud800"',
    "low-surrogate": r'"\udc00"',
    "surrogates-reversed": r'"\udc00\ud800"',
    "surrogate-at-the-end": r'"ok\ud83d"',
    "65-kilobytes": json.dumps("x" * 65 * 1024),
    "22000-three-byte-characters": json.dumps("水" * 22_000, ensure_ascii=False),
    "raw-newline": '"a\nb"',
    "raw-tab": '"a\tb"',
    "raw-control": '"a\x01b"',
    "single-quotes": "'a'",
    "bad-escape": r'"\x41"',
    "short-escape": r'"\u12"',
    "unterminated": '"abc',
}
KEYS = {
    "nul-in-a-key": r'"a\u0000": 1',
    "surrogate-in-a-key": r'"\ud800": 1',
    "key-of-65-kilobytes": json.dumps("k" * 65 * 1024) + ": 1",
    "key-not-normalised": '"e\u0301": 1',
    "repeated-key": '"extra": 1, "extra": 2',
    "repeated-purpose": '"purpose": "again"',
    "repeated-key-deep": '"extra": [{"a": {"b": 1, "b": 2}}]',
    "unquoted-key": "extra: 1",
    "number-as-key": "1: 1",
    "trailing-comma": '"extra": 1,',
    "comment": '"extra": 1 /* hello */',
}
SHAPES = {
    f"{word}-{depth}-deep": nested(opening, closing, depth)
    for word, opening, closing in (
        ("lists", "[", "]"),
        ("objects", '{"a":', "}"),
        ("mixed", '[{"a":', "}]"),
    )
    for depth in (33, 100, 2_000, 30_000)
} | {
    "5001-keys": json.dumps({str(key): 1 for key in range(5_001)}),
    "10001-items": json.dumps([0] * 10_001),
    "129-kilobytes": json.dumps(["x" * 1024] * 129),
}
BODIES = {
    "empty": b"",
    "blank": b"  \n ",
    "null": b"null",
    "true": b"true",
    "number": b"1",
    "text": b'"Domain"',
    "list-of-numbers": b"[1, 2]",
    "two-documents": document() + document(),
    "garbage-behind": document() + b"garbage",
    "byte-order-mark-only": b"\xef\xbb\xbf",
    "byte-ff": b"\xff" + document(),
    "overlong-nul": with_value('"@"').replace(b"@", b"\xc0\x80"),
    "encoded-surrogate": with_value('"@"').replace(b"@", b"\xed\xa0\x80"),
    "cut-character": with_value('"@"').replace(b"@", b"\xe6\xb0"),
    "utf-16": document().decode().encode("utf-16"),
    "utf-32": document().decode().encode("utf-32"),
    "deep-and-open": b"[" * 100_000,
    "nul-bytes": b"\x00" * 64,
}
ROOTS: dict[str, dict[str, object]] = {
    "spec-list": {"spec": []},
    "spec-text": {"spec": "x"},
    "spec-number": {"spec": 1},
    "spec-null": {"spec": None},
    "spec-true": {"spec": True},
    "metadata-list": {"metadata": []},
    "metadata-text": {"metadata": "x"},
    "metadata-null": {"metadata": None},
    "kind-unknown": {"kind": "Robot"},
    "kind-number": {"kind": 1},
    "kind-list": {"kind": ["Domain"]},
    "kind-null": {"kind": None},
    "kind-lower-case": {"kind": "domain"},
    "version-unknown": {"apiVersion": "ioa.dev/v9"},
    "version-number": {"apiVersion": 2},
    "root-extra": {"surprise": 1},
    "status-list": {"status": []},
    "status-text": {"status": "x"},
    "purpose-number": {"spec": {"purpose": 1}},
    "purpose-missing": {"spec": {}},
    "kpi-without-target": {"spec": {"purpose": "x", "kpis": [{"name": "a"}]}},
    "kpis-object": {"spec": {"purpose": "x", "kpis": {"name": "a"}}},
    "agents-numbers": {"spec": {"purpose": "x", "agents": [1]}},
}
METADATA: dict[str, dict[str, object]] = {
    "name-missing": {"name": None},
    "name-empty": {"name": ""},
    "name-capital": {"name": "Probe"},
    "name-digit-first": {"name": "1probe"},
    "name-underscore": {"name": "pro_be"},
    "name-slash": {"name": "../etc/passwd"},
    "name-newline": {"name": "probe\n"},
    "name-space": {"name": "pro be"},
    "name-unicode": {"name": "pr\u043ebe"},
    "name-of-254": {"name": "p" * 254},
    "name-of-a-million": {"name": "p" * 60_000},
    "name-number": {"name": 1},
    "name-list": {"name": ["probe"]},
    "labels-list": {"labels": ["a"]},
    "labels-text": {"labels": "a"},
    "label-number": {"labels": {"a": 1}},
    "label-nested": {"labels": {"a": {"b": "c"}}},
    "label-key-empty": {"labels": {"": "a"}},
    "label-key-of-318": {"labels": {"k" * 318: "a"}},
    "label-value-of-1025": {"labels": {"a": "v" * 1025}},
    "annotations-17-kilobytes": {"annotations": {"a": "x" * 17 * 1024}},
    "annotation-number": {"annotations": {"a": 1}},
    "metadata-version-number": {"version": 1},
    "created-without-zone": {"createdAt": "2026-02-25T10:00:00"},
    "created-nonsense": {"createdAt": "yesterday"},
    "owner-number": {"owner": 1},
    "owner-without-name": {"owner": {"role": "x"}},
    "owner-reference-text": {"ownerReferences": ["x"]},
    "owner-reference-without-name": {"ownerReferences": [{"kind": "Domain"}]},
    "owner-reference-bad-policy": {
        "ownerReferences": [{"kind": "Domain", "name": "a", "deletePolicy": "explode"}]
    },
}
STATUS: dict[str, dict[str, object]] = {
    "health-unknown-word": {"health": "fine"},
    "agents-text": {"activeAgents": "many"},
    "conditions-object": {"conditions": {"type": "Ready"}},
    "conditions-text": {"conditions": ["Ready"]},
    "condition-without-type": {"conditions": [{"status": "True"}]},
    "condition-boolean": {"conditions": [{"type": "Ready", "status": True}]},
    "condition-bad-word": {"conditions": [{"type": "Ready", "status": "Maybe"}]},
    "condition-type-of-254": {"conditions": [{"type": "T" * 254, "status": "True"}]},
    "condition-reason-of-1025": {
        "conditions": [{"type": "Ready", "status": "True", "reason": "r" * 1025}]
    },
    "condition-time-without-zone": {
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-02-25T10:00:00"}
        ]
    },
    "evaluation-nonsense": {"lastEvaluation": "now"},
    "129-kilobytes": {"notes": ["x" * 1024] * 129},
}
HARMLESS = {
    "emoji": json.dumps("🙂", ensure_ascii=False),
    "emoji-as-a-pair": r'"\ud83d\ude42"',
    "right-to-left": json.dumps("\u202etxt.exe"),
    "zero-width": json.dumps("a\u200bb"),
    "script": json.dumps("<script>alert(1)</script>"),
    "sql": json.dumps("'; DROP TABLE resources_resource; --"),
    "percent": json.dumps("%s %(x)s {0} {x!r} ${y}"),
    "dollar-key": '{"$where": 1, "__proto__": {"a": 1}, "a.b": 1, "": 1}',
    "1e3": "1e3",
    "1.0": "1.0",
    "minus-zero": "-0.0",
    "tiny": "1e-320",
    "largest": "1000000000000000",
    "long-fraction": "0.1000000000000000055511151231257827",
    "64-kilobytes": json.dumps("x" * 64 * 1024),
    "28-deep": nested("[", "]", 28),
}
ODD_TIMES = {
    "before-the-first-year": "0001-01-01T00:00:00+23:59",
    "after-the-last-year": "9999-12-31T23:59:59-23:59",
    "far-east": "2026-02-25T10:00:00+20:00",
    "nanoseconds": "2026-02-25T10:00:00.123456789Z",
    "leap-second": "2016-12-31T23:59:60Z",
}
YAML = {
    "alias-bomb": "\n".join(
        ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
        + [
            f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
            for before, name in zip("abcdefgh", "bcdefghi", strict=True)
        ]
    ),
    "alias-to-itself": "a: &a [*a]",
    "alias-to-nothing": "a: *nobody",
    "python-tag": "a: !!python/object/apply:os.system ['true']",
    "binary-tag": "a: !!binary aGVsbG8=",
    "own-tag": "a: !secret x",
    "merge-key": "a: &a {b: 1}\nc: {<<: *a}",
    "not-a-number": "a: .nan",
    "infinite": "a: -.inf",
    "giant-octal": "a: 0o" + "7" * 40,
    "giant-hexadecimal": "a: 0x" + "f" * 40,
    "giant-integer": "a: " + "9" * 400,
    "repeated-key": "a: 1\na: 2",
    "list-as-key": "? [a, b]\n: 1",
    "object-as-key": "? {a: b}\n: 1",
    "tab-indent": "a:\n\t- b",
    "bad-indent": "a: 1\n  b: 2",
    "open-quote": 'a: "b',
    "open-bracket": "a: [b",
    "unknown-directive": "%YAML 3.0\n---\na: 1",
    "deep-flow": "a: " + "[" * 2_000 + "]" * 2_000,
    "deep-block": "\n".join(" " * depth + "a:" for depth in range(400)),
    "two-documents-in-one": "a: 1\n---\nb: 2",
    "bell": "a: \a",
    "nul": 'a: "\\0"',
    "surrogate": 'a: "\\ud800"',
    "long-text": "a: " + "x" * 65 * 1024,
    "key-not-normalised": "e\u0301: 1",
    "just-text": "hello",
    "just-a-list": "- a\n- b",
}


def probes() -> Iterator[Probe]:
    """Yield every probe."""
    bodies = BODIES | {
        f"cut-at-{cut}": document()[:cut] for cut in range(10, len(document()) - 1, 12)
    }
    bodies |= {name: with_value(raw) for name, raw in (NUMBERS | TEXTS | SHAPES).items()}
    bodies |= {name: with_member(raw) for name, raw in KEYS.items()}
    bodies |= {name: document(**parts) for name, parts in ROOTS.items()}
    bodies |= {
        name: document(metadata={"name": NAME, **fields}) for name, fields in METADATA.items()
    }
    bodies |= {f"status-{name}": document(status=fields) for name, fields in STATUS.items()}
    yield from (Probe(name, "json", body) for name, body in bodies.items())
    for name, moment in ODD_TIMES.items():
        created = document(metadata={"name": NAME, "createdAt": moment})
        yield Probe(f"created-{name}", "json", created, "accepted")
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": moment}
        flipped = document(status={"conditions": [condition]})
        yield Probe(f"flipped-{name}", "json", flipped, "accepted")
    for name, raw in HARMLESS.items():
        yield Probe(f"harmless-{name}", "json", with_value(raw), "accepted")
    for name, text in YAML.items():
        yield Probe(name, "yaml", as_yaml(name, text))


def as_yaml(name: str, text: str) -> bytes:
    """Return a YAML document that is good but for the given text in its spec."""
    if name in ("two-documents-in-one", "unknown-directive", "just-text", "just-a-list"):
        return text.encode()
    indented = "\n".join(f"    {line}" for line in text.splitlines())
    head = "apiVersion: ioa.dev/v0.2\nkind: Domain\nmetadata: {name: probe}\n"
    return f"{head}spec:\n  purpose: Be probed\n  extra:\n{indented}\n".encode()


PROBES = list(probes())
