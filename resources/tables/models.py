"""The tables: resources with their history, the ledger, and agents' tokens."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q

from resources.documents import kinds
from resources.documents.kind import Kind
from resources.tables.fields import DocumentField
from resources.tables.visibility import EntryManager, ScopedManager


class ChangeCounter(models.Model):
    """SQLite's half of `resources.tables.versions`: one row, one number."""

    value = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.value)


class Resource(models.Model):
    """One document of the organisation: what is declared and what is observed."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=32, choices=[(kind.name, kind.title) for kind in kinds.ALL])
    name = models.CharField(max_length=253)
    domain = models.CharField(max_length=253, blank=True)
    metadata = DocumentField(default=dict)
    spec = DocumentField(default=dict)
    status = DocumentField(default=dict)
    generation = models.PositiveBigIntegerField(default=1)
    # Not unique, its revision is: for a change of a key PostgreSQL would make referrers wait.
    resource_version = models.BigIntegerField()
    declared_version = models.BigIntegerField()
    observed_version = models.BigIntegerField(null=True)
    # When its conditions last changed: whoever judged it later need not read them again.
    stated_version = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    reported_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    scoped_by = ("domain",)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "name"],
                condition=Q(deleted_at=None),
                name="one_live_name_per_kind",
            ),
        ]
        indexes = [
            # A controller's sweep: the living of one kind, in the order of their keys.
            models.Index(fields=["kind", "id"], condition=Q(deleted_at=None), name="live_by_kind"),
            # Names of one domain: scoped lists and relations.
            models.Index(fields=["domain", "kind"], name="resource_by_domain"),
            # Retention looks for tombstones only.
            models.Index(
                fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="tombstones"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}"


class DirtyMark(models.Model):
    """A resource that changed and that the loop has not looked at yet.

    It becomes visible with the change itself; the loop takes it away at the version it has seen.
    """

    resource = models.OneToOneField(Resource, on_delete=models.CASCADE, primary_key=True)
    version = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.resource_id}@{self.version}"


class Label(models.Model):
    """An index over `metadata.labels`, so that selectors run in SQL on both databases."""

    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="label_index")
    key = models.CharField(max_length=317)
    value = models.CharField(max_length=1024)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["resource", "key"], name="one_label_per_key")
        ]
        # Selectors ask for key and value and want the resource.
        indexes = [models.Index(fields=["key", "value", "resource"], name="label_selector")]

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class Reference(models.Model):
    """An index over the names a resource mentions; owner references carry a delete policy."""

    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="references")
    pointer = models.CharField(max_length=512)
    target_kind = models.CharField(max_length=32)
    target_name = models.CharField(max_length=253)
    severity = models.CharField(max_length=8)
    delete_policy = models.CharField(max_length=8, blank=True)
    objects = ScopedManager()

    class Meta:
        # "Who mentions this name?" asked on every create and delete.
        indexes = [models.Index(fields=["target_kind", "target_name"], name="reference_target")]

    def __str__(self) -> str:
        return f"{self.pointer} → {self.target_kind.lower()}/{self.target_name}"


class Condition(models.Model):
    """One observation about a resource, owned by whoever writes it."""

    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="conditions")
    type = models.CharField(max_length=253)
    status = models.CharField(max_length=7)
    reason = models.CharField(max_length=1024, blank=True)
    message = models.TextField(blank=True)
    managed_by = models.CharField(max_length=300, blank=True)
    last_transition_time = models.DateTimeField()
    extra = DocumentField(default=dict)
    objects = ScopedManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["resource", "type"], name="one_condition_per_type"),
            models.CheckConstraint(
                condition=Q(status__in=["True", "False", "Unknown"]), name="condition_status_word"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type}={self.status}"


class ResourceRevision(models.Model):
    """One change of one resource: what it declared or what was observed, when, by whom.

    It stores only what changed; its two versions name the revisions that hold the rest.
    """

    class Change(models.TextChoices):
        """What happened, in the words of the watch feed."""

        ADDED = "ADDED"
        MODIFIED = "MODIFIED"
        DELETED = "DELETED"

    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="revisions")
    kind = models.CharField(max_length=32)
    resource_version = models.BigIntegerField(unique=True)
    change = models.CharField(max_length=8, choices=Change.choices)
    generation = models.PositiveBigIntegerField()
    declared_version = models.BigIntegerField()
    observed_version = models.BigIntegerField(null=True)
    metadata = DocumentField(null=True)
    spec = DocumentField(null=True)
    status = DocumentField(null=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=300)
    message = models.CharField(max_length=500, blank=True)
    objects = ScopedManager()

    class Meta:
        indexes = [
            # History of one resource, newest first; "as it was at T".
            models.Index(fields=["resource", "-resource_version"], name="revision_history"),
            # The watch feed of one kind.
            models.Index(fields=["kind", "resource_version"], name="revision_feed"),
            # Retention by age.
            models.Index(fields=["at"], name="revision_age"),
        ]

    def __str__(self) -> str:
        return f"{self.change} at {self.resource_version}"


class Compaction(models.Model):
    """How far a history has been dropped; readers from before get 410."""

    name = models.CharField(max_length=32, unique=True)
    floor = models.BigIntegerField(default=0)
    before = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} before {self.floor}"


class LedgerStream(models.Model):
    """The head of one chain: the row that serialises its writers."""

    name = models.CharField(max_length=300, unique=True)
    seq = models.BigIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.name}@{self.seq}"


class LedgerEvent(models.Model):
    """One entry of the append-only ledger; the database refuses to change or delete it."""

    id = models.BigIntegerField(primary_key=True)
    stream = models.CharField(max_length=300)
    seq = models.BigIntegerField()
    previous = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)
    at = models.DateTimeField()
    event = models.CharField(max_length=100)
    category = models.CharField(max_length=8)
    severity = models.CharField(max_length=8)
    actor = models.CharField(max_length=300)
    subject = models.CharField(max_length=300)
    correlation_id = models.CharField(max_length=64)
    causation_id = models.CharField(max_length=64, blank=True)
    payload_digest = models.CharField(max_length=64)
    payload = DocumentField(default=dict)
    objects = EntryManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "seq"], name="no_fork_in_a_chain")
        ]
        indexes = [
            # One story, from trigger to screen.
            models.Index(fields=["correlation_id", "id"], name="ledger_story"),
            # Everything about one subject.
            models.Index(fields=["subject", "id"], name="ledger_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.subject}"


class Checkpoint(models.Model):
    """A signed Merkle root over the ledger entries since the checkpoint before."""

    number = models.BigIntegerField(unique=True)
    after = models.BigIntegerField()
    upto = models.BigIntegerField()
    count = models.BigIntegerField()
    root = models.CharField(max_length=64)
    previous = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField()
    public_key = models.CharField(max_length=64)
    signature = models.CharField(max_length=128)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(upto__gte=F("after")), name="checkpoint_goes_on"),
        ]

    def __str__(self) -> str:
        return f"checkpoint {self.number}"


class AgentToken(models.Model):
    """A bearer token bound to one agent or outside controller; only an HMAC of it is kept."""

    key_id = models.CharField(max_length=8, unique=True)
    secret_hmac = models.CharField(max_length=64)
    agent = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="tokens")
    scopes = DocumentField(default=list)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=300)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    scoped_by = ("agent__domain",)
    objects = ScopedManager()

    def __str__(self) -> str:
        return f"{self.key_id} of {self.agent.name}"


def page_model(kind: Kind) -> type[Resource]:
    """Make the proxy that gives a kind a page of its own in the admin."""
    options = {
        "proxy": True,
        "verbose_name": kind.title.lower(),
        "verbose_name_plural": kind.plural.lower(),
        # One right for all kinds: that of Resource.
        "default_permissions": (),
    }
    body = {"__module__": __name__, "__doc__": f"{kind.title}.", "Meta": type("Meta", (), options)}
    return type(kind.name, (Resource,), body)


PAGE_MODELS = {kind.name: page_model(kind) for kind in kinds.ALL}
