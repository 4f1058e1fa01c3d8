"""Prove the ledger: signed checkpoints go outside, and `verify` finds whatever was touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import IntegrityError, transaction

from resources.documents.canonical import canonical, digest
from resources.tables import versions
from resources.tables.ledger import as_cloudevent, hash_of, instant
from resources.tables.models import Checkpoint, LedgerEvent, LedgerStream

MOST_FINDINGS = 100
CHUNK = 2_000
TAIL_BYTES = 4_096
# What reading a value raises that no writer of ours could have stored.
UNREADABLE = (ValueError, TypeError, AttributeError)


@dataclass
class Verdict:
    """What a verification has seen; `findings` is empty when the ledger is whole."""

    events: int = 0
    streams: int = 0
    checkpoints: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was touched."""
        return not self.findings

    def find(self, sentence: str) -> None:
        """Note something that is not as it was written."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(sentence)


def checkpoint(now: datetime) -> Checkpoint | None:
    """Sign the entries since the checkpoint before; nothing when there are none."""
    before = Checkpoint.objects.order_by("-number").first()
    after = before.upto if before else 0
    upto = versions.horizon()
    hashes = list(hashes_between(after, upto))
    if not hashes:
        return None
    made = Checkpoint(
        number=before.number + 1 if before else 1,
        after=after,
        upto=upto,
        count=len(hashes),
        root=merkle_root(hashes),
        previous=digest(statement(before)) if before else "",
        at=now,
        public_key=signing_key().public_key().public_bytes_raw().hex(),
    )
    made.signature = signing_key().sign(canonical(statement(made))).hex()
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError:
        # Another process made this one; the number decides.
        return None
    write_outside(made.number)
    return made


def hashes_between(after: int, upto: int) -> Iterator[str]:
    """Yield the hashes of the entries in an interval, in the global order."""
    found = LedgerEvent.objects.filter(id__gt=after, id__lte=upto).order_by("id")
    return found.values_list("hash", flat=True).iterator(chunk_size=CHUNK)


def merkle_root(hashes: Iterable[str]) -> str:
    """Return the root of a Merkle tree (RFC 6962 prefixes keep leaves and nodes apart)."""
    level = [hashlib.sha256(b"\x00" + bytes.fromhex(each)).digest() for each in hashes]
    while len(level) > 1:
        pairs = [
            hashlib.sha256(b"\x01" + left + right).digest()
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0].hex() if level else hashlib.sha256().hexdigest()


def signing_key() -> Ed25519PrivateKey:
    """Derive the checkpoint key from the installation's secret."""
    secret = settings.SECRET_KEY.encode()
    seed = HKDF(SHA256(), 32, salt=None, info=b"ioa ledger checkpoints").derive(secret)
    return Ed25519PrivateKey.from_private_bytes(seed)


def statement(made: Checkpoint) -> dict[str, Any]:
    """Return what a checkpoint claims and signs."""
    return {
        "number": made.number,
        "after": made.after,
        "upto": made.upto,
        "count": made.count,
        "root": made.root,
        "previous": made.previous,
        "at": instant(made.at),
        "publicKey": made.public_key,
    }


def outside() -> Path:
    """Name the file that keeps a copy of every checkpoint outside the database."""
    return Path(settings.DATA_DIR) / "checkpoints.jsonl"


def write_outside(upto: int) -> None:
    """Add checkpoints to the outside copy, also those a crash or another host left out."""
    outside().parent.mkdir(parents=True, exist_ok=True)
    missing = Checkpoint.objects.filter(number__gt=last_outside(), number__lte=upto)
    lines = [
        canonical(statement(each) | {"signature": each.signature}).decode()
        for each in missing.order_by("number")
    ]
    with outside().open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def last_outside() -> int:
    """Return the number of the newest checkpoint in the outside copy."""
    if not outside().exists():
        return 0
    with outside().open("rb") as file:
        file.seek(max(0, outside().stat().st_size - TAIL_BYTES))
        lines = file.read().splitlines()
    try:
        return int(json.loads(lines[-1])["number"]) if lines else 0
    except (ValueError, TypeError, KeyError):
        return 0


def verify() -> Verdict:
    """Prove chain, gaps, heads, payloads and checkpoints; reads everything, changes nothing."""
    verdict = Verdict()
    # Read first: whatever was sent out by now must be in the snapshot taken next.
    copies = outside().read_text("utf-8", "replace").splitlines() if outside().exists() else []
    with one_moment():
        for part in (verify_chains, verify_checkpoints, partial(verify_outside, copies)):
            try:
                part(verdict)
            except UNREADABLE as error:
                verdict.find(f"The ledger holds something nobody can have written: {error}.")
    return verdict


