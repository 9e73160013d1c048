"""DistributedStrategy: how a job of paddle.distributed.fleet trains."""

import copy
import numbers
import warnings
from typing import Any

from argosy import _core
from argosy.distributed.collective_options import CollectiveOptions
from argosy.distributed.fleet.base import prototxt, strategy_fields
from argosy.errors import InvalidArgumentError
from argosy.fluid.backward import names_of
from argosy.fluid.compiler import BuildStrategy, ExecutionStrategy, check_strategy
from argosy.fluid.settings import Settings

__all__ = ["DistributedStrategy"]

_STRATEGIES = {"execution_strategy": ExecutionStrategy, "build_strategy": BuildStrategy}


class _AsyncConfigs(Settings):
    """a_sync_configs, with 2.x's defaults. What is not set keeps the default of the core or of FLAGS_communicator_*."""

    _fields = {
        "k_steps": 0,
        "max_merge_var_num": 1,
        "send_queue_size": 16,
        "independent_recv_thread": False,
        "min_send_grad_num_before_recv": 1,
        "thread_pool_size": 1,
        "send_wait_times": 1,
        "runtime_split_send_recv": False,
        "launch_barrier": True,
        "heter_worker_device_guard": "cpu",
        "lr_decay_steps": 10,
        "use_ps_gpu": 0,
    }
    _fixed = {
        "launch_barrier": "workers always wait for their servers",
        "heter_worker_device_guard": "workers are of one kind",
        "use_ps_gpu": "tables are in the servers' memory",
    }
    _least = {
        "k_steps": 0,
        "max_merge_var_num": 1,
        "send_queue_size": 1,
        "min_send_grad_num_before_recv": 1,
        "thread_pool_size": 1,
        "send_wait_times": 0,
        "lr_decay_steps": 1,
    }

    def __init__(self):
        super().__init__()
        vars(self)["_given"] = set()

    def __setattr__(self, name, value):
        self._check(name, value)
        super().__setattr__(name, value)
        self._given.add(name)

    def _check(self, name, value):
        if name not in self._fields:
            raise AttributeError(f"a_sync_configs has no setting '{name}'; it has {', '.join(self._fields)}")
        if name in self._fixed and value != self._fields[name]:
            raise InvalidArgumentError(f"a_sync_configs: {name} = {value!r}: {self._fixed[name]}; leave it at {self._fields[name]!r}")
        least = self._least.get(name)
        if least is not None and (isinstance(value, bool) or not isinstance(value, numbers.Integral)):
            raise InvalidArgumentError(f"a_sync_configs: {name} is a number, {least} or more; found {value!r}")
        if least is not None and value < least:
            raise InvalidArgumentError(f"a_sync_configs: {name} is a number, {least} or more; found {value!r}")
        if name in ("independent_recv_thread", "runtime_split_send_recv") and value not in (True, False):
            raise InvalidArgumentError(f"a_sync_configs: {name} is True or False; found {value!r}")

    def _queue(self):
        """What was said about the queue of gradients, which only asynchronous jobs have."""
        return {name: getattr(self, name) for name in sorted(self._given - {"k_steps", "runtime_split_send_recv", "lr_decay_steps"} - set(self._fixed))}

    def _apply(self, strategy):
        for name, value in self._queue().items():
            setattr(strategy, name, bool(value) if name == "independent_recv_thread" else value)

    def _refuse(self, names, why):
        given = [f"{name}={getattr(self, name)!r}" for name in names if getattr(self, name) != self._fields[name]]
        if given:
            raise ValueError(f"a_sync_configs has {', '.join(given)}, {why}")


def _table_options(value):
    if not isinstance(value, dict) or not all(isinstance(options, dict) for options in value.values()):
        raise TypeError(f"fleet_desc_configs is a dict of dicts, {{table: {{option: number}}}}; found {value!r}")
    for table, options in value.items():
        for name, number in options.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                raise TypeError(f"fleet_desc_configs['{table}']['{name}'] is a number; found {number!r}")
    return {table: {name: float(number) for name, number in options.items()} for table, options in value.items()}


