"""Parameter-server jobs from Python, as processes: the life of workers and servers, and what workers share."""

import os
import pathlib
import re
import signal
import time

import numpy as np
import pytest

from ports import free_range
from ps_job import SECONDS
from ps_scripts import FLEET, JOB, NETWORK, STEPS


def learned(log):
    """A loss of a third. Where another worker has begun before, this one's first loss is low already; untrained it is about 10."""
    first, last = map(float, re.search(r"losses (\S+) (\S+)", log).groups())
    return last < 0.3 * max(first, 3)


# run_server() without init_server(), no init_worker(), no stop_worker(): scripts that do only what they must.
def test_a_script_that_says_the_least_trains_and_ends(job):
    job.write("train.py", JOB + STEPS)
    for log in job.launch("train.py"):
        assert learned(log), log


@pytest.mark.parametrize("place", ["before", "after", "twice"])
def test_init_worker_has_no_place_of_its_own(job, place):
    startup = "exe.run(fluid.default_startup_program())\n"
    calls = {
        "before": "fleet.init_worker()\n" + startup,
        "after": startup + "fleet.init_worker()\n",
        "twice": "fleet.init_worker()\n" + startup + startup + "fleet.init_worker()\n",
    }
    job.write("train.py", JOB.replace(startup, calls[place]) + STEPS + "fleet.stop_worker()\nfleet.stop_worker()\n")
    for log in job.launch("train.py"):
        assert learned(log), log


STRATEGIES = {
    "sync": "strategy = None",
    "half_async": "strategy = StrategyFactory.create_half_async_strategy()",
    "async": "strategy = fluid.DistributeTranspilerConfig()\nstrategy.sync_mode = False",
    "geo": "strategy = StrategyFactory.create_geo_strategy(5)",
}


@pytest.mark.parametrize("mode", STRATEGIES)
def test_every_mode_learns_with_every_way_to_choose_it(job, mode):
    head = "from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory\n"
    script = JOB.replace("Adam(0.05)).minimize", "SGD(0.1), strategy).minimize").replace(
        "fleet.distributed_optimizer", head + STRATEGIES[mode] + "\nfleet.distributed_optimizer"
    )
    job.write("train.py", script + STEPS + "fleet.stop_worker()\n")
    for log in job.launch("train.py"):
        assert learned(log), log


@pytest.mark.parametrize(
    "strategy, mode", [("", "sync"), ("strategy.a_sync = True", "async"), ("strategy.a_sync_configs = {'k_steps': 4}\nstrategy.a_sync = True", "geo")]
)
def test_the_fleet_of_paddle_distributed(job, strategy, mode):
    job.write(
        "train.py",
        NETWORK
        + f"""
import paddle.distributed.fleet as fleet
fleet.init()
strategy = fleet.DistributedStrategy()
{strategy}
optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy=strategy)
fleet.minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
    sys.exit(0)
fleet.init_worker()
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(paddle.static.default_startup_program())
{STEPS}
fleet.barrier_worker()
sum = fleet.util.all_reduce(np.array([fleet.worker_index(), 1]))
print('sum', sum.tolist(), fleet.util.all_reduce(2.5, 'max'), fleet.util.all_gather({{'rank': fleet.worker_index()}}))
print('arrays', [a.tolist() for a in fleet.util.all_gather(np.full(2, fleet.worker_index(), 'int32'))])
print('acc', fleet.metrics.acc(np.array([fleet.worker_index()]), np.array([2])))
positive, negative = np.zeros(4, 'int64'), np.zeros(4, 'int64')
(positive if fleet.worker_index() else negative)[fleet.worker_index() + 1] = 5
print('auc', fleet.metrics.auc(positive, negative))
print('files', fleet.util.get_file_shard(['a', 'b', 'c']), fleet.worker_endpoints(to_string=True).count(':'))
fleet.util.print_on_rank('only here', 1)
fleet.stop_worker()
""",
    )
    logs = job.launch("train.py")
    for log in logs:
        assert learned(log), log
        assert "sum [1, 2] 2.5 [{'rank': 0}, {'rank': 1}]" in log and "arrays [[0, 0], [1, 1]]" in log and "acc 0.25" in log and "auc 1.0" in log
    assert "files ['a', 'b'] 2" in logs[0] and "files ['c'] 2" in logs[1]
    assert "only here" not in logs[0] and "only here" in logs[1]


def test_a_changed_learning_rate_reaches_the_servers(job):
    """Schedulers whose step() a script calls, and set_lr: with rate 0 nothing moves any more."""
    job.write(
        "train.py",
        NETWORK
        + """
import paddle.distributed.fleet as fleet
fleet.init()
rate = paddle.optimizer.lr.PiecewiseDecay([3], [0.1, 0.0])
optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(rate))
optimizer.minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
seen = []
for i in range(6):
    exe.run(feed=batch(i))
    rate.step()
    seen.append(np.array(fluid.global_scope().find_var('w').get_tensor()))
moved = [bool((a != b).any()) for a, b in zip(seen, seen[1:])]
print('moved', moved)
fleet.stop_worker()
""",
    )
    for log in job.launch("train.py"):
        assert "moved [True, True, False, False, False]" in log, log


