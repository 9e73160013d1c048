"""Whole trainings: paddle.Model, vision data and models, mixed precision, exported layers."""

import gzip
import io
import pickle
import re
import struct
import tarfile

import numpy as np
import pytest
import torch

import paddle
import paddle.nn as nn
from argosy import errors
from paddle.vision import datasets, models, transforms


class Lines(paddle.io.Dataset):
    """Two classes that a line tells apart."""

    def __init__(self, n=64):
        self.x = np.random.RandomState(0).randn(n, 4).astype("float32")

    def __getitem__(self, i):
        return self.x[i], np.array([int(self.x[i].sum() > 0)])

    def __len__(self):
        return len(self.x)


def prepared(rate=0.05, **options):
    network = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    model = paddle.Model(network, [paddle.static.InputSpec([None, 4], "float32", "x")])
    model.prepare(paddle.optimizer.Adam(rate, parameters=model.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy(), **options)
    return model


def test_a_model_learns_evaluates_predicts_and_resumes(tmp_path, capsys):
    model = prepared()
    model.fit(Lines(), Lines(16), batch_size=16, epochs=8, log_freq=2, verbose=2, save_dir=str(tmp_path / "saved"))
    shown = capsys.readouterr().out
    assert "Epoch 8/8\nstep 2/4 - loss: " in shown and "Eval samples: 16" in shown and "acc: " in shown and "s/step" in shown
    found = model.evaluate(Lines(), batch_size=32, verbose=0)
    assert found["acc"] > 0.9 and len(found["loss"]) == 1
    (outputs,) = model.predict(Lines(10), batch_size=4, stack_outputs=True, verbose=0)
    assert outputs.shape == (10, 2)
    with paddle.utils.unique_name.guard():  # as in another process: an optimizer's state goes by the parameters' names
        other = prepared()
    other.load(str(tmp_path / "saved" / "final"))
    assert np.allclose(other.predict(Lines(10), batch_size=10, verbose=0)[0][0], outputs, atol=1e-6)


def test_training_can_stop_early_and_by_number(capsys):
    model = prepared(rate=0.0)
    model.fit(Lines(), Lines(16), batch_size=16, epochs=9, verbose=1, callbacks=[paddle.callbacks.EarlyStopping("loss", patience=1, verbose=0)])
    assert "Epoch 3/9" in capsys.readouterr().out and model.stop_training
    model.fit(Lines(), batch_size=16, epochs=9, verbose=1, num_iters=5)
    assert "Epoch 2/9" in capsys.readouterr().out


def test_a_model_without_a_loss_says_what_it_needs():
    with pytest.raises(errors.FailedPreconditionError, match="need prepare"):
        paddle.Model(nn.Linear(1, 1)).train_batch(np.ones((1, 1), "float32"))


def test_summary_counts(capsys):
    found = prepared().summary()
    assert found == {"total_params": 114, "trainable_params": 114} and "Total params: 114" in capsys.readouterr().out


@pytest.mark.parametrize("name, parameters", [("resnet18", 11689512), ("resnet50", 25557032)])
def test_residual_networks(name, parameters):
    net = getattr(models, name)()
    assert sum(p.size for p in net.parameters()) == parameters and "layer2.0.downsample.0.weight" in net.state_dict()
    assert net(paddle.randn([2, 3, 32, 32])).shape == [2, 1000]
    with pytest.raises(errors.UnavailableError, match="nothing is downloaded"):
        getattr(models, name)(pretrained=True)


def test_lenet_takes_mnist():
    assert models.LeNet()(paddle.randn([2, 1, 28, 28])).shape == [2, 10]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    import paddle.dataset.common as common

    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    (tmp_path / "cifar").mkdir()
    (tmp_path / "mnist").mkdir()
    pixels = np.arange(2 * 3072, dtype="uint32").astype("uint8").reshape(2, 3072)
    with tarfile.open(tmp_path / "cifar" / "cifar-10-python.tar.gz", "w:gz") as archive:
        for name in ("data_batch_1", "test_batch"):
            body = pickle.dumps({b"data": pixels, b"labels": [3, 9]})
            entry = tarfile.TarInfo("cifar-10-batches-py/" + name)
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    with gzip.open(tmp_path / "mnist" / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">IIII", 2051, 2, 28, 28) + bytes(range(256)) * 6 + bytes(32))
    with gzip.open(tmp_path / "mnist" / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">II", 2049, 2) + b"\x05\x07")
    return pixels


