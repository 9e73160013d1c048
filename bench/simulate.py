#!/usr/bin/env python3
"""How a job of parameter servers would scale: a simulation of 1 to 1,000 workers, calibrated by one worker with one server.

    bench/simulate.py                                        the default job at 10 to 1,000 workers, in all three modes
    bench/simulate.py --check                                the measured jobs of docs/benchmarks-notes.md beside what is simulated for them
    bench/simulate.py --shape 20x100 --mode sync --scatter 0.3 --stragglers 0.05 --straggler_factor 3
    bench/simulate.py --shape 8x64 --workers_per_machine 4 --gbit 10 --link_us 100

One line per job: samples per second, per worker as a part of what one worker with one server does, how many threads want to run
per hardware thread, how busy the busiest link and server are, and which part of its time a worker does not compute. Numbers come from the seed alone.

What is simulated, event by event: a worker's batch (computing, whose time is lognormal; in async mode rows are pulled one batch ahead and gradients are
pushed behind; in sync mode all workers wait for the slowest; in geo mode every --geo_k batches differences are exchanged while training goes on),
the links of the machines, which send and receive one message after the other, and the servers, which answer in the order of arrival. Processes
of one machine slow each other: a core's two hardware threads, both busy, are --sibling times as fast each as one alone, and beyond the
number of hardware threads time is shared. Rows are of Zipf's distribution: its head makes some servers busier than others, and in geo
mode says how many different rows several batches have.

The calibration (--compute_us, --cpu_us, --server_us, --bytes_up, --bytes_down) is that of CTR-DNN, async, on 16 hardware threads. --sibling, --message_us and
the bytes down are assumptions, not measurements of that machine.
"""

import argparse
import dataclasses
import heapq
import itertools
import math
import sys

import numpy as np

MEASURED = [((1, 1), 41315), ((2, 2), 81525), ((4, 4), 138255), ((8, 8), 257533)]  # (servers, workers), samples/s; docs/benchmarks-notes.md
SHAPES = [(10, 10), (10, 30), (10, 100), (30, 100), (30, 300), (100, 300), (100, 1000), (200, 1000)]
REFRESH = 50  # events between two looks at how busy the machines are


@dataclasses.dataclass(frozen=True)
class Job:
    """What is simulated. Times are of a machine where nothing else runs."""

    servers: int = 1
    workers: int = 1
    mode: str = "async"
    batches: int = 30  # of each worker
    batch: int = 1000  # samples
    compute_us: float = 24.2  # per sample: the worker's only computing thread; 1e6 / 41,315
    cpu_us: float = 29.5  # per sample: all of the worker's threads
    server_us: float = 5.4  # per sample: all servers' work, without what each message costs
    message_us: float = 60.0  # of a server, per message
    messages: int = 3  # of a worker to each server per batch: rows, gradients, dense parameters
    bytes_up: float = 2180.0  # per sample
    bytes_down: float = 2180.0
    scatter: float = 0.05  # standard deviation of a batch's time, as a part of its mean
    stragglers: float = 0.0  # the part of the workers that are always slower,
    straggler_factor: float = 2.0  # so many times
    zipf: float = 1.05  # exponent of the rows' frequencies; 0: all alike
    rows: int = 1_000_001
    lookups: int = 26  # per sample
    geo_k: int = 100
    cores: int = 16  # hardware threads of a machine
    sibling: float = 0.62  # 1: a hardware thread is a core
    workers_per_machine: int = 0  # 0: all processes on one machine
    gbit: float = 25.0  # of a machine's link, in each direction; between processes of one machine: no limit
    link_us: float = 50.0  # one way, between machines
    seed: int = 1


@dataclasses.dataclass(frozen=True)
class Result:
    samples_per_second: float
    batches: np.ndarray  # of each worker
    runnable: float  # threads that want to run on the busiest machine, per hardware thread
    link_busy: float  # of the busiest link
    server_busy: float  # of the busiest server
    waiting: float  # the part of a worker's time in which it does not compute


def frequencies(job):
    weights = np.arange(1, job.rows + 1, dtype=float) ** -job.zipf
    return weights / weights.sum()


def different_rows(of_frequency, lookups):
    """How many different rows so many lookups have, on average."""
    return float(-np.expm1(lookups * np.log1p(-np.minimum(of_frequency, 1 - 1e-12))).sum())


def server_shares(job, of_frequency, rng):
    """Which part of a batch's rows each server has. A row is asked for once per batch, whichever server it is on."""
    asked = -np.expm1(job.batch * job.lookups * np.log1p(-np.minimum(of_frequency, 1 - 1e-12)))
    load = np.bincount(rng.integers(0, job.servers, job.rows), weights=asked, minlength=job.servers)
    return load / load.sum()


