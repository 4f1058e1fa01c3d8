"""What is proposed, what people answered, and what was carried out."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from controllers.engine.proposal_lifecycle import OPEN, STATES, WAITING
from resources.tables.fields import DocumentField
from resources.tables.models import Resource
from resources.tables.visibility import ScopedManager

RISKS = [(each, each) for each in ("low", "medium", "high")]


class Proposal(models.Model):
    """A hashed plan for one resource, waiting for a decision or carrying one."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    # Nobody when an agent or a person proposes.
    controller = models.ForeignKey(
        Resource, on_delete=models.CASCADE, null=True, related_name="proposals", db_index=False
    )
    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="proposed")
    # `controller/x`, `agent/y` or `person/z`.
    proposer = models.CharField(max_length=300)
    # The people who may not approve it: its author, its editors, those behind its agent.
    interested = DocumentField(default=list)
    state = models.CharField(max_length=17, choices=[(each, each) for each in STATES])
    # Counts every change; the first statement of every transaction moves it.
    lock = models.PositiveBigIntegerField(default=0, db_default=0)
    # What people see and decide about; it moves with the plan and with what the plan rests on.
    revision = models.PositiveIntegerField(default=1, db_default=1)
    actions = DocumentField(default=list)
    action_digest = models.CharField(max_length=64)
    # What its proposer planned; it is no longer the same once people have changed it.
    planned_digest = models.CharField(max_length=64, blank=True)
    basis = DocumentField(default=dict)
    basis_digest = models.CharField(max_length=64)
    explanation = models.TextField(blank=True)
    evidence = DocumentField(default=list)
    score = models.FloatField(null=True)
    urgency = models.CharField(max_length=8, default="low")
    # Proposals with one cause are decided together.
    cause = models.CharField(max_length=64, blank=True)
    # The policy in force when it was made or revised, as the gate applied it.
    mode = models.CharField(max_length=8, blank=True)
    lane = models.CharField(max_length=9)
    risk = models.CharField(max_length=6, choices=RISKS)
    reversible = models.BooleanField()
    people = models.PositiveSmallIntegerField(default=1)
    policy = DocumentField(default=dict)
    # Why it does not run although it could: the gate's code and sentence.
    held = models.CharField(max_length=32, blank=True)
    held_reason = models.TextField(blank=True)
    # The clocks.
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    confirmed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    execute_before = models.DateTimeField(null=True)
    escalated_at = models.DateTimeField(null=True)
    escalation = models.PositiveSmallIntegerField(default=0)
    # Out of sight until then, or until it is worse than this; after an answer that closed it,
    # the same plan is not proposed again before.
    quiet_until = models.DateTimeField(null=True)
    quiet_above = models.FloatField(null=True)
    # Whether it was put off because people are asked enough already; it waits its turn.
    delayed = models.BooleanField(default=False, db_default=False)
    # The answer that decided.
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=300, blank=True)
    answer = models.CharField(max_length=16, blank=True)
    reason = models.TextField(blank=True)
    # What people who sent it back want to be different, and what that was answered by.
    feedback = DocumentField(default=dict)
    # A second person looks at what was approved by breaking the glass, before this time.
    review_by = models.DateTimeField(null=True)
    # What came before it and after it.
    thread = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="later")
    superseded_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="superseded"
    )
    # Execution.
    undoing = models.BooleanField(default=False, db_default=False)
    fence = models.PositiveBigIntegerField(default=0, db_default=0)
    holder = models.CharField(max_length=100, blank=True)
    claimed_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    run_at = models.DateTimeField(null=True)
    executed_at = models.DateTimeField(null=True)
    undo_until = models.DateTimeField(null=True)
    # Verification: what later cycles found.
    verify_by = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=11, blank=True)
    error = models.TextField(blank=True)
    correlation_id = models.CharField(max_length=64)
    # What a caller named its request by, so that a repeated one proposes nothing new.
    request_key = models.CharField(max_length=300, blank=True)

    scoped_by = ("resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposer", "resource", "action_digest"],
                condition=Q(state__in=OPEN),
                name="one_open_proposal_per_plan",
            ),
            models.UniqueConstraint(
                fields=["resource"],
                condition=Q(state="executing"),
                name="one_execution_per_resource",
            ),
            models.UniqueConstraint(
                fields=["proposer", "request_key"],
                condition=~Q(request_key=""),
                name="one_proposal_per_request",
            ),
            models.CheckConstraint(condition=Q(state__in=STATES), name="proposal_state_word"),
        ]
        indexes = [
            # The queue of a person; what the clock ends.
            models.Index(fields=["state", "expires_at"], name="proposals_waiting"),
            # The same in its order, so that the first page costs the same however many wait.
            models.Index(
                fields=["expires_at", "id"],
                condition=Q(state__in=WAITING),
                name="proposals_in_line",
            ),
            # What is to be carried out.
            models.Index(fields=["state", "run_at"], name="proposals_due"),
            # A controller's own, while it goes through its resources.
            models.Index(fields=["controller", "resource", "state"], name="proposals_of_pair"),
            # What was decided or done lately.
            models.Index(fields=["-changed_at"], name="proposals_lately"),
            # One cause, many resources.
            models.Index(fields=["cause", "state"], name="proposals_by_cause"),
        ]

    def __str__(self) -> str:
        return f"proposal/{self.pk}"

    @property
    def stream(self) -> str:
        """The chain of the ledger that tells its story."""
        return f"proposal/{self.uid}"

    @property
    def tag(self) -> str:
        """What a person has seen of it, as the API's ETag names it."""
        return f"{self.revision}:{self.action_digest}"


