#!/usr/bin/env python3
"""tools/check_locks.py BUILD: clang's -Wthread-safety over the torch-free rooms, with the compile database of the fuzz preset.

What a lock guards is in the types (argosy/base/mutex.h); an access without the lock fails here. Nothing is built but the
generated headers: every source is parsed once.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-fsyntax-only", "-Wthread-safety", "-Werror=thread-safety-analysis"]


def generated_headers(build):
    targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    return sorted({line.split(":")[0] for line in targets.splitlines() if re.match(r"argosy/\S+\.pb\.h: ", line)})


def commands(build):
    """By source: how the compiler parses it. Tests, generated sources and the headers that are compiled alone are left out."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        ours = source.is_relative_to(ROOT / "argosy") or "Unity" in source.parts
        if not ours or source.name.endswith(("_test.cc", "_bench.cc", ".pb.cc")) or "_test.dir" in str(source):
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if re.search(r"clang\+\+[-\d]*$", word))
        output = words.index("-o")
        yield source, [*words[compiler:output], *words[output + 2 :], *FLAGS], entry["directory"]


def check(command):
    source, words, folder = command
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return source, result.returncode, result.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run(["ninja", "-C", build, *generated_headers(build)], check=True, stdout=subprocess.DEVNULL)
    found = list(commands(build))
    if not found:
        sys.exit(f"check_locks: {build}/compile_commands.json has no source of this project")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, status, says in pool.map(check, found):
            if status != 0:
                failed += 1
                print(f"{source.name}:\n{says}", flush=True)
    print(f"check_locks: {len(found)} sources, {failed} with an access that lacks its lock")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