def contention(runnable, cores, sibling):
    """How many times longer threads take where so many of them want to run on a machine."""
    busy = np.clip(runnable, 1, cores)
    sharing = (busy - 1) / max(cores - 1, 1)  # the chance that the other hardware thread of one's core is busy too
    return np.maximum(runnable / cores, 1) / (1 - (1 - sibling) * sharing)


class Machines:
    """Cores and links. A machine has some workers and its share of the servers."""

    def __init__(self, job):
        self.job = job
        per = job.workers_per_machine or job.workers
        self.count = math.ceil(job.workers / per)
        self.of_worker = np.arange(job.workers) // per
        self.of_server = np.arange(job.servers) * self.count // job.servers
        self.first_servers = np.flatnonzero(np.r_[True, np.diff(self.of_server) > 0])  # of each machine that has any
        self.servers_of = np.diff(np.r_[self.first_servers, job.servers])
        self.seconds_per_byte = 8 / (job.gbit * 1e9) if self.count > 1 else 0.0
        self.latency = job.link_us * 1e-6 if self.count > 1 else 0.0
        self.used = np.zeros(self.count)  # seconds of threads
        self.slow = np.ones(self.count)
        self.sent, self.received = np.zeros(self.count), np.zeros(self.count)  # when the links are free
        self.link_seconds = np.zeros((2, self.count))

    def refresh(self, now):
        # Work is booked when it begins: a batch ahead of the clock.
        ahead = self.job.batch * self.job.compute_us * 1e-6
        self.slow = contention(self.used / (now + ahead), self.job.cores, self.job.sibling)

    def through(self, link, direction, machine, at, size):
        """When messages of `size` bytes that come at `at` are through the link of a machine, or of the machine of each server."""
        seconds = size * self.seconds_per_byte
        np.add.at(self.link_seconds[direction], machine, seconds)
        if np.ndim(machine) == 0:
            link[machine] = max(link[machine], at) + seconds
            return link[machine]
        done = np.maximum.reduceat(at, self.first_servers) if np.ndim(at) else np.full(len(self.first_servers), at)
        machines = machine[self.first_servers]
        link[machines] = np.maximum(link[machines], done) + np.add.reduceat(seconds, self.first_servers)
        return np.repeat(link[machines], self.servers_of)