TRANSPILER = (
    NETWORK
    + """
fluid.optimizer.Adagrad(0.3).minimize(loss)
t = fluid.DistributeTranspiler()
t.transpile(int(os.environ.get('ID', 0)), pservers=os.environ['SERVERS'], trainers=2)
exe = fluid.Executor(fluid.CPUPlace())
if os.environ['ROLE'] == 'PSERVER':
    program, startup = t.get_pserver_programs(os.environ['ENDPOINT'])
    program = fluid.Program.parse_from_string(program.desc.serialize_to_string())
    exe.run(startup)
    exe.run(program)
    print('served')
    sys.exit(0)
program = t.get_trainer_program()
exe.run(fluid.default_startup_program())
losses = [float(exe.run(program, feed=batch(i), fetch_list=[loss])[0]) for i in range(60)]
print('losses', losses[0], losses[-1])
"""
)


# Server programs work from their bytes alone, servers may have names, and end when all trainers have closed.
def test_transpiled_programs_train_and_end(job):
    ports = [free_range(2)]
    ports.append(ports[0] + 1)
    servers = [f"localhost:{ports[0]}", f"127.0.0.1:{ports[1]}"]
    job.write("train.py", TRANSPILER + "exe.close()\n")
    started = [job.python("train.py", ROLE="PSERVER", SERVERS=",".join(servers), ENDPOINT=one) for one in servers]
    trainers = [job.python("train.py", ROLE="TRAINER", SERVERS=",".join(servers), ID=i) for i in range(2)]
    for trainer in trainers:
        assert learned(job.end(trainer))
    for server in started:
        assert "served" in job.end(server)


def test_a_script_that_ends_says_goodbye_and_one_that_fails_does_not(job):
    """Trainer 0 forgets exe.close(); in the second job trainer 1 raises, and the servers name it."""
    job.write("train.py", TRANSPILER + "if os.environ.get('FAIL') == os.environ['ID']: raise KeyError('broken')\n")

    def run(fail):
        port = free_range(1)
        env = dict(SERVERS=f"127.0.0.1:{port}", FAIL=fail)
        server = job.python("train.py", ROLE="PSERVER", ENDPOINT=env["SERVERS"], **env)
        return server, [job.python("train.py", ROLE="TRAINER", ID=i, **env) for i in range(2)]

    server, trainers = run("")
    for process in (*trainers, server):
        job.end(process)
    server, trainers = run("1")
    assert "broken" in job.end(trainers[1], 1)
    job.end(trainers[0])
    time.sleep(1)
    assert server.poll() is None  # it still waits for the one that did not say goodbye
    server.send_signal(signal.SIGTERM)
    assert "worker 1" in job.end(server)


