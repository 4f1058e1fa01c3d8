"""What a judgement says, in the words of people: no operators, no names of the product."""

from __future__ import annotations

import re

from controllers.narrative.proposal_text.facts import LIMITS, Bound, label

# "errorRate is 0.061 (wanted <= 0.02 ratio)".
MEASURE = re.compile(
    r"(?P<name>[\w.-]+) is (?P<value>-?[\d.,]+(?:e[+-]?\d+)?) "
    r"\(wanted (?P<wanted>(?:<=|>=|<|>|=) [^()]+)\)"
)
# "Ready is False (It sleeps)": the note says it better.
CONDITION = re.compile(
    r"\b[A-Z]\w* is (?:True|False|Unknown) \((?P<note>[^()]*(?:\([^()]*\)[^()]*)*)\)"
)


def plainly(message: str) -> str:
    """Return a message as people say it: "error rate is 6.1% (wanted 2% or less)"."""
    told = MEASURE.sub(lambda found: "{} is {} (wanted {})".format(*measured(found)), message)
    said = CONDITION.sub(lambda found: found["note"].rstrip("."), told)
    return said[:1].upper() + said[1:]


def briefly(clause: str) -> str:
    """Return one clause without its brackets: "Error rate 6.1%, wanted 2% or less"."""
    if told := CONDITION.fullmatch(clause):
        return told["note"]
    if found := MEASURE.fullmatch(clause):
        said = "{} {}, wanted {}".format(*measured(found))
        return said[:1].upper() + said[1:]
    return clause


def measured(found: re.Match[str]) -> tuple[str, str, str]:
    """Return a measure in words: what it is called, what it is, what is wanted."""
    bound = Bound(found["wanted"])
    name = label("kpi", found["name"])
    name = name if name[1:2].isupper() else name[:1].lower() + name[1:]
    if bound.target is None:
        return name, found["value"], found["wanted"]
    value = float(found["value"].replace(",", ""))
    return name, bound.written(value), LIMITS[bound.symbol].format(bound.written(bound.target))