class Simulation:
    """One run. Events are (time, number, function, arguments); a function books what it uses and sets the events that follow."""

    def __init__(self, job):
        self.job, self.machines = job, Machines(job)
        rng = self.rng = np.random.default_rng(job.seed)
        of_frequency = frequencies(job)
        self.share = server_shares(job, of_frequency, rng)
        distinct = different_rows(of_frequency, job.batch * job.lookups)
        self.rows_of_k = different_rows(of_frequency, job.batch * job.lookups * job.geo_k) / distinct  # in rows of a batch
        self.rows_of_all = different_rows(of_frequency, job.batch * job.lookups * job.geo_k * max(job.workers - 1, 1)) / distinct
        self.factor = np.ones(job.workers)
        self.factor[: round(job.stragglers * job.workers)] = job.straggler_factor
        self.server_free = np.zeros(job.servers)
        self.server_seconds = np.zeros(job.servers)
        per_machine = np.bincount(self.machines.of_server, minlength=self.machines.count)[self.machines.of_server]
        self.server_threads = np.maximum(job.cores / per_machine, 1)
        self.events, self.numbers, self.seen = [], itertools.count(), 0
        self.done = np.zeros(job.workers, dtype=int)
        self.computing, self.ends = np.zeros(job.workers), [[] for _ in range(job.workers)]

    def at(self, time, function, *arguments):
        heapq.heappush(self.events, (time, next(self.numbers), function, arguments))

    def run(self):
        begin = {"async": self.begin_async, "sync": self.begin_sync, "geo": self.begin_geo}[self.job.mode]
        begin()
        now = 0.0
        while self.events:
            now, _, function, arguments = heapq.heappop(self.events)
            self.seen += 1
            if self.seen % REFRESH == 0:
                self.machines.refresh(now)
            function(now, *arguments)
        return self.result(now)

    # ---- What a worker and a server do.

    def compute(self, now, worker, then):
        """A batch of a worker; `then` is called at its end."""
        job, machines = self.job, self.machines
        spread = math.sqrt(math.log1p(job.scatter**2))
        drawn = self.rng.lognormal(-spread * spread / 2, spread) if job.scatter > 0 else 1.0
        machine = machines.of_worker[worker]
        seconds = job.batch * 1e-6 * drawn * self.factor[worker] * machines.slow[machine]
        machines.used[machine] += seconds * job.cpu_us
        self.computing[worker] += seconds * job.compute_us
        self.at(now + seconds * job.compute_us, then, worker)

    def call(self, now, worker, up, down, work, messages, then, *arguments):
        """Messages to all servers, with so many bytes and so much work in all; `then` is called when all have answered."""
        machines = self.machines
        left = machines.through(machines.sent, 0, machines.of_worker[worker], now, up)
        self.at(left + machines.latency, self.arrive, worker, up, down, work, messages, then, arguments)

    def arrive(self, now, worker, up, down, work, messages, then, arguments):
        machines, share = self.machines, self.share
        arrived = machines.through(machines.received, 1, machines.of_server, now, up * share)
        seconds = (work * share + messages * self.job.message_us * 1e-6) * machines.slow[machines.of_server]
        np.add.at(machines.used, machines.of_server, seconds)
        self.server_seconds += seconds / self.server_threads
        self.server_free = np.maximum(self.server_free, arrived) + seconds / self.server_threads
        answered = self.server_free + seconds * (1 - 1 / self.server_threads)  # one thread has it for all of its time
        sent = machines.through(machines.sent, 0, machines.of_server, answered, down * share)
        self.at(float(sent.max()) + machines.latency, self.answer, worker, down, then, arguments)

    def answer(self, now, worker, down, then, arguments):
        machines = self.machines
        received = machines.through(machines.received, 1, machines.of_worker[worker], now, down)
        self.at(received, then, worker, *arguments)

    def pull(self, now, worker, then, *arguments):
        job = self.job
        self.call(now, worker, 0.2 * job.bytes_up * job.batch, 0.8 * job.bytes_down * job.batch, 0.4e-6 * job.server_us * job.batch, 1, then, *arguments)

    def push(self, now, worker, then, *arguments):
        """The gradients, and the dense parameters that are received after them."""
        job = self.job
        up, down = 0.8 * job.bytes_up * job.batch, 0.2 * job.bytes_down * job.batch
        self.call(now, worker, up, down, 0.6e-6 * job.server_us * job.batch, job.messages - 1, then, *arguments)

    def finish_batch(self, now, worker):
        self.done[worker] += 1
        self.ends[worker].append(now)
        return self.done[worker] < self.job.batches

    # ---- Async: a batch begins when its rows are here and the batch before the last is acknowledged.

    def begin_async(self):
        self.pulled, self.acknowledged = np.zeros(self.job.workers, dtype=int), np.zeros(self.job.workers, dtype=int)
        self.asked, self.busy = np.zeros(self.job.workers, dtype=int), np.zeros(self.job.workers, dtype=bool)
        self.pushed, self.pushing = np.zeros(self.job.workers, dtype=int), np.zeros(self.job.workers, dtype=bool)
        for worker in range(self.job.workers):
            self.go_on(0.0, worker)

    def go_on(self, now, worker):
        done, acknowledged, job = self.done[worker], self.acknowledged[worker], self.job
        if self.pushed[worker] < done and not self.pushing[worker]:
            self.pushing[worker] = True
            self.pushed[worker] += 1
            self.push(now, worker, self.on_acknowledged)
        begun = done + self.busy[worker]
        if self.asked[worker] < job.batches and self.asked[worker] == self.pulled[worker] <= begun and acknowledged >= self.asked[worker] - 1:
            self.asked[worker] += 1
            self.pull(now, worker, self.on_pulled)
        if not self.busy[worker] and self.pulled[worker] > done and acknowledged >= done - 1:
            self.busy[worker] = True
            self.compute(now, worker, self.on_computed)
            self.go_on(now, worker)

    def on_pulled(self, now, worker):
        self.pulled[worker] += 1
        self.go_on(now, worker)

    def on_acknowledged(self, now, worker):
        self.acknowledged[worker] += 1
        self.pushing[worker] = False
        self.go_on(now, worker)

    def on_computed(self, now, worker):
        self.busy[worker] = False
        self.finish_batch(now, worker)
        self.go_on(now, worker)

    # ---- Sync: everybody's next step begins when everybody's gradients are here.

    def begin_sync(self):
        self.missing = self.job.workers
        for worker in range(self.job.workers):
            self.pull(0.0, worker, self.step)

    def step(self, now, worker):
        self.compute(now, worker, lambda end, who: self.push(end, who, self.meet))

    def meet(self, now, worker):
        self.finish_batch(now, worker)
        self.missing -= 1
        if self.missing > 0:
            return
        self.missing = self.job.workers
        if self.done[worker] < self.job.batches:
            for each in range(self.job.workers):
                self.pull(now, each, self.step)

    # ---- Geo: nobody waits, but for the exchange before.

    def begin_geo(self):
        self.exchanging, self.waits = np.zeros(self.job.workers, dtype=bool), np.zeros(self.job.workers, dtype=bool)
        for worker in range(self.job.workers):
            self.compute(0.0, worker, self.trained)

    def trained(self, now, worker):
        more = self.finish_batch(now, worker)
        if self.done[worker] % self.job.geo_k == 0:
            if self.exchanging[worker]:
                self.waits[worker] = more
                return
            self.exchange(now, worker)
        if more:
            self.compute(now, worker, self.trained)

    def exchange(self, now, worker):
        self.exchanging[worker] = True
        job = self.job
        up, down = self.rows_of_k * job.bytes_up * job.batch, (self.rows_of_all if job.workers > 1 else 0) * job.bytes_down * job.batch
        work = 0.5e-6 * job.server_us * job.batch * (self.rows_of_k + (self.rows_of_all if job.workers > 1 else 0))
        self.call(now, worker, up, down, work, job.messages, self.exchanged)

    def exchanged(self, now, worker):
        self.exchanging[worker] = False
        if self.waits[worker]:
            self.waits[worker] = False
            self.exchange(now, worker)
            self.compute(now, worker, self.trained)

    def rate(self, ends, begin, end):
        """Batches per second of a worker within these times."""
        within = [time for time in ends if begin <= time <= end]
        return (len(within) - 1) / (within[-1] - within[0]) if len(within) > 1 else sum(time <= end for time in ends) / end

    def result(self, end):
        """Of the time in which all workers train, without its first third: by then the job is in its stride."""
        job, machines = self.job, self.machines
        first_done = min(ends[-1] for ends in self.ends)
        rates = [job.batch * self.rate(ends, first_done / 3, first_done) for ends in self.ends]
        last = max(ends[-1] for ends in self.ends)
        lengths = np.array([ends[-1] for ends in self.ends])
        return Result(
            samples_per_second=float(sum(rates)),
            batches=self.done,
            runnable=float(machines.used.max() / last / job.cores),
            link_busy=float(machines.link_seconds.max() / max(end, last)),
            server_busy=float(self.server_seconds.max() / max(end, last)),
            waiting=float(1 - (self.computing / lengths).mean()),
        )


