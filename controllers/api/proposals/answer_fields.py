"""The bodies of answers as the API describes them: made of the fields of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from controllers.decisions import answers
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.answers.proposal_answer import LONGEST_TEXT, AnswerField
from resources.api.fields import Schema, Value
from resources.api.schema import Examples

SPOKEN: tuple[ProposalAnswer, ...] = tuple(each for each in answers.ALL if each.in_api)
TOGETHER: tuple[ProposalAnswer, ...] = tuple(each for each in SPOKEN if each.together)
MOST_FIELDS = 20
PLACE = "A place in the plan, such as `/actions/0/parameters/factor`."
SHAPES: Mapping[str, Schema] = {
    "text": {"type": "string", "maxLength": LONGEST_TEXT},
    "number": {"type": "number"},
    "switch": {"type": "boolean"},
    "choice": {"type": "string"},
    "time": {"type": "string", "format": "date-time"},
    "path": {"type": "string"},
    "value": {},
    "parameters": {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["sequence", "parameters"],
            "properties": {
                "sequence": {"type": "integer", "minimum": 1},
                "parameters": {"type": "object", "additionalProperties": True},
            },
        },
    },
    "places": {
        "type": "array",
        "maxItems": MOST_FIELDS,
        "items": {"type": "string", "description": PLACE},
    },
}


def spelled(verb: str) -> str:
    """Spell an answer's verb as the API does."""
    return verb.replace("_", "-")


def names(spoken: Iterable[ProposalAnswer]) -> tuple[str, ...]:
    """Return the fields that the bodies of some answers may have."""
    return tuple(dict.fromkeys(("reason", *(f.name for each in spoken for f in each.fields))))


def described(spoken: Iterable[ProposalAnswer]) -> dict[str, Value]:
    """Describe the fields that the bodies of some answers may have, by their Python names."""
    found: dict[str, list[tuple[ProposalAnswer, AnswerField]]] = {}
    for answer in spoken:
        for field in answer.fields:
            found.setdefault(field.name, []).append((answer, field))
    return {f"{name}_": as_value(uses) for name, uses in found.items()}


def as_value(uses: list[tuple[ProposalAnswer, AnswerField]]) -> Value:
    """Describe a field with what each answer means by it."""
    shapes: list[Schema] = []
    for _, field in uses:
        shape = SHAPES[field.type] | ({"enum": [*field.choices]} if field.choices else {})
        shapes += [shape] if shape not in shapes else []
    said = " ".join(f"`{answer.name}`: {field.help}" for answer, field in uses)
    shape = shapes[0] if len(shapes) == 1 else {"anyOf": shapes}
    return Value(said, required=False, schema=shape)


def example(answer: ProposalAnswer) -> dict[str, Any]:
    """Return a body that an answer could have."""
    known = {each.name: each.example for each in answer.fields if each.example is not None}
    return {"reason": answer.reason or "Agreed with the team.", **known}


EXAMPLES = Examples({each.name: example(each) for each in SPOKEN})
