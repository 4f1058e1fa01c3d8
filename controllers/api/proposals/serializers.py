"""Proposals, answers and root causes as the API takes and shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, get_args

from django.contrib.auth.models import User

from controllers import operations
from controllers.access import roles
from controllers.api.base.fields import (
    DIGEST,
    LATER,
    ActorText,
    Digest,
    Reason,
    Reference,
    Story,
)
from controllers.api.proposals import answer_fields
from controllers.api.proposals.answer_fields import MOST_FIELDS, PLACE, SPOKEN, TOGETHER, spelled
from controllers.decisions import answers
from controllers.decisions.answers.votes import votes
from controllers.decisions.creation.reproposal import is_late
from controllers.decisions.held_reason import held, written
from controllers.decisions.proposal_groups import ProposalGroup, Result, Word
from controllers.engine.proposal_lifecycle import STATES, WAITING
from controllers.engine.terms import Class, Mode, Risk, Urgency
from controllers.models import Decision, Proposal, Step
from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.serializer_base import ApiSerializer, Body, PageSerializer
from resources.api.serializers import ProblemSerializer
from resources.documents.kind import Document
from resources.documents.problems import Problem

BASIS = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
WHY = "copywriter is beyond its limits: daily tokens 1,420,000 of 1,000,000."
TAG = f"1:{DIGEST}"
SAYINGS = [each.name for each in SPOKEN]
THROTTLE = {"operation": "throttle", "parameters": {"agent": "copywriter", "factor": 0.7}}


class HeldSerializer(ApiSerializer):
    """Why it does not run; in a list, what was found when it was last tried."""

    code = fields.Text("For programs.", example="held")
    reason = fields.Text("For people.", example="controller/agent-performance is paused.")
    hold = fields.Key("The hold that keeps it.", required=False, example=4)


class FeedbackSerializer(ApiSerializer):
    """What people who sent it back want to be different; answer with `revises`."""

    reason = fields.Text(example="A little less.")
    by = fields.Text("Such as `person/maya`.", source="decided_by", example="person/maya")
    at = fields.Time(source="decided_at")
    revision = fields.Key(example=1)
    thread = fields.Key("The proposal that this began with.", example=17)
    fields_ = fields.ListOf(fields.Text(PLACE), most=MOST_FIELDS, required=False)

    def get_thread(self, row: Proposal) -> int:
        """Return the first of the proposals that answer each other."""
        return row.thread_id or row.pk

    def get_fields_(self, row: Proposal) -> Any:
        """Return which places should be different."""
        return row.feedback.get("fields") or None


class ProposalSummarySerializer(ApiSerializer):
    """What a list shows of a proposal."""

    id = fields.Key(source="pk", example=17)
    resource = Reference(example="agent/copywriter")
    domain = fields.Text(source="resource.domain", required=False, example="growth")
    proposer = ActorText(example="controller/agent-performance")
    state = fields.Word(STATES, example="pending")
    lane = fields.Text(
        "What the gate said: run by policy, ask people, recommend.", required=False, example="ask"
    )
    mode = fields.Word(get_args(Mode), required=False, example="warn")
    revision = fields.Key("It moves when the plan does.", example=1)
    action_digest = Digest()
    tag = fields.Text(
        "What you see of it, `<revision>:<action digest>`: send it as `If-Match`.", example=TAG
    )
    operations = fields.ListOf(fields.Text(), example=["throttle"])
    explanation = fields.Text(required=False, example=WHY)
    risk = fields.Word(get_args(Risk), example="low")
    reversible = fields.Flag("Whether it can be taken back.", example=True)
    people = fields.Count("How many people have to approve.", example=1)
    score = fields.Number("How far off the resource is.", required=False, example=0.42)
    urgency = fields.Word(get_args(Urgency), required=False, example="medium")
    cause = fields.Text(
        "Proposals with the same one have one root cause.", required=False, example=BASIS
    )
    held = HeldSerializer(required=False, example=None)
    answer = fields.Text("The answer that decided.", required=False)
    decided_by = ActorText(required=False)
    reason = fields.Text("Why it was decided so.", required=False)
    feedback = FeedbackSerializer(required=False, example=None)
    outcome = fields.Text(
        "What later cycles found: effective, ineffective or worse.", required=False
    )
    error = fields.Text("What went wrong.", required=False)
    undoing = fields.Flag("Whether it is being taken back.", required=False)
    correlation_id = Story(required=False, example="8de258d7-f286-4d86-b385-cadd0a678dfb")
    created_at = fields.Time(required=False, example=AT)
    changed_at = fields.Time(required=False, example=AT)
    confirmed_at = fields.Time(required=False, example=AT)
    expires_at = fields.Time(required=False, example=LATER)
    run_at = fields.Time(required=False)
    execute_before = fields.Time(required=False)
    quiet_until = fields.Time(required=False)
    decided_at = fields.Time(required=False)
    executed_at = fields.Time(required=False)
    undo_until = fields.Time(required=False)
    verify_by = fields.Time(required=False)
    review_by = fields.Time(required=False)

    def get_operations(self, row: Proposal) -> list[str]:
        """Name what it would do."""
        return [each["operation"] for each in row.actions]

    def get_people(self, row: Proposal) -> int:
        """Say how many have to approve it now."""
        found: int = self._context.get("people", {}).get(row.pk, row.people)
        return found

    def get_held(self, row: Proposal) -> Document | None:
        """Say what kept it from running when somebody last tried."""
        return written(row)

    def get_answer(self, row: Proposal) -> str:
        """Spell the answer that decided."""
        return spelled(row.answer)

    def get_feedback(self, row: Proposal) -> Proposal | None:
        """Say what people want to be different, while it waits for an answer."""
        return row if row.state == "changes_requested" else None

    def get_undoing(self, row: Proposal) -> bool | None:
        """Say that it is being taken back."""
        return row.undoing or None

    @classmethod
    def summaries(cls, rows: Sequence[Proposal]) -> list[Document]:
        """Write what a list shows of proposals, with what policies ask of each."""
        needs = roles.quorums_of(rows) if rows else []
        people = {row.pk: asked.people for row, asked in zip(rows, needs, strict=True)}
        return cls.show_all(rows, people=people)

    @classmethod
    def current(cls, row: Proposal) -> Document:
        """Write the same of one proposal, for somebody who saw it otherwise."""
        return cls.show(row, people={row.pk: roles.quorum_of(row).people})


# What a problem about a decision says besides.
ProblemSerializer.also(current=ProposalSummarySerializer(required=False, example=None))


class ProposalListSerializer(PageSerializer):
    """One page of proposals."""

    items = ProposalSummarySerializer(many=True)


class ProposedActionSerializer(ApiSerializer):
    """One step of a plan."""

    sequence = fields.Key(example=2)
    type = fields.Text(required=False, example="reconcile")
    operation = fields.Text("What is done; /operations lists them.", example="throttle")
    kind = fields.Word(get_args(Class), example="change")
    target = Reference(required=False, example="agent/copywriter")
    parameters = fields.Object(example=THROTTLE["parameters"])
    risk = fields.Word(get_args(Risk), example="low")
    reversible = fields.Flag("Whether it can be taken back.", example=True)
    why = fields.Text(required=False, example=WHY)
    otherwise = fields.Text(
        "What happens if nothing is done.",
        required=False,
        example="copywriter goes on at full speed, beyond its limits.",
    )
    touches = fields.ListOf(fields.Text(), required=False, example=["spec.tokenBudget.maxDaily"])


class DecidedSerializer(ApiSerializer):
    """One person's, or the policy's, answer to one revision."""

    by = ActorText(source="actor")
    answer = fields.Text(example="approve")
    revision = fields.Key(example=1)
    counts = fields.Flag("Whether it counts towards the people needed.", example=True)
    reason = fields.Text(required=False)
    behalf = ActorText(required=False)
    shown = Digest()
    at = fields.Time()

    def get_answer(self, row: Decision) -> str:
        """Spell the answer."""
        return spelled(row.answer)

    def get_behalf(self, row: Decision) -> str:
        """Name for whom it was given."""
        return f"person/{row.behalf.get_username()}" if row.behalf else ""


class ProposalStepSerializer(ApiSerializer):
    """One action that was or is being carried out."""

    sequence = fields.Key(example=1)
    operation = fields.Text(example="throttle")
    undoes = fields.Flag("Whether it takes another step back.", example=False)
    executor = fields.Word(
        ["control-plane", "agent", "controller", "webhook"], example="control-plane"
    )
    state = fields.Word(Step.State.values, example="done")
    attempts = fields.Count(example=1)
    agent = fields.Text(required=False)
    claimed_by = fields.Text(required=False)
    error = fields.Text(required=False)
    percent = fields.Count(required=False, schema={"maximum": 100})
    note = fields.Text("What whoever does it says; a claim, not a fact.", required=False)
    started_at = fields.Time(required=False)
    ended_at = fields.Time(required=False)
    deadline = fields.Time(required=False)


class EntitledSerializer(ApiSerializer):
    """Somebody who may decide it, and why."""

    person = fields.Text(example="maya")
    behalf = fields.Text("For whom they decide, as a deputy.", required=False)
    groups = fields.ListOf(fields.Text(), "Which of the groups.", required=False)
    why = fields.Text("The same in words.", example="approver")

    def get_person(self, decider: roles.Decider) -> str:
        """Name the person."""
        return decider.person.get_username()

    def get_behalf(self, decider: roles.Decider) -> str:
        """Name whose deputy it is."""
        return decider.behalf.get_username() if decider.behalf else ""

    def get_groups(self, decider: roles.Decider) -> list[str] | None:
        """Name the groups by which they may."""
        return list(decider.groups) or None


class QuorumPolicySerializer(ApiSerializer):
    """A policy that asks for it."""

    governance = fields.Text(example="growth")
    name = fields.Text(example="campaigns")
    people = fields.Count(example=1)
    group = fields.Text(
        "The group that so many of them have to be in.", required=False, example="board"
    )


class QuorumGroupSerializer(ApiSerializer):
    """How many of a group have to approve."""

    group = fields.Text(example="board")
    people = fields.Count(source="needed", example=1)
    given = fields.Count(example=0)
    exists = fields.Flag("Without it nobody can approve.", source="known", example=True)


class QuorumSerializer(ApiSerializer):
    """What it needs to be approved, while it waits."""

    people = fields.Count("How many people have to approve.", source="needed", example=1)
    given = fields.Count("How many approvals count now.", example=0)
    missing = fields.Count("How many more it needs at least.", example=1)
    policies = QuorumPolicySerializer(many=True)
    groups = QuorumGroupSerializer(many=True, source="shares")
    reason = fields.Text(
        "What is missing, in words.",
        source="sentence",
        required=False,
        example="It needs 1 of board more.",
    )

    def get_policies(self, _: roles.Tally) -> Any:
        """Return the policies that ask for it."""
        return self._context["needs"].policies


class YouSerializer(ApiSerializer):
    """Whether you may approve it, while it waits; a token may not."""

    may_decide = fields.Flag("Whether you may.", example=True)
    code = fields.Text("The rule by which you may not.", required=False)
    reason = fields.Text("The same in words.", required=False)
    behalf = fields.Text("For whom you would decide, as a deputy.", required=False)


class ProposalSerializer(ProposalSummarySerializer):
    """A plan for one resource; its ETag is its `tag`."""

    actions = ProposedActionSerializer(many=True)
    basis = fields.Object(
        "What it rests on.",
        example={"controller": 3, "generation": 5, "related": "", "policy": {}, "reads": {}},
    )
    basis_digest = Digest(example=BASIS)
    check = fields.Text(
        "Only to whoever just answered one: that it was a check, and if you saw it.",
        required=False,
    )
    policy = fields.Object(required=False, example={})
    evidence = fields.ListOf(
        fields.Object(),
        required=False,
        example=[{"dimension": "budget", "subject": "budget/daily tokens", "verdict": "missed"}],
    )
    decisions = DecidedSerializer(many=True, example=[])
    steps = ProposalStepSerializer(many=True, example=[])
    deciders = fields.ListOf(
        fields.Text(),
        "Who may decide it, while it waits for somebody.",
        example=["maya", "tomas"],
    )
    entitled = EntitledSerializer(
        many=True,
        example=[
            {"person": "maya", "why": "approver, in board", "groups": ["board"]},
            {"person": "tomas", "why": "approver"},
        ],
    )
    quorum = QuorumSerializer(required=False)
    allowed = fields.ListOf(
        fields.Word(SAYINGS),
        "What may be said now.",
        example=["approve", "reject", "change", "override", "snooze"],
    )
    superseded_by = fields.Key(source="superseded_by_id", required=False)
    thread = fields.Key(source="thread_id", required=False)
    you = YouSerializer(required=False)
    changes = fields.ListOf(fields.Object(), "What changed since you looked.", required=False)

    @classmethod
    def record(cls, row: Proposal, reader: User | None, now: datetime) -> Document:
        """Write everything about a proposal, and what its reader may say about it."""
        # Who may decide is of interest while there is something to decide.
        asked = row.review_by or (row.state in WAITING and not is_late(row, now))
        needs = roles.quorum_of(row)
        able = roles.entitled(row, now, needs) if asked else []
        people = {row.pk: needs.people}
        you = reader if asked else None
        return cls.show(row, people=people, needs=needs, able=able, reader=you, now=now)

    def get_check(self, _: Proposal) -> None:
        """Say nothing: the view adds it for whoever answered."""

    def get_changes(self, _: Proposal) -> None:
        """Say nothing: the view adds it for whoever names a revision."""

    def get_held(self, row: Proposal) -> Document | None:
        """Say what keeps it from running now."""
        return held(row, self._context["now"])

    def get_decisions(self, row: Proposal) -> Iterable[Decision]:
        """Return the answers so far."""
        return row.decisions.select_related("behalf").order_by("at", "pk")

    def get_steps(self, row: Proposal) -> Iterable[Step]:
        """Return what was carried out."""
        return row.steps.order_by("undoes", "sequence")

    def get_deciders(self, _: Proposal) -> list[str]:
        """Name who may decide."""
        return [each.person.get_username() for each in self._context["able"]]

    def get_entitled(self, _: Proposal) -> list[roles.Decider]:
        """Return who may decide."""
        able: list[roles.Decider] = self._context["able"]
        return able

    def get_quorum(self, row: Proposal) -> roles.Tally | None:
        """Count what it needs, while it waits."""
        if row.state not in WAITING:
            return None
        given, needs = votes(row), self._context["needs"]
        tally: roles.Tally = needs.tally(
            roles.still_valid(given, row, self._context["now"]) if given else []
        )
        return tally

    def get_allowed(self, row: Proposal) -> list[str]:
        """Say what people may say about it."""
        return answers.allowed(row, self._context["now"])

    def get_you(self, row: Proposal) -> Document | None:
        """Say whether its reader may decide, and if not, by which rule."""
        reader, now = self._context["reader"], self._context["now"]
        if reader is None:
            return None
        try:
            authority = roles.authority(reader, row, now, self._context["needs"])
        except Problem as problem:
            return {"mayDecide": False, "code": problem.rule, "reason": problem.message}
        behalf = {"behalf": authority.behalf.get_username()} if authority.behalf else {}
        return {"mayDecide": True, **behalf}


class FiledActionSerializer(ApiSerializer):
    """An operation that somebody proposes."""

    operation = fields.Text(
        schema={"enum": [each.name for each in operations.ALL if not each.tells]},
        example="throttle",
    )
    parameters = fields.Object(required=False, example=THROTTLE["parameters"])

    def to_internal_value(self, data: Any) -> Body:
        """Read an action; it is kept as it was sent."""
        known = isinstance(data, dict) and not set(data) - set(self.attributes)
        if not known or not isinstance(data.get("operation"), str):
            detail = "An action has an operation and its parameters."
            raise bad_value(detail, allowed=list(self.attributes))
        super().to_internal_value(data)
        found: Body = data
        return found


class RevisingSerializer(ApiSerializer):
    """Another plan in the place of the one that people sent back."""

    why = fields.Text(
        "What you want, in your words; it is shown as your claim.",
        schema={"maxLength": 2000},
        example="A little less, as you asked.",
    )
    actions = FiledActionSerializer(
        many=True,
        min_length=1,
        schema={"maxItems": 20},
        detail="actions is a list of operations with parameters.",
    )


class FilingSerializer(RevisingSerializer):
    """A new proposal names its resource; the answer to a request for changes what it revises."""

    resource = Reference(required=False, example="agent/copywriter")
    revises = fields.Key(
        "The proposal that people sent back.",
        required=False,
        detail="revises is the number of a proposal.",
    )


class AnswerSerializer(ApiSerializer):
    """Every answer but a routine approve needs a reason."""

    reason = Reason(required=False, example="Agreed with the team.")


AnswerSerializer.also(**answer_fields.described(SPOKEN))


class ManyItemSerializer(ApiSerializer):
    """One of many proposals, and what was seen of it."""

    id = fields.Key(example=17)
    tag = fields.Text("`<revision>:<action digest>`", example=TAG)


class ManySerializer(ApiSerializer):
    """One answer to many proposals; each is decided by itself."""

    answer = fields.Word([each.name for each in TOGETHER], example="approve")
    reason = Reason(required=False)
    items = ManyItemSerializer(many=True, max_length=200)


ManySerializer.also(**answer_fields.described(TOGETHER))


class ManyResultSerializer(ApiSerializer):
    """What became of one of many answers."""

    id = fields.Key(source="key", example=17)
    result = fields.Word(get_args(Word), source="word", example="done")
    detail = fields.Text(source="message", required=False)
    state = fields.Text(required=False, example="approved")
    tag = fields.Text("What to look at now.", required=False, example=TAG)

    def get_state(self, row: Result) -> str:
        """Say how it stands now."""
        return row.proposal.state if row.proposal else ""

    def get_tag(self, row: Result) -> str:
        """Say what to look at now."""
        return row.proposal.tag if row.proposal else ""


class ManyResultsSerializer(ApiSerializer):
    """What became of each of many answers."""

    done = fields.Count("How many were done.", example=1)
    items = ManyResultSerializer(
        many=True,
        example=[
            ManyResultSerializer.example(),
            {
                "id": 18,
                "result": "decided",
                "detail": "It is rejected, decided by person/tomas: No.",
            },
        ],
    )

    def get_done(self, results: list[Result]) -> int:
        """Count what was done."""
        return sum(each.done for each in results)

    def get_items(self, results: list[Result]) -> list[Result]:
        """Return each."""
        return results


class CauseSerializer(ApiSerializer):
    """Proposals that wait and have one root cause."""

    cause = fields.Text(example=BASIS)
    count = fields.Count(example=12)
    together = fields.Count("How many can be decided at once.", example=11)
    worst = fields.Number(required=False, example=0.61)
    oldest = fields.Time()
    expires_at = fields.Time(source="ends", example=LATER)
    sample = ProposalSummarySerializer()

    def get_sample(self, group: ProposalGroup) -> Document:
        """Return the proposal that stands for all."""
        found: Document = self._context["samples"][group.sample.pk]
        return found


class CauseListSerializer(ApiSerializer):
    """The root causes of what waits."""

    items = CauseSerializer(many=True)

    @classmethod
    def causes(cls, groups: Sequence[ProposalGroup]) -> Document:
        """Write root causes with what waits because of each."""
        shown = ProposalSummarySerializer.summaries([each.sample for each in groups])
        samples = {each["id"]: each for each in shown}
        return {"items": CauseSerializer.show_all(groups, samples=samples)}
