"""16-bit training of programs."""

from argosy.errors import InvalidArgumentError, UnimplementedError
from argosy.fluid.mixed_precision import AutoMixedPrecisionLists, decorated

__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "decorate"]

CustomOpLists = AutoMixedPrecisionLists

_USUAL = {
    "init_loss_scaling": 2**15,
    "incr_every_n_steps": 1000,
    "decr_every_n_nan_or_inf": 2,
    "incr_ratio": 2.0,
    "decr_ratio": 0.8,
    "use_dynamic_loss_scaling": None,
}
_INSTEAD = {
    "fp16_guard": "nothing: all products with a parameter are in 16 bits",
    "cast_model_to_fp16": "decorate, or Config.enable_mkldnn_bfloat16 of paddle.inference for a saved model",
    "cast_parameters_to_fp16": "nothing: parameters of programs stay float32",
    "bf16": "decorate: 16 bits are bfloat16",
    "debugging": "FLAGS_check_nan_inf",
}


def __getattr__(name):
    if name in _INSTEAD:
        raise AttributeError(f"paddle.static.amp.{name} is not here; use {_INSTEAD[name]}")
    raise AttributeError(f"module 'paddle.static.amp' has no attribute '{name}'")


def decorate(
    optimizer,
    amp_lists=None,
    init_loss_scaling=2**15,
    incr_every_n_steps=1000,
    decr_every_n_nan_or_inf=2,
    incr_ratio=2.0,
    decr_ratio=0.8,
    use_dynamic_loss_scaling=None,
    use_pure_fp16=False,
    use_fp16_guard=None,
    use_bf16=False,
    use_promote=False,
    *,
    level="O1",
    dtype="float16",
    master_weight=None,
    master_grad=False,
):
    """`optimizer`; the program of a loss that it minimizes multiplies by parameters in bfloat16 and adds up in float32, whichever 16 bits were named.
    With level "O0" the program stays as it is.

    With dtype "float16" losses are multiplied by a factor, init_loss_scaling, and their gradients divided by it. Where use_dynamic_loss_scaling is not False a
    batch with a gradient that is NaN or infinite is left out, and the factor moves: by decr_ratio after decr_every_n_nan_or_inf such batches in a row, by
    incr_ratio after incr_every_n_steps others. With "bfloat16", which has float32's range, losses stay as they are, and so they do on parameter servers.

    Parameters and updates are float32: level "O2" and use_pure_fp16, which make them 16 bits, are refused, and master_weight and master_grad, which keep
    copies of 32 bits, have nothing to do.

    >>> paddle.enable_static()
    >>> optimizer = paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16")
    >>> operators, pairs = optimizer.minimize(paddle.mean(paddle.nn.Linear(2, 1)(paddle.static.data("x", [None, 2]))))
    """
    given = {name: value for name, value in locals().items() if name in _USUAL}
    if level not in ("O0", "OD", "O1", "O2") or dtype not in ("float16", "bfloat16"):
        raise InvalidArgumentError(f"paddle.static.amp.decorate: level is O0, OD, O1 or O2, dtype float16 or bfloat16; found {level!r}, {dtype!r}")
    if level == "O2" or use_pure_fp16:
        asked = "level='O2'" if level == "O2" else "use_pure_fp16=True"
        raise UnimplementedError(
            f"paddle.static.amp.decorate: {asked}: parameters of programs stay float32; use level='O1', or paddle.amp.decorate(level='O2') in the dynamic graph"
        )
    kind = "bfloat16" if use_bf16 else dtype
    return optimizer if level == "O0" else decorated("paddle.static.amp.decorate", optimizer, amp_lists, given, _USUAL, kind)
