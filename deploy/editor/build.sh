#!/bin/sh
# Build static/vendor, static/icons.svg and static/fonts from the versions in package.json.
# Needs node and npm. Installs into a scratch folder, writes no lock file.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
static=$(cd "$here/../../static" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cp "$here/package.json" "$here"/*.js "$here/vendor.mjs" "$here/icons.txt" "$scratch/"
cd "$scratch"
npm install --no-package-lock --no-audit --no-fund --ignore-scripts

node vendor.mjs "$static"
