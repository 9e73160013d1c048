"""Batches of word2vec in Python, the same as `dataset.set_corpus` gives: for scripts that want to look at or change them.

The core's reader does this without Python and some hundred times faster; here it is in a page.
"""

import os

import numpy as np

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(x):
    """splitmix64's finaliser: unrelated numbers from near ones."""
    x = (x + STEP) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def mix_text(text):
    mixed = mix(0)
    for byte in text.encode():
        mixed = mix(mixed ^ byte)
    return mixed


def draw(stream, place):
    return mix((stream + (place + 1) * STEP) & MASK)


def alias_table(weights):
    """For each word how many of 2^32 draws of its place are its own, and whose the others are (Walker's method)."""
    heights = list(weights * (len(weights) / weights.sum()))
    own, other = [0] * len(heights), list(range(len(heights)))
    low = [i for i, height in enumerate(heights) if height < 1]
    high = [i for i, height in enumerate(heights) if height >= 1]
    while low and high:
        small, large = low.pop(), high[-1]
        own[small], other[small] = int(min(heights[small] * 2**32, 2**32 - 1)), large
        heights[large] -= 1 - heights[small]
        if heights[large] < 1:
            low.append(high.pop())
    for i in low + high:
        own[i] = 2**32 - 1
    return own, other


class Corpus:
    """The sentences of some files as batches of (word, words around, their offsets, words drawn)."""

    def __init__(self, files, vocabulary, lines, window=5, sample=1e-4, power=0.75, seed=1, drawn=1):
        self.files, self.vocabulary, self.lines, self.window, self.seed, self.drawn = files, vocabulary, lines, window, seed, drawn
        ids = range(len(vocabulary))
        self.keep = [int(vocabulary.keep_probability(i, sample) * 2**32) for i in ids]
        self.own, self.other = alias_table(np.array([float(vocabulary.count_of(i)) ** power for i in ids]))

    def negative(self, bits):
        place = (bits >> 32) * len(self.own) >> 32
        return place if (bits & 0xFFFFFFFF) < self.own[place] else self.other[place]

    def samples(self, line, stream):
        kept, windows = [], []
        for place, word in enumerate(line.split()):
            found, bits = self.vocabulary.find(word), draw(stream, place)
            if found >= 0 and bits >> 32 < self.keep[found]:
                kept.append(found)
                windows.append(self.window - ((bits & 0xFFFFFFFF) * self.window >> 32))
        if len(kept) < 2:
            return
        negatives = mix(stream)
        for i, (word, window) in enumerate(zip(kept, windows, strict=True)):
            around = kept[max(0, i - window) : i] + kept[i + 1 : i + window + 1]
            yield word, around, [self.negative(draw(negatives, i * self.drawn + k)) for k in range(self.drawn)]

    def batches(self, number):
        """Those of pass `number`."""
        seed = mix(mix(self.seed) ^ number)
        waiting = []
        lines = 0
        for path in self.files:
            key = mix_text(os.path.basename(path))
            with open(path, encoding="utf-8") as text:
                for line_number, line in enumerate(text, 1):
                    waiting.extend(self.samples(line, mix(seed ^ mix(key ^ mix(line_number)))))
                    lines += 1
                    if lines % self.lines == 0 and waiting:
                        yield self.arrays(waiting)
                        waiting = []
        if waiting:
            yield self.arrays(waiting)

    @staticmethod
    def arrays(samples):
        words, around, drawn = zip(*samples, strict=True)
        lengths = [len(one) for one in around]
        return np.array(words)[:, None], np.concatenate(around)[:, None], lengths, np.array(drawn)
