"""Dictionaries of words in archives of texts."""

import collections

from argosy.errors import InvalidArgumentError

__all__ = ["numbered"]


def numbered(counts, cutoff):
    """{word: number} of the words that come more often than cutoff, the most frequent ones first; '<unk>' is the last number."""
    chosen = sorted((word for word, count in counts.items() if count > cutoff and word != "<unk>"), key=lambda word: (-counts[word], word))
    if not chosen:
        raise InvalidArgumentError(f"no word of {len(counts)} comes more than {cutoff} times; choose a lower bound")
    found = {word: number for number, word in enumerate(chosen)}
    found["<unk>"] = len(chosen)
    return found


def counted(texts):
    """How often each word comes in lists of words."""
    counts = collections.Counter()
    for words in texts:
        counts.update(words)
    return counts
