#!/usr/bin/env bash
# Write what the product is made of, from its lock, as CycloneDX JSON; needs python3 alone.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 deploy/sbom.py "$@"
