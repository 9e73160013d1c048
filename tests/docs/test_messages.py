"""docs/errors.md has the messages that the sources have: each of its rows is one of them, and each that a user meets is in a row."""

import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "site"))

import messages  # noqa: E402

# Rooms whose messages a wrong script, setting, data line or dead peer makes.
COVERED = tuple(f"argosy/{room}/" for room in "apps base cli data fleet inspect launch publish rpc serve ps/arbiter ps/client ps/communicator".split())
# What no user causes: messages between our own processes, and calls that only our own code makes.
OURS = """
    '…' ends at byte …, but had … before: another process has cut it
    '…' is no call of a launcher
    '…' is no message of a launcher
    '…': the answer ends at byte …
    a call without a line is no call of a launcher
    a gradient of … values for table … does not fit the job's spec
    a launcher says, listens or leaves at the meeting place; found '…'
    a message could not be unpacked
    a message for worker … of …
    a message of … bytes announces … (header …, payload …)
    a message of … bytes is shorter than the … that every one begins with
    a node has at least one process
    a parallel section of … threads
    a push without batches
    a round of … threads
    a server knows no worker …
    a server knows … clip groups; the job has …
    a step after stop
    a text of … bytes for … at most
    another schema: …
    attribute 'job_spec' is not hexadecimal at …
    cannot tell a socket's address: …
    end_exchange without begin_exchange before it
    message '…': field '…' is '…', expected a whole number
    no descriptor for a process's notices: …
    no socket for a process's notices: …
    not tried
    no table … to set a rate of
    poll failed: …
    poll on '…' failed: …
    row gradients for table …, which is no sparse table of the job
    rows are asked for of table …, which is no sparse table of the job
    table '…' has its storage already
    table '…' has no storage: bind_dense comes before start
    table '…' has … elements; the storage given has …
    table '…' is in a push twice
    table '…' is sparse: its rows stay on the servers
    table '…' is …
    table … of a job with … tables
    the answer to method … has a header of … bytes that cannot be read
    the answer to method … has … bytes of payload; expected …
    the dataset was not started
    the exchange ends before all records were taken
    the handler dropped the call without an answer
    the meeting place has … for this node's …
    the meeting place says '…', which cannot be
    this launcher's messages from … on came, expected number …
    worker … of a job with … workers; expected 0 to …
    … names table … of a job with … tables
    … says that it is server …
    … servers; expected at most 65535
    …: a piece of table '…' says … rows and has … bytes
    …: a state of table '…' has … bytes, expected …
"""


def patterns(page):
    """The regular expression of each message in the first column of the tables behind "## Data"."""
    rows = re.findall(r"^\| (`.*`) \| ", page[page.index("## Data") :], re.M)
    texts = [text for row in rows for text in re.findall(r"`((?:[^`]|`(?=use`))+)`(?:, |$)", row)]
    return {text: re.compile(".*".join(re.escape(part.strip()) for part in text.replace("\\|", "|").split("…")) + "$", re.S) for text in texts}


@pytest.fixture(scope="module")
def found():
    return messages.messages(ROOT)


@pytest.fixture(scope="module")
def rows():
    return patterns((ROOT / "docs/errors.md").read_text(encoding="utf-8"))


def squeezed(text):
    return " ".join(text.split())


def test_messages_are_read_from_the_sources(found):
    texts = [text for _, _, text, _ in found]
    assert len(texts) > 1500
    assert "there is no script '…'; a program that is not Python's needs --no-python, a module -m" in texts
    assert messages.joined('"a {} of "\n  "{:.2f} {{x}}"') == "a … of … {x}"


def test_every_row_is_a_message_of_the_sources(found, rows):
    texts = [text for _, _, text, _ in found]
    assert len(rows) > 150
    assert [row for row, pattern in rows.items() if not any(pattern.match(text) for text in texts)] == []


def test_every_message_that_a_user_meets_has_a_row(found, rows):
    ours = [squeezed(line) for line in OURS.strip().split("\n")]
    mine = [(text, name) for _, _, text, name in found if name.startswith(COVERED)]
    assert len(mine) > 300
    missing = [f"{name}: {text}" for text, name in mine if text not in ours and not any(pattern.match(text) for pattern in rows.values())]
    assert not missing, "give these a row in docs/errors.md, with what to do:\n" + "\n".join(missing)
    texts = {text for _, _, text, _ in found}
    assert [line for line in ours if line not in texts] == [], "no longer in the sources"
