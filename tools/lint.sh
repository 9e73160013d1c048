#!/usr/bin/env bash
# tools/lint.sh BUILD: clang-tidy over the torch-free rooms and the fuzzers, with the compile database of the fuzz preset, which is
# clang's own: clang-tidy cannot read GCC's precompiled header. Tests are left to the compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
database=$1/compile_commands.json
sanitizers=$(clang-14 -print-resource-dir)/include  # absl includes their headers, and clang-tidy's package has none
.venv/bin/python - "$database" <<'PYTHON' | xargs -0 -r -n 1 -P "$(nproc)" .venv/bin/clang-tidy -p "$1" --quiet --extra-arg=-idirafter"$sanitizers"
import json, pathlib, sys
root = pathlib.Path.cwd()
for entry in json.load(open(sys.argv[1])):
    source = pathlib.Path(entry["file"])
    ours = source.is_relative_to(root / "argosy") or source.is_relative_to(root / "fuzz")
    if ours and not source.stem.endswith(("_test", "_bench")):
        print(source.relative_to(root), end="\0")
PYTHON
echo "lint: nothing found"