def _trainer_options(value):
    """What a worker would write down of its batches: nothing, here."""
    if not isinstance(value, dict):
        raise TypeError(f"trainer_desc_configs is a dict; found {type(value).__name__}")
    for name, given in value.items():
        if name not in strategy_fields.TRAINER:
            raise AttributeError(f"trainer_desc_configs has no setting '{name}'; it has {', '.join(strategy_fields.TRAINER)}")
        if given:
            raise InvalidArgumentError(
                f"trainer_desc_configs: {name} = {given!r}: workers write no fields and parameters of batches to files; fetch them, "
                f"and leave it at {strategy_fields.TRAINER[name]!r}"
            )
    return {**strategy_fields.TRAINER, **value}


def _rule_options(name, value):
    """`value` with the defaults of what it leaves out."""
    known = strategy_fields.RULES[name]
    if not isinstance(value, dict) or set(value) - set(known):
        raise InvalidArgumentError(f"{name} is a dict with {', '.join(known)}; found {value!r}")
    for one, instead in strategy_fields.INSTEAD.get(name, {}).items():
        if value.get(one):
            raise InvalidArgumentError(f"{name}: {one} = {value[one]!r} is not there; use {instead}")
    if scaled := [one for one in strategy_fields.SCALING if value.get(one, known.get(one)) != known.get(one)]:
        warnings.warn(f"{name}: {', '.join(scaled)} changes nothing: 16 bits are bfloat16, which needs no scaled losses", stacklevel=4)
    given = {one: [text] if isinstance(known[one], list) and isinstance(text, str) else text for one, text in value.items()}  # a file's list of one
    return {**known, **given}


