"""paddle.distribution, paddle.profiler, paddle.incubate and the data sets of texts."""

import io
import json
import math
import tarfile

import numpy as np
import pytest

import paddle
from paddle import distribution as D
from paddle.dataset import common, imdb, imikolov

X = np.array([0.3, 1.7, 2.2])
GAMMA = 0.5772156649015329

# (distribution, log density at X, mean, variance, entropy), by their formulas.
CASES = {
    "normal": (
        lambda: D.Normal(1.0, 2.0),
        -((X - 1) ** 2) / 8 - math.log(2 * math.sqrt(2 * math.pi)),
        1.0,
        4.0,
        0.5 + 0.5 * math.log(2 * math.pi) + math.log(2),
    ),
    "lognormal": (
        lambda: D.LogNormal(0.5, 0.8),
        -((np.log(X) - 0.5) ** 2) / (2 * 0.64) - np.log(X * 0.8 * math.sqrt(2 * math.pi)),
        math.exp(0.5 + 0.32),
        (math.exp(0.64) - 1) * math.exp(1 + 0.64),
        0.5 + 0.5 * math.log(2 * math.pi) + math.log(0.8) + 0.5,
    ),
    "uniform": (lambda: D.Uniform(0.0, 4.0), np.full(3, -math.log(4)), 2.0, 16 / 12, math.log(4)),
    "laplace": (lambda: D.Laplace(1.0, 2.0), -np.abs(X - 1) / 2 - math.log(4), 1.0, 8.0, 1 + math.log(4)),
    "gumbel": (
        lambda: D.Gumbel(1.0, 2.0),
        -(X - 1) / 2 - np.exp(-(X - 1) / 2) - math.log(2),
        1 + 2 * GAMMA,
        math.pi**2 / 6 * 4,
        math.log(2) + GAMMA + 1,
    ),
    "geometric": (lambda: D.Geometric(0.25), X * math.log(0.75) + math.log(0.25), 3.0, 12.0, -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / 0.25),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_distribution_is_its_formula(name):
    make, log_density, mean, variance, entropy = CASES[name]
    found = make()
    np.testing.assert_allclose(found.log_prob(paddle.to_tensor(X.astype("float32"))).numpy(), log_density, rtol=1e-5)
    np.testing.assert_allclose(found.prob(paddle.to_tensor(X.astype("float32"))).numpy(), np.exp(log_density), rtol=1e-5)
    for value, want in ((found.mean, mean), (found.variance, variance), (found.entropy(), entropy)):
        np.testing.assert_allclose(value.numpy(), want, rtol=1e-5)
    paddle.seed(4)
    samples = found.sample([20000])
    assert samples.shape == [20000] and samples.stop_gradient
    assert abs(float(samples.mean()) - mean) < 0.05 * max(1.0, math.sqrt(variance))


def test_beta_dirichlet_and_multinomial():
    beta = D.Beta(2.0, 3.0)
    at = np.array([0.2, 0.7])
    np.testing.assert_allclose(beta.prob(paddle.to_tensor(at.astype("float32"))).numpy(), 12 * at * (1 - at) ** 2, rtol=1e-5)
    assert beta.mean.item() == pytest.approx(0.4) and beta.variance.item() == pytest.approx(0.04)
    dirichlet = D.Dirichlet(paddle.to_tensor([1.0, 2.0, 3.0]))
    share = np.array([0.2, 0.3, 0.5])
    want = math.gamma(6) / (math.gamma(1) * math.gamma(2) * math.gamma(3)) * share[1] * share[2] ** 2
    assert dirichlet.prob(paddle.to_tensor(share.astype("float32"))).item() == pytest.approx(want, rel=1e-5) and dirichlet.sample([2]).shape == [2, 3]
    draws = D.Multinomial(3, paddle.to_tensor([0.5, 0.5]))
    assert draws.prob(paddle.to_tensor([1.0, 2.0])).item() == pytest.approx(3 / 8) and draws.sample([5]).sum(-1).tolist() == [3.0] * 5


def test_bernoulli():
    found = D.Bernoulli(paddle.to_tensor([0.25]))
    np.testing.assert_allclose(found.prob(paddle.to_tensor([1.0])).numpy(), [0.25], rtol=1e-6)
    assert found.variance.tolist() == [0.1875] and found.cdf(paddle.to_tensor([0.5])).tolist() == [0.75]
    assert found.kl_divergence(D.Bernoulli(paddle.to_tensor([0.5]))).item() == pytest.approx(0.25 * math.log(0.5) + 0.75 * math.log(1.5), rel=1e-5)
    assert found.sample([100]).shape == [100, 1]


# As 2.6.2 has it: weights for the probabilities, their softmax for the rest.
def test_categorical_has_both_meanings_of_its_argument():
    weights = np.array([1.0, 3.0], "float32")
    found, softmax = D.Categorical(weights), np.exp(weights) / np.exp(weights).sum()
    assert found.probs(paddle.to_tensor([0, 1])).tolist() == [0.25, 0.75]
    assert found.log_prob(paddle.to_tensor([1])).item() == pytest.approx(math.log(0.75))
    assert found.entropy().item() == pytest.approx(-(softmax * np.log(softmax)).sum(), rel=1e-5)
    other = D.Categorical(np.array([1.0, 1.0], "float32"))
    assert found.kl_divergence(other).numpy().ravel()[0] == pytest.approx((softmax * np.log(softmax / 0.5)).sum(), rel=1e-5)
    paddle.seed(1)
    assert float((found.sample([4000]) == 1).astype("float32").mean()) == pytest.approx(softmax[1], abs=0.03)
    two = D.Categorical(np.array([[1.0, 3.0], [2.0, 2.0]], "float32"))
    assert two.probs(paddle.to_tensor([0])).tolist() == [[0.25], [0.5]] and two.sample([3]).shape == [3, 2]


def test_divergences_and_gradients():
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)).item() == pytest.approx(math.log(2) + 2 / 8 - 0.5)
    assert D.Cauchy(0.0, 1.0).kl_divergence(D.Cauchy(0.0, 1.0)).item() == 0 and D.Cauchy(0.0, 2.0).entropy().item() == pytest.approx(math.log(8 * math.pi))
    with pytest.raises(NotImplementedError, match="kl_divergence of Normal and Cauchy"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0))
    loc = paddle.to_tensor([0.5], stop_gradient=False)
    D.Normal(loc, 1.0).rsample([8]).sum().backward()
    assert loc.grad.tolist() == [8.0]
    one = D.Independent(D.Normal([0.0, 1.0], 1.0), 1)
    assert one.log_prob(paddle.to_tensor([0.0, 1.0])).item() == pytest.approx(-math.log(2 * math.pi))
    with pytest.raises(NotImplementedError, match="paddle.seed"):
        D.Normal(0.0, 1.0).sample([1], seed=3)
    with pytest.raises(ValueError, match="no mean"):
        D.Cauchy(0.0, 1.0).mean
    with pytest.raises(AttributeError, match="register_kl is not here; use"):
        D.register_kl


