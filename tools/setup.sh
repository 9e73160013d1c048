#!/usr/bin/env bash
# Installs what is missing: Debian packages, and the virtual environment .venv with the pinned Python packages. Quick where
# nothing is missing, so that every make target can begin with it.
#
#   tools/setup.sh [requirements-ray requirements-stores]     with what tests want besides
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package; do
  dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
done < tools/debian-packages.txt
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing Debian packages: ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -qy --no-install-recommends "${missing[@]}"
fi

for requirements in requirements "$@"; do
  stamp=.venv/.$requirements
  if ! cmp -s "tools/$requirements.txt" "$stamp"; then
    echo "setup: making .venv with the packages of tools/$requirements.txt"
    [ -x .venv/bin/python ] || python3.11 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "tools/$requirements.txt"
    cp "tools/$requirements.txt" "$stamp"
  fi
done
