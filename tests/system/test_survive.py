"""on_rank_loss=survive: a rank dies, the others go on from memory, and the result has the bits of a calm run."""

import collections
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import time

import pytest

from ports import free_range
from ps_job import until

SCRIPT = pathlib.Path(__file__).parent / "survive_train.py"
SURVIVING = pathlib.Path(__file__).resolve().parents[2] / "build/release/examples/surviving"
PASSES, STEPS = 5, 6  # of a pass: 192 samples, 4 ranks, batches of 8
SEED = int(os.environ.get("ARGOSY_TEST_SEED") or random.SystemRandom().randrange(10**6))


class Ranks:
    """A launched job of four ranks."""

    def __init__(self, job, *flags, seconds=0.05, **env):
        self.job, self.folder = job, job.folder
        self.process = job.start(
            "fleetrun",
            f"--started_port={free_range(4)}",
            "--nproc_per_node=4",
            "--log_dir=logs",
            *flags,
            SCRIPT,
            PASSES,
            seconds,
            ARGOSY_ON_RANK_LOSS="survive",
            ARGOSY_DEVICE="cpu",
            ARGOSY_PYTHON=sys.executable,
            **env,
        )

    @classmethod
    def of(cls, job, process):
        """Those of launchers that the test has started."""
        made = cls.__new__(cls)
        made.job, made.folder, made.process = job, job.folder, process
        return made

    def lines(self, name, rank):
        path = self.folder / f"{name}.{rank}"
        return path.read_text().splitlines() if path.exists() else []

    def pids(self):
        """Of each rank, all processes that it was, in order."""
        return [self.lines("pid", rank) for rank in range(4)]

    def wait_for_step(self, number):
        """Until every rank has counted so many."""
        until(lambda: all(len(self.lines("steps", rank)) >= number for rank in range(4)) or self.process.poll() is not None, self.job.logs)

    def signal(self, rank, number):
        os.kill(int(self.pids()[rank][-1]), number)

    def end(self, status=0):
        return self.job.end(self.process, status)

    def digests(self):
        return {(self.folder / f"digest.{rank}").read_text() for rank in range(4)}

    def steps(self):
        """{(pass, index, rank): samples}. The last step of a rank that dies may be written twice: then it is the same."""
        found = {}
        for rank in range(4):
            for line in self.lines("steps", rank):
                epoch, index, *samples = map(int, line.split())
                assert found.setdefault((epoch, index, rank), samples) == samples, f"seed {SEED}: step {epoch} {index} of rank {rank} differs"
        return found

    def pauses(self):
        """Seconds, of each rank each time."""
        return [float(seconds) for rank in range(4) for seconds in re.findall(r"after a pause of ([\d.]+) s", self.job.log(f"worker {rank}"))]


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """What an undisturbed run has learned and counted."""
    from ps_job import Job

    job = Job(tmp_path_factory.mktemp("calm"))
    try:
        ranks = Ranks(job, "--max_restart=1", seconds=0)
        ranks.end()
        assert len(ranks.digests()) == 1
        return ranks.digests(), ranks.steps()
    finally:
        job.kill_all()


def check_equal(ranks, calm):
    """The bits of the calm run, and every sample of every pass once."""
    assert (ranks.digests(), ranks.steps()) == calm, f"seed {SEED}"
    samples = collections.Counter((epoch, i) for (epoch, _, _), ids in ranks.steps().items() for i in ids)
    assert set(samples.values()) == {1} and len(samples) == PASSES * 192


def check_pids(ranks, lost):
    """Those that were lost have been started again, so often; the others are the processes that they were."""
    assert [len(pids) - 1 for pids in ranks.pids()] == [lost.count(rank) for rank in range(4)], f"seed {SEED}"


