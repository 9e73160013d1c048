#!/usr/bin/env python3
"""From the answer to a push to the first prediction that shows it: a job of one server and one worker with a log, a follower, and `argosy serve`.

    bench/served_fresh.py [PUSHES]

The worker trains a row and a dense parameter by SGD, so that each push moves both by a known step, and asks the model server over HTTP until both have
moved. A sync worker's step returns when the server has acknowledged the push. Prints a JSON object: milliseconds of half (p50) and of 99 of 100 pushes
(p99), and of the way back to a kept version (`argosy versions --go_back`) until a prediction shows it.
"""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from ps_job import BUILD, free_ports  # noqa: E402

RATE = 2.0**-6  # steps that add up exactly
SECONDS = 300


def train(folder, pushes):
    """The script of server and worker."""
    import numpy as np

    import paddle
    import paddle.fluid as fluid
    from paddle.fluid.incubate.fleet.base import role_maker
    from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet
    from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

    paddle.enable_static()
    fleet.init(role_maker.PaddleCloudRoleMaker())
    ids = fluid.layers.data("ids", [1], dtype="int64")
    zero = fluid.initializer.Constant(0.0)
    row = fluid.layers.embedding(ids, [1000, 1], is_sparse=True, param_attr=fluid.ParamAttr(name="table", initializer=zero))
    weight = fluid.layers.create_parameter([1], "float32", name="weight", default_initializer=zero)
    both = fluid.layers.concat([fluid.layers.reshape(row, [-1, 1]), fluid.layers.elementwise_add(fluid.layers.scale(row, 0.0), weight)], axis=1)
    loss = fluid.layers.mean(fluid.layers.reduce_sum(both, dim=1))
    fleet.distributed_optimizer(fluid.optimizer.SGD(RATE), StrategyFactory.create_sync_strategy()).minimize(loss)
    if fleet.is_server():
        return fleet.run_server()
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(folder / "model"), ["ids"], [both], exe)
    ask = connect(folder)
    key, step, seconds = np.array([[7]]), 0, []
    for step in range(1, pushes + 1):
        exe.run(feed={"ids": key})
        begun = time.monotonic()
        wait_until(ask, [-step * RATE, -step * RATE])
        seconds.append(time.monotonic() - begun)
    (folder / "seconds").write_text(json.dumps(seconds))
    while not (folder / "end").exists():
        time.sleep(0.01)
    fleet.stop_worker()


def connect(folder):
    """What asks the model server, once there is one."""
    while not (folder / "url").exists():
        time.sleep(0.01)
    address, path = (folder / "url").read_text().split("//")[1].split("/", 1)
    connection = http.client.HTTPConnection(address, timeout=60)

    def ask():
        connection.request("POST", f"/{path}:predict", '{"instances": [{"ids": [7]}]}')
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"answered {answer.status}: {body}")
        return body["predictions"][0]

    return ask


def wait_until(ask, expected):
    until = time.monotonic() + 60
    while (found := ask()) != expected:
        if time.monotonic() > until:
            raise RuntimeError(f"predicted {found}, expected {expected}")


def wait_for(file, launcher):
    until = time.monotonic() + SECONDS
    while not file.exists():
        if launcher.poll() is not None or time.monotonic() > until:
            sys.exit(f"served_fresh: the job ended, or took too long:\n{launcher.communicate()[0][-3000:]}")
        time.sleep(0.02)


def start(words, **options):
    return subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True, **options)


def roll_back(ask, follower):
    """Milliseconds from the command to the first prediction from the kept version."""
    versions = [str(word) for word in (BUILD / "bin/argosy", "versions", follower, "--token=bench")]
    newest = ask()[0]
    begun = time.monotonic()
    subprocess.run([*versions, "--go_back", "before"], check=True, stdout=subprocess.DEVNULL)
    while ask()[0] == newest:
        pass
    return 1000 * (time.monotonic() - begun)


def measure(folder, pushes):
    port = free_ports(3)
    follower, running = f"127.0.0.1:{port + 2}", []
    flags = ["--server_num=1", "--worker_num=1", f"--start_port={port}", "--token=bench", "--directory", folder / "state", "--log_dir", folder / "logs"]
    try:
        environment = {**os.environ, "ARGOSY_PYTHON": sys.executable}
        launcher = start([BUILD / "bin/fleetrun", *flags, __file__, "--train", folder, pushes], stderr=subprocess.STDOUT, env=environment)
        running.append(launcher)
        wait_for(folder / "model/__model__", launcher)
        running.append(start([BUILD / "bin/argosy-server", f"--address={follower}", f"--follow=127.0.0.1:{port}", "--token=bench"]))
        running[-1].stdout.readline()
        subprocess.run([BUILD / "bin/argosy", "versions", follower, "--token=bench", "--keep", "before"], check=True, stdout=subprocess.DEVNULL)
        running.append(start([BUILD / "bin/argosy", "serve", folder / "model", "--port=0", "--rows", follower, "--token=bench"]))
        (folder / "url.new").write_text(running[-1].stdout.readline().strip())
        (folder / "url.new").rename(folder / "url")
        wait_for(folder / "seconds", launcher)
        seconds = sorted(json.loads((folder / "seconds").read_text()))
        back = roll_back(connect(folder), follower)
        (folder / "end").touch()
        launcher.communicate(timeout=60)
    finally:
        for one in running[::-1]:
            one.terminate()
            one.wait(60)
    return {"p50_ms": 1000 * seconds[len(seconds) // 2], "p99_ms": 1000 * seconds[len(seconds) * 99 // 100], "back_ms": back}


def main(words):
    if words[:1] == ["--train"]:
        return train(pathlib.Path(words[1]), int(words[2]))
    with tempfile.TemporaryDirectory(prefix="bench-", dir=ROOT / "build") as name:
        print(json.dumps(measure(pathlib.Path(name), int(words[0]) if words else 300)))


if __name__ == "__main__":
    main(sys.argv[1:])