def test_a_profiler_records_the_steps_that_its_scheduler_names(tmp_path, capsys):
    traces = []
    scheduler = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
    with paddle.profiler.Profiler(scheduler=scheduler, on_trace_ready=traces.append, targets=[paddle.profiler.ProfilerTarget.CPU]) as profiler:
        for step in range(6):
            with paddle.profiler.RecordEvent(f"my step {step}"):
                paddle.matmul(paddle.ones([4, 4]), paddle.ones([4, 4]))
            profiler.step(num_samples=8)
    assert len(traces) == 1 and "samples/s" in profiler.step_info()
    profiler.export(str(tmp_path / "trace.json"))
    names = {event.get("name") for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert {"my step 2", "my step 3"} <= names and not {"my step 0", "my step 1", "my step 4"} & names
    profiler.summary()
    assert "my step 2" in capsys.readouterr().out


def test_a_profiler_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="targets are"):
        paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.XPU])
    with pytest.raises(NotImplementedError, match="nsys"):
        paddle.profiler.Profiler(emit_nvtx=True)
    with pytest.raises(RuntimeError, match="start\\(\\) comes first"):
        paddle.profiler.Profiler().step()
    with pytest.raises(RuntimeError, match="nothing is recorded"):
        paddle.profiler.Profiler().export("x")