@contextmanager
def one_moment() -> Iterator[None]:
    """Read a single snapshot, or a write between two queries would look like tampering."""
    connection = transaction.get_connection()
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
    else:
        # Not atomic(): that would take SQLite's write lock and make everybody wait.
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("COMMIT")


def verify_chains(verdict: Verdict) -> None:
    """Walk every stream from its first entry to its head."""
    heads = {head.name: head for head in LedgerStream.objects.all()}
    verdict.streams = len(heads)
    reached: dict[str, tuple[int, str]] = {}
    entries = LedgerEvent.objects.order_by("stream", "seq").iterator(chunk_size=CHUNK)
    for event in entries:
        verdict.events += 1
        verify_entry(event, reached.get(event.stream, (0, "")), verdict)
        reached[event.stream] = (event.seq, event.hash)
    for name in heads.keys() | reached.keys():
        head = heads.get(name)
        stored = (head.seq, head.head) if head else (0, "")
        if reached.get(name, (0, "")) != stored:
            verdict.find(f"{name} does not end where its head says: entries are missing.")


def verify_entry(event: LedgerEvent, before: tuple[int, str], verdict: Verdict) -> None:
    """Compare one entry with its hash, its payload and the entry before."""
    place = f"{event.stream} entry {event.seq}"
    if event.seq != before[0] + 1:
        verdict.find(f"{place} follows entry {before[0]}: there is a gap.")
    elif event.previous != before[1]:
        verdict.find(f"{place} does not follow the entry before it.")
    try:
        own, payload = hash_of(event), digest(event.payload)
    except UNREADABLE as error:
        verdict.find(f"{place} cannot be read: {error}.")
        return
    if event.hash != own:
        verdict.find(f"{place} was changed.")
    if event.payload_digest != payload:
        verdict.find(f"{place} has another payload than was written.")


def verify_checkpoints(verdict: Verdict) -> None:
    """Compare every checkpoint with the entries it signed and the checkpoint before."""
    before: Checkpoint | None = None
    trusted = signing_key().public_key().public_bytes_raw().hex()
    for each in Checkpoint.objects.order_by("number").iterator():
        verdict.checkpoints += 1
        if not covers(each):
            verdict.find(f"Checkpoint {each.number} signed other entries than these.")
        if not follows(each, before):
            verdict.find(f"Checkpoint {each.number} does not follow the one before it.")
        if each.public_key != trusted:
            verdict.find(f"Checkpoint {each.number} was signed with another key.")
        elif not signed(each):
            verdict.find(f"Checkpoint {each.number} has a wrong signature.")
        before = each


def covers(each: Checkpoint) -> bool:
    """Tell whether the entries of a checkpoint are the ones it signed."""
    hashes = list(hashes_between(each.after, each.upto))
    try:
        return (len(hashes), merkle_root(hashes)) == (each.count, each.root)
    except ValueError:
        return False


def follows(each: Checkpoint, before: Checkpoint | None) -> bool:
    """Tell whether a checkpoint goes on where the one before ended."""
    if before is None:
        return (each.number, each.after, each.previous) == (1, 0, "")
    expected = (before.number + 1, before.upto, digest(statement(before)))
    return (each.number, each.after, each.previous) == expected


def signed(each: Checkpoint) -> bool:
    """Tell whether a checkpoint carries its key's signature."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(each.public_key))
        key.verify(bytes.fromhex(each.signature), canonical(statement(each)))
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_outside(copies: list[str], verdict: Verdict) -> None:
    """Compare the copy outside the database: it knows a tail that was cut off."""
    copied: set[int] = set()
    inside = {
        each.number: statement(each) | {"signature": each.signature}
        for each in Checkpoint.objects.all()
    }
    for line in copies:
        try:
            copy = json.loads(line)
            number = int(copy["number"])
        except (ValueError, TypeError, KeyError):
            verdict.find("The copy of the checkpoints has a line that cannot be read.")
            continue
        copied.add(number)
        if inside.get(number) != copy:
            verdict.find(f"Checkpoint {number} is not in the database as it was sent out.")
    for number in sorted(inside.keys() - copied):
        if number < max(copied, default=0):
            verdict.find(f"Checkpoint {number} was taken out of the copy.")


def export(*, since: int = 0) -> Iterator[dict[str, Any]]:
    """Yield every entry after a position as a CloudEvents document."""
    found = LedgerEvent.objects.filter(id__gt=since, id__lte=versions.horizon()).order_by("id")
    return (as_cloudevent(event) for event in found.iterator(chunk_size=CHUNK))
