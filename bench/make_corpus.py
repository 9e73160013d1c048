#!/usr/bin/env python3
"""A corpus with planted structure, which a correct word2vec finds again; the same file for every program that is compared.

    bench/make_corpus.py FOLDER [--words 5000000] [--files 2] [--stems 100] [--forms 5] [--seed 1]

Sentences are 20 words long. The background is Zipf's: each sentence has one of 50 topics, to which a part of its words belongs. In one of five
sentences stands a planted word, sIfR, twice: form R of stem I. On either side of it are words of its stem's own (8 of a pool, so that two stems
share more or fewer of them) and of its form's own. So its vector is about the sum of a stem's and a form's, and what leads from one form to another
is the same for all stems: s3f1 is to s3f2 as s8f1 is to s8f2.

FOLDER gets corpus-0.txt, …; analogies.txt (word2vec's questions, a section per pair of forms) and similarity.txt (pairs of planted words and a number
that grows with what their sentences share).
"""

import argparse
import pathlib

import numpy as np

LENGTH, TOPICS, OWN, POOL = 20, 50, 8, 120
WORD_PLACES, STEM_PLACES, FORM_PLACES = (5, 14), (3, 7, 12, 16), (4, 6, 13, 15)
PLANTED = 0.2  # of the sentences


def zipf_ids(rng, lines, types):
    """[lines, LENGTH] numbers of background words; 30 % of the rarer ones are moved to their sentence's topic."""
    weights = np.cumsum(1.0 / (np.arange(types) + 2.7))
    ids = np.minimum(np.searchsorted(weights / weights[-1], rng.random((lines, LENGTH))), types - 1)
    moved = (rng.random(ids.shape) < 0.3) & (ids >= 4 * TOPICS)
    return np.where(moved, np.minimum(ids - ids % TOPICS + rng.integers(0, TOPICS, (lines, 1)), types - 1), ids)


class Plants:
    """Which words go around which planted ones. `names` holds all words; background words come first."""

    def __init__(self, rng, names, stems, forms):
        self.stems, self.forms = stems, forms
        self.words = len(names) + np.arange(stems * forms).reshape(stems, forms)
        names += [f"s{i}f{r}" for i in range(stems) for r in range(forms)]
        pool = len(names) + np.arange(POOL)
        names += [f"p{k}" for k in range(POOL)]
        self.of_stem = np.stack([rng.permutation(pool)[:OWN] for _ in range(stems)])
        self.of_form = len(names) + np.arange(forms * OWN).reshape(forms, OWN)
        names += [f"g{r}x{k}" for r in range(forms) for k in range(OWN)]

    def plant(self, rng, ids):
        lines = np.flatnonzero(rng.random(len(ids)) < PLANTED)
        stem, form = rng.integers(0, self.stems, len(lines)), rng.integers(0, self.forms, len(lines))
        for place in WORD_PLACES:
            ids[lines, place] = self.words[stem, form]
        for places, own, number in ((STEM_PLACES, self.of_stem, stem), (FORM_PLACES, self.of_form, form)):
            for place in places:
                ids[lines, place] = own[number, rng.integers(0, OWN, len(lines))]

    def analogies(self, rng, count):
        pairs = [(r, q) for r in range(self.forms) for q in range(self.forms) if r != q]
        for r, q in pairs:
            yield f": form{r}-form{q}"
            for _ in range(max(1, count // len(pairs))):
                i, j = rng.choice(self.stems, 2, replace=False)
                yield f"s{i}f{r} s{i}f{q} s{j}f{r} s{j}f{q}"

    def similarity(self, rng, count):
        yield "# word word shared"
        for _ in range(count):
            (i, j), (r, q) = rng.integers(0, self.stems, 2), rng.integers(0, self.forms, 2)
            if (i, r) != (j, q):
                yield f"s{i}f{r} s{j}f{q} {len(set(self.of_stem[i]) & set(self.of_stem[j])) / OWN + int(r == q)}"


def background_names(types):
    letters = "etaoinshrdlucmfwypvbgkjqxz"

    def name(i):
        text = ""
        while i:
            text, i = text + letters[i % 26], i // 26
        return text

    return [name(i + 27) for i in range(types)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    for option, default in (("words", 5_000_000), ("files", 2), ("types", 50_000), ("stems", 100), ("forms", 5), ("questions", 2000), ("seed", 1)):
        parser.add_argument(f"--{option}", type=int, default=default)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    names = background_names(args.types)
    plants = Plants(rng, names, args.stems, args.forms)
    (args.folder / "analogies.txt").write_text("\n".join(plants.analogies(rng, args.questions)) + "\n")
    (args.folder / "similarity.txt").write_text("\n".join(plants.similarity(rng, args.questions)) + "\n")
    words = np.array(names, dtype=object)
    for file in range(args.files):
        ids = zipf_ids(rng, args.words // LENGTH // args.files, args.types)
        plants.plant(rng, ids)
        with (args.folder / f"corpus-{file}.txt").open("w") as out:
            out.writelines(" ".join(line) + "\n" for line in words[ids])


if __name__ == "__main__":
    main()