class Decision(models.Model):
    """One person's, or the policy's, answer to one revision of a proposal."""

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="decisions")
    revision = models.PositiveIntegerField()
    # Nobody when the policy let it run.
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="decisions"
    )
    # On whose authority, when a deputy answered.
    behalf = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    actor = models.CharField(max_length=300)
    answer = models.CharField(max_length=16)
    # Whether it counts towards the people needed: an editor's approval does not.
    counts = models.BooleanField(default=True)
    reason = models.TextField(blank=True)
    shown = models.CharField(max_length=64)
    at = models.DateTimeField()

    scoped_by = ("proposal__resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "revision", "person"], name="one_decision_per_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.answer} on {self.proposal_id}"


class Step(models.Model):
    """One action of a proposal being carried out: its key, its attempts, and how to undo it."""

    class State(models.TextChoices):
        """Where it stands; work of agents waits to be claimed."""

        WAITING = "waiting"
        CLAIMED = "claimed"
        DISPATCHED = "dispatched"
        DONE = "done"
        FAILED = "failed"
        UNKNOWN = "unknown"
        SKIPPED = "skipped"
        UNDONE = "undone"

    proposal = models.ForeignKey(Proposal, on_delete=models.CASCADE, related_name="steps")
    sequence = models.PositiveSmallIntegerField()
    undoes = models.BooleanField(default=False)
    operation = models.CharField(max_length=100)
    parameters = DocumentField(default=dict)
    executor = models.CharField(max_length=13)
    idempotent = models.BooleanField()
    state = models.CharField(max_length=10, choices=State.choices)
    # The same for every attempt: whoever receives it twice does it once.
    key = models.CharField(max_length=64, unique=True)
    fence = models.PositiveBigIntegerField(default=0)
    epoch = models.PositiveBigIntegerField(default=0)
    # By whose authority, as it was checked when the step began.
    authority = DocumentField(default=list)
    attempts = models.PositiveSmallIntegerField(default=0)
    # The agent that is to do it, and the one that took it.
    agent = models.CharField(max_length=253, blank=True)
    claimed_by = models.CharField(max_length=300, blank=True)
    # No call begins after this; a claim that is not prolonged ends here.
    deadline = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    result = DocumentField(default=dict)
    # What was there before: the rollback point.
    before = DocumentField(default=list)
    error = models.TextField(blank=True)
    # How far whoever does it says to be, in its own words; and when the ledger last heard of it.
    percent = models.PositiveSmallIntegerField(null=True)
    note = models.CharField(max_length=300, blank=True)
    noted_at = models.DateTimeField(null=True)
    # What a claim and a result were named by: repeated, they do nothing new.
    requests = DocumentField(default=dict)

    scoped_by = ("proposal__resource__domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["proposal", "sequence", "undoes"], name="one_step_per_action"
            )
        ]
        indexes = [
            # What is on the wire, and what agents may claim.
            models.Index(fields=["state", "deadline"], name="steps_under_way"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} ({self.proposal_id}.{self.sequence})"
