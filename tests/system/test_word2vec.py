"""word2vec finds what is planted in a corpus, on one machine and on servers in every mode, alike in both languages and by both readers."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from ports import free_range

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
PROGRAM, SCRIPT = BUILD / "examples" / "word2vec", ROOT / "examples" / "word2vec.py"
PASSES, LINES = 6, 16


def output_of(command, cwd):
    environment = dict(os.environ, OMP_NUM_THREADS="1", ARGOSY_PYTHON=sys.executable)
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    sizes = ["--words", "400000", "--types", "2000", "--stems", "20", "--forms", "4", "--questions", "400"]
    output_of([sys.executable, ROOT / "bench" / "make_corpus.py", folder, *sizes], folder)
    return folder


def scores(corpus, model):
    command = [BUILD / "bin" / "argosy", "word2vec-eval", model / "emb", "--vocabulary", model / "words"]
    text = output_of([*command, "--analogies", corpus / "analogies.txt", "--similarity", corpus / "similarity.txt"], corpus)
    return float(re.search(r"analogies all: ([\d.]+)", text).group(1)), float(re.search(r"similarity: (-?[\d.]+)", text).group(1))


def program(corpus, model, kind="skip_gram", mode="async", threads=1):
    return [PROGRAM, corpus / "corpus-*.txt", model, kind, mode, threads, PASSES, LINES]


def script(corpus, model, *more):
    return [SCRIPT, corpus / "corpus-*.txt", model, "--passes", PASSES, "--lines", LINES, *more]


def on_servers(command, cwd, servers=2, workers=2):
    """Runs a job and returns what its workers wrote."""
    output_of(["fleetrun", f"--start_port={free_range(servers + workers)}", f"--server_num={servers}", f"--worker_num={workers}", *command], cwd)
    return [(cwd / "logs" / f"workerlog.{i}").read_text() for i in range(workers)]


@pytest.mark.parametrize("kind", ["skip_gram", "cbow"])
@pytest.mark.parametrize("threads", [1, 2])
def test_one_machine_finds_what_is_planted(corpus, tmp_path, kind, threads):
    output_of(program(corpus, tmp_path / "model", kind, threads=threads), tmp_path)
    analogies, similarity = scores(corpus, tmp_path / "model")
    assert analogies > 90 and similarity > 50


def test_the_script_learns_the_same_by_either_reader(corpus, tmp_path):
    """One thread, one seed: the program, the script, and the script with batches made in Python end with the same table."""
    output_of([*program(corpus, tmp_path / "cc")[:-2], 1, LINES], tmp_path)
    tables = [(tmp_path / "cc" / "emb").read_bytes()]
    for reader in ("dataset", "python"):
        output_of([sys.executable, *script(corpus, tmp_path / reader, "--reader", reader, "--passes", 1)], tmp_path)
        tables.append((tmp_path / reader / "emb").read_bytes())
    assert tables[0] == tables[1] == tables[2]


# Half-async adds up what workers send, as async does: a rate that is multiplied by the workers, as sync's and geo's mean needs, is too large for it, and its
# schedule counts the batches of both.
@pytest.mark.parametrize("mode", ["sync", "half_async", "async", "geo"])
def test_servers_find_it_too_and_count_each_word_once(corpus, tmp_path, mode):
    texts = on_servers(["--no-python", *program(corpus, tmp_path / "model", mode=mode)], tmp_path)
    assert f"rate {0.05 if mode in ('sync', 'geo') else 0.025:g} at first" in texts[0]
    server = (tmp_path / "logs" / "serverlog.0").read_text()
    for turn in range(PASSES):
        words = [int(re.search(rf"pass {turn}: (\d+) words", text).group(1)) for text in texts]
        counted = "{0:,} samples read, {0:,} applied once, 0 lost".format(sum(words))
        assert min(words) > 0 and f"pass {turn}: {counted}" in server, (counted, server[-2000:])
    analogies, similarity = scores(corpus, tmp_path / "model")
    assert analogies > 85 and similarity > 45


@pytest.mark.parametrize("mode", ["half_async", "geo"])
def test_the_script_runs_on_servers(corpus, tmp_path, mode):
    texts = on_servers(script(corpus, tmp_path / "model", "--mode", mode), tmp_path, servers=1)
    assert f"rate {0.05 if mode == 'geo' else 0.025:g} at first" in texts[0]
    assert scores(corpus, tmp_path / "model")[0] > 85


def test_the_reader_in_python_has_one_thread(corpus, tmp_path):
    command = [sys.executable, *script(corpus, tmp_path / "model", "--reader", "python", "--threads", "2")]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "by one thread; found --threads 2: leave it out, or use --reader dataset" in done.stderr
