"""The ways to disturb an oracle job, by name, and how it has to end.

`ends` is "well": every sample counts once and the status is 0; "badly": the status is another, the launcher's output or the processes' logs name the
cause (`named`), and what the servers say they have applied is what counted; or "either" of the two.
"""

import dataclasses
import re
import signal
import time
from collections.abc import Callable

from faulty_job import HOLDS


@dataclasses.dataclass(frozen=True)
class Cause:
    name: str
    disturb: Callable
    ends: str = "well"
    named: str = ""
    flags: tuple = ()
    restarts: int = 4
    directory: bool = True
    small_disk: bool = False
    two_machines: bool = False
    first: Callable = lambda job: None  # before the start
    only_replicas: bool = False  # it is of servers with followers
    reads_back: bool = True  # what the servers held can be read after a bad end


CAUSES = {}


def cause(name, **options):
    def note(disturb):
        CAUSES[name] = Cause(name, disturb, **options)
        return disturb

    return note


def in_the_middle(job):
    """The data has stopped in the middle of a pass; it goes on, for a moment that the seed decides."""
    job.wait_held(HOLDS[0])
    job.release(HOLDS[0])
    job.moment()


def logs_have(job, pattern):
    return re.search(pattern, job.output) or any(
        re.search(pattern, path.read_text(errors="replace")) for path in (job.folder / "logs").glob("*") if path.is_file()
    )


@cause("kill_worker")
def kill_worker(job):
    in_the_middle(job)
    job.kill(job.worker, signal.SIGKILL)


@cause("kill_server")
def kill_server(job):
    in_the_middle(job)
    job.kill(job.server, signal.SIGKILL)


@cause("kill_both")
def kill_both(job):
    """A worker, and a server right after it."""
    in_the_middle(job)
    job.kill(job.worker, signal.SIGKILL)
    job.kill(job.server, signal.SIGKILL)


@cause("stop_server", flags=("--call-seconds=1",))
def stop_server(job):
    in_the_middle(job)
    job.kill(job.server, signal.SIGSTOP)
    job.release(HOLDS[1])
    time.sleep(2.5)
    job.kill(job.server, signal.SIGCONT)


@cause("stop_worker", flags=("--lease-seconds=1",))
def stop_worker(job):
    """For longer than its lease: it is waited for."""
    in_the_middle(job)
    job.kill(job.worker, signal.SIGSTOP)
    job.release(HOLDS[1])
    time.sleep(2.5)
    job.kill(job.worker, signal.SIGCONT)


def fail_file(job, name):
    (job.folder / "fail" / name).touch()


@cause("pipe_fails_once", first=lambda job: fail_file(job, job.data_file(4) + ".1"))
def pipe_fails_once(job):
    in_the_middle(job)


@cause(
    "pipe_fails_always",
    ends="badly",
    named="the planted failure of|pipe command 'sh pipe.sh' ended with status 3",
    restarts=1,
    first=lambda job: fail_file(job, job.data_file(4)),
)
def pipe_fails_always(job):
    in_the_middle(job)


def break_line(job):
    path = job.folder / "data" / job.data_file(4)
    lines = path.read_text().splitlines(True)
    path.write_text("".join(["1 not-a-number\n" if i == 5 else line for i, line in enumerate(lines)]))


@cause("bad_line_stays", ends="badly", named=r"p\d-w\d-f4:6", restarts=1, first=break_line)
def bad_line_stays(job):
    in_the_middle(job)


@cause("bad_line_repaired", first=break_line)
def bad_line_repaired(job):
    """The line is put right while the worker that was started again waits for the file."""
    good = "".join(f"1 {i}\n" for i in job.layout.ids(job.disturbed, job.victim_index(), 4))
    job.hold(4, opening=2)
    in_the_middle(job)
    job.release(HOLDS[1])
    job.wait_held(4, opening=2, worker=job.victim_index())
    (job.folder / "data" / job.data_file(4)).write_text(good)
    job.release(4, opening=2)


@cause("server_wait_exceeded", restarts=20, flags=("--server-wait-seconds=5", "--call-seconds=1"))
def server_wait_exceeded(job):
    """A server stands still for longer than workers wait; they end with an error, and are started again."""
    in_the_middle(job)
    job.kill(job.server, signal.SIGSTOP)
    job.release(HOLDS[1])
    job.until(lambda: re.search(r"worker \d: .*starting it again", job.output), "no worker was started again")
    job.kill(job.server, signal.SIGCONT)


@cause("interrupt_worker")
def interrupt_worker(job):
    in_the_middle(job)
    job.kill(job.worker, signal.SIGINT)


@cause("server_without_memory", ends="either", named="started again without", restarts=1, directory=False, reads_back=False)
def server_without_memory(job):
    """durability=none: the server comes back with nothing. Workers that are started again may train again what it lacks."""
    in_the_middle(job)
    job.kill(job.server, signal.SIGKILL)


