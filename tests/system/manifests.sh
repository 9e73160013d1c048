#!/usr/bin/env bash
# Holds manifests of `fleetrun --to_kubernetes` to the published schemas, in an environment of its own, build/manifests.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=build/manifests requirements=tests/system/requirements-manifests.txt
if ! cmp -s "$requirements" "$folder/.requirements"; then
  rm -rf "$folder"
  .venv/bin/python -m venv "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$folder/.requirements"
fi
FLEETRUN=$PWD/build/release/bin/fleetrun exec "$folder/bin/python" -m pytest -q --noconftest tests/system/check_manifests.py
