"""Track records, the quality of decisions, replays and drills as the API takes and shows them."""

from __future__ import annotations

from typing import Any

from controllers.api.base.fields import STORY
from controllers.models import Drill
from controllers.trust.decision_quality import FEWEST, Together
from controllers.trust.decision_quality import Quality as Figures
from controllers.trust.policy_replay import SHOWN, Replay
from controllers.trust.promotions import Standing
from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import ApiSerializer, Body

CONTROLLER = "controller/domain-health"


class OutcomesSerializer(ApiSerializer):
    """What later looks found of what was carried out."""

    effective = fields.Count(example=6)
    ineffective = fields.Count(example=1)
    worse = fields.Count(example=0)


class TrackRecordSerializer(ApiSerializer):
    """What became of somebody's proposals."""

    proposer = fields.Text(
        "Such as `controller/domain-health` or `agent/scribe`.", example=CONTROLLER
    )
    since = fields.Time(example="2025-11-27T10:00:00Z")
    proposals = fields.Count(example=12)
    states = fields.MapOf(
        fields.Count(),
        example={"pending": 2, "succeeded": 6, "failed": 1, "rejected": 1, "overridden": 2},
    )
    decided = fields.Count("Somebody, or the policy, has answered.", example=10)
    approved = fields.Count(example=7)
    by_policy = fields.Count("Of the approved, those nobody was asked about.", example=3)
    rejected = fields.Count(example=1)
    overridden = fields.Count("People did something else instead.", example=2)
    changed = fields.Count("People edited the plan.", example=1)
    override_rate = fields.Number(
        "Overridden of those decided; absent while none is.", required=False, example=0.2
    )
    outcomes = OutcomesSerializer()

    def get_states(self, row: Any) -> dict[str, int]:
        """Count the states."""
        return dict(row.states)

    def get_outcomes(self, row: Any) -> Any:
        """Return the same row: the counts of outcomes are its own."""
        return row


def seconds(help_text: str, example: float) -> fields.Number:
    """Return a time in seconds."""
    return fields.Number(help_text, least=0, required=False, example=example)


class QualitySerializer(ApiSerializer):
    """How long people take to decide, and how it turns out."""

    since = fields.Time(example="2025-11-27T10:00:00Z")
    answers = fields.Count(example=40)
    approved = fields.Count(example=34)
    rejected = fields.Count(example=4)
    overridden = fields.Count("Something else was done instead.", example=2)
    reverted = fields.Count("Approved, and taken back afterwards.", example=1)
    worse = fields.Count("Approved, and the drift got worse.", example=0)
    checks = fields.Count(
        "Check proposals that were answered; absent of none.", required=False, example=6
    )
    caught = fields.Count("Checks that were not let through.", required=False, example=5)
    catch_rate = fields.Share(
        "Caught of the checks; absent while there is none.", required=False, example=0.83
    )
    override_rate = fields.Share(
        "Overridden of all; absent while there is none.", required=False, example=0.05
    )
    revert_rate = fields.Share("Taken back of the approved.", required=False, example=0.03)
    typical_seconds = seconds("The middle time to decide.", 240.0)
    slow_seconds = seconds("Nine of ten are faster.", 5400.0)
    cut = fields.Flag("Whether there were more than were counted.", example=False)

    def get_checks(self, row: Figures) -> int | None:
        """Count checks, if there were any."""
        return row.checks or None

    def get_caught(self, row: Figures) -> int | None:
        """Count those that were caught, if there were any."""
        return row.caught if row.checks else None

    def get_typical_seconds(self, row: Figures) -> float | None:
        """Return the middle time."""
        return row.typical.total_seconds() if row.typical is not None else None

    def get_slow_seconds(self, row: Figures) -> float | None:
        """Return the time of the slow."""
        return row.slow.total_seconds() if row.slow is not None else None


class TogetherQualitySerializer(ApiSerializer):
    """How people decide together; of fewer than `fewest` nothing is shown."""

    people = fields.Count(example=5)
    fewest = fields.Count(example=3)
    quality = QualitySerializer(required=False)

    def get_fewest(self, _: Together) -> int:
        """Say from how many on something is shown."""
        return FEWEST


class AutonomySerializer(ApiSerializer):
    """One operation in one domain."""

    operation = fields.Text("Such as `throttle`.", example="throttle")
    domain = fields.Text(example="growth")
    approvals = fields.Count("Approved in a row since the last setback.", example=25)
    bar = fields.Count("How many that takes.", example=25)
    setbacks = fields.Count(example=1)
    granted = fields.Flag("Whether it runs without asking.", example=True)
    granted_at = fields.Time(required=False, example=AT)
    proposal = fields.Count("The promotion that two people decide.", required=False)

    def get_granted(self, row: Standing) -> bool:
        """Say whether it runs without asking."""
        return row.held is not None

    def get_granted_at(self, row: Standing) -> Any:
        """Say since when."""
        return row.held.granted_at if row.held else None

    def get_proposal(self, row: Standing) -> int | None:
        """Return the promotion, if one waits."""
        return row.proposal or None


class AutonomyListSerializer(ApiSerializer):
    """What a controller has earned."""

    items = AutonomySerializer(many=True)


