"""Python's dynamic graph in the loop of bench/peers/torch_ddp.py, as one process of a collective job.

gpu_dynamic.py cifar BATCH SIDE STEPS
"""

import os
import sys
import time

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

RUNS, WARM_UP = 3, 14


class CifarNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2D(3, 32, 3), nn.Conv2D(32, 64, 3), nn.Conv2D(64, 64, 3)
        self.linear1, self.linear2 = nn.Linear(1024, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2, 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2, 2)
        x = paddle.flatten(F.relu(self.conv3(x)), 1)
        return self.linear2(F.relu(self.linear1(x)))


def main():
    batch, side, steps = (int(argument) for argument in sys.argv[2:5])
    on_gpu = paddle.is_compiled_with_cuda()
    paddle.set_device("gpu:0" if on_gpu else "cpu")
    paddle.distributed.init_parallel_env()
    paddle.seed(1)
    model = paddle.DataParallel(CifarNet())
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    x, y = paddle.randn([batch, 3, side, side]), paddle.randint(0, 10, [batch, 1])

    def timed(count):
        begun = time.perf_counter()
        for _ in range(count):
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.clear_grad()
        paddle.device.synchronize()
        return time.perf_counter() - begun

    timed(max(steps // 4, WARM_UP))
    seconds = [timed(steps) for _ in range(RUNS)]
    print('{"ms": %.4f}' % (1000 * seconds[-1] / steps), flush=True)
    for _ in sys.stdin if "BENCH_TURNS" in os.environ else ():  # bench/gpu.py's rounds
        print('{"ms": %.4f}' % (1000 * timed(steps) / steps), flush=True)


main()
