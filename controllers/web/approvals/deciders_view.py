"""Who decided about a proposal, who may, and whose approval would bring it nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from controllers.access import roles
from controllers.models import Decision
from controllers.narrative import proposal_text


@dataclass(frozen=True)
class Voter:
    """Somebody who may decide, or did."""

    person: User
    you: bool
    decision: Decision | None
    word: proposal_text.Word
    # By what right they may, and in which of the groups asked for they are.
    why: str = ""
    groups: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What they go by."""
        return proposal_text.named(self.person)

    @property
    def behalf(self) -> str:
        """For whom they spoke."""
        found = self.decision.behalf if self.decision else None
        return proposal_text.named(found) if found else ""


def voters(
    needs: roles.Quorum, votes: Sequence[Decision], able: Sequence[roles.Decider], viewer: User
) -> Sequence[Voter]:
    """Return who decided or may, the one who looks first among those who may."""
    given, tally = {each.person_id for each in votes}, needs.tally(votes)
    waiting = sorted(
        (each for each in able if each.person.pk not in given),
        key=lambda each: (each.person != viewer, not helps(each, tally)),
    )
    return [
        *(heard(each, viewer, needs) for each in votes if each.person is not None),
        *(waited_for(each, viewer, tally) for each in waiting),
    ]


def heard(decision: Decision, viewer: User, needs: roles.Quorum) -> Voter:
    """Say how somebody decided."""
    person, word = decision.person or User(), proposal_text.Word("Approved", "ok", "check")
    groups = needs.groups_of(decision.behalf_id or person.pk)
    return Voter(person, person == viewer, decision, word, groups=tuple(groups))


def waited_for(decider: roles.Decider, viewer: User, tally: roles.Tally) -> Voter:
    """Say how somebody stands who may decide, and why they may."""
    you = decider.person == viewer
    if not tally.missing:
        word = proposal_text.Word("Not needed")
    elif not helps(decider, tally):
        word = proposal_text.Word("Can reject")
    else:
        word = (
            proposal_text.Word("Waiting for you", "human")
            if you
            else proposal_text.Word("Can decide")
        )
    return Voter(decider.person, you, None, word, decider.why, decider.groups)


def helps(decider: roles.Decider, tally: roles.Tally) -> bool:
    """Tell whether an approval of theirs brings it nearer: a group may be all that lacks."""
    rest = max((each.missing for each in tally.shares), default=0)
    lacking = set(tally.lacking)
    return bool(lacking.intersection(decider.groups)) or tally.needed - tally.given > rest
