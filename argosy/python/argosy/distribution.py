"""Probability distributions on tensors of the dynamic graph, over torch.distributions."""

import torch
from torch import distributions as of_torch

from argosy.dynamic.tensor import Tensor, torch_of, unwrap
from argosy.errors import InvalidArgumentError, UnimplementedError

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "Dirichlet",
    "Distribution",
    "Multinomial",
    "Normal",
    "Uniform",
    "kl_divergence",
    "Independent",
    "Laplace",
    "LogNormal",
    "Gumbel",
    "Geometric",
]
_INSTEAD = {
    "register_kl": "a kl_divergence method of the distribution's own class",
    "TransformedDistribution": "sample() of the base and a function of its samples",
    "ExponentialFamily": "Distribution",
}


def __getattr__(name):
    if name in _INSTEAD:
        raise AttributeError(f"paddle.distribution.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.distribution' has no attribute '{name}'")


def _values(value):
    """A tensor of floats of a number, a list, an array or a tensor."""
    found = unwrap(value) if isinstance(value, Tensor) else torch_of(value)
    return found if found.is_floating_point() else found.float()


def _refuse_seed(seed):
    if seed:
        raise UnimplementedError("sample: a distribution has no seed of its own here; paddle.seed() sets that of the whole")


class Distribution:
    """What the distributions share. Arguments are numbers, lists, arrays or tensors; samples have the shape that is asked for, then batch_shape and
    event_shape.

    >>> found = paddle.distribution.Normal([0.0, 1.0], 1.0)
    >>> found.batch_shape, found.sample([3]).shape
    ([2], [3, 2])
    """

    def __init__(self, base):
        self._base = base

    @property
    def batch_shape(self):
        return list(self._base.batch_shape)

    @property
    def event_shape(self):
        return list(self._base.event_shape)

    @property
    def mean(self):
        return Tensor(self._base.mean)

    @property
    def variance(self):
        return Tensor(self._base.variance)

    @property
    def stddev(self):
        return Tensor(self._base.stddev)

    def sample(self, shape=(), seed=0):
        """Values without a gradient."""
        _refuse_seed(seed)
        return Tensor(self._base.sample(torch.Size(shape)))

    def rsample(self, shape=()):
        """Values through which gradients reach the distribution's parameters."""
        if not self._base.has_rsample:
            raise UnimplementedError(f"{type(self).__name__} has no rsample(): its values do not change smoothly; use sample()")
        return Tensor(self._base.rsample(torch.Size(shape)))

    def entropy(self):
        return Tensor(self._base.entropy())

    def log_prob(self, value):
        """The logarithm of the density, or of the probability."""
        return Tensor(self._base.log_prob(_values(value)))

    def prob(self, value):
        """The density, or the probability."""
        return self.log_prob(value).exp()

    probs = prob

    def cdf(self, value):
        """The probability of a value that is not larger."""
        return Tensor(self._base.cdf(_values(value)))

    def icdf(self, value):
        """The value below which this share lies."""
        return Tensor(self._base.icdf(_values(value)))

    def kl_divergence(self, other):
        """Of this one from another of its kind."""
        return kl_divergence(self, other)


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of q from p.

    >>> one, other = paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Normal(1.0, 1.0)
    >>> paddle.distribution.kl_divergence(one, other).item()
    0.5
    """
    if not isinstance(p, Distribution) or not isinstance(q, Distribution):
        raise InvalidArgumentError(f"kl_divergence takes two distributions; found {type(p).__name__} and {type(q).__name__}")
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        return Tensor(of_torch.kl_divergence(p._softmax, q._softmax).unsqueeze(-1))
    try:
        return Tensor(of_torch.kl_divergence(p._base, q._base))
    except NotImplementedError:
        raise UnimplementedError(
            f"kl_divergence of {type(p).__name__} and {type(q).__name__} has no formula here; take means of p.log_prob - q.log_prob over samples"
        ) from None


class Normal(Distribution):
    """The normal distribution of mean loc and deviation scale.

    >>> paddle.distribution.Normal(0.0, 1.0).log_prob(paddle.to_tensor(0.0)).item()
    -0.9189385175704956
    """

    def __init__(self, loc, scale, name=None):
        self.loc, self.scale = Tensor(_values(loc)), Tensor(_values(scale))
        super().__init__(of_torch.Normal(unwrap(self.loc), unwrap(self.scale), validate_args=False))


class LogNormal(Distribution):
    """Of values whose logarithm is normal.

    >>> paddle.distribution.LogNormal(0.0, 1.0).mean.item()
    1.6487212181091309
    """

    def __init__(self, loc, scale):
        self.loc, self.scale = Tensor(_values(loc)), Tensor(_values(scale))
        super().__init__(of_torch.LogNormal(unwrap(self.loc), unwrap(self.scale), validate_args=False))


class Uniform(Distribution):
    """Of values between low and high.

    >>> paddle.distribution.Uniform(0.0, 4.0).probs(paddle.to_tensor([1.0, 5.0])).tolist()
    [0.25, 0.0]
    """

    def __init__(self, low, high, name=None):
        self.low, self.high = Tensor(_values(low)), Tensor(_values(high))
        super().__init__(of_torch.Uniform(unwrap(self.low), unwrap(self.high), validate_args=False))


class Categorical(Distribution):
    """Of the numbers of classes. As in Paddle, probs() and log_prob() take `logits` as weights of the classes, and sample(), entropy() and
    kl_divergence() their softmax.

    >>> found = paddle.distribution.Categorical(paddle.to_tensor([1.0, 3.0]))
    >>> found.probs(paddle.to_tensor([1])).tolist(), found.sample([4]).shape
    ([0.75], [4])
    """

    def __init__(self, logits, name=None):
        self.logits = Tensor(_values(logits))
        self._softmax = of_torch.Categorical(logits=unwrap(self.logits), validate_args=False)
        super().__init__(self._softmax)

    def log_prob(self, value):
        return self.probs(value).log()

    def probs(self, value):
        """The weights of the classes `value`, of their sum."""
        weights = unwrap(self.logits)
        share, index = weights / weights.sum(-1, keepdim=True), torch.as_tensor(unwrap(value)).long()
        if share.dim() == 1:
            return Tensor(share[index])
        index = index.reshape([1] * (share.dim() - 1) + [-1]).expand(*share.shape[:-1], -1) if index.dim() == 1 else index
        return Tensor(share.gather(-1, index))

    prob = probs


class Bernoulli(Distribution):
    """1 with probability probs, otherwise 0.

    >>> paddle.distribution.Bernoulli(0.25).mean.item()
    0.25
    """

    def __init__(self, probs, name=None):
        self.probs = Tensor(_values(probs))
        super().__init__(of_torch.Bernoulli(probs=unwrap(self.probs), validate_args=False))

    def cdf(self, value):
        at = _values(value)
        below = 1 - unwrap(self.probs)
        return Tensor(torch.where(at < 0, torch.zeros_like(at), torch.where(at < 1, below.expand_as(at), torch.ones_like(at))))

    def rsample(self, shape, temperature=1.0):
        """Values between 0 and 1, nearer to them the lower the temperature is, through which gradients reach probs."""
        relaxed = of_torch.RelaxedBernoulli(torch.tensor(float(temperature)), probs=unwrap(self.probs), validate_args=False)
        return Tensor(torch.logit(relaxed.rsample(torch.Size(shape))))


class Beta(Distribution):
    """Of values between 0 and 1.

    >>> paddle.distribution.Beta(1.0, 3.0).mean.item()
    0.25
    """

    def __init__(self, alpha, beta):
        self.alpha, self.beta = Tensor(_values(alpha)), Tensor(_values(beta))
        super().__init__(of_torch.Beta(unwrap(self.alpha), unwrap(self.beta), validate_args=False))


class Dirichlet(Distribution):
    """Of shares that add up to 1.

    >>> paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).mean.tolist()
    [0.25, 0.75]
    """

    def __init__(self, concentration):
        self.concentration = Tensor(_values(concentration))
        super().__init__(of_torch.Dirichlet(unwrap(self.concentration), validate_args=False))


class Multinomial(Distribution):
    """How often each class comes in total_count draws.

    >>> paddle.distribution.Multinomial(4, paddle.to_tensor([1.0, 3.0])).mean.tolist()
    [1.0, 3.0]
    """

    def __init__(self, total_count, probs):
        self.total_count, weights = total_count, _values(probs)
        self.probs = Tensor(weights / weights.sum(-1, keepdim=True))
        super().__init__(of_torch.Multinomial(total_count, probs=weights, validate_args=False))


class Laplace(Distribution):
    """Two exponential distributions, back to back at loc.

    >>> paddle.distribution.Laplace(0.0, 1.0).variance.item()
    2.0
    """

    def __init__(self, loc, scale):
        self.loc, self.scale = Tensor(_values(loc)), Tensor(_values(scale))
        super().__init__(of_torch.Laplace(unwrap(self.loc), unwrap(self.scale), validate_args=False))


class Gumbel(Distribution):
    """Of the largest of many values.

    >>> paddle.distribution.Gumbel(0.0, 1.0).mean.item()
    0.5772156715393066
    """

    def __init__(self, loc, scale):
        self.loc, self.scale = Tensor(_values(loc)), Tensor(_values(scale))
        super().__init__(of_torch.Gumbel(unwrap(self.loc), unwrap(self.scale), validate_args=False))

    def cdf(self, value):
        return Tensor(torch.exp(-torch.exp(-(_values(value) - unwrap(self.loc)) / unwrap(self.scale))))


class Cauchy(Distribution):
    """Of values without a mean.

    >>> paddle.distribution.Cauchy(0.0, 1.0).cdf(paddle.to_tensor(0.0)).item()
    0.5
    """

    def __init__(self, loc, scale, name=None):
        self.loc, self.scale = Tensor(_values(loc)), Tensor(_values(scale))
        super().__init__(of_torch.Cauchy(unwrap(self.loc), unwrap(self.scale), validate_args=False))

    @property
    def mean(self):
        raise InvalidArgumentError("a Cauchy distribution has no mean")

    @property
    def variance(self):
        raise InvalidArgumentError("a Cauchy distribution has no variance")

    @property
    def stddev(self):
        raise InvalidArgumentError("a Cauchy distribution has no deviation")

    def kl_divergence(self, other):
        if not isinstance(other, Cauchy):
            raise InvalidArgumentError(f"kl_divergence takes another Cauchy; found {type(other).__name__}")
        a, b, c, d = (unwrap(one) for one in (self.loc, self.scale, other.loc, other.scale))
        return Tensor(torch.log(((b + d) ** 2 + (a - c) ** 2) / (4 * b * d)))


class Geometric(Distribution):
    """How many failures come before the first success of probability probs.

    >>> paddle.distribution.Geometric(0.25).mean.item()
    3.0
    """

    def __init__(self, probs):
        self.probs = Tensor(_values(probs))
        chance = unwrap(self.probs)
        if bool(((chance <= 0) | (chance > 1)).any()):
            raise InvalidArgumentError(f"Geometric: probs are above 0 and at most 1; found {chance.tolist()}")
        super().__init__(of_torch.Geometric(probs=chance, validate_args=False))

    def pmf(self, k):
        """The probability of k failures."""
        return self.prob(k)

    def log_pmf(self, k):
        return self.log_prob(k)

    def cdf(self, k):
        return Tensor(1 - (1 - unwrap(self.probs)) ** (_values(k) + 1))


class Independent(Distribution):
    """`base` with the last reinterpreted_batch_rank axes of its batch as one event.

    >>> base = paddle.distribution.Normal([0.0, 0.0], 1.0)
    >>> found = paddle.distribution.Independent(base, 1)
    >>> found.batch_shape, found.event_shape
    ([], [2])
    """

    def __init__(self, base, reinterpreted_batch_rank):
        if not isinstance(base, Distribution):
            raise InvalidArgumentError(f"Independent takes a distribution; found {type(base).__name__}")
        super().__init__(of_torch.Independent(base._base, reinterpreted_batch_rank, validate_args=False))
