#!/usr/bin/env bash
# Installs what reads our numbers in `make nightly PART=observe`: Prometheus and Chromium from Debian (tools/debian-packages-nightly.txt), and
# TensorBoard into build/observe/tensorboard. Quick where they are there.
set -euo pipefail
cd "$(dirname "$0")/../.."

missing=()
while read -r package; do
  dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
done < tools/debian-packages-nightly.txt
if [ ${#missing[@]} -gt 0 ]; then
  echo "observe: installing Debian packages: ${missing[*]}"
  as_root=(); [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -qy --no-install-recommends "${missing[@]}"
fi

folder=build/observe/tensorboard
requirements=tests/observe/requirements-tensorboard.txt
cmp -s "$requirements" "$folder/.requirements" && exit
rm -rf "$folder"
mkdir -p build/observe
python3.11 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
cp "$requirements" "$folder/.requirements"
