#!/usr/bin/env bash
# Pin every dependency with its hashes; needs uv. Pass --upgrade to take newer versions.
set -euo pipefail
cd "$(dirname "$0")/.."

pin() {
    uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet \
        --python-version 3.11 pyproject.toml "$@" >/dev/null
}

pin -o requirements.lock "$@"
# The constraint keeps both locks at the same versions: tests run what users run.
pin --extra dev --constraints requirements.lock -o requirements-dev.lock "$@"
