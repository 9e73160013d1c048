"""A job of 1.6's scripts: sync_mode=False, and a BuildStrategy with async_mode as the first argument says (or without it); the second is who makes the
job, fleet, transpiler or early-transpiler, which runs the startup program before it asks for the worker's program, the third what is given the BuildStrategy,
with_data_parallel or CompiledProgram."""

import os
import sys

import numpy as np

import paddle.fluid as fluid
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

os.environ["CPU_NUM"] = "2"
x, y = fluid.layers.data("x", [4]), fluid.layers.data("y", [1])
loss = fluid.layers.mean(fluid.layers.square_error_cost(fluid.layers.fc(x, 1), y))
config = fluid.DistributeTranspilerConfig()
config.sync_mode = False
exe = fluid.Executor(fluid.CPUPlace())
if sys.argv[2] == "fleet":
    fleet.init(role_maker.PaddleCloudRoleMaker())
    fleet.distributed_optimizer(fluid.optimizer.SGD(0.1), config).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
        sys.exit()
    fleet.init_worker()
    main = fleet.main_program
else:
    fluid.optimizer.SGD(0.1).minimize(loss)
    transpiler = fluid.DistributeTranspiler(config)
    transpiler.transpile(int(os.environ.get("PADDLE_TRAINER_ID", 0)), pservers=os.environ["PADDLE_PSERVERS_IP_PORT_LIST"], trainers=1)
    if os.environ["TRAINING_ROLE"] == "PSERVER":
        endpoint = os.environ["PADDLE_PSERVERS_IP_PORT_LIST"]
        exe.run(transpiler.get_startup_program(endpoint))
        exe.run(transpiler.get_pserver_program(endpoint))
        sys.exit()
    if "early" in sys.argv[2]:
        exe.run(fluid.default_startup_program())
    main = transpiler.get_trainer_program()
if "early" not in sys.argv[2]:
    exe.run(fluid.default_startup_program())
build = fluid.BuildStrategy()
if sys.argv[1] != "unset":
    build.async_mode = sys.argv[1] == "True"
if sys.argv[3] == "CompiledProgram":
    program = fluid.CompiledProgram(main, build_strategy=build).with_data_parallel(loss_name=loss.name)
else:
    program = fluid.CompiledProgram(main).with_data_parallel(loss_name=loss.name, build_strategy=build)
numbers = np.random.RandomState(3)
for _ in range(6):
    exe.run(program, feed={"x": numbers.rand(8, 4).astype("float32"), "y": numbers.rand(8, 1).astype("float32")}, fetch_list=[loss])
print("threads:", " ".join(sorted(open(f"/proc/self/task/{one}/comm").read().strip() for one in os.listdir("/proc/self/task"))), flush=True)
print("weights:", np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor()).ravel().tolist(), flush=True)
if sys.argv[1] == "False":
    try:
        again = fluid.BuildStrategy()
        again.async_mode = False
        fluid.CompiledProgram(main).with_data_parallel(loss_name=loss.name, build_strategy=again)
        print("twice is fine", flush=True)
    except Exception as error:
        print("error", error, flush=True)
if sys.argv[2] == "fleet":
    fleet.stop_worker()
else:
    exe.close()
