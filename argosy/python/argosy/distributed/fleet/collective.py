"""Fleet's part in the dynamic graph: a model whose gradients are averaged, and an optimizer that knows when to step."""

import contextlib

from argosy import _core, graph_mode
from argosy.distributed import job
from argosy.distributed.fleet.utils.recomputing import recompute_sublayers
from argosy.distributed.parallel import DataParallel
from argosy.errors import FailedPreconditionError, InvalidArgumentError
from argosy.nn.layer import Layer
from argosy.nn.norm import SyncBatchNorm

__all__ = ["CollectiveOptimizer", "distributed_model"]


def distributed_model(model, options):
    """`model` as a Layer that trains in step with the other processes, as `options` say."""
    graph_mode.refuse_static("fleet.distributed_model")
    if not isinstance(model, Layer):
        raise InvalidArgumentError(f"distributed_model takes a Layer; found {type(model).__name__}")
    if options.sync_batch_norm:
        model = SyncBatchNorm.convert_sync_batchnorm(model)
    _prepare(model, options)
    made = DataParallel(
        model, comm_buffer_size=options.bucket_mb, last_comm_buffer_size=options.first_bucket_mb, find_unused_parameters=options.find_unused_parameters
    )
    made._use(**options.of_reducer())
    return made


def _prepare(model, options):
    """What a strategy changes of a model's forward."""
    if options.recompute:
        recompute_sublayers(model, options.recompute)
    if options.amp is not None:
        _narrow(model, options.amp)


def _narrow(model, configs):
    """The forward of `model` computes in bfloat16: products and what else torch has on its list, or with use_pure_bf16 nearly all of it."""
    from argosy import amp

    if vars(model).get("_narrow_configs") is configs:
        return
    level = "O2" if configs["use_pure_bf16"] else "O1"
    amp.decorate(model, level=level, dtype="bfloat16")
    forward = model.forward

    def narrow(*args, **kwargs):
        with amp.auto_cast(True, configs["custom_white_list"], configs["custom_black_list"], level, "bfloat16"):
            return forward(*args, **kwargs)

    vars(model).update(forward=narrow, _narrow_configs=configs)


class CollectiveOptimizer:
    """An optimizer of the dynamic graph in a collective job. What it does not know itself is asked of the optimizer that it was made of.

    With gradient_merge the gradients of k batches add up in each process, and the k-th backward() sends them: step() and clear_grad() after the
    others do nothing. With localsgd gradients stay at home, and every k steps the parameters become their mean. Confined to one thread.
    """

    def __init__(self, optimizer, options):
        self._optimizer, self._options, self._models = optimizer, options, []
        self._backwards = 0  # whose gradients step() has seen
        self._local = None
        self._is_held = False

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def _attach(self, model):
        """Directs when the gradients of `model` are sent."""
        self._models.append(model)
        if self._options.sync_batch_norm:
            model._layers = SyncBatchNorm.convert_sync_batchnorm(model._layers)
        _prepare(model._layers, self._options)
        model._use(**self._options.of_reducer())
        self._direct()
        updates = self._optimizer._moves
        if updates is not None:
            updates.take_values()  # parameters have become those of rank 0

    def _direct(self):
        sends = not self._options.local_steps and (self._backwards + 1) % self._options.merge_steps == 0
        for model in self._models:
            model._reducer.sync = sends

    def _updates(self):
        if self._options.merge_steps > 1:
            raise InvalidArgumentError(
                "GradScaler does not go with gradient_merge: it would scale the sum of several batches several times; accumulate "
                "by no_sync() of the model instead"
            )
        return self._optimizer._updates()

    def _is_dynamic(self):
        return True

    @contextlib.contextmanager
    def _held(self):
        """step() inside is an error: train_steps() makes it."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    def step(self):
        """Moves every parameter that has a gradient; with gradient_merge after every k-th batch."""
        if self._options.adaptive:
            raise InvalidArgumentError("adaptive_localsgd goes by the loss: call minimize(loss) in place of step()")
        self._step(0.0)

    def _step(self, loss):
        if self._is_held:
            raise FailedPreconditionError(
                "the optimizer's step() within a step of train_steps: a step is forward and backward, and train_steps moves the parameters once all "
                "processes have the gradients; leave step() and clear_grad() out"
            )
        steps = self._options.merge_steps
        self._backwards += 1
        if self._backwards % steps == 0:
            if steps > 1 and self._options.merge_average:
                self._optimizer._updates().scale(1.0 / steps)
            self._optimizer.step()
        if self._options.local_steps:
            self._average(loss)
        self._direct()

    def _average(self, loss):
        if self._local is None:
            options, parameters = self._options, [one._torch for model in self._models for one in model.parameters() if one.trainable]
            self._local = _core.LocalSgd(job.world(), parameters, options.local_steps, options.local_begin, options.adaptive)
        self._local.step(loss, self._optimizer.get_lr())

    def minimize(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        """step() of the gradients that loss.backward() has left. Returns (None, [(parameter, gradient), …])."""
        if parameter_list is not None or no_grad_set is not None:
            raise InvalidArgumentError("minimize: the optimizer knows its parameters, and stop_gradient leaves one out; found parameter_list or no_grad_set")
        pairs = self._optimizer._updates().named_pairs()
        self._step(float(loss))
        return None, pairs

    def clear_grad(self, set_to_zero=True):
        """Gradients become 0, or None; with gradient_merge only those that step() has used."""
        if self._backwards % self._options.merge_steps == 0:
            self._optimizer.clear_grad(set_to_zero)

    clear_gradients = clear_grad
