#!/usr/bin/env python3
"""A process of the Python job of bench/first_step.py: CTR-DNN, async, one pass over its files; a worker then prints one JSON object.

bench/first_step_job.py 'FILES'
"""

import glob
import json
import sys

import paddle.fluid as fluid
from ctr_quality import dataset, network, optimizer, strategy
from paddle.fluid.incubate.fleet.base import role_maker
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler import fleet

inputs, loss, _, _ = network(1)
fleet.init(role_maker.PaddleCloudRoleMaker())
fleet.distributed_optimizer(optimizer("adam"), strategy("async")).minimize(loss)
if fleet.is_server():
    fleet.run_server()
    sys.exit()
fleet.init_worker()
executor = fluid.Executor(fluid.CPUPlace())
executor.run(fluid.default_startup_program())
executor.train_from_dataset(fluid.default_main_program(), dataset(inputs, fleet.split_files(sorted(glob.glob(sys.argv[1]))), 1))
print(json.dumps({"worker": fleet.worker_index()}), flush=True)
fleet.stop_worker()
