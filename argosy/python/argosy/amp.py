"""paddle.amp: computing in 16 bits where it does no harm, by torch's autocast, and scaled losses."""

import contextlib

import torch

from argosy import device
from argosy.dynamic import casting, dtypes
from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError

__all__ = ["auto_cast", "amp_guard", "decorate", "amp_decorate", "GradScaler", "AmpScaler", "is_bfloat16_supported", "is_float16_supported"]


@contextlib.contextmanager
def auto_cast(enable=True, custom_white_list=None, custom_black_list=None, level="O1", dtype="float16", use_promote=True):
    """Products of matrices and convolutions inside run in `dtype`, by torch's list; what custom_white_list names does too, and what
    custom_black_list names runs in float32.

    >>> with paddle.amp.auto_cast(dtype="bfloat16"):
    ...     product = paddle.ones([2, 2]) @ paddle.ones([2, 2])
    >>> print(product.dtype)
    paddle.bfloat16
    """
    if level not in ("O0", "OD", "O1", "O2") or dtype not in ("float16", "bfloat16"):
        raise InvalidArgumentError(f"auto_cast: level is O0, OD, O1 or O2, dtype float16 or bfloat16; found {level!r}, {dtype!r}")
    kind = device.torch_device().partition(":")[0]
    on, chosen = enable and level != "O0", dtypes.to_torch(dtype)
    with torch.autocast(kind, chosen, enabled=on), casting.lists(custom_white_list if on else (), custom_black_list if on else (), chosen):
        yield


amp_guard = auto_cast


def is_bfloat16_supported(device=None):
    """Whether 16-bit floats of 8 exponent bits can be computed with: always.

    >>> paddle.amp.is_bfloat16_supported()
    True
    """
    return True


def is_float16_supported(device=None):
    """Whether 16-bit floats of 5 exponent bits are fast: on a GPU.

    >>> paddle.amp.is_float16_supported() == paddle.is_compiled_with_cuda()
    True
    """
    return torch.cuda.is_available()


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def decorate(models, optimizers=None, level="O1", dtype="float16", master_weight=None, save_dtype=None, master_grad=False, excluded_layers=None):
    """For O2: models whose parameters are `dtype`, but for normalization layers and `excluded_layers`, and optimizers that move float32 copies of
    them, unless master_weight is False.

    >>> layer = paddle.amp.decorate(nn.Linear(2, 1), level="O2", dtype="bfloat16")
    >>> print(layer.weight.dtype)
    paddle.bfloat16
    """
    if save_dtype is not None or master_grad:
        raise InvalidArgumentError("decorate: save_dtype and master_grad are not there; states are saved in the parameters' own type")
    if level == "O2":
        for model in _listed(models):
            _narrow(model, dtype, _listed(excluded_layers) if excluded_layers else [])
        for optimizer in _listed(optimizers) if optimizers is not None else ():
            optimizer._multi_precision = master_weight is not False
            optimizer._moves = None
    elif level not in ("O0", "O1"):
        raise InvalidArgumentError(f"decorate: level is O0, O1 or O2; found {level!r}")
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _narrow(model, dtype, excluded):
    from argosy.nn import norm

    kept = (norm._BatchNorm, norm.LayerNorm, norm._InstanceNorm, norm.GroupNorm, *(one for one in excluded if isinstance(one, type)))
    for layer in model.sublayers(True):
        if isinstance(layer, kept) or layer in excluded:
            continue
        for part in layer._parameters.values():
            if part is not None and part._torch.is_floating_point():
                part._torch = part._torch.detach().to(dtypes.to_torch(dtype)).requires_grad_(part._torch.requires_grad)