def test_kills_at_any_moment_of_any_rank_leave_no_trace(job, calm):
    draw = random.Random(SEED)
    print("seed", SEED)
    lost = [draw.randrange(4) for _ in range(3)]
    ranks = Ranks(job, "--max_restart=9")
    for number, rank in enumerate(lost):
        ranks.wait_for_step(2 + 8 * number)
        time.sleep(draw.uniform(0, 0.06))  # anywhere in a step
        ranks.signal(rank, signal.SIGKILL)
    out = ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, lost)
    assert out.count("it starts again alone, and the others go on with it") == 3, out
    assert len(ranks.pauses()) == 9, job.logs()
    print("pauses", sorted(ranks.pauses()))
    assert max(ranks.pauses()) < 30  # a busy machine; docs/collective.md has the measured ones


def test_a_spare_process_takes_the_place(job, calm):
    ranks = Ranks(job, "--max_restart=2", "--spare_ranks=1", seconds=0.2)
    for number, rank in ((4, 0), (16, 3)):
        ranks.wait_for_step(number)
        until((job.folder / "logs/sparelog.0").exists)
        ranks.signal(rank, signal.SIGKILL)
    ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, [0, 3])
    assert "rank 0 has taken the model of another" in job.log("worker 0")  # the rank's own log
    print("pauses", sorted(ranks.pauses()))


def test_a_spare_that_ends_is_told_and_not_replaced(job):
    ranks = Ranks(job, "--max_restart=1", "--spare_ranks=1", seconds=0.3, TROUBLE="environ")
    assert ranks.end().count("the spare process has ended: exit status 1") == 1


def test_rank_0_is_no_exception(job, calm):
    """It hosts the first meeting, has the buffers that count, and writes the checkpoints."""
    ranks = Ranks(job, "--max_restart=2", seconds=0.2)
    for number in (4, 15):
        ranks.wait_for_step(number)
        time.sleep(0.15)  # behind the forward of the others, which changes their buffers
        ranks.signal(0, signal.SIGKILL)
    ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, [0, 0])


@pytest.mark.parametrize("rank", [0, 3])
def test_a_rank_that_stands_still_is_lost_after_its_time(job, calm, rank):
    ranks = Ranks(job, "--max_restart=1", "--peer_seconds=8")
    ranks.wait_for_step(9)
    ranks.signal(rank, signal.SIGSTOP)
    out = ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, [rank])
    assert f"rank {rank} gave no sign of life for 8 s (peer_seconds); it is killed" in out
    saved = re.search(rf"rank {rank} gave no sign of life for 8 s \(peer_seconds\); what its threads do is in (\S+\.txt)", out)
    assert saved and out.index(saved[0]) < out.index("it is killed"), out
    stacks = (job.folder / saved[1]).read_text()
    assert all(f"==== rank {each}" in stacks for each in range(4)), stacks


def test_a_rank_may_take_its_time_after_the_training(job, calm):
    """It gives no signs of life then, and was killed for it."""
    ranks = Ranks(job, "--max_restart=1", "--peer_seconds=3", seconds=0, TROUBLE="slow end")
    assert "no sign of life" not in ranks.end()
    check_equal(ranks, calm)


def test_an_error_is_a_loss_too(job, calm):
    ranks = Ranks(job, "--max_restart=1", TROUBLE="raise 2 7")
    out = ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, [2])
    assert "ValueError: a bad batch" in out and "rank 2: exit status 1 of node 127.0.0.1; it starts again alone" in out


def test_several_at_once(job, calm):
    ranks = Ranks(job, "--max_restart=3")
    ranks.wait_for_step(9)
    for rank in (0, 1, 3):
        ranks.signal(rank, signal.SIGKILL)
    ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, [0, 1, 3])


def test_one_that_is_lost_while_the_group_meets_again(job, calm):
    """A survivor at any moment of the meeting, and a newcomer before it has met anybody."""
    draw = random.Random(SEED)
    print("seed", SEED)
    ranks = Ranks(job, "--max_restart=9", TROUBLE="exit 2")
    ranks.wait_for_step(5)
    ranks.signal(2, signal.SIGKILL)
    time.sleep(draw.uniform(0, 4))
    ranks.signal(1, signal.SIGKILL)
    ranks.end()
    check_equal(ranks, calm)
    check_pids(ranks, [2, 2, 1])


