"""Linear regression on parameter servers, each process started by hand: 13 facts about a house, its price, and a known relation.

The twin of housing.cc. Two servers and two workers on one machine, each in a shell of its own:

    export PADDLE_PSERVERS_IP_PORT_LIST=127.0.0.1:6174,127.0.0.1:6175 PADDLE_TRAINERS_NUM=2
    TRAINING_ROLE=PSERVER POD_IP=127.0.0.1 PADDLE_PORT=6174 python housing.py
    TRAINING_ROLE=PSERVER POD_IP=127.0.0.1 PADDLE_PORT=6175 python housing.py
    TRAINING_ROLE=TRAINER PADDLE_TRAINER_ID=0 python housing.py
    TRAINING_ROLE=TRAINER PADDLE_TRAINER_ID=1 python housing.py
"""

import os
import sys

import numpy as np

import paddle.fluid as fluid

FACTS, BATCH, STEPS = 13, 32, 200


def houses(random, count):
    """The price is 22.5, and a slope between -3 and 3 times each fact; facts lie around 0."""
    x = random.randn(count, FACTS).astype("float32")
    return {"x": x, "y": (22.5 + x @ np.linspace(-3, 3, FACTS, dtype="float32")[:, None]).astype("float32")}


def work(trainer, program, test, error):
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    random = np.random.RandomState(1 + trainer)  # every worker has houses of its own
    for step in range(STEPS):
        (value,) = exe.run(program, feed=houses(random, BATCH), fetch_list=[error])
        if step % 50 == 49:
            print("step %d squared error %.4f" % (step, value[0]), flush=True)
    (learned,) = exe.run(test, feed=houses(np.random.RandomState(99), 500), fetch_list=[error])
    exe.close()  # this worker is done
    print("squared error of new houses %.5f" % learned[0])
    if learned[0] > 0.01:
        sys.exit("the relation was not found: the squared error is above 0.01")


def main():
    x = fluid.layers.data(name="x", shape=[FACTS])
    y = fluid.layers.data(name="y", shape=[1])
    error = fluid.layers.mean(fluid.layers.square_error_cost(input=fluid.layers.fc(input=x, size=1), label=y))
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.SGD(learning_rate=0.05).minimize(error)

    transpiler = fluid.DistributeTranspiler()
    trainer = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
    transpiler.transpile(trainer_id=trainer, pservers=os.environ["PADDLE_PSERVERS_IP_PORT_LIST"], trainers=int(os.environ["PADDLE_TRAINERS_NUM"]))
    if os.environ["TRAINING_ROLE"] == "TRAINER":
        return work(trainer, transpiler.get_trainer_program(), test, error)
    endpoint = os.environ["POD_IP"] + ":" + os.environ["PADDLE_PORT"]
    program = transpiler.get_pserver_program(endpoint)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(transpiler.get_startup_program(endpoint, program))
    exe.run(program)  # until the workers are done


if __name__ == "__main__":
    main()