def test_image_data_sets(cache):
    image, label = datasets.Cifar10(mode="train", transform=transforms.ToTensor())[1]
    assert image.shape == [3, 32, 32] and np.allclose(image.numpy().reshape(-1), cache[1] / 255.0) and label == 9 and label.dtype == "int64"
    assert datasets.Cifar10(mode="test", backend="cv2")[0][0].shape == (32, 32, 3)
    digits = datasets.MNIST(mode="train")
    assert digits[1][1].tolist() == [7] and digits[0][0].size == (28, 28) and len(digits) == 2
    with pytest.raises(FileNotFoundError, match="cifar-100-python.tar.gz; put it there"):
        datasets.Cifar100()
    with pytest.raises(errors.InvalidArgumentError, match="mode is 'train' or 'test'; found 'val'"):
        datasets.Cifar10(mode="val")


def test_changes_of_images():
    image = np.random.RandomState(0).randint(0, 255, (8, 10, 3)).astype("uint8")
    chain = transforms.Compose(
        [
            transforms.Resize(6),
            transforms.RandomCrop(5),
            transforms.RandomHorizontalFlip(1.0),
            transforms.ToTensor(),
            transforms.Normalize([0.5] * 3, [0.5] * 3),
        ]
    )
    made = chain(image)
    assert made.shape == [3, 5, 5] and made.numpy().min() >= -1 and made.numpy().max() <= 1
    assert (transforms.Pad(1)(image)[1:-1, 1:-1] == image).all() and (transforms.functional.vflip(image) == image[::-1]).all()
    for jitter in (
        transforms.ColorJitter(0.4, 0.4, 0.4, 0.1),
        transforms.RandomRotation(20),
        transforms.RandomResizedCrop((8, 10)),
        transforms.RandomErasing(1.0),
        transforms.Grayscale(3),
    ):
        assert jitter(image).shape == (8, 10, 3) and jitter(image).dtype == "uint8"
    with pytest.raises(errors.InvalidArgumentError, match="9x9 of an image of 8x10; use pad_if_needed"):
        transforms.RandomCrop(9)(image)


def test_matrix_products_run_in_16_bits_inside():
    layer, x = nn.Linear(8, 8), paddle.randn([4, 8])
    with paddle.amp.auto_cast(dtype="bfloat16"):
        assert layer(x).dtype == paddle.bfloat16
    assert layer(x).dtype == paddle.float32


def test_a_scaler_leaves_out_steps_that_are_not_finite():
    layer = nn.Linear(1, 1)
    optimizer = paddle.optimizer.SGD(0.1, layer.parameters())
    scaler = paddle.amp.GradScaler(init_loss_scaling=4.0, incr_every_n_steps=1)
    before = layer.bias.item()
    scaler.scale(layer(paddle.ones([1, 1])).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
    assert abs(before - layer.bias.item() - 0.1) < 1e-6 and scaler.get_init_loss_scaling() == 8.0
    middle = layer.bias.item()
    scaler.scale(layer(paddle.to_tensor([[float("inf")]])).sum()).backward()
    scaler.minimize(optimizer)
    assert layer.bias.item() == middle and scaler.get_init_loss_scaling() == 4.0
    other = paddle.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.get_init_loss_scaling() == 4.0


def test_narrow_models_keep_wide_copies():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2))
    net, optimizer = paddle.amp.decorate(net, paddle.optimizer.SGD(0.1, net.parameters()), level="O2", dtype="bfloat16")
    assert net[0].weight.dtype == paddle.bfloat16 and net[1].weight.dtype == paddle.float32 and "linear_0.w_0" in optimizer.state_dict()["master_weights"]


def test_an_exported_layer_runs_in_torch(tmp_path):
    net = models.LeNet()
    paddle.jit.save(net, str(tmp_path / "lenet"), [paddle.static.InputSpec([-1, 1, 28, 28])])
    x = paddle.randn([3, 1, 28, 28])
    net.eval()
    expected = net(x).numpy()
    assert np.allclose(paddle.jit.load(str(tmp_path / "lenet"))(x).numpy(), expected, atol=1e-5)
    assert np.allclose(torch.jit.load(str(tmp_path / "lenet.pt"))(torch.from_numpy(x.numpy())).detach().numpy(), expected, atol=1e-5)
    with pytest.raises(errors.InvalidArgumentError, match=r"say what LeNet.forward\(inputs\) takes: input_spec"):
        paddle.jit.save(net, str(tmp_path / "lenet"))
    with pytest.raises(errors.NotFoundError, match="nothing.pt: no such file"):
        paddle.jit.load(str(tmp_path / "nothing"))


def test_the_document_runs(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = re.search(r"```python\n(.*?)```", (root / "docs" / "dynamic_graph.md").read_text(), re.S).group(1)
    names = {}
    exec(block, names)
    assert names["loss"].item() < 1.0 and (tmp_path / "net.pdparams").is_file()
