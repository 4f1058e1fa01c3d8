"""Write what the product is made of as CycloneDX 1.6: every pinned package with its digests.

The lock says all there is: name, version, when it is installed, and the digests of its files. The
same lock gives the same document, so that two releases can be compared.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINNED = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<when>[^\\]+))?"
)
DIGEST = re.compile(r"--hash=sha256:([0-9a-f]{64})")
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def packages(lock: str) -> list[dict[str, Any]]:
    """Read every package of a lock."""
    found: list[dict[str, Any]] = []
    for line in lock.splitlines():
        pinned = PINNED.match(line)
        if pinned:
            found.append(component(pinned["name"], pinned["version"], pinned["when"]))
        for sha in DIGEST.findall(line):
            found[-1]["hashes"].append({"alg": "SHA-256", "content": sha})
    return found


def component(name: str, version: str, when: str | None) -> dict[str, Any]:
    """Describe one package."""
    plain = re.sub(r"[-_.]+", "-", name).lower()
    address = f"pkg:pypi/{plain}@{version}"
    told: dict[str, Any] = {
        "type": "library",
        "bom-ref": address,
        "name": plain,
        "version": version,
        "purl": address,
        "hashes": [],
    }
    if when:
        told["properties"] = [{"name": "marker", "value": when.strip()}]
    return told


def version() -> str:
    """Return the newest version that the changelog names."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## v(\S+)", text, re.MULTILINE)
    if found is None:
        raise SystemExit("CHANGELOG.md names no version.")
    return found[1]


def document(lock: str) -> dict[str, Any]:
    """Describe the product and all it is made of."""
    parts = packages(lock)
    own = f"pkg:generic/ioa-control@{version()}"
    name = f"{own}\n" + "\n".join(each["bom-ref"] for each in parts)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, name)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "ioa-control",
                "version": version(),
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [each["bom-ref"] for each in parts]}],
    }


def main(arguments: list[str]) -> int:
    """Write the document to a file or to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements.lock")
    parser.add_argument("--output", type=Path, help="a file; otherwise standard output")
    options = parser.parse_args(arguments)
    text = json.dumps(document(options.lock.read_text(encoding="utf-8")), indent=2) + "\n"
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
