"""The body of an answer, read as the fields of the answer say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controllers.api.proposals.answer_fields import MOST_FIELDS
from controllers.api.proposals.decisions import flag_in, text_in, time_in
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.answers.proposal_answer import AnswerField
from resources.documents.problems import invalid

Body = dict[str, Any]


def given(answer: ProposalAnswer, body: Body) -> dict[str, Any]:
    """Read what an answer's use case is given."""
    values = {each.name: value_in(each, body) for each in answer.fields}
    return {"reason": text_in(body, "reason"), **answer.give(values)}


def value_in(field: AnswerField, body: Body) -> Any:
    """Read one field; what does not fit is refused."""
    value = READERS[field.type](body, field.name)
    if fault := field.fault(value):
        more = {"allowed": [*field.choices]} if field.choices else {}
        raise invalid(fault, f"/{field.name}", **more)
    return value


def number_in(body: Body, name: str) -> float | None:
    """Read a number."""
    value = body.get(name)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise invalid(f"{name} is a number.", f"/{name}")


def parameters_in(body: Body, name: str) -> dict[int, Mapping[str, Any]]:
    """Read the parameters to change, by the number of their action."""
    listed = body.get(name)
    if not isinstance(listed, list) or not listed:
        raise invalid(f"{name} lists sequence and parameters of what to change.", f"/{name}")
    found: dict[int, Mapping[str, Any]] = {}
    for number, each in enumerate(listed):
        if not has(each, sequence=int, parameters=dict):
            raise invalid("An action has sequence and parameters.", f"/{name}/{number}")
        found[each["sequence"]] = each["parameters"]
    return found


def places_in(body: Body, name: str) -> list[str]:
    """Read which places in the plan are meant."""
    listed = body.get(name, [])
    good = isinstance(listed, list) and all(isinstance(each, str) for each in listed)
    if not good or len(listed) > MOST_FIELDS:
        raise invalid(f"{name} lists up to {MOST_FIELDS} places in the plan.", f"/{name}")
    return list(listed)


def has(value: Any, **fields: type) -> bool:
    """Tell whether a value has exactly these fields of these types."""
    return (
        isinstance(value, dict)
        and value.keys() == fields.keys()
        and all(type(value[name]) is of for name, of in fields.items())
    )


READERS: Mapping[str, Callable[[Body, str], Any]] = {
    "text": text_in,
    "number": number_in,
    "switch": flag_in,
    "choice": text_in,
    "time": time_in,
    "path": text_in,
    "value": dict.get,
    "parameters": parameters_in,
    "places": places_in,
}
