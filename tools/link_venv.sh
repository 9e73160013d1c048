#!/usr/bin/env bash
# tools/link_venv.sh BUILD: makes .venv see a build, its Python packages through a .pth file and its programs through links in
# .venv/bin. A .venv that is itself a link belongs to another checkout and is left as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/$1
[ ! -L .venv ] || exit 0
if [ -d "$build/python" ]; then
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$build/python" > "$site/argosy-build.pth"
fi
for program in "$build"/bin/*; do
  [ -x "$program" ] || continue
  ln -sfn "$program" ".venv/bin/$(basename "$program")"
done
