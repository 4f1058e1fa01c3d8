"""Documents for the command line tests, and the way to put them into files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resources.documents import files
from resources.documents.kind import Document


def domain(name: str = "growth", **spec: Any) -> Document:
    return document("Domain", name, {"purpose": "Win customers.", **spec})


def agent(name: str = "robin", *, status: Document | None = None, **spec: Any) -> Document:
    whole = {"domain": "growth", "type": "advisory", "purpose": "Advise.", **spec}
    made = document("Agent", name, whole)
    made["metadata"]["labels"] = {"tier": "production"}
    return made | ({"status": status} if status else {})


def document(kind: str, name: str, spec: Document) -> Document:
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def put(file: Path, *wanted: Document) -> Path:
    """Write documents as one YAML stream."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(files.dump_all(wanted, "yaml"), encoding="utf-8")
    return file


def read_folder(folder: Path) -> list[Document]:
    """Read every document below a folder."""
    loaded = files.load_paths([str(folder)])
    return [each.document for each in loaded if each.document is not None]
