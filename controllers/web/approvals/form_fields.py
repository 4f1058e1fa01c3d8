"""The fields of a decision's form: how they are shown, and how what was typed is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from math import isfinite
from typing import Any

import orjson

from controllers import operations
from controllers.decisions.answers.proposal_answer import AnswerField
from controllers.decisions.holds import override_values
from controllers.models import Proposal
from controllers.narrative import proposal_text
from controllers.narrative.proposal_text.facts import label
from controllers.operations.operation_check import SELF

Typed = Mapping[str, str]
Span = tuple[str, str]
TOMORROW, TOMORROW_TEXT = "tomorrow", "Tomorrow, 09:00 UTC"
MORNING = time(9, tzinfo=UTC)
LENGTHS: Mapping[str, tuple[str, timedelta]] = {
    "1h": ("1 hour", timedelta(hours=1)),
    "8h": ("8 hours", timedelta(hours=8)),
    "1d": ("1 day", timedelta(days=1)),
    "4d": ("4 days", timedelta(days=4)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "90d": ("90 days", timedelta(days=90)),
}


class Wrong(Exception):
    """What was typed cannot be read; each field with what is wrong about it."""

    def __init__(self, **problems: str) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True)
class Input:
    """One field of a form."""

    name: str
    label: str
    kind: str = "text"
    value: str = ""
    options: Sequence[Span] = ()
    hint: str = ""
    required: bool = False
    problem: str = ""
    # A number is typed with the digits at hand.
    numeric: bool = False


def inputs_of(
    fields: Iterable[AnswerField], typed: Typed, proposal: Proposal | None
) -> list[Input]:
    """Ask for the fields of an answer; what is about one plan is not asked of many."""
    return [each for field in fields if field.on_page for each in asked(field, typed, proposal)]


def asked(field: AnswerField, typed: Typed, proposal: Proposal | None) -> list[Input]:
    """Ask for one field of an answer."""
    given = typed.get(field.name, "")
    match field.type:
        case "time" if field.lengths:
            return until_inputs(field, typed)
        case "path" | "value" | "parameters":
            return plan_inputs(field, typed, proposal) if proposal else []
        case "choice":
            options = [*field.choices.items()]
            return [Input(field.name, field.label, "radio", given, options, field.help)]
        case _:
            kind = {"time": "datetime-local", "switch": "check"}.get(field.type, "text")
            return [
                Input(
                    field.name,
                    field.label,
                    kind,
                    given,
                    hint=field.help,
                    required=field.required,
                    numeric=field.type == "number",
                )
            ]


def plan_inputs(field: AnswerField, typed: Typed, proposal: Proposal) -> list[Input]:
    """Ask for what is about the plan of one proposal."""
    if field.type == "parameters":
        return [*parameter_inputs(proposal, typed)]
    return override_inputs(field, proposal, typed)


def values_of(
    fields: Iterable[AnswerField], typed: Typed, now: datetime, proposal: Proposal | None
) -> dict[str, Any]:
    """Read the fields of an answer; what does not fit raises `Wrong`."""
    found: dict[str, Any] = {}
    for field in fields:
        if field.on_page:
            found |= value_of(field, typed, now, proposal)
    return found


def value_of(
    field: AnswerField, typed: Typed, now: datetime, proposal: Proposal | None
) -> dict[str, Any]:
    """Read one field; a page may offer switches in the place of a time."""
    match field.type:
        case "time" if field.lengths:
            if (instead := typed.get("for", "")) in field.switches:
                return {instead: True}
            start = max(proposal.expires_at, now) if field.from_deadline and proposal else now
            return {field.name: until_in(field, typed, start, now)}
        case "path" | "value" | "parameters":
            return {field.name: plan_value(field, proposal, typed)} if proposal else {}
        case _:
            value = plain_value(field, typed.get(field.name, "").strip())
            if fault := field.fault(value):
                raise Wrong(**{field.name: fault})
            return {field.name: value}


def plain_value(field: AnswerField, text: str) -> Any:
    """Read what was typed as the type of its field."""
    if field.type == "switch":
        return bool(text)
    if not text:
        return "" if field.type in ("text", "choice") else None
    if field.type == "time":
        return instant_in(field.name, text)
    try:
        return figure_in(text) if field.type == "number" else text
    except ValueError as error:
        raise Wrong(**{field.name: str(error)}) from None


def plan_value(field: AnswerField, proposal: Proposal, typed: Typed) -> Any:
    """Read what is about the plan of one proposal."""
    if field.type == "parameters":
        return edits_in(proposal, typed)
    path, value = value_in(proposal, typed)
    return path if field.type == "path" else value


def until_inputs(field: AnswerField, typed: Typed) -> list[Input]:
    """Ask until when: some lengths, tomorrow morning, a switch, or a time of one's own."""
    options = [
        (name, TOMORROW_TEXT if name == TOMORROW else LENGTHS[name][0]) for name in field.lengths
    ]
    options += field.switches.items()
    chosen = typed.get("for") or options[0][0]
    return [
        Input("for", field.label, "select", chosen, options),
        Input(field.name, "Or until", "datetime-local", typed.get(field.name, "")),
    ]


