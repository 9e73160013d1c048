"""PyTorch's DistributedDataParallel in the loop of bench/collective_bench.cc; started by torchrun, or alone.

torch_ddp.py MODEL BATCH SIDE STEPS [plain] [bfloat16] [channels_last] [adam] [compile | reduce_overhead]
"""

import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

RUNS, WARM_UP = 3, 14


class CifarNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(3, 32, 3), nn.Conv2d(32, 64, 3), nn.Conv2d(64, 64, 3)
        self.linear1, self.linear2 = nn.Linear(1024, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2, 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2, 2)
        x = F.relu(self.conv3(x)).flatten(1)
        return self.linear2(F.relu(self.linear1(x)))


class ManyLayers(nn.Module):
    def __init__(self, layers=100, width=32):
        super().__init__()
        self.all = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x):
        for layer in self.all:
            x = F.relu(layer(x))
        return x


def conv(a, b, kernel, stride):
    return nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    def __init__(self, before, width, stride, bottleneck):
        super().__init__()
        after = 4 * width if bottleneck else width
        shapes = [(before, width, 1, 1), (width, width, 3, stride), (width, after, 1, 1)] if bottleneck else [(before, width, 3, stride), (width, after, 3, 1)]
        self.convs = nn.ModuleList(conv(*shape) for shape in shapes)
        self.norms = nn.ModuleList(nn.BatchNorm2d(shape[1]) for shape in shapes)
        self.shortcut = nn.Sequential(conv(before, after, 1, stride), nn.BatchNorm2d(after)) if stride != 1 or before != after else None

    def forward(self, x):
        y = x
        for i, (convolve, norm) in enumerate(zip(self.convs, self.norms)):
            y = norm(convolve(y))
            if i + 1 < len(self.convs):
                y = F.relu_(y)
        return F.relu_(y.add_(self.shortcut(x) if self.shortcut else x))


class ResNet(nn.Module):
    def __init__(self, depths, bottleneck):
        super().__init__()
        self.stem, self.norm = conv(3, 64, 7, 2), nn.BatchNorm2d(64)
        before, blocks = 64, []
        for stage, depth in enumerate(depths):
            for i in range(depth):
                blocks.append(Block(before, 64 << stage, 2 if i == 0 and stage > 0 else 1, bottleneck))
                before = (64 << stage) * (4 if bottleneck else 1)
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(before, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu_(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


MODELS = {"cifar": CifarNet, "mlp": ManyLayers, "resnet18": lambda: ResNet([2, 2, 2, 2], False), "resnet50": lambda: ResNet([3, 4, 6, 3], True)}


def main():
    name, batch, side, steps, flags = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), set(sys.argv[5:])
    torch.set_num_threads(1)
    gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    kind = torch.bfloat16 if "bfloat16" in flags else torch.float32
    torch.manual_seed(1)
    model = MODELS[name]().to(device, kind)
    if "channels_last" in flags:
        model = model.to(memory_format=torch.channels_last)
    if "plain" not in flags:
        torch.distributed.init_process_group("nccl" if gpu else "gloo", **({"device_id": device} if gpu else {}))
        model = nn.parallel.DistributedDataParallel(model)
    if flags & {"compile", "reduce_overhead"}:
        model = torch.compile(model, mode="reduce-overhead" if "reduce_overhead" in flags else "default")
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True) if "adam" in flags else torch.optim.SGD(model.parameters(), 0.01)
    if name == "mlp":
        x, y = torch.randn(batch, 32, device=device), torch.randint(0, 32, (batch,), device=device)
    else:
        x, y = torch.randn(batch, 3, side, side, device=device).to(kind), torch.randint(0, 10, (batch,), device=device)
        if "channels_last" in flags:
            x = x.contiguous(memory_format=torch.channels_last)

    def timed(count):
        begun = time.perf_counter()
        for _ in range(count):
            if "reduce_overhead" in flags:
                torch.compiler.cudagraph_mark_step_begin()
            F.cross_entropy(model(x).float(), y).backward()
            optimizer.step()
            optimizer.zero_grad()
        if gpu:
            torch.cuda.synchronize()
        return time.perf_counter() - begun

    timed(max(steps // 4, WARM_UP))
    for _ in range(RUNS):
        if "plain" not in flags:
            torch.distributed.barrier()
        seconds = timed(steps)
    if int(os.environ.get("RANK", 0)) == 0:
        print('{"ms": %.4f}' % (1000 * seconds / steps), flush=True)
    for _ in sys.stdin if "BENCH_TURNS" in os.environ else ():  # bench/gpu.py's rounds, with one process
        print('{"ms": %.4f}' % (1000 * timed(steps) / steps), flush=True)
    if "plain" not in flags:
        torch.distributed.destroy_process_group()


main()