def test_ctrl_c_ends_a_worker_and_a_server_that_wait(job):
    """Of two servers one is there: it listens and has heard of the worker, which waits for the other."""
    job.write("train.py", JOB)
    port = [free_range(2)]
    port.append(port[0] + 1)
    env = dict(PADDLE_PSERVERS_IP_PORT_LIST=f"127.0.0.1:{port[0]},127.0.0.1:{port[1]}", PADDLE_TRAINERS_NUM=1, PADDLE_TRAINER_ID=0)
    worker = job.python("train.py", TRAINING_ROLE="TRAINER", **env)
    server = job.python("train.py", TRAINING_ROLE="PSERVER", POD_IP="127.0.0.1", PADDLE_PORT=port[0], **env)
    assert any("worker 0" in line and "has come" in line for line in server.stdout)
    for process in (worker, server):
        assert process.poll() is None, process.communicate()[0]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=SECONDS)
        assert "KeyboardInterrupt" in out, out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_a_job_that_trains(job, number):
    """Servers, workers, and the pipe commands of their datasets, which read a file that does not end."""
    job.write(
        "train.py",
        FLEET
        + """
fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
dataset = fluid.DatasetFactory().create_dataset('QueueDataset')
dataset.set_use_var([x, ids, y])
dataset.set_batch_size(5)
dataset.set_pipe_command('yes "4 1 2 3 4 1 7 1 9"')
dataset.set_filelist(['train.py'])
exe.train_from_dataset(fluid.default_main_program(), dataset, fetch_list=[loss], fetch_info=['loss'], print_period=5)
""",
    )
    launcher = job.fleetrun("train.py")
    for worker in ("worker 0", "worker 1"):
        job.wait_for_line(worker, "batch 10 ")
    pids = [job.pid_of(launcher, f"{role} {i}") for role in ("worker", "server") for i in range(2)]
    pids += [int(child) for pid in pids for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    pids += [int(pid.name) for pid in pathlib.Path("/proc").glob("[0-9]*") if _folder(pid) == job.folder and int(pid.name) != launcher.pid]
    assert len(set(pids)) >= 6  # two pipe commands at least
    launcher.send_signal(number)
    job.end(launcher, 128 + number)
    assert [pid for pid in set(pids) if _folder(pathlib.Path(f"/proc/{pid}")) == job.folder] == []


def _folder(process):
    """Where a process runs; None where it has ended."""
    try:
        return pathlib.Path(os.readlink(process / "cwd"))
    except OSError:
        return None


def test_threads_of_one_worker_share_a_step(job):
    """CPU_NUM threads, in sync mode: the same parameters as one thread with the whole batch, from a feeder and from a list."""
    script = (
        JOB.replace("Adam(0.05)", "SGD(0.1)")
        .replace(
            "[20, 3], is_sparse=True, param_attr=fluid.ParamAttr(name='table')",
            "[20, 3], is_sparse=True, param_attr=fluid.ParamAttr(name='table', initializer=fluid.initializer.Constant(0.1))",
        )
        .replace("fluid.ParamAttr(name='w')", "fluid.ParamAttr(name='w', initializer=fluid.initializer.Constant(0.2))")
    )
    job.write(
        "train.py",
        script
        + """
program = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel(loss_name=loss.name)
for i in range(10):
    whole = batch(i)
    n = int(os.environ.get('CPU_NUM', 1))
    feed = whole if i % 2 else [{name: value[j * 8 // n:(j + 1) * 8 // n] for name, value in whole.items()} for j in range(n)]
    fetched = exe.run(program, feed=feed, fetch_list=[loss])
print('fetched', fetched[0].shape)
print('pe', fluid.ParallelExecutor(use_cuda=False).device_count)
fleet.save_persistables(exe, sys.argv[1])
fleet.stop_worker()
""",
    )
    values = {}
    for threads in (1, 2):
        (log,) = job.launch("train.py", f"threads-{threads}", workers=1, CPU_NUM=threads)
        assert f"fetched ({threads},)" in log and f"pe {threads}" in log, log
        values[threads] = {file.name: np.frombuffer(file.read_bytes()[-12:], "float32") for file in (job.folder / f"threads-{threads}").iterdir()}
    for name in ("w", "b", "table"):
        np.testing.assert_allclose(values[1][name][-1], values[2][name][-1], rtol=1e-5)


def test_samples_change_places_between_workers(job):
    job.write(
        "train.py",
        FLEET
        + """
fleet.distributed_optimizer(fluid.optimizer.SGD(0.01)).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit(0)
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
mine = 'data-%d' % fleet.worker_index()
with open(mine, 'w') as file:
    for i in range(300):
        file.write('4 %d 0 0 0 1 1 1 0\\n' % (1000 * fleet.worker_index() + i))
dataset = fluid.DatasetFactory().create_dataset('InMemoryDataset')
dataset.set_use_var([x, ids, y])
dataset.set_batch_size(50)
dataset.set_filelist([mine])
dataset.load_into_memory()
print('all', dataset.get_memory_data_size(fleet))
dataset.global_shuffle(fleet, thread_num=4)
print('after', dataset.get_shuffle_data_size(fleet), dataset.get_memory_data_size())
report = exe.infer_from_dataset(fluid.default_main_program(), dataset, fetch_list=[loss], print_period=1000)
print('inferred', report.samples)
fleet.stop_worker()
""",
    )
    logs = job.launch("train.py")
    counts = []
    for log in logs:
        assert "all 600" in log, log
        counts.append(int(re.search(r"after 600 (\d+)", log).group(1)))
        assert f"inferred {counts[-1]}" in log, log
    assert sum(counts) == 600 and all(200 < count < 400 for count in counts), counts


def test_files_go_to_whoever_is_free(job):
    job.write(
        "train.py",
        JOB
        + """
files = ['part-%d' % i for i in range(10)]
mine = []
while True:
    file = fleet.util.next_file('train', files)
    if file is None: break
    mine.append(file)
print('mine', mine, [name for got in fleet.util.all_gather(mine) for name in got].__len__())
both = fleet.util.all_gather(mine)
print('once', sorted(sum(both, [])) == files)
fleet.stop_worker()
""",
    )
    for log in job.launch("train.py"):
        assert "once True" in log, log


def test_a_server_of_a_missing_folder_and_a_worker_without_servers_say_so(job):
    job.write("server.py", JOB.replace("fleet.run_server()", "fleet.init_server('nowhere')"))
    job.write("worker.py", JOB)
    port = free_range(1)
    env = dict(PADDLE_PSERVERS_IP_PORT_LIST=f"127.0.0.1:{port}", PADDLE_TRAINERS_NUM=1, PADDLE_TRAINER_ID=0)
    out = job.end(job.python("server.py", TRAINING_ROLE="PSERVER", POD_IP="127.0.0.1", PADDLE_PORT=port, **env), 1)
    assert "cannot load from 'nowhere'" in out
    out = job.end(job.python("worker.py", TRAINING_ROLE="TRAINER", ARGOSY_SERVER_WAIT_SECONDS=1, **env), 1)
    assert f"127.0.0.1:{port}" in out and "has not answered" in out