def until_in(field: AnswerField, typed: Typed, start: datetime, now: datetime) -> datetime:
    """Read until when; a time that was typed counts before a length."""
    given, length = typed.get(field.name, "").strip(), typed.get("for", "")
    if given:
        return instant_in(field.name, given)
    if length == TOMORROW:
        return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), MORNING)
    if length in LENGTHS:
        return start + LENGTHS[length][1]
    raise Wrong(**{field.name: field.missing})


def instant_in(name: str, text: str) -> datetime:
    """Read a time that was typed; pages speak of UTC."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise Wrong(**{name: "That is no date and time."}) from None


def fields_of(proposal: Proposal) -> list[str]:
    """Return the fields of the target's spec that a plan writes, which a person can hold."""
    target = str(proposal.resource)
    paths = [
        path
        for each in proposal.actions
        if each.get("target", target) == target
        for path in each.get("touches", ())
        if path.startswith("spec.") and "[" not in path
    ]
    declared = [path for path in dict.fromkeys(paths) if has_fields(proposal, path)]
    return [path for path in declared if not path.endswith(".throttled")]


def has_fields(proposal: Proposal, path: str) -> bool:
    """Tell whether a path is one of the target itself: a plan may reach others."""
    holder = path.rpartition(".")[0]
    return holder == "spec" or isinstance(override_values.at(proposal.resource.spec, holder), dict)


def override_inputs(field: AnswerField, proposal: Proposal, typed: Typed) -> list[Input]:
    """Ask which field is to hold what; nothing means that the resource stays as it is."""
    paths = fields_of(proposal)
    if not paths:
        return []
    chosen = typed.get("path", paths[0])
    present = override_values.at(proposal.resource.spec, chosen) if chosen in paths else None
    if field.type == "path":
        options = [*((path, path) for path in paths), ("", "Everything about it, as it is now")]
        return [Input(field.name, field.label, "select", chosen, options)]
    value = typed.get("value", written(present))
    numeric = isinstance(present, int | float) and not isinstance(present, bool)
    shown = "What is declared now."
    return [Input(field.name, field.label, "text", value, hint=shown, numeric=numeric)]


def value_in(proposal: Proposal, typed: Typed) -> tuple[str, Any]:
    """Read which field is to hold which value."""
    path = typed.get("path", "")
    if not path:
        return "", None
    if path not in fields_of(proposal):
        raise Wrong(path="Choose one of the fields.")
    try:
        return path, parsed(
            typed.get("value", ""), override_values.at(proposal.resource.spec, path)
        )
    except ValueError as error:
        raise Wrong(value=str(error)) from None


