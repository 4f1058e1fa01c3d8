"""Something else instead: what a person wants held, or what is there already."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.decisions import holds, locks, proposals
from controllers.decisions.answers.answer import GivenAnswer, record, settle, worded
from controllers.decisions.holds import override_values
from controllers.decisions.proposals import SeenRevision
from controllers.engine import precedence
from controllers.engine.precedence import Reach
from controllers.models import Proposal
from resources.documents.differences import same
from resources.documents.problems import held, invalid
from resources.store import snapshots
from resources.tables.models import Resource
from resources.usecases import specs

SUBJECT = "field/"
# How a field's evidence says that the two sides are values of one field, not an account of them.
PLAIN = "drifted"


@dataclass(frozen=True)
class Instead:
    """What is to hold instead, and until when; without a path the whole resource is held."""

    path: str = ""
    value: Any = None
    until: datetime | None = None


WHOLE = Instead()


def override(
    key: int,
    *,
    person: User,
    seen: SeenRevision,
    now: datetime,
    reason: str = "",
    instead: Instead = WHOLE,
) -> Proposal:
    """Decide otherwise, and hold it: no controller undoes it while the hold stands."""
    said = GivenAnswer("override", person, seen, now, worded(reason))
    return settle(key, said, partial(replace, instead=instead), exclude)


def exclude(proposal: Proposal) -> None:
    """Wait for the effects on a resource, and let no other begin."""
    locks.exclude("resource", proposal.resource.domain, None, proposal.resource_id)


def replace(proposal: Proposal, said: GivenAnswer, *, instead: Instead) -> Proposal:
    """Close a proposal and place the hold that stands in its way from now on."""
    wanted = holds.HoldRequest(
        "override",
        "field" if instead.path else "resource",
        said.reason,
        resource=proposal.resource_id,
        path=instead.path,
        value=instead.value,
        ends_at=instead.until,
        proposal=proposal.pk,
    )
    record(proposal, said, counts=False)
    # Closed before the hold stands: that answers every open proposal it covers by itself.
    proposals.move(
        proposal,
        "override",
        actor=said.actor,
        now=said.now,
        payload=said.payload(path=instead.path, value=instead.value),
        **said.decided(),
    )
    holds.place(wanted, person=said.person, now=said.now)
    return proposal


def adopt(
    key: int, *, person: User, seen: SeenRevision, now: datetime, reason: str = ""
) -> Proposal:
    """Let reality become what is desired: the observed fields are written into the spec."""
    return settle(key, GivenAnswer("adopt", person, seen, now, worded(reason)), take_over, share)


def share(proposal: Proposal) -> None:
    """Let no hold come into force while the spec is written."""
    locks.share(proposal.resource.domain, proposal.controller_id, proposal.resource_id)


def take_over(proposal: Proposal, said: GivenAnswer) -> Proposal:
    """Write what was observed into the spec, as the person who says so."""
    authority = roles.authority(said.person, proposal, said.now)
    row = Resource.objects.select_for_update(no_key=True).get(pk=proposal.resource_id)
    fields = observed(proposal, row)
    check_free(proposal, row, fields, said.now)
    declare(proposal, row, fields, said)
    record(proposal, said, authority)
    return proposals.move(
        proposal,
        "adopt",
        actor=said.actor,
        now=said.now,
        payload=said.payload(authority, adopted=fields),
        **said.decided(),
    )


def observed(proposal: Proposal, row: Resource) -> dict[str, Any]:
    """Return the fields that differ, as observed; what cannot be written is refused."""
    found = {}
    for path, each in differing(proposal):
        if not same(override_values.at(row.spec, path), each.get("desired")):
            raise invalid(f"{path} was declared anew since.")
        found[path] = each["observed"]
    if not found:
        raise invalid("No field of the spec differs here: there is nothing to adopt.")
    return found


def differing(proposal: Proposal) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields of the spec that a proposal found different, with what was found."""
    for each in proposal.evidence:
        path = str(each["subject"]).removeprefix(SUBJECT)
        plain = each["dimension"] == "field" and each.get("note") == PLAIN
        if plain and path.startswith("spec.") and "observed" in each:
            yield path, each


def check_free(proposal: Proposal, row: Resource, fields: dict[str, Any], now: datetime) -> None:
    """Refuse to write over what another person froze or overrides."""
    reach = Reach(row.pk, row.domain, None, tuple(fields))
    hold = holds.covering(reach, now)
    if hold is not None and hold.kind in ("freeze", "override"):
        raise held(precedence.sentence(hold), holds.epoch())


def declare(proposal: Proposal, row: Resource, fields: dict[str, Any], said: GivenAnswer) -> None:
    """Write fields into a resource's spec through the one way that writes specs."""
    spec = deepcopy(row.spec)
    for path, value in fields.items():
        override_values.exchange(spec, path, value)
    metadata = snapshots.ordered_metadata(row.name, row.metadata)
    document = snapshots.assemble(row.kind, metadata, spec, {})
    wish = specs.DesiredDocument(document, row.resource_version, said.reason)
    for problem in specs.apply([wish], actor=said.actor, now=said.now).results[0].problems:
        raise invalid(f"It cannot be adopted: {problem.message}")