class GradScaler:
    """Losses times a factor, so that small gradients do not become 0 in 16 bits. A step whose gradients are not finite is left out, and the
    factor falls; after incr_every_n_steps good ones it rises.

    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> optimizer, scaler = paddle.optimizer.SGD(0.1, [x]), paddle.amp.GradScaler(init_loss_scaling=1024)
    >>> scaler.scale((x * x).sum()).backward()
    >>> scaler.minimize(optimizer)
    >>> print(x.numpy())
    [0.8]
    """

    def __init__(
        self,
        enable=True,
        init_loss_scaling=2.0**16,
        incr_ratio=2.0,
        decr_ratio=0.5,
        incr_every_n_steps=2000,
        decr_every_n_nan_or_inf=1,
        use_dynamic_loss_scaling=True,
    ):
        if incr_ratio <= 1.0 or not 0.0 < decr_ratio < 1.0:
            raise InvalidArgumentError(f"GradScaler: incr_ratio is above 1 and decr_ratio between 0 and 1; found {incr_ratio} and {decr_ratio}")
        self._enable, self._scale, self._dynamic = enable, float(init_loss_scaling), enable and use_dynamic_loss_scaling
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._incr_every, self._decr_every = incr_every_n_steps, decr_every_n_nan_or_inf
        self._good = self._bad = 0
        self._unscaled, self._found_inf = set(), False

    def scale(self, var):
        """The loss times the factor."""
        if not self._enable:
            return var
        scaled = var * self._scale
        scaled._unscaled = var._torch  # what the job's launcher shows is the loss itself
        return scaled

    def unscale_(self, optimizer):
        """Gradients divided by the factor; step() does it where it was not done."""
        if not self._enable or id(optimizer) in self._unscaled:
            return
        gradients = [parameter._torch.grad for parameter, _ in optimizer._updates().pairs()]
        if gradients:
            torch._foreach_mul_(gradients, 1.0 / self._scale)
            self._found_inf |= not bool(torch.stack([torch.isfinite(gradient).all() for gradient in gradients]).all())
        self._unscaled.add(id(optimizer))

    def step(self, optimizer):
        """optimizer.step(), unless a gradient is not finite."""
        if not self._enable:
            optimizer.step()
            return
        self.unscale_(optimizer)
        if not self._found_inf:
            optimizer.step()

    def update(self):
        """Moves the factor; once after step()."""
        if self._dynamic and self._found_inf:
            self._good, self._bad = 0, self._bad + 1
            if self._bad >= self._decr_every:
                self._scale, self._bad = max(self._scale * self._decr_ratio, 1.0), 0
        elif self._dynamic:
            self._good, self._bad = self._good + 1, 0
            if self._good >= self._incr_every:
                self._scale, self._good = self._scale * self._incr_ratio, 0
        self._unscaled, self._found_inf = set(), False

    def minimize(self, optimizer, *args, **kwargs):
        """step() and update(), after scaled.backward()."""
        self.step(optimizer)
        self.update()

    def is_enable(self):
        return self._enable

    def is_use_dynamic_loss_scaling(self):
        return self._dynamic

    def get_init_loss_scaling(self):
        return self._scale

    def set_init_loss_scaling(self, new_init_loss_scaling):
        self._scale = float(new_init_loss_scaling)

    def state_dict(self):
        if not self._enable:
            return {}
        return {
            "scale": Tensor(torch.tensor([self._scale])).numpy(),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every,
            "decr_every_n_nan_or_inf": self._decr_every,
            "incr_count": self._good,
            "decr_count": self._bad,
            "use_dynamic_loss_scaling": self._dynamic,
        }

    def load_state_dict(self, state_dict):
        if not self._enable:
            return
        missing = [key for key in self.state_dict() if key not in state_dict]
        if missing:
            raise InvalidArgumentError(f"GradScaler: the state lacks {', '.join(missing)}")
        self._scale = float(state_dict["scale"][0])
        self._incr_ratio, self._decr_ratio = state_dict["incr_ratio"], state_dict["decr_ratio"]
        self._incr_every, self._decr_every = state_dict["incr_every_n_steps"], state_dict["decr_every_n_nan_or_inf"]
        self._good, self._bad, self._dynamic = state_dict["incr_count"], state_dict["decr_count"], state_dict["use_dynamic_loss_scaling"]


AmpScaler = GradScaler