class DistributedStrategy(Settings):
    """With parameter servers. a_sync False: workers go in step, which is the default. True: nobody waits; with k_steps in a_sync_configs above 0
    a worker trains a copy of its own and exchanges differences every k_steps batches. The two may be set in either order.

    In collective jobs. gradient_merge: gradients of k_steps batches make one update, of their mean or of their sum (avg).
    localsgd: every process trains its own copy, and every k_steps steps they become their mean, from begin_step on; adaptive_localsgd chooses
    k_steps by itself. fp16_allreduce: gradients travel in 16 bits. find_unused_parameters: a step may leave parameters out. sync_batch_norm:
    batches are normalized over all processes. fuse_grad_size_in_MB: of the pieces in which gradients are sent, last_comm_group_size_MB of the
    first of them; fuse_all_reduce_ops=False sends each gradient by itself.

    fleet_desc_configs: of sparse tables in parameter-server jobs, {table: {option: number}}: sparse_delete_threshold,
    sparse_delete_after_unseen_days and sparse_delete_after_unseen_steps say which rows shrink() drops, sparse_show_click_decay_rate,
    sparse_nonclk_coeff and sparse_click_coeff what a row's score is, and sparse_embedx_threshold from which score on a key gets a row.

    In both. lamb: an Adam moves by LAMB's rule, with lamb_weight_decay, but for parameters in whose names one of exclude_from_weight_decay occurs.
    lars: a Momentum moves by LARS's rule, in the same way. amp: products with a parameter, in programs, are in bfloat16 and add up in float32; a model of
    the dynamic graph runs in paddle.amp.auto_cast(dtype="bfloat16"), or with use_pure_bf16 its parameters are bfloat16. bfloat16 needs no scaled losses.
    recompute: less memory, more time, the same numbers. Between the variables that recompute_configs["checkpoints"] names a program keeps nothing for
    its backward, which computes it once more; in the dynamic graph checkpoints are sublayers, by the names of named_sublayers(), each of which is.

    settings: those of docs/settings.md, by name. What a job cannot do is refused by name.

    >>> strategy = paddle.distributed.fleet.DistributedStrategy()
    >>> strategy.a_sync = True
    >>> strategy.a_sync_configs = {"k_steps": 100}
    """

    _defaults = {
        "pipeline": False,
        "tensor_parallel": False,
        "sharding": False,
        "dgc": False,
        "qat": False,
        "asp": False,
        "auto": False,
        "semi_auto": False,
        "auto_search": False,
        "elastic": False,
        "heter_ccl_mode": False,
        "is_fl_ps_mode": False,
        "is_with_coordinator": False,
        "pipeline_configs": {},
        "tensor_parallel_configs": {},
        "sharding_configs": {},
        "dgc_configs": {},
        "gradient_scale_configs": {},
        "hybrid_configs": {},
        "qat_configs": {},
        "sparse_table_configs": {},
        "fs_client_param": {},
    }
    _fields = {
        "a_sync": False,
        "a_sync_configs": {},
        "execution_strategy": None,
        "build_strategy": None,
        "settings": {},
        "fleet_desc_configs": {},
        "trainer_desc_configs": strategy_fields.TRAINER,
        "adam_d2sum": False,
        **{name: default for name, (default, _) in strategy_fields.HINTS.items()},
        **strategy_fields.RULES,
        **_defaults,
        **strategy_fields.COLLECTIVE,
    }
    _fixed = {name: strategy_fields.not_here(name) for name in _defaults}
    _hints = {name: why for name, (_, why) in strategy_fields.HINTS.items()}

    def __init__(self):
        super().__init__()
        vars(self).update(_async=_AsyncConfigs(), execution_strategy=ExecutionStrategy(), build_strategy=BuildStrategy(), settings={})
        del vars(self)["a_sync_configs"]

    @property
    def a_sync_configs(self):
        return {name: getattr(self._async, name) for name in _AsyncConfigs._fields}

    def __setattr__(self, name, value: Any):
        if name == "a_sync_configs":
            if not isinstance(value, dict):
                raise TypeError(f"a_sync_configs is a dict; found {type(value).__name__}")
            return self._async._update(value)
        if name == "a_sync" and not isinstance(value, bool):
            raise ValueError(f"a_sync is True or False; found {value!r}")
        if name in _STRATEGIES:
            value = _STRATEGIES[name]() if value is None else value
            check_strategy(f"DistributedStrategy.{name}", value, _STRATEGIES[name])
        if name == "settings":
            value = dict(value)  # pyright: ignore[reportCallIssue, reportArgumentType]
        if name == "fleet_desc_configs":
            value = _table_options(value)
        if name == "trainer_desc_configs":
            value = _trainer_options(value)
        if name in strategy_fields.RULES:
            if name.endswith("_configs"):
                value = _rule_options(name, value)
            elif not isinstance(value, bool):
                raise ValueError(f"{name} is True or False; found {value!r}")
        if name == "adam_d2sum" and value:
            warnings.warn(
                "DistributedStrategy.adam_d2sum = True: servers move dense parameters of Adam by Adam's own rule, and not by sums of squares that "
                "forget nothing",
                stacklevel=2,
            )
        super().__setattr__(name, _checked(name, value) if name in strategy_fields.COLLECTIVE else value)

    def _collective_options(self):
        if self.a_sync:
            raise ValueError("DistributedStrategy.a_sync = True is of parameter-server jobs; a collective job goes in step: leave it at False")
        if self.build_strategy.sync_batch_norm:
            raise InvalidArgumentError("DistributedStrategy.build_strategy.sync_batch_norm = True: set DistributedStrategy.sync_batch_norm itself")
        if self.build_strategy.allow_cuda_graph_capture:
            raise InvalidArgumentError(
                "DistributedStrategy.build_strategy.allow_cuda_graph_capture = True: give it to CompiledProgram(program, build_strategy), and run that"
            )
        return CollectiveOptions.of(self)

    def _core_strategy(self):
        for name, default in strategy_fields.COLLECTIVE.items():
            if getattr(self, name) != default:
                raise ValueError(
                    f"DistributedStrategy.{name} = {getattr(self, name)!r}: it is not there in parameter-server jobs; use "
                    f"{strategy_fields.WITH_SERVERS[name.removesuffix('_configs')]}, and leave it at {default!r}"
                )
        strategy, configs = _core.Strategy(), self._async
        if not self.a_sync:
            configs._refuse(["k_steps", *configs._queue()], "but a_sync is False; set a_sync=True")
        elif configs.k_steps > 0:
            configs._refuse(configs._queue(), "but with k_steps above 0 there is no queue of gradients; leave them out")
            strategy.mode, strategy.geo_k_steps = _core.Mode.geo, configs.k_steps
        else:
            strategy.mode = _core.Mode.async_
            configs._apply(strategy)
        strategy.settings = {name: str(value) for name, value in self.settings.items()}
        strategy.tables = self.fleet_desc_configs
        return strategy

    def _checkpoints(self):
        """What recompute_configs names, where recompute is on; an error where it names nothing."""
        if not self.recompute:
            return None
        if not self.recompute_configs["checkpoints"]:
            raise InvalidArgumentError(
                "DistributedStrategy.recompute = True: say between what, by recompute_configs = {'checkpoints': [variables of a program, or names of "
                "the model's sublayers]}"
            )
        return names_of(self.recompute_configs["checkpoints"])

    def _applied(self, optimizer):
        """The optimizer that a job has where a script gives `optimizer`."""
        made = self._decayed(self._ruled(optimizer))
        if self.recompute and not made._is_dynamic():
            made._checkpoints = self._checkpoints()
        return made

    def _decayed(self, optimizer):
        """`optimizer`, whose scheduler lr_decay_steps makes a schedule of the servers: an epoch of it is so many batches of all workers."""
        from argosy.fluid import layers
        from argosy.optimizer import lr

        if "lr_decay_steps" not in self._async._given or optimizer._is_dynamic():
            return optimizer
        schedules = {
            lr.ExponentialDecay: layers.exponential_decay,
            lr.NaturalExpDecay: layers.natural_exp_decay,
            lr.InverseTimeDecay: layers.inverse_time_decay,
        }
        rate = optimizer._learning_rate
        if type(rate) not in schedules:
            if self._async.lr_decay_steps == _AsyncConfigs._fields["lr_decay_steps"]:  # all of a_sync_configs was set, as it had been read
                return optimizer
            found = type(rate).__name__ if isinstance(rate, lr.LRScheduler) else "no scheduler"
            raise InvalidArgumentError(
                f"a_sync_configs: lr_decay_steps is how many batches are an epoch of {' or '.join(one.__name__ for one in schedules)}; "
                f"found {found}: leave it out"
            )
        made = copy.copy(optimizer)
        made._learning_rate = schedules[type(rate)](rate.base_lr, self._async.lr_decay_steps, rate.gamma, staircase=True)
        return made

    def _ruled(self, optimizer):
        if self.lamb and self.lars:
            raise ValueError("lamb and lars are two rules for one optimizer; set one of them")
        if self.lamb:
            return self._lamb_of(optimizer)
        return self._lars_of(optimizer) if self.lars else optimizer

    def _lamb_of(self, optimizer):
        from argosy.optimizer import Lamb
        from argosy.optimizer.optimizers import Adam

        if type(optimizer) is not Adam:
            return _unchanged(optimizer, "lamb", "Adam")
        left_out = self.lamb_configs["exclude_from_weight_decay"]
        return Lamb(
            optimizer._learning_rate,
            self.lamb_configs["lamb_weight_decay"],
            *optimizer._betas,
            optimizer._epsilon,
            parameters=optimizer._parameter_list,
            grad_clip=optimizer._grad_clip,
            exclude_from_weight_decay_fn=(lambda parameter: any(part in parameter.name for part in left_out)) if left_out else None,
        )

    def _lars_of(self, optimizer):
        from argosy.fluid.optimizer import LarsMomentumOptimizer, MomentumOptimizer

        if not isinstance(optimizer, MomentumOptimizer):
            return _unchanged(optimizer, "lars", "Momentum")
        if optimizer._use_nesterov:
            raise InvalidArgumentError("DistributedStrategy.lars = True: LARS does not look a step ahead; leave use_nesterov out of Momentum")
        return LarsMomentumOptimizer(
            optimizer._learning_rate,
            optimizer._momentum,
            parameter_list=optimizer._parameter_list,
            regularization=optimizer.regularization,
            grad_clip=optimizer._grad_clip,
            **self.lars_configs,
        )

    def _check_amp_of_programs(self):
        """Raises for what programs cannot do in 16 bits."""
        for name in ("use_pure_bf16", "custom_white_list", "custom_black_list"):
            if self.amp_configs[name]:
                raise InvalidArgumentError(
                    f"amp_configs: {name} = {self.amp_configs[name]!r} is of the dynamic graph; programs multiply by parameters in bfloat16: leave it out"
                )

    # ---- a file form

    def save_to_prototxt(self, output):
        """Writes what differs from the default, as text of protocol buffers."""
        if self.fleet_desc_configs:
            raise ValueError("DistributedStrategy.fleet_desc_configs has no file form; set it in the script")
        fields = {"a_sync": self.a_sync}
        given = {name: getattr(self._async, name) for name in _AsyncConfigs._fields if name in self._async._given}
        if given:
            fields["a_sync_configs"] = given
        fields.update(
            (name, getattr(self, name)) for name, default in {**strategy_fields.COLLECTIVE, **strategy_fields.RULES}.items() if getattr(self, name) != default
        )
        if self.settings:
            fields["settings"] = {name: str(value) for name, value in self.settings.items()}
        with open(output, "w", encoding="utf-8") as file:
            file.write(prototxt.write(fields))

    def load_from_prototxt(self, pb_file):
        """Sets what a file says: one of save_to_prototxt, here or in PaddlePaddle."""
        with open(pb_file, encoding="utf-8") as file:
            fields = prototxt.read(file.read(), str(pb_file))
        for name, value in fields.items():
            if name not in self._fields:
                raise ValueError(f"{pb_file}: DistributedStrategy has no field '{name}'")
            setattr(self, name, value)

    def __repr__(self):
        shown = {
            "a_sync": self.a_sync,
            **{f"a_sync_configs.{name}": getattr(self._async, name) for name in sorted(self._async._given)},
            **{
                name: getattr(self, name) for name, default in {**strategy_fields.COLLECTIVE, **strategy_fields.RULES}.items() if getattr(self, name) != default
            },
            **{f"settings.{name}": value for name, value in self.settings.items()},
        }
        return "DistributedStrategy(" + ", ".join(f"{name}={value!r}" for name, value in shown.items()) + ")"


def _unchanged(optimizer, rule, wanted):
    warnings.warn(f"DistributedStrategy.{rule} = True is for paddle.optimizer.{wanted}; {type(optimizer).__name__} stays as it is", stacklevel=4)
    return optimizer


def _checked(name, value):
    """A value of a collective option, as it is kept: of the default's kind, a dict with the default for what it leaves out."""
    default = strategy_fields.COLLECTIVE[name]
    if isinstance(default, dict):
        if not isinstance(value, dict):
            raise TypeError(f"{name} is a dict; found {type(value).__name__}")
        unknown = set(value) - set(default)
        if unknown:
            raise AttributeError(f"{name} has no setting '{sorted(unknown)[0]}'; it has {', '.join(default)}")
        wrong = [key for key, one in value.items() if key != "avg" and (isinstance(one, bool) or not isinstance(one, int) or one < 1)]
        if wrong:
            raise ValueError(f"{name}: {wrong[0]} is a number, 1 or more; found {value[wrong[0]]!r}")
        return {**default, **value}
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name} is True or False; found {value!r}")
    elif isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise ValueError(f"{name} is a number above 0; found {value!r}")
    return value
