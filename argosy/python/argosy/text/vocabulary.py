"""The words of a corpus, counted by the core."""

from argosy import _core
from argosy.errors import InvalidArgumentError


class Vocabulary(_core.Vocabulary):
    """Words and how often each occurs, the most frequent first: a word's id is its place. ``Vocabulary.count`` and ``Vocabulary.read`` make one.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "corpus.txt")
    >>> _ = open(path, "w").write("a rose is a rose\\n")
    >>> words = paddle.text.Vocabulary.count([path], min_count=2)
    >>> [words.word(i) for i in range(len(words))], words.find("is")
    (['a', 'rose'], -1)
    """

    @staticmethod
    def count(files, min_count=5, max_words=0, pipe_command="cat"):
        """Counts the words of the files; those that come less than ``min_count`` times are left out, and all but the ``max_words`` most frequent (0: none).

        >>> paddle.text.Vocabulary.count(["corpus.txt"], min_count=1)  # doctest: +SKIP
        """
        if isinstance(files, str):
            raise InvalidArgumentError(f"Vocabulary.count takes a list of paths; found the text {files!r}")
        return _core.Vocabulary.count([str(path) for path in files], min_count, max_words, pipe_command)
