"""Read what an outside controller found: every value strictly, each refused with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from controllers.engine.findings import Finding
from controllers.engine.types import DIMENSIONS, Dimension, Evidence, Verdict, Word
from controllers.outside import Reported, Wish
from resources.api.problems import invalid
from resources.reader import escape

MOST_FINDINGS, MOST_EVIDENCE, MOST_ACTIONS = 500, 50, 20
LONGEST_NAME, LONGEST_TEXT = 253, 500
FIELDS = ("resource", "version", "complete", "score", "dimensions", "condition", "actions")
VERDICTS, WORDS = get_args(Verdict), get_args(Word)
TEXTS = ("at", "by", "note")


def findings_in(body: Mapping[str, Any], kind: str) -> list[Reported]:
    """Read every finding; the same resource is reported on once."""
    given = listed(body.get("findings"), "/findings", MOST_FINDINGS)
    if not given:
        raise invalid("findings has at least one finding.", "/findings")
    found = [finding_in(each, f"/findings/{place}", kind) for place, each in enumerate(given)]
    names = [each.name for each in found]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise invalid(f"{kind}/{name} is named twice.", f"/findings/{place}/resource")
    return found


def finding_in(given: Any, pointer: str, kind: str) -> Reported:
    """Read one finding."""
    body = fields(given, FIELDS, pointer)
    condition = fields(
        body.get("condition", {}), ("type", "status", "reason", "message"), f"{pointer}/condition"
    )
    said = {
        name: text(condition.get(name, ""), f"{pointer}/condition/{name}") for name in condition
    }
    if said.get("status", "") not in ("", *WORDS):
        detail = f"status is one of {', '.join(WORDS)}."
        raise invalid(detail, f"{pointer}/condition/status", allowed=[*WORDS])
    finding = Finding(
        dimensions_in(body.get("dimensions", {}), f"{pointer}/dimensions"),
        share(body.get("score"), f"{pointer}/score"),
        said.get("reason", ""),
        said.get("message", ""),
        complete=switch(body.get("complete", True), f"{pointer}/complete"),
    )
    return Reported(
        name_in(body.get("resource"), f"{pointer}/resource", kind),
        finding,
        wishes_in(body.get("actions", []), f"{pointer}/actions"),
        version_in(body.get("version"), f"{pointer}/version"),
        said.get("type", ""),
        said.get("status", ""),
    )


def name_in(given: Any, pointer: str, kind: str) -> str:
    """Read the resource that a finding is about: of the kind the controller looks after."""
    found, mark, name = given.partition("/") if isinstance(given, str) else ("", "", "")
    if not mark or found != kind or not 0 < len(name) <= LONGEST_NAME:
        raise invalid(f"resource is a reference such as {kind}/name.", pointer)
    return name


def version_in(given: Any, pointer: str) -> int | None:
    """Read the version that was looked at, as resources spell it."""
    if given is None:
        return None
    if not isinstance(given, str) or not given.isascii() or not given.isdecimal():
        raise invalid("version is the resourceVersion that you looked at.", pointer)
    return int(given[:18])


def dimensions_in(given: Any, pointer: str) -> tuple[Dimension, ...]:
    """Read the dimensions of a drift, by their names."""
    body = fields(given, DIMENSIONS, pointer)
    return tuple(
        dimension_in(name, body[name], f"{pointer}/{name}") for name in DIMENSIONS if name in body
    )


def dimension_in(name: str, given: Any, pointer: str) -> Dimension:
    """Read one dimension: its score, what it looked at, and what it found amiss."""
    body = fields(given, ("score", "of", "evidence"), pointer)
    rows = listed(body.get("evidence", []), f"{pointer}/evidence", MOST_EVIDENCE)
    evidence = tuple(
        evidence_in(each, f"{pointer}/evidence/{place}") for place, each in enumerate(rows)
    )
    of = body.get("of", max(1, len(evidence)))
    if not isinstance(of, int) or isinstance(of, bool) or not len(evidence) <= of <= 10**6:
        raise invalid("of is how many things were looked at, all of them.", f"{pointer}/of")
    return Dimension(name, share(body.get("score"), f"{pointer}/score"), None, evidence, of)


def evidence_in(given: Any, pointer: str) -> Evidence:
    """Read one thing that was looked at."""
    body = fields(given, ("subject", "verdict", "desired", "observed", *TEXTS), pointer)
    subject = text(body.get("subject"), f"{pointer}/subject")
    verdict: Any = body.get("verdict")
    if not subject or verdict not in VERDICTS:
        detail = f"Evidence has a subject, and a verdict of {', '.join(VERDICTS)}."
        raise invalid(detail, f"{pointer}/verdict", allowed=[*VERDICTS])
    values = [plain(body.get(name), f"{pointer}/{name}") for name in ("desired", "observed")]
    told = [text(body.get(name, ""), f"{pointer}/{name}") for name in TEXTS]
    return Evidence(subject, verdict, *values, *told)


def wishes_in(given: Any, pointer: str) -> tuple[Wish, ...]:
    """Read the steps that would close the gap."""
    found = []
    for place, each in enumerate(listed(given, pointer, MOST_ACTIONS)):
        at = f"{pointer}/{place}"
        body = fields(each, ("operation", "parameters", "why"), at)
        parameters = body.get("parameters", {})
        if not isinstance(parameters, dict):
            raise invalid("parameters is an object.", f"{at}/parameters")
        operation = text(body.get("operation"), f"{at}/operation")
        found.append(Wish(operation, parameters, text(body.get("why", ""), f"{at}/why")))
    return tuple(found)


def fields(given: Any, known: tuple[str, ...], pointer: str) -> dict[str, Any]:
    """Read an object whose fields are known."""
    if not isinstance(given, dict):
        raise invalid("This is an object.", pointer)
    if unknown := sorted(set(given) - set(known)):
        name = unknown[0][:80]
        detail = f"There is no field {name!r} here."
        raise invalid(detail, f"{pointer}/{escape(name)}", allowed=list(known))
    return given


def listed(given: Any, pointer: str, most: int) -> list[Any]:
    """Read a list of bounded length."""
    if not isinstance(given, list) or len(given) > most:
        raise invalid(f"This is a list of up to {most}.", pointer)
    return given


def text(given: Any, pointer: str) -> str:
    """Read a text of bounded length."""
    if not isinstance(given, str) or len(given) > LONGEST_TEXT:
        raise invalid(f"This is a text of up to {LONGEST_TEXT} characters.", pointer)
    return given


def switch(given: Any, pointer: str) -> bool:
    """Read true or false."""
    if not isinstance(given, bool):
        raise invalid("This is true or false.", pointer)
    return given


def share(given: Any, pointer: str) -> float | None:
    """Read a score from 0 to 1; null and absent are unknown."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise invalid("A score is a number from 0 to 1.", pointer)
    return float(given)


def plain(given: Any, pointer: str) -> Any:
    """Read a value that a sentence can name."""
    if isinstance(given, dict | list):
        raise invalid("This is a text, a number, true or false.", pointer)
    return text(given, pointer) if isinstance(given, str) else given
