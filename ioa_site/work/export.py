"""Write the organisation into a folder: one document per file, in the folders people know."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ioa_site.commands import Stop
from ioa_site.server.progress import Bar
from ioa_site.work import rows
from resources.documents import files, kinds
from resources.documents.kind import Document, Kind
from resources.store.snapshots import declared_document
from resources.tables.models import Resource

CONFIG = "config.json"
CONFIG_VERSION = "0.2"
MARK = "EXPORT-INCOMPLETE"
MARK_TEXT = "This export did not finish. Run it again.\n"
# A file name may have 255 bytes, a resource name 253 without its suffix.
LONGEST_STEM = 200


def export(
    folder: Path, *, chosen: Sequence[Kind], with_status: bool, force: bool, bar: Bar
) -> tuple[int, list[Path]]:
    """Write every document; returns how many, and files that were there and are not ours."""
    make_room(folder, force=force)
    (folder / MARK).write_text(MARK_TEXT, encoding="utf-8")
    names = [kind.name for kind in chosen]
    total = Resource.objects.filter(kind__in=names, deleted_at=None).count()
    written: set[Path] = set()
    for kind in chosen:
        for row, document in rows.walk(rows.live(kind.name), declared_document):
            file = folder / kind.folder / f"{stem(row.name)}.yaml"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text_of(kind, document, with_status=with_status), encoding="utf-8")
            written.add(file)
            bar("export", len(written), total)
    write_config(folder)
    (folder / MARK).unlink()
    return len(written), left_over(folder, chosen, written)


def make_room(folder: Path, *, force: bool) -> None:
    """Make the folder, or refuse one that holds something other than a broken-off export."""
    if folder.exists() and not folder.is_dir():
        raise Stop(f"{folder} is a file: name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not force and not (folder / MARK).exists():
        raise Stop(f"{folder} is not empty: name another folder, or add --force.")


def text_of(kind: Kind, document: Document, *, with_status: bool) -> str:
    """Write a document as a validator of the published schemas accepts it."""
    published = kind.publish(document)
    if not with_status:
        published.pop("status", None)
    return files.dump(published, "yaml")


def stem(name: str) -> str:
    """Return the file name of a resource; a very long one keeps its beginning and a digest."""
    if len(name) <= LONGEST_STEM:
        return name
    return f"{name[:LONGEST_STEM]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def write_config(folder: Path) -> None:
    """Write the folder's own description, unless there is one."""
    file = folder / CONFIG
    if not file.exists():
        config = {
            "name": folder.resolve().name or "organisation",
            "version": CONFIG_VERSION,
            "paths": {kind.folder: kind.folder for kind in kinds.ALL},
        }
        file.write_text(files.as_json(config), encoding="utf-8")


def left_over(folder: Path, chosen: Sequence[Kind], written: set[Path]) -> list[Path]:
    """Return documents that were in the folder before and that no resource stands behind."""
    found = (file for kind in chosen for file in (folder / kind.folder).glob("*.y*ml"))
    return sorted(file for file in found if file not in written)
