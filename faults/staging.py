"""The organisation of a run: agents that report and propose, workflows, a controller, people.

Run as a program inside the world's environment it prints links and tokens as JSON.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

UNITS, FLOWS, LIMIT = 24, 12, 1_000_000
PEOPLE = ("admin", "maya", "tomas", "ines", "vera", "odile")
ENDPOINT = "robots"
OPERATIONS = ("restart", "start")
SCOPES = ["resources:read", "status:write", "proposals:write"]
HEAD = """
apiVersion: ioa.dev/v0.2
kind: Domain
metadata: {name: yard}
spec: {purpose: Where everything breaks}
---
apiVersion: ioa.dev/v0.2
kind: Controller
metadata: {name: keeper}
spec:
  targetKind: Agent
  reconcileInterval: 15s
  enforcementMode: warn
  drift: {weights: {budget: 1, kpi: 0, health: 0, security: 0}}
  actions:
    onDrift:
      - {type: reconcile, operation: throttle, strategy: immediate, parameters: {factor: 0.5}}
"""
UNIT = """---
apiVersion: ioa.dev/v0.2
kind: Agent
metadata: {{name: {name}}}
spec: {{domain: yard, type: {type}, purpose: Works, tokenBudget: {{maxDaily: {limit}}}}}
"""
FLOW = """---
apiVersion: ioa.dev/v0.2
kind: Workflow
metadata: {{name: {name}}}
spec:
  description: Runs.
  domainsInvolved: [yard]
  trigger: {{type: manual}}
  steps: [{{name: write, agent: unit-00, action: write}}]
"""


def units() -> list[str]:
    """Return the names of the agents."""
    return [f"unit-{number:02}" for number in range(UNITS)]


def flows() -> list[str]:
    """Return the names of the workflows."""
    return [f"flow-{number:02}" for number in range(FLOWS)]


def documents() -> str:
    """Return everything that is declared; every third agent may act alone at home."""
    kinds = ("autonomous", "supervised", "supervised")
    text = HEAD + "".join(
        UNIT.format(name=name, type=kinds[number % 3], limit=LIMIT)
        for number, name in enumerate(units())
    )
    return text + "".join(FLOW.format(name=name) for name in flows())


def command(*arguments: str) -> None:
    """Run an `ioa` command in this process; it has to succeed."""
    from ioa_site import cli

    if code := cli.main([*arguments]):
        sys.exit(code)


def main(url: str, file: str) -> None:
    """Make the tables, declare everything, enter the machine outside, and let everybody in."""
    command("migrate")
    Path(file).write_text(documents(), "utf-8")
    command("apply", "-f", file)
    print(json.dumps(admitted()))  # noqa: T201
    taken = [word for each in OPERATIONS for word in ("--operation", each)]
    command("endpoint", "add", ENDPOINT, url, *taken, "--as", "admin")


def admitted() -> dict[str, Any]:
    """Add the people and the tokens, and return how they get in."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from controllers.access import people
    from resources.documents.actor import SYSTEM, Actor
    from resources.usecases import tokens

    now = timezone.now()
    people.ensure_administrator(now)
    people.ensure_samples(now)
    people.add_person("odile", name="Odile Roux", role="Viewers", actor=SYSTEM, now=now)
    found: dict[str, Any] = {"links": {}, "tokens": {}}
    for user in User.objects.filter(username__in=PEOPLE):
        found["links"][user.username] = people.sign_in_link(user, "http://127.0.0.1")
    for name in units():
        made = tokens.issue(
            name,
            scopes=SCOPES,
            lifetime=timedelta(hours=12),
            actor=Actor("person", "admin"),
            now=now,
        )
        found["tokens"][name] = made.text
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
