#!/usr/bin/env python3
"""Makes click logs in the format of Criteo's display-ads data, with something to learn.

    tools/make_criteo.py demo/data                                   200,000 lines to train on, 20,000 to test
    tools/make_criteo.py big --lines 5000000 --files 16 --seed 2     more, in 16 files, of another hidden model

Writes FOLDER/train/part-00000.txt … and FOLDER/test/part-00000.txt. A line is: label, 13 integers, 26 categories of 8 hex
digits, separated by tabs; fields may be empty. Equal arguments give equal bytes.

The story behind a line: a reader with a hidden interest sees an advertisement with a hidden subject. Both leave traces in
the fields (which values are common depends on them), and a click depends on how well they fit, on the values themselves
and on the counts. So linear models learn some of it, and models that combine fields learn more.
"""

import argparse
import pathlib
import shutil

import numpy as np

DENSE, SLOTS, TOPICS = 13, 26, 8
VOCABULARY = np.geomspace(10, 30_000, SLOTS).astype(np.int64)[np.random.default_rng(26).permutation(SLOTS)]
LARGEST_COUNT = 9_999
MISSING_COUNTS = np.linspace(0.0, 0.4, DENSE)
MISSING_SLOTS = np.linspace(0.0, 0.3, SLOTS)


class HiddenModel:
    """What decides the clicks; everything in it follows from the seed."""

    def __init__(self, seed):
        rng = np.random.default_rng([seed, 0])
        keenness, appeal = rng.permuted(np.tile(np.linspace(-1.8, 1.8, TOPICS), (2, 1)), axis=1)
        self.fit = keenness[:, None] + appeal + rng.normal(0, 0.7, (TOPICS, TOPICS))
        self.effects = [rng.normal(0, 0.25, size) for size in VOCABULARY]
        self.slopes = rng.normal(0, 0.3, DENSE)
        self.levels = rng.normal(2.0, 0.7, DENSE)
        self.traces = rng.normal(0, 0.5, (TOPICS, DENSE))
        # The printed form of each value of each slot: a bijection of 32 bits, so that no two values of a slot share one.
        self.names = [
            np.array([b"%08x" % (((slot << 20 | value) * 0x9E3779B1 + seed) % 2**32) for value in range(size)]) for slot, size in enumerate(VOCABULARY)
        ]

    def draw(self, lines, rng):
        """Labels, counts, values and the click probabilities of so many lines."""
        interest, subject = (TOPICS * rng.random((2, lines)) ** 1.3).astype(np.int64)
        counts = np.exp(self.levels + self.traces[interest] + rng.normal(0, 0.9, (lines, DENSE)))
        counts = np.minimum(counts.astype(np.int64), LARGEST_COUNT)
        logit = self.fit[interest, subject] + (np.log1p(counts) - self.levels) @ self.slopes - 1.6
        values = np.empty((SLOTS, lines), np.int64)
        for slot, size in enumerate(VOCABULARY):
            topic = interest if slot % 2 == 0 else subject
            rank = (size * rng.random(lines) ** 6).astype(np.int64)  # few values are common, most are rare
            values[slot] = (rank + topic * size // TOPICS) % size
            logit += self.effects[slot][values[slot]]
        probability = 1 / (1 + np.exp(-logit))
        return rng.random(lines) < probability, counts, values, probability


def write_part(path, model, lines, seed):
    """Writes one file; returns its labels and the click probabilities behind them."""
    rng = np.random.default_rng(seed)
    labels, counts, values, probability = model.draw(lines, rng)
    numbers = np.array([b"%d" % i for i in range(LARGEST_COUNT + 1)])
    columns = [np.array([b"0", b"1"])[labels.astype(np.int64)].tolist()]
    for k in range(DENSE):
        columns.append(np.where(rng.random(lines) < MISSING_COUNTS[k], b"", numbers[counts[:, k]]).tolist())
    for slot in range(SLOTS):
        columns.append(np.where(rng.random(lines) < MISSING_SLOTS[slot], b"", model.names[slot][values[slot]]).tolist())
    path.write_bytes(b"".join(b"\t".join(row) + b"\n" for row in zip(*columns)))
    return labels, probability


def area_under_curve(labels, scores):
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    clicks = labels.sum()
    return (ranks[labels].sum() - clicks * (clicks + 1) / 2) / (clicks * (len(labels) - clicks))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=200_000, help="to train on, over all files (200000)")
    parser.add_argument("--test-lines", type=int, default=20_000, help="to test on (20000)")
    parser.add_argument("--files", type=int, default=4, help="files to train on (4)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if min(args.lines, args.test_lines, args.files) < 1 or args.lines < args.files:
        parser.error("--lines, --test-lines and --files are at least 1, and a file has at least one line")
    if args.folder.exists() and {entry.name for entry in args.folder.iterdir()} - {"train", "test"}:
        parser.error(f"{args.folder} holds something else than train/ and test/, and would be replaced; give a new folder")

    model = HiddenModel(args.seed)
    unfinished = args.folder.with_name(args.folder.name + ".unfinished")  # renamed at the end: a folder is whole or absent
    shutil.rmtree(unfinished, ignore_errors=True)
    for kind in ("train", "test"):
        (unfinished / kind).mkdir(parents=True)
    for part in range(args.files):
        lines = args.lines * (part + 1) // args.files - args.lines * part // args.files
        write_part(unfinished / f"train/part-{part:05}.txt", model, lines, [args.seed, 1, part])
    labels, probability = write_part(unfinished / "test/part-00000.txt", model, args.test_lines, [args.seed, 2])
    shutil.rmtree(args.folder, ignore_errors=True)
    unfinished.rename(args.folder)
    print(
        f"{args.folder}: {args.lines:,} lines in {args.files} files, {args.test_lines:,} to test; {labels.mean():.1%} are clicks; "
        f"knowing the hidden model gives a test AUC of {area_under_curve(labels, probability):.3f}"
    )


if __name__ == "__main__":
    main()
