"""LocalSGD, SyncBatchNorm, 16-bit gradients, buffers, checkpoints and a model's later changes, on two ranks."""

import os
import warnings

import numpy as np
import pytest

import paddle
import paddle.distributed as dist
from paddle.distributed import fleet
from paddle.io import DataLoader, DistributedBatchSampler

fleet.init(is_collective=True)
rank, size = fleet.worker_index(), fleet.worker_num()


def everybody(tensor):
    found = []
    dist.all_gather(found, tensor if isinstance(tensor, paddle.Tensor) else paddle.to_tensor(tensor))
    return [one.numpy() for one in found]


def strategy(**values):
    made = fleet.DistributedStrategy()
    for name, value in values.items():
        setattr(made, name, value)
    return made


def linear(seed=0):
    paddle.seed(seed)
    return paddle.nn.Linear(3, 1)


def sgd(net, rate=0.1):
    return paddle.optimizer.SGD(rate, parameters=net.parameters())


def batch(step, ranks, n=4):
    numbers = np.random.RandomState(step)
    return numbers.rand(size, n, 3).astype("float32")[ranks].reshape(-1, 3)


def check_local_sgd():
    """Copies train apart, and every second step they become their mean."""
    net = linear()
    optimizer = fleet.distributed_optimizer(sgd(net), strategy(localsgd=True, localsgd_configs={"k_steps": 2, "begin_step": 1}))
    model = fleet.distributed_model(net)
    own = linear()
    own.set_state_dict(net.state_dict())
    own_sgd = sgd(own)
    for step in range(1, 6):
        for one, by in ((model, optimizer), (own, own_sgd)):
            one(paddle.to_tensor(batch(step, [rank]))).square().mean().backward()
            by.step()
            by.clear_grad()
        weights = everybody(own.weight)
        if step == 1 or step in (3, 5):  # until begin_step in each, and then in every second
            for part in (own.weight, own.bias):
                part.set_value(np.mean(everybody(part), axis=0))
        np.testing.assert_allclose(net.weight.numpy(), own.weight.numpy(), rtol=1e-6)
        assert not (weights[0] == weights[1]).all()
    fleet.fleet._optimizer = None
    adaptive = fleet.distributed_optimizer(sgd(net), strategy(adaptive_localsgd=True))
    model = fleet.distributed_model(net)
    with pytest.raises(ValueError, match="minimize"):
        adaptive.step()
    for step in range(4):
        loss = model(paddle.to_tensor(batch(step, [rank]))).square().mean()
        loss.backward()
        adaptive.minimize(loss)
        adaptive.clear_grad()
    assert 1 <= adaptive._local.k_steps <= 16