class ReplayWishSerializer(ApiSerializer):
    """What to try; at least one of them."""

    threshold = fields.Number(
        schema={"minimum": 0, "maximum": 1},
        null=True,
        detail="threshold is a number from 0 to 1.",
        required=False,
        example=0.3,
    )
    weights = fields.MapOf(
        fields.Number(least=0),
        null=True,
        absent=None,
        detail='weights is an object of numbers, such as {"kpi": 2}.',
        required=False,
        example={"kpi": 2},
    )
    spec = fields.Object(
        "A merge patch of the controller's spec.",
        null=True,
        detail="spec is an object: what would be declared.",
        required=False,
    )

    def to_internal_value(self, data: Any) -> Body:
        """Read what is to be tried; what is not said is not tried."""
        found = super().to_internal_value(data)
        wished = {name: found[name] if name in data else None for name in found}
        spec = wished["spec"]
        if spec is not None and not isinstance(spec.get("drift", {}), dict):
            raise bad_value("drift is an object.", "/spec/drift")
        return wished


class ReplayPointSerializer(ApiSerializer):
    """A drift that would have led to a proposal."""

    resource = fields.Text(example="agent/scribe")
    at = fields.Time()
    score = fields.Number(example=0.4)


class ReplayedProposalSerializer(ApiSerializer):
    """A proposal that would have gone another way."""

    proposal = fields.Count(example=41)
    resource = fields.Text(example="agent/scribe")
    at = fields.Time()
    answer = fields.Text(required=False, example="approve")
    decided_by = fields.Text(required=False, example="person/maya")
    contradicts = fields.Text(
        "Why this contradicts what a person said.",
        required=False,
        example="A person approved it; it would not have been proposed.",
    )


class ReplaySerializer(ApiSerializer):
    """What another rule would have made of the past; of long lists the latest."""

    controller = fields.Text(example=CONTROLLER)
    counts = fields.MapOf(
        fields.Count(),
        example={
            "points": 310,
            "proposals": 12,
            "resources": 6,
            "appears": 0,
            "vanishes": 1,
            "unasked": 0,
            "asked": 0,
            "contradictions": 1,
        },
    )
    since = fields.Time(
        "How far back what is kept reaches.", required=False, example="2026-01-25T10:00:00Z"
    )
    appears = ReplayPointSerializer(
        many=True,
        help_text="Drifts that would have led to a proposal, and did not.",
        example=[],
    )
    vanishes = ReplayedProposalSerializer(many=True, help_text="Would not have been made.")
    unasked = ReplayedProposalSerializer(
        many=True, help_text="Would have run without asking.", example=[]
    )
    asked = ReplayedProposalSerializer(
        many=True, help_text="Ran, and people would be asked.", example=[]
    )
    contradictions = ReplayedProposalSerializer(many=True)
    limits = fields.ListOf(fields.Text(), "What could not be replayed.", example=[])

    def get_counts(self, found: Replay) -> dict[str, int]:
        """Count everything, also what the lists leave out."""
        lists = ("appears", "vanishes", "unasked", "asked", "contradictions")
        return {
            "points": found.points,
            "proposals": found.proposals,
            "resources": found.resources,
            **{name: len(getattr(found, name)) for name in lists},
        }

    def get_appears(self, found: Replay) -> Any:
        """Return the first."""
        return found.appears[:SHOWN]

    def get_vanishes(self, found: Replay) -> Any:
        """Return the first."""
        return found.vanishes[:SHOWN]

    def get_unasked(self, found: Replay) -> Any:
        """Return the first."""
        return found.unasked[:SHOWN]

    def get_asked(self, found: Replay) -> Any:
        """Return the first."""
        return found.asked[:SHOWN]

    def get_contradictions(self, found: Replay) -> Any:
        """Return the first."""
        return found.contradictions[:SHOWN]


class DrillEvidenceSerializer(ApiSerializer):
    """What one step of a drill found."""

    step = fields.Text(example="control")
    found = fields.Text(example="proposal/41 was carried out.")


class DrillSerializer(ApiSerializer):
    """One try whether a pause stops an effect."""

    id = fields.Key(source="pk", example=7)
    governance = fields.Text(
        "Such as `governance/platform-governance`.", example="governance/platform-governance"
    )
    state = fields.Word(Drill.State.values, example="asked")
    author = fields.Text("Who asked for it; `system/ioa` is the clock.", example="person/ines")
    asked_at = fields.Time()
    begun_at = fields.Time(required=False)
    ended_at = fields.Time(required=False)
    evidence = DrillEvidenceSerializer(
        many=True,
        help_text="What each step found, in the order of the steps.",
        example=[],
    )
    problem = fields.Text("Why nothing is proven.", required=False)
    correlation_id = fields.TextOf(
        "The ledger's entries carry it: `/events?correlationId=`.",
        source="uid",
        required=False,
        example=STORY,
    )

    def get_governance(self, _: Drill) -> str:
        """Name whose drill it is."""
        return str(self._context["governance"])


PASSED = {
    "state": "passed",
    "begunAt": AT,
    "endedAt": AT,
    "evidence": [
        {"step": "control", "found": "proposal/41 was carried out."},
        {"step": "pause", "found": "hold/9 stands, epoch 31."},
        {"step": "attempt", "found": "proposal/42 was refused: controller/x is paused."},
        {"step": "lift", "found": "hold/9 is lifted, none is left."},
        {"step": "afterwards", "found": "proposal/42 was carried out."},
    ],
}


class DrillListSerializer(ApiSerializer):
    """The drills of one Governance."""

    items = DrillSerializer(
        many=True, help_text="Newest first.", example=[DrillSerializer.example(**PASSED)]
    )
    last_override_test = fields.Time("When a drill last passed.", required=False, example=AT)
    every = fields.Text(
        "How often drills are declared, such as `30d`.", required=False, example="30d"
    )
    next_at = fields.Time(
        "When the next one is due.", required=False, example="2026-03-27T10:00:00Z"
    )