def simulate(job):
    return Simulation(job).run()


def line(name, job, result, alone):
    return (
        f"{name:>9} {job.mode:>6} {result.samples_per_second:>14,.0f} {result.samples_per_second / job.workers / alone:>10.2f}"
        f" {result.runnable:>10.2f} {result.link_busy:>6.0%} {result.server_busy:>8.0%} {result.waiting:>8.0%}"
    )


HEAD = f"{'servers x':>9}\n{'workers':>9} {'mode':>6} {'samples/s':>14} {'per worker':>10} {'runnable':>10} {'link':>6} {'server':>8} {'waiting':>8}"


def check(job):
    print(f"{'':>9} {'measured':>12} {'simulated':>12} {'error':>7}")
    for (servers, workers), measured in MEASURED:
        found = simulate(dataclasses.replace(job, servers=servers, workers=workers, mode="async", batches=60, workers_per_machine=0)).samples_per_second
        print(f"{f'{servers} x {workers}':>9} {measured:>12,} {found:>12,.0f} {found / measured - 1:>+7.1%}")


def shape(text):
    servers, _, workers = text.partition("x")
    if not (servers.isdigit() and workers.isdigit() and int(servers) and int(workers)):
        raise argparse.ArgumentTypeError(f"'{text}' is not SERVERSxWORKERS, for example 20x100")
    return int(servers), int(workers)


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="against docs/benchmarks-notes.md")
    parser.add_argument("--shape", type=shape, action="append", metavar="SERVERSxWORKERS", help="as often as wanted")
    parser.add_argument("--mode", choices=["sync", "async", "geo"], action="append")
    for field in dataclasses.fields(Job):
        if field.name not in ("servers", "workers", "mode"):
            default = 8 if field.name == "workers_per_machine" else field.default
            parser.add_argument(f"--{field.name}", type=type(field.default), default=default, help=f"default {default}")
    return parser.parse_args(argv)


def main(argv=None):
    args = arguments(argv)
    job = Job(**{field.name: getattr(args, field.name) for field in dataclasses.fields(Job) if hasattr(args, field.name) and field.name != "mode"})
    if args.check:
        check(job)
        return
    print(HEAD)
    alone = simulate(dataclasses.replace(job, servers=1, workers=1, stragglers=0.0, batches=60)).samples_per_second
    for servers, workers in args.shape or SHAPES:
        for mode in args.mode or ["sync", "async", "geo"]:
            batches = max(job.batches, 4 * job.geo_k) if mode == "geo" else job.batches
            one = dataclasses.replace(job, servers=servers, workers=workers, mode=mode, batches=batches)
            print(line(f"{servers} x {workers}", one, simulate(one), alone), flush=True)


if __name__ == "__main__":
    sys.exit(main())
