"""Revoke an agent's access to data, and grant it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from controllers.engine.document_values import items, texts
from controllers.operations.operation import (
    NAME,
    REASON,
    Context,
    Document,
    FieldChange,
    Impossible,
    Operation,
    parameters,
)
from controllers.operations.phrases import Phrase

PATH = "spec.dataScopes"


def _rewrite(
    edit: Callable[[list[str], str], list[str]],
) -> Callable[[Context, Document], Sequence[FieldChange]]:
    """Make the change that edits who may use the scopes of one resource."""

    def changes(context: Context, given: Document) -> Sequence[FieldChange]:
        policy, scopes = context.target, items(context.target.spec, "dataScopes")
        if not any(_about(each, given) for each in scopes):
            said = f"securitypolicy/{policy.name} names no agents for {given['resource']}."
            raise Impossible(said)
        rewritten = [_edited(each, given, edit) for each in scopes]
        return [policy.change(PATH, rewritten)] if rewritten != [*scopes] else []

    return changes


def _about(scope: Document, given: Document) -> bool:
    """Tell whether a scope says who may use a resource; one without a list says nothing."""
    return scope.get("resource") == given["resource"] and "allowedAgents" in scope


def _edited(
    scope: Document, given: Document, edit: Callable[[list[str], str], list[str]]
) -> dict[str, Any]:
    if not _about(scope, given):
        return dict(scope)
    return {**scope, "allowedAgents": edit([*texts(scope, "allowedAgents")], given["agent"])}


def _without(agents: list[str], agent: str) -> list[str]:
    return [each for each in agents if each != agent]


def _with(agents: list[str], agent: str) -> list[str]:
    return agents if agent in agents else [*agents, agent]


def _touches(_: Document) -> tuple[str, ...]:
    return (PATH,)


def _say(text: str) -> Phrase:
    def said(name: str, given: Document) -> str:
        return text.format(agent=given.get("agent", "an agent"), data=given.get("resource", name))

    return said


GIVEN = parameters(["agent", "resource"], policy=NAME, agent=NAME, resource=NAME, reason=REASON)
OPERATIONS = (
    Operation(
        name="revoke-data-scope",
        title="Revoke a data scope",
        sentence="Takes an agent off those who may use a resource.",
        says=_say("Revoke {agent}’s access to {data}"),  # noqa: RUF001
        kind="change",
        risk="medium",
        targets=("SecurityPolicy",),
        parameters=GIVEN,
        changes=_rewrite(_without),
        touches=_touches,
        opposite="grant-data-scope",
        seen="The agent is refused that resource, and its violations end.",
    ),
    Operation(
        name="grant-data-scope",
        title="Grant a data scope",
        sentence="Puts an agent among those who may use a resource.",
        says=_say("Give {agent} access to {data}"),
        kind="change",
        risk="high",
        targets=("SecurityPolicy",),
        parameters=GIVEN,
        changes=_rewrite(_with),
        touches=_touches,
        opposite="revoke-data-scope",
        seen="The agent is let through to that resource.",
    ),
)