def test_segments():
    data, ids = paddle.to_tensor([[1.0, 5.0], [3.0, 1.0], [4.0, 2.0]]), paddle.to_tensor([0, 0, 2])
    assert paddle.incubate.segment_mean(data, ids).tolist() == [[2.0, 3.0], [0.0, 0.0], [4.0, 2.0]]
    assert paddle.incubate.segment_max(data, ids).tolist()[0] == [3.0, 5.0] and paddle.incubate.segment_min(data, ids).tolist()[0] == [1.0, 1.0]
    with pytest.raises(ValueError, match="sorted"):
        paddle.incubate.segment_sum(data, paddle.to_tensor([1, 0, 0]))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The cache folder, with a small archive for each data set."""
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    texts = {
        "imdb/aclImdb_v1.tar.gz": {
            "aclImdb/train/pos/0_9.txt": "Good, good film!",
            "aclImdb/train/neg/0_1.txt": "bad film",
            "aclImdb/test/pos/0_9.txt": "good",
        },
        "imikolov/simple-examples.tgz": {
            "./simple-examples/data/ptb.train.txt": "a b a\nc <unk> a\n",
            "./simple-examples/data/ptb.valid.txt": "a b\n",
        },
    }
    for (path, files), module in zip(texts.items(), (imdb, imikolov), strict=True):
        (tmp_path / path).parent.mkdir()
        with tarfile.open(tmp_path / path, "w:gz") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        monkeypatch.setattr(module, "MD5", common.md5file(str(tmp_path / path)))
    return tmp_path


def test_imdb(home):
    import re

    numbers = imdb.build_dict(re.compile("aclImdb/train/.*"), 1)
    assert numbers == {"film": 0, "good": 1, "<unk>": 2}
    assert list(imdb.train(numbers)()) == [([1, 1, 0], 0), ([2, 0], 1)] and list(imdb.test(numbers)()) == [([1], 0)]
    reviews = paddle.text.Imdb(mode="test", cutoff=1)
    assert len(reviews) == 1 and reviews[0][1].tolist() == [0] and reviews.word_idx["good"] == 0


def test_imikolov(home):
    numbers = imikolov.build_dict(1)
    assert numbers == {"a": 0, "<e>": 1, "<s>": 2, "b": 3, "<unk>": 4}
    assert list(imikolov.test(numbers, 3)()) == [(2, 0, 3), (0, 3, 1)]
    assert list(imikolov.train(numbers, -1, imikolov.DataType.SEQ)()) == [([2, 0, 3, 0], [0, 3, 0, 1]), ([2, 4, 4, 0], [4, 4, 0, 1])]
    assert len(paddle.text.Imikolov(window_size=3, min_word_freq=1)) == 6
    with pytest.raises(ValueError, match="window_size"):
        paddle.text.Imikolov()


def test_nothing_is_downloaded(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"needs the file .*/mine/a\.tgz, which is that of https://host/x%2Fa\.tgz; put it there"):
        common.download("https://host/x%2Fa.tgz", "mine", "0")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.tgz").write_bytes(b"")
    assert common.download("https://host/a.tgz", "mine", "d41d8cd98f00b204e9800998ecf8427e") == str(tmp_path / "mine" / "a.tgz")
    with pytest.raises(RuntimeError, match="has the MD5 sum d41d8.*, expected 12; replace it"):
        common.download("https://host/a.tgz", "mine", "12")