@cause("server_wiped", ends="either", named="started again without", restarts=2)
def server_wiped(job):
    in_the_middle(job)
    with job.dead_while(job.server):
        job.forget()


def in_the_first_pass(job):
    job.disturbed = 0


def in_the_last_pass(job):
    job.disturbed = job.layout.passes - 1


@cause("log_cut", ends="either", named="started again without", restarts=2, first=in_the_first_pass)
def log_cut(job):
    """What a power cut may leave of a log that is not synced: whole records, and not all that were acknowledged."""
    in_the_middle(job)
    with job.dead_while(job.server):
        job.cut_log(job.random.randrange(1, 8))


@cause("log_cut_far", ends="either", named="started again without", restarts=2, first=in_the_last_pass)
def log_cut_far(job):
    """The same, with the end of a pass that was finished."""
    in_the_middle(job)
    with job.dead_while(job.server):
        job.cut_log(40)


@cause("disk_full", small_disk=True, flags=("--call-seconds=2",))
def disk_full(job):
    """Until space is made again."""
    job.wait_held(HOLDS[0])
    job.fill_disk()
    job.release(*HOLDS)
    job.until(lambda: logs_have(job, "No space left"), "no server noticed that the disk is full")
    job.free_disk()


@cause("disk_stays_full", ends="badly", named="No space left", small_disk=True, restarts=1, flags=("--server-wait-seconds=3", "--call-seconds=1"))
def disk_stays_full(job):
    job.wait_held(HOLDS[0])
    job.fill_disk()
    job.release(*HOLDS)
    job.until(lambda: False, "the job did not end")
    job.free_disk()


@cause("partition", two_machines=True, flags=("--call-seconds=1",))
def partition(job):
    in_the_middle(job)
    job.cable("down")
    job.release(HOLDS[1])
    time.sleep(3)
    job.cable("up")


# ---- Of servers with two processes (replicas=1). Nothing that was acknowledged is lost, whichever dies.


@cause("kill_primary", only_replicas=True)
def kill_primary(job):
    """Which the launcher may not start again: the follower takes over, or has when the next one is killed."""
    in_the_middle(job)
    job.until(lambda: job.is_whole(), "the pair is not whole")
    job.kill(job.server, signal.SIGKILL)
    job.release(HOLDS[1])
    job.moment(1.5)
    job.until(lambda: job.is_whole(), "the pair is not whole again")
    job.kill(job.follower, signal.SIGKILL)  # which leads now


@cause("kill_follower", only_replicas=True)
def kill_follower(job):
    in_the_middle(job)
    job.kill(job.follower, signal.SIGKILL)
    job.release(HOLDS[1])
    job.moment(1.5)
    job.kill(job.follower, signal.SIGKILL)


@cause("kill_pair", only_replicas=True)
def kill_pair(job):
    """Both at once, and started again: their directories have everything."""
    in_the_middle(job)
    job.kill(job.server, signal.SIGKILL)
    job.moment(0.05)
    job.kill(job.follower, signal.SIGKILL)


@cause("stop_primary", only_replicas=True, flags=("--call-seconds=5",))
def stop_primary(job):
    """It stands still until its follower has taken over, and goes on then as if nothing had been."""
    in_the_middle(job)
    job.until(lambda: job.is_whole(), "the pair is not whole")
    job.kill(job.server, signal.SIGSTOP)
    job.release(HOLDS[1])
    job.until(lambda: logs_have(job, "has taken over from the process at"), "nobody has taken over")
    job.moment(1)
    job.kill(job.server, signal.SIGCONT)


@cause("stop_follower", only_replicas=True)
def stop_follower(job):
    """It is left out, and ends when it goes on."""
    in_the_middle(job)
    job.kill(job.follower, signal.SIGSTOP)
    job.release(HOLDS[1])
    job.until(lambda: logs_have(job, "goes on without its follower"), "the primary did not go on")
    job.kill(job.follower, signal.SIGCONT)


@cause(
    "kill_pair_for_good",
    only_replicas=True,
    ends="badly",
    named=r"going on with the other process of its server alone[\s\S]*(stopping the job|is lost)",
    restarts=0,
)
def kill_pair_for_good(job):
    """Nobody is started again: the follower takes over, and when that is killed as well the job says what it has lost."""
    in_the_middle(job)
    job.until(lambda: job.is_whole(), "the pair is not whole")
    job.kill(job.server, signal.SIGKILL)
    job.moment(1)
    job.kill(job.follower, signal.SIGKILL)
    job.release(HOLDS[1])


@cause("kill_randomly", only_replicas=True, restarts=30)
def kill_randomly(job):
    """Either side, again and again."""
    in_the_middle(job)
    job.release(HOLDS[1])
    for _ in range(6):
        if not job.running():
            return
        job.kill(job.random.choice((job.server, job.follower)), signal.SIGKILL)
        job.moment(1.2)
