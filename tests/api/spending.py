"""An organisation that spends: budgets, policies, data, and an agent that asks."""

from __future__ import annotations

from typing import Any

from django.test import Client

from resources.documents.kind import Document
from resources.tables.models import LedgerEvent, Resource
from tests.api.conftest import Answer, Api, apply, domain, issue

CALL = {"operation": "execute", "resource": "agent/robin", "tokens": {"input": 60, "output": 40}}


def budget(name: str = "growth-budget", within: str = "growth", **spec: Any) -> Document:
    """A budget of a domain: 1,000 tokens a month, as hard as a budget gets."""
    declared = {
        "domain": within,
        "period": "monthly",
        "limits": {"tokens": {"monthly": 1_000}},
        "enforcement": "enforce",
    }
    return document("Budget", name, declared | spec)


def policy(name: str = "house-policy", within: str = "growth", **spec: Any) -> Document:
    """A security policy of a domain that enforces its rules."""
    return document(
        "SecurityPolicy", name, {"domain": within, "enforcementMode": "enforce"} | spec
    )


def agent(name: str, within: str = "growth", **spec: Any) -> Document:
    """An agent that acts alone."""
    declared = {"domain": within, "type": "autonomous", "purpose": "Helps."}
    return document("Agent", name, declared | spec)


def document(kind: str, name: str, spec: Document) -> Document:
    """A document without any labels."""
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def data(name: str, *assets: str) -> Document:
    """A domain that owns data."""
    owned = [{"name": each, "classification": "internal"} for each in assets]
    return domain(name, dataOwnership=owned)


def ask(api: Api, key: str = "", **given: Any) -> Answer:
    """Ask, and return the answer as it came."""
    headers = {"Idempotency_Key": key} if key else {}
    return api.post("admission", CALL | given, **headers)


def asked(api: Api, key: str = "", **given: Any) -> Document:
    """Ask, and return what was said."""
    answer = ask(api, key, **given)
    assert answer.status_code == 200, answer.content
    found: Document = answer.json()
    return found


def codes(found: Document) -> list[str]:
    """Return the codes of an answer's reasons."""
    return [each["code"] for each in found["reasons"]]


def warned(found: Document) -> list[str]:
    """Return the codes of an answer's warnings."""
    return [each["code"] for each in found["warnings"]]


def redeem(api: Api, found: Document, **given: Any) -> Answer:
    """Redeem the permit of an answer."""
    body = CALL | {"permit": found["permit"]} | given
    return api.post(f"admission/{found['id']}/redeem", body)


def spend(api: Api, tokens: int = 100, key: str = "", **given: Any) -> Answer:
    """Report one call."""
    headers = {"Idempotency_Key": key} if key else {}
    return api.post("usage", {"tokens": {"input": tokens}} | given, **headers)


def another(name: str, within: str = "growth", **spec: Any) -> Api:
    """Declare one more agent, and return its client."""
    apply(agent(name, within, **spec))
    return Api(Client(), issue(name))


def events(name: str) -> list[LedgerEvent]:
    """Return the entries of one name."""
    return list(LedgerEvent.objects.filter(event=name).order_by("id"))


def status(kind: str, name: str) -> Document:
    """Return what is observed of a resource."""
    found: Document = Resource.objects.get(kind=kind, name=name, deleted_at=None).status
    return found