def test_when_all_are_lost_the_group_starts_again_from_its_checkpoint(job, calm):
    ranks = Ranks(job, "--max_restart=9")
    ranks.wait_for_step(2 * STEPS + 2)
    for rank in range(4):
        ranks.signal(rank, signal.SIGKILL)
    out = ranks.end()
    assert "no rank is left that has the model; the whole group starts again" in out and "from checkpoint" in out
    assert ranks.digests() == calm[0] and ranks.steps() == calm[1]


def test_when_no_restart_is_left_the_job_ends_with_what_was_lost(job):
    ranks = Ranks(job, "--max_restart=1")
    ranks.wait_for_step(3)
    ranks.signal(1, signal.SIGKILL)
    ranks.wait_for_step(8)
    ranks.signal(3, signal.SIGKILL)
    assert re.search(r"rank 3: killed by signal 9.* of node 127.0.0.1; the job has ended", ranks.end(137))


def test_ranks_of_two_launchers(job, calm):
    """Rank 0, whose launcher decides, and one of the other launcher's; both meet at an address that they are told."""
    port = free_range(1)
    launchers = [
        job.start(
            *["fleetrun", "--nnodes=2", f"--rdzv_endpoint=127.0.0.1:{port}", f"--node_ip=127.0.0.{node + 1}", f"--node_rank={node}", "--nproc_per_node=2"],
            *[f"--log_dir=node{node}", "--max_restart=2", SCRIPT, PASSES, 0.05],
            ARGOSY_ON_RANK_LOSS="survive",
            ARGOSY_DEVICE="cpu",
            ARGOSY_PYTHON=sys.executable,
        )
        for node in range(2)
    ]
    ranks = Ranks.of(job, launchers[0])
    for number, rank in ((4, 3), (12, 0)):
        ranks.wait_for_step(number)
        ranks.signal(rank, signal.SIGKILL)
    for launcher in launchers:
        assert job.end(launcher).count("it starts again alone") == 2
    check_equal(ranks, calm)
    check_pids(ranks, [3, 0])


def test_a_libtorch_program_survives_too(job):
    """examples/surviving.cc, whose output has its parameters' sum to the last digit."""

    def launch(*arguments):
        flags = [f"--started_port={free_range(4)}", "--no-python", "--nproc_per_node=4", "--log_dir=logs", "--max_restart=3", "--on_rank_loss=survive"]
        return job.start("fleetrun", *flags, SURVIVING, *arguments, ARGOSY_DEVICE="cpu")

    def learned():
        logs = [job.log(f"worker {rank}") for rank in range(4)]
        return {re.search(r"learned (\S+)", log)[1] for log in logs}, [re.findall(r"pass (\d+) ", log)[-1] for log in logs]

    job.end(launch(30, 0))
    calm = learned()
    assert len(calm[0]) == 1
    shutil.rmtree(job.folder / "logs")
    launcher = launch(30, 30)
    for rank, seconds in ((2, 0.3), (0, 1.0)):
        until(lambda rank=rank: "pass 0" in job.log(f"worker {rank}"), job.logs)
        time.sleep(seconds)
        job.signal(launcher, f"worker {rank}", signal.SIGKILL)
    out = job.end(launcher)
    assert learned() == calm and out.count("it starts again alone") == 2


@pytest.mark.parametrize(
    "trouble, message",
    [
        ("move", "the optimizer's step() within a step of train_steps: a step is forward and backward"),
        ("barrier", "was started again in the place of one that was lost, and copies its model from the others where they train"),
    ],
)
def test_what_a_script_must_not_do_is_said(job, trouble, message):
    ranks = Ranks(job, "--max_restart=1", TROUBLE=trouble)
    if trouble == "barrier":
        ranks.wait_for_step(3)
        ranks.signal(1, signal.SIGKILL)
    assert message in ranks.end(1)
