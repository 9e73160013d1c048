"""Steps without end, for tests that end a rank: says when it has begun, and raises where the others are gone."""

import paddle
import paddle.distributed as dist

dist.init_parallel_env()
net = paddle.DataParallel(paddle.nn.Linear(8, 8))
optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())
step = 0
while True:
    net(paddle.randn([4, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
    step += 1
    if step == 3:
        print("running", flush=True)
