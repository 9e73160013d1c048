"""Plain words in sources, messages and documents: those that CONTRIBUTING.md's glossary has replaced do not come back."""

import re
import subprocess

import pytest

WHOSE = "server|second|worker|thread|key|step|row|sample|file|batch|process|pass|table|parameter|call|rank|core|room|node|sequence|round|shard|variable"
OF_WHAT = r"messages?|samples|batches|bytes|keys|calls|requests|floats|values|once|times|rows?|MB/s|rows/s|ms|µs|objects?|(?<!\d )threads?|lock|number|one"
VERBS = "has|had|is|was|does|did|takes|can|must|may|gets|uses|sends|reads|makes|admits|that|of which|which|becomes|learns|to|in|waits|decays"
# What a reader stumbles over -> what CONTRIBUTING.md says instead.
WORDS = {
    r"\bmend(s|ed|ing)?\b": "fix, repair",
    r"\bin vain\b": "timed out waiting for",
    r"\b(tak(e|es|en|ing)|took)[ _]up(?![a-z])(?! to\b)": "recover, read, go on from",
    r"\bwhoever\b": "the caller, a worker that …",
    r"\b(Maybe)?Said\b": "EnvVariable, std::optional",
    r"\b(the|its|a) standard\b(?! (library|error|output|input|deviation|normal))": "default",
    r"\bstandard (value|setting)s?\b": "default",
    r"\b_?standard(?= (in|[!=]?=) )": "default",
    r"\b[Cc]are of the tables\b": "table maintenance",
    r"\b(struct|class) Place\b": "a name of its own: a place is a device, as in Paddle",
    r"\bguests?\b": "joining nodes",
    r"\bkeeper\b": "by what it does",
    rf"\b({OF_WHAT}) an? ({WHOSE})\b(?!('s| ({VERBS})\b))": "per",
}
# Not ours to word: what is recorded, released or listed, and the glossary itself with this file.
ELSEWHERE = ("CHANGELOG.md", "CONTRIBUTING.md", "changes/", "tests/parity/recorded/", "tests/tooling/test_words.py", "fuzz/corpus/")
FORMS = (".h", ".cc", ".py", ".pyi", ".md", ".proto", ".cmake", ".sh", ".txt", ".html", "Makefile")


def stumbles(text):
    """(line, word, what to say) of each word that the glossary has replaced."""
    return [
        (number, found.group(), instead)
        for number, line in enumerate(text.split("\n"), 1)
        for word, instead in WORDS.items()
        for found in re.finditer(word, line)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "fixed, once mended",
        "rank 1 waited in vain",
        "a server takes up its log",
        "status = take_up_snapshot();",
        "the standard is 10",
        "its standard value",
        "one message a server",
        "samples a second",
        "called a few times a second",
        "one row a sequence",
        "ms a step",
        "for name, standard in settings:",
        "if value != standard or standard == 3:",
        "// Care of the tables.",
        "struct Place {",
    ],
)
def test_a_word_of_the_left_side_is_found(line):
    assert stumbles(line)


@pytest.mark.parametrize(
    "line",
    [
        "takes up to a minute",
        "the standard error of a process",
        "which keys a server admits",
        "constant once a server has answered",
        "one message per server",
        "samples per second",
        "with gradients of 1 and rate 1 a row is minus the number",
    ],
)
def test_plain_english_is_not(line):
    assert stumbles(line) == []


def test_the_checkout_has_none(root):
    files = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    ours = [path for path in files if path.endswith(FORMS) and not path.startswith(ELSEWHERE) and (root / path).is_file()]
    assert len(ours) > 1000
    found = [f"{path}:{line}: '{word}': {instead}" for path in ours for line, word, instead in stumbles((root / path).read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)