def parameter_inputs(proposal: Proposal, typed: Typed) -> Iterator[Input]:
    """Ask for each parameter of each action, as its operation describes it."""
    for action in proposal.actions:
        for name, schema in editable(proposal, action):
            present = (action.get("parameters") or {}).get(name)
            key = f"a{action['sequence']}-{name}"
            choices = [(str(each), str(each) or "none") for each in schema.get("enum", ())]
            yield Input(
                key,
                label("", name),
                "select" if choices else "area" if schema.get("type") == "object" else "text",
                typed.get(key, written(present)),
                choices,
                hint=hint(schema),
                numeric=schema.get("type") == "number",
            )


def editable(
    proposal: Proposal, action: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the parameters people may change: not the name of the resource itself."""
    operation = operations.find(str(action.get("operation", "")))
    own = SELF.get(proposal.resource.kind, "")
    for name, schema in (operation.parameters["properties"] if operation else {}).items():
        if name != own:
            yield name, schema


def hint(schema: Mapping[str, Any]) -> str:
    """Say what fits."""
    if schema.get("type") == "number":
        low, high = schema.get("exclusiveMinimum", schema.get("minimum")), schema.get("maximum")
        if low is not None and high is not None:
            return f"A number from {low} to {high}."
        return "A number." if low is None else f"A number, {low} or more."
    words = {"array": "Names, with commas between them.", "object": "Fields as JSON."}
    return words.get(str(schema.get("type")), "")


def edits_in(proposal: Proposal, typed: Typed) -> dict[int, dict[str, Any]]:
    """Read what is to be different, by the number of the action."""
    found: dict[int, dict[str, Any]] = {}
    problems: dict[str, str] = {}
    for action in proposal.actions:
        before = action.get("parameters") or {}
        for name, schema in editable(proposal, action):
            key = f"a{action['sequence']}-{name}"
            text = typed.get(key)
            if text is None or text.strip() == written(before.get(name)):
                continue
            try:
                value = None if not text.strip() else shaped(text, schema)
            except ValueError as error:
                problems[key] = str(error)
            else:
                found.setdefault(action["sequence"], {})[name] = value
    if problems:
        raise Wrong(**problems)
    return found


def shaped(text: str, schema: Mapping[str, Any]) -> Any:
    """Read a parameter as its schema wants it."""
    match schema.get("type"):
        case "number":
            return figure_in(text)
        case "array":
            return [each.strip() for each in text.split(",") if each.strip()]
        case "object":
            return document_in(text)
        case _:
            return text.strip()


def parsed(text: str, present: Any) -> Any:
    """Read a value of the same sort as the one that is there."""
    text = text.strip()
    if not text:
        raise ValueError("Say which value.")
    if isinstance(present, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError("It is true or false.")
        return text.lower() == "true"
    if isinstance(present, int | float):
        return figure_in(text)
    if isinstance(present, dict | list):
        return document_in(text)
    return text


def figure_in(text: str) -> int | float:
    """Read a number; thousands may be set apart."""
    plain = text.replace(",", "").replace(" ", "")
    try:
        number = float(plain)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise ValueError("That is no number.")
    return int(number) if number == int(number) and "." not in plain else number


def document_in(text: str) -> Any:
    """Read a document in JSON."""
    try:
        return orjson.loads(text)
    except ValueError:
        raise ValueError("That is no JSON.") from None


def written(value: Any) -> str:
    """Write a value into a field."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    if isinstance(value, bool | dict | list):
        return orjson.dumps(value).decode()
    return f"{value:,}" if isinstance(value, int) else str(value)


def adoptable(proposal: Proposal) -> list[proposal_text.Fact]:
    """Return the fields that could be adopted as they are observed."""
    return [
        each
        for each in proposal_text.facts(proposal.evidence)
        if each.dimension == "field" and each.off and each.path.startswith("spec.")
    ]
