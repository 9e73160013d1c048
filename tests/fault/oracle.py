"""The oracle: a job whose table counts its own samples.

Every sample of a job has a row of its own, and the gradient of that row is -1 each time that the sample is trained. With SGD and rate 1
the row's value in the end is how often the sample counted, times a share that the mode fixes; all of them are powers of two, so floats are exact.
Where threads meet in each step, the share depends on how many of them did: there Adagrad, whose first step is 1 for any gradient, and whose second is not 0.
A sample's number is its row: pass after pass, worker after worker, in the order of the data.
"""

import dataclasses

import numpy as np

MODES = ("sync", "half_async", "async", "geo")
READERS = ("feeder", "loader", "dataset")
THREADS = (1, 2)
_MASK = (1 << 64) - 1


@dataclasses.dataclass(frozen=True)
class Layout:
    """The data of a job: `passes` passes of each worker over `files` files with `lines` lines each, in batches of `batch` samples."""

    mode: str = "async"
    reader: str = "dataset"
    threads: int = 1
    workers: int = 2
    servers: int = 2
    passes: int = 2
    files: int = 8
    lines: int = 8
    batch: int = 4

    def __post_init__(self):
        assert self.samples % (self.batch * self.threads) == 0, "every thread of every step has a batch, so that shares are equal"

    @property
    def samples(self):
        """Of one worker in one pass."""
        return self.files * self.lines

    @property
    def rows(self):
        return self.passes * self.workers * self.samples

    @property
    def batches(self):
        """Of one worker in one pass."""
        return self.samples // self.batch

    @property
    def rule(self):
        return "adagrad" if self.mode in ("sync", "half_async") and self.threads > 1 else "sgd"

    @property
    def share(self):
        """What one training of a sample adds to its row: sync takes the mean over workers, and a geo worker sends 1/workers of a difference at once."""
        return 1.0 if self.rule == "adagrad" else {"sync": 1 / self.workers, "half_async": 1.0, "async": 1.0, "geo": 1 / self.workers}[self.mode]

    def file(self, turn, worker, file):
        return f"p{turn}-w{worker}-f{file}"

    def ids(self, turn, worker, file):
        first = (turn * self.workers + worker) * self.samples + file * self.lines
        return range(first, first + self.lines)

    def batch_of(self, sample):
        """(worker, round, index) of the batch that has this sample. A dataset's pass is a round; what a script feeds is one round."""
        turn, rest = divmod(sample, self.workers * self.samples)
        worker, place = divmod(rest, self.samples)
        if self.reader == "dataset":
            return worker, turn, place // self.batch
        return worker, 0, (turn * self.samples + place) // self.batch


def server_of(key, servers):
    """Where a row lives: argosy/ps/spec/job_spec.h."""
    x = (key + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return (x ^ (x >> 31)) % servers


class Window:
    """Which batches of a worker a server has applied, as it says."""

    def __init__(self, round, through, above):
        self.round, self.through, self.above = round, through, frozenset(above)

    def __contains__(self, batch):
        number, index = batch
        if number != self.round:
            return number < self.round
        return index < self.through or index in self.above


class Steps:
    """The same for a sync job, in which a server has batches before all workers have pushed theirs: the steps before `position` were taken."""

    def __init__(self, position, threads):
        self.position, self.threads = tuple(position), threads

    def __contains__(self, batch):
        number, index = batch
        return (number, index // self.threads) < self.position


def wrong_counts(layout, values, applied=None):
    """A line for each sample that does not count as often as it should: exactly once or, where `applied` is given (by server and worker: a Window
    or Steps), once if its batch is applied on its row's server and otherwise not at all. No lines: the counts are right."""
    values = np.asarray(values, "float64").reshape(-1)
    if len(values) != layout.rows:
        return [f"the table has {len(values)} rows, expected {layout.rows}"]
    lines = []
    for sample, value in enumerate(values):
        worker, turn, index = layout.batch_of(sample)
        due = 1 if applied is None else int((turn, index) in applied[server_of(sample, layout.servers)][worker])
        counted = value / layout.share
        if counted != due:
            kind = "lost" if counted < due else "doubled" if due else "counted, though not applied"
            lines.append(
                f"sample {sample} (worker {worker}, round {turn}, batch {index}, server {server_of(sample, layout.servers)}): {kind}: "
                f"counted {counted:g} times, expected {due}"
            )
    return lines


def wrong_steps(layout, values):
    """The same for the dense parameter, to which every batch adds one share, where the mode makes that exact."""
    if layout.mode == "geo" or layout.rule == "adagrad":
        return []
    due = layout.share * layout.workers * layout.passes * layout.batches
    return [f"dense parameter, element {i}: {value:g}, expected {due:g}" for i, value in enumerate(np.asarray(values).reshape(-1)) if value != due]
