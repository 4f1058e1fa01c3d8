"""The example organisation: loaded once, and never into somebody's own data."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django.db import transaction

import resources
from controllers import budgets
from resources.documents.actor import SYSTEM, Actor
from resources.documents.files import load_paths
from resources.documents.problems import refused
from resources.tables import ledger
from resources.tables.models import AgentToken, LedgerEvent, Resource
from resources.usecases import specs

FOLDER = Path(resources.__file__).parent / "example"
EVENT = "example.loaded"
# Who issues the tokens of simulated agents.
SIMULATION = Actor("system", "simulation")
# Simulated agents: these get into a rush one after the other, the others only go on.
GUIDED = ("catalogue-curator", "incident-responder", "campaign-writer")
STEADY = ("event-loader", "sentiment-listener", "audience-mapper")
# What its models cost for a million tokens, in and out, as its past bills say.
CURRENCY = "EUR"
PRICES = {
    ("meridian", "meridian-swift"): "1.50",
    ("meridian", "meridian-pro"): "9.00",
    ("harbor", "harbor-small"): "0.80",
    ("harbor", "harbor-reason"): "12.00",
    ("in-house", "quillmere-extract"): "0.30",
}
# A simulated agent that was silent for so long is no longer there.
SILENCE = timedelta(minutes=3)


def load(now: datetime, by: Actor = SYSTEM) -> int:
    """Load the example into an empty store; returns how many resources it made."""
    if LedgerEvent.objects.filter(subject="example", event=EVENT).exists():
        return 0
    if not may_load():
        raise refused("This database already holds an organisation; the example stays out of it.")
    documents = [each.document for each in load_paths([str(FOLDER)]) if each.document is not None]
    wishes = [
        specs.DesiredDocument(each, message="Loaded with the example.") for each in documents
    ]
    with transaction.atomic():
        outcome = specs.apply(wishes, actor=SYSTEM, now=now)
        if not outcome.written:
            raise RuntimeError(f"The example does not apply: {outcome.results}")
        open_accounts(now)
        entry = ledger.Entry(
            stream="system/example",
            event=EVENT,
            subject="example",
            payload={"resources": len(documents)},
        )
        ledger.append([entry], actor=by, now=now)
    return len(documents)


def open_accounts(now: datetime) -> None:
    """Set what its models cost, and let counters begin with what its budgets tell."""
    for (provider, name), price in PRICES.items():
        budgets.enter(provider, name, (price, price), CURRENCY, actor=SYSTEM, now=now)
    budgets.carry_over(Resource.objects.filter(kind="Budget", deleted_at=None), now)


def may_load() -> bool:
    """Tell whether the store is empty, and always was."""
    return not Resource.objects.exists()


@cache
def contents() -> dict[str, int]:
    """Return how many resources of each kind the example has, by the folders it lies in."""
    return {
        each.name: len(list(each.glob("*.yaml"))) for each in FOLDER.iterdir() if each.is_dir()
    }


def simulated(now: datetime) -> bool:
    """Tell whether simulated agents are at work: one of their tokens was used lately."""
    issued = AgentToken.objects.filter(created_by=str(SIMULATION), revoked_at=None)
    return issued.filter(last_used_at__gt=now - SILENCE).exists()
