#!/usr/bin/env bash
# tools/fuzz.sh BUILD SECONDS: runs each fuzzer of fuzz/ from a copy of its committed corpus, as many at a time as there are cores.
# An input that breaks something is left in BUILD/findings/, with the command that runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."
export build=$1 seconds=$2
mkdir -p "$build/findings"

run_one() {
  local name=$1
  work=$(mktemp -d)  # not local: the trap runs after the function
  trap 'rm -rf "$work"' EXIT
  cp -r "fuzz/corpus/$name" "$work/corpus"
  echo "fuzz: $name for $seconds s, from $(find "$work/corpus" -type f | wc -l) inputs"
  if ! "$build/fuzz/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$build/findings/$name-" "$work/corpus" > "$work/log" 2>&1; then
    tail -n 60 "$work/log"
    echo "fuzz: $name failed; run it again with: $build/fuzz/${name}_fuzz $build/findings/$name-*"
    exit 1
  fi
  grep -E 'number_of_executed_units|average_exec_per_sec' "$work/log" | sed "s/^stat::/fuzz: $name /"
}
export -f run_one

names=$(basename -s _fuzz.cc -a fuzz/*_fuzz.cc)
xargs -P "$(nproc)" -I NAME bash -euo pipefail -c 'run_one NAME' <<< "$names"
echo "fuzz: $(wc -l <<< "$names") fuzzers, nothing found"
