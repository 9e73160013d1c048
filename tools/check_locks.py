#!/usr/bin/env python3
"""tools/check_locks.py BUILD: clang's -Wthread-safety over every room, with the compile database of BUILD (build/release).

What a lock guards is in the types (argosy/base/mutex.h); an access without the lock fails here. Nothing is built but the
generated headers, and torch's, once for all sources that include them: every source is parsed once.
"""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang++-14"
FLAGS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety-analysis"]
ROOM = re.compile(r"CMakeFiles/(argosy\w*|_core|fleetrun)\.dir/")  # a target of the product; the others are tests, fuzzers, examples, single headers
GCC_ONLY = {"-fpch-preprocess", "-Winvalid-pch"}


def generated_headers(build):
    targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    return sorted({line.split(":")[0] for line in targets.splitlines() if re.match(r"argosy/\S+\.pb\.h: ", line)})


@dataclasses.dataclass(frozen=True)
class Parse:
    """How clang parses a source. `header` is what the build has precompiled for it, which g++'s form of it cannot serve."""

    source: pathlib.Path
    flags: tuple
    folder: str
    header: str = ""


def clang_flags(words):
    """(flags of a command of g++ or clang++ that clang takes, the header that is precompiled)."""
    flags, header, rest = [], "", iter(words)
    for word in rest:
        if word == "-o":
            next(rest)
        elif word == "-include":
            name = next(rest)
            if name.endswith("cmake_pch.hxx"):
                header = name
            else:
                flags += [word, name]
        elif word not in GCC_ONLY and word != "-c" and not word.startswith("-W"):
            flags.append(word)
    return tuple(flags[:-1]), header  # the last one is the source


def parses(build):
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if not ROOM.search(entry["output"]) or source.name.startswith("cmake_pch") or source.name.endswith(".pb.cc"):
            continue
        words = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(words) if re.search(r"(clang|g|c)\+\+[-\d]*$", word))
        flags, header = clang_flags(words[compiler + 1 :])
        yield Parse(source, flags, entry["directory"], header)


def precompile(parse, folder):
    """The precompiled header of all sources with these flags."""
    target = pathlib.Path(folder) / f"{abs(hash((parse.flags, parse.header))):x}.pch"
    command = [CLANG, *parse.flags, "-w", "-x", "c++-header", parse.header, "-o", str(target)]
    result = subprocess.run(command, cwd=parse.folder, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"check_locks: {CLANG} does not take {parse.header}:\n{result.stderr[-4000:]}")
    return str(target)


def check(parse, headers):
    before = ["-include-pch", headers[parse.flags, parse.header]] if parse.header else []
    result = subprocess.run([CLANG, *parse.flags, *FLAGS, *before, str(parse.source)], cwd=parse.folder, capture_output=True, text=True, check=False)
    return parse.source, result.returncode, result.stderr


def check_all(found):
    """(source, what clang says) of each that fails."""
    kinds = {(parse.flags, parse.header): parse for parse in found if parse.header}
    with tempfile.TemporaryDirectory(prefix="check-locks-") as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        headers = dict(zip(kinds, pool.map(lambda parse: precompile(parse, folder), kinds.values())))
        for source, status, says in pool.map(lambda parse: check(parse, headers), found):
            if status != 0:
                yield source, says


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run(["ninja", "-C", build, *generated_headers(build)], check=True, stdout=subprocess.DEVNULL)
    found = list(parses(build))
    if not found:
        sys.exit(f"check_locks: {build}/compile_commands.json has no source of this project")
    failed = 0
    for source, says in check_all(found):
        failed += 1
        print(f"{source.name}:\n{says}", flush=True)
    print(f"check_locks: {len(found)} sources, {failed} with an access that lacks its lock")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
