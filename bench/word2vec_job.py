#!/usr/bin/env python3
"""Runs word2vec_bench as a job of servers and workers, and prints one JSON object: words per second of the clock and of all processors' time, those of
workers and servers added up, over all passes but the first, and, where there are questions, its scores.

    bench/word2vec_job.py 1x1 CORPUS_FOLDER [--passes 2] [--mode geo]
    bench/word2vec_job.py local CORPUS_FOLDER [--threads 2]
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

from ps_job import BUILD, ROOT, free_ports, launch, shape


def lines_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def on_servers(args, folder):
    servers, workers = shape(args.shape)
    words = [BUILD / "bin/fleetrun", "--server_num", servers, "--worker_num", workers, "--start_port", free_ports(servers), "--log_dir", folder / "logs"]
    words += ["--durability", "none", "--no-python", BUILD / "bench/word2vec_bench", args.corpus / "corpus-*.txt", folder, args.passes, args.threads, args.mode]
    launch([str(word) for word in words])
    return [lines_of(file.read_text()) for file in sorted((folder / "logs").glob("workerlog.*"))]


def alone(args, folder):
    words = [BUILD / "bench/word2vec_bench", args.corpus / "corpus-*.txt", folder, args.passes, args.threads]
    return [lines_of(subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout)]


def rates(of_workers):
    """Over all passes but the first, which also makes the rows; over the first where it is the only one."""
    passes = [rows for rows in zip(*of_workers, strict=True)]
    counted = [row for rows in passes[1:] or passes for row in rows]
    words, seconds = sum(row["words"] for row in counted), sum(max(row["seconds"] for row in rows) for rows in passes[1:] or passes)
    workers, servers = (sum(row[name] for row in counted) for name in ("cpu_seconds", "server_cpu_seconds"))
    return {
        "words": words,
        "words_per_second": words / seconds,
        "words_per_cpu_second": words / (workers + servers),
        "worker_us": 1e6 * workers / words,
        "server_us": 1e6 * servers / words,
    }


def scores(corpus, *vectors):
    command = [BUILD / "bin/argosy", "word2vec-eval", *vectors, "--analogies", corpus / "analogies.txt", "--similarity", corpus / "similarity.txt"]
    text = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    analogies, similarity = re.search(r"analogies all: ([\d.]+)", text), re.search(r"similarity: (-?[\d.]+)", text)
    return {"analogies": float(analogies.group(1)), "similarity": float(similarity.group(1))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", help="SERVERSxWORKERS, or local")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mode", choices=["geo", "async", "sync"], default="geo")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / "build") as name:
        folder = pathlib.Path(name)
        result = rates(alone(args, folder) if args.shape == "local" else on_servers(args, folder))
        print(json.dumps({**result, **scores(args.corpus, folder / "emb", "--vocabulary", folder / "words")}))


if __name__ == "__main__":
    main()