def check_sync_batch_norm():
    """Parts of different sizes are normalized as one batch, by hand and by a strategy; the gradients too."""
    x = np.random.RandomState(3).rand(6, 2, 2, 2).astype("float32")
    part = x[:2] if rank == 0 else x[2:]
    whole, layer = paddle.nn.BatchNorm2D(2), paddle.nn.SyncBatchNorm.convert_sync_batchnorm(paddle.nn.BatchNorm2D(2))
    assert isinstance(layer, paddle.nn.SyncBatchNorm)
    a, b = paddle.to_tensor(x, stop_gradient=False), paddle.to_tensor(part, stop_gradient=False)
    expected, found = whole(a), layer(b)
    (expected * expected * expected).sum().backward()
    (found * found * found).sum().backward()
    mine = slice(0, 2) if rank == 0 else slice(2, 6)
    np.testing.assert_allclose(found.numpy(), expected.numpy()[mine], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(b.grad.numpy(), a.grad.numpy()[mine], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(layer._mean.numpy(), whole._mean.numpy(), rtol=1e-5)
    np.testing.assert_allclose(layer._variance.numpy(), whole._variance.numpy(), rtol=1e-5)
    fleet.fleet._optimizer = None
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
    fleet.distributed_optimizer(sgd(net), strategy(sync_batch_norm=True))
    model = fleet.distributed_model(net)
    found = model(paddle.to_tensor(batch(1, [rank])))
    reference = paddle.nn.BatchNorm1D(4)(net[0](paddle.to_tensor(batch(1, [0, 1]))))
    np.testing.assert_allclose(found.numpy(), reference.numpy()[4 * rank : 4 * rank + 4], rtol=1e-4, atol=1e-5)


def check_16_bits():
    """Gradients that travel as float16 are near the true ones, and not the same."""
    fleet.fleet._optimizer = None
    net = linear()
    fleet.distributed_optimizer(sgd(net), strategy(fp16_allreduce=True))
    fleet.distributed_model(net)(paddle.to_tensor(batch(1, [rank]))).square().mean().backward()
    reference = linear()
    reference.set_state_dict(net.state_dict())
    reference(paddle.to_tensor(batch(1, [0, 1]))).square().mean().backward()
    distance = np.abs(net.weight.grad.numpy() - reference.weight.grad.numpy()).max()
    assert 0 < distance < 1e-2, distance


def check_changes():
    """A layer that is cast or frozen after it was made parallel trains on; a forward without a backward disturbs nothing."""
    net = paddle.nn.Sequential(linear(5), paddle.nn.Linear(1, 1))
    model = paddle.DataParallel(net)
    model.eval()
    model(paddle.to_tensor(batch(0, [rank])))
    model.train()
    net[0].weight.stop_gradient = True
    model(paddle.to_tensor(batch(1, [rank]))).square().mean().backward()
    assert net[0].weight.grad is None
    net.to(dtype="float64")
    model(paddle.to_tensor(batch(1, [rank]).astype("float64"))).square().mean().backward()
    first, second = everybody(net[1].weight.grad)
    assert first.dtype == np.float64 and (first == second).all()
    with pytest.raises(RuntimeError, match="rank 0 and rank 1 differ|rank 1 and rank 0 differ"):
        paddle.DataParallel(paddle.nn.Linear(2 + rank, 1))


class Numbers(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.full([3], i, "float32")

    def __len__(self):
        return 26


def check_checkpoints(folder):
    """A checkpoint in the midst of a pass, loaded by a model, optimizer and loader of their own, goes on as if nothing had been."""

    def make(seed):
        net = linear(seed)
        fleet.fleet._optimizer = fleet.fleet._model = None
        adam = fleet.distributed_optimizer(paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 2), parameters=net.parameters()))
        sampler = DistributedBatchSampler(Numbers(), 3, shuffle=True)
        return net, fleet.distributed_model(net), adam, sampler, DataLoader(Numbers(), batch_sampler=sampler, num_workers=1)

    def train(model, adam, loader, stop=None, save=None):
        seen = []
        for i, x in enumerate(loader):
            seen.append(x[0].numpy()[:, 0].tolist() if isinstance(x, list) else x.numpy()[:, 0].tolist())
            (model(x[0] if isinstance(x, list) else x) / 20).square().mean().backward()
            adam.step()
            adam.clear_grad()
            adam._optimizer._learning_rate.step()
            if i + 1 == stop:
                save()
        return seen

    path = os.path.join(folder, "checkpoint")
    net, model, adam, sampler, loader = make(1)
    assert fleet.load(model, adam) is False  # no launcher, nothing to go on from
    assert len(adam.state_dict()) > 4  # accumulators before the first step
    sampler.set_epoch(4)
    seen = train(model, adam, loader, 2, lambda: fleet.save(model, adam, path, sampler))
    assert sorted(os.listdir(folder)) == ["checkpoint"], os.listdir(folder)
    names = {one.name for one in net.parameters()}
    again, model, adam, sampler, loader = make(2)
    for one, other in zip(again.parameters(), sorted(names, reverse=True)):
        one.name = other  # as in a process of its own
    os.environ["ARGOSY_RESUME"] = path
    assert fleet.load(model, adam, sampler=sampler) is True
    assert train(model, adam, loader) == seen[2:]
    np.testing.assert_allclose(again.weight.numpy(), net.weight.numpy(), rtol=1e-6)
    assert next(iter(sampler)) != seen[0]  # the next pass has an order of its own
    del os.environ["ARGOSY_RESUME"]
    with pytest.raises(FileNotFoundError, match="no such file|No such file"):
        fleet.load(model, adam, path + "2")
    with pytest.raises(ValueError, match="does not fit the model: 'bias' has shape .1. there, and here .none"):
        fleet.load(paddle.nn.Linear(5, 5, bias_attr=False), adam, path)
    with pytest.raises(ConnectionError, match="checkpoint"):
        fleet.save(model, adam, os.path.join(path, "below a file"))
    other = DistributedBatchSampler(Numbers(), 5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        other.set_state_dict(sampler.state_dict())
    assert any("begins again" in str(one.message) for one in caught)


def check_model():
    """paddle.Model trains in step, each process on its part, and rank 0 saves."""
    net = linear(10 + rank)
    model = paddle.Model(net)
    model.prepare(sgd(net), lambda found, x: ((found - x.sum(axis=1, keepdim=True)) / 50).square().mean())
    before = everybody(net.weight)
    assert (before[0] == before[1]).all()
    pairs = [(np.full([3], i, "float32"), np.full([3], i, "float32")) for i in range(10)]

    class Pairs(Numbers):
        def __getitem__(self, i):
            return pairs[i]

        def __len__(self):
            return len(pairs)

    model.fit(Pairs(), batch_size=2, epochs=2, verbose=0, save_dir="fitted", accumulate_grad_batches=2)
    after = everybody(net.weight)
    assert (after[0] == after[1]).all() and not (after[0] == before[0]).all()
    dist.barrier()
    assert os.path.isfile("fitted/final.pdparams")
    assert len(model.predict(Pairs(), batch_size=2, verbose=0)[0]) == 3  # its part


def check_util():
    assert fleet.util.all_reduce([rank, 1]).tolist() == [1, 2] and fleet.util.all_reduce(np.array([0.5]), "max").tolist() == [0.5]
    assert fleet.util.all_gather(f"rank {rank}") == ["rank 0", "rank 1"]
    assert fleet.util.get_file_shard(["a", "b", "c"]) == (["a", "b"] if rank == 0 else ["c"])
    assert (fleet.is_worker(), fleet.is_server(), fleet.is_first_worker(), fleet.server_num()) == (True, False, rank == 0, 0)
    assert fleet.worker_endpoints() == os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")
    fleet.barrier_worker()
    with pytest.raises(NotImplementedError, match="get_file_shard"):
        fleet.util.next_file("list", ["a"])


check_util()
check_16_bits()
check_sync_batch_norm()
check_changes()
check_local_sgd()
folder = [None]
if rank == 0:
    os.makedirs("saved")
    folder = [os.path.abspath("saved")]
dist.broadcast_object_list(folder, 0)
check_checkpoints(folder[0])
check_model()
print("all checked")
