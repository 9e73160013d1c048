"""Writes docs/modules.md: each public module of PaddlePaddle 1.8.5 and 2.6.2 as here, partly here, or not, with what a user gets instead.

    PYTHONPATH=build/release/python .venv/bin/python tests/parity/modules.py

The lists are modules-1.8.5.txt and modules-2.6.2.txt, which module_list.py has read from the two packages.
"""

import importlib
import pathlib
import warnings

HERE = pathlib.Path(__file__).resolve().parent
REPORT = HERE.parents[1] / "docs/modules.md"
VERSIONS = ("1.8.5", "2.6.2")
_SHOWN = 12  # names that a row lists

# What a user gets instead of a module that is not here; the longest beginning counts.
INSTEAD = {
    "paddle": "",
    "paddle.amp.debugging": "`paddle.isfinite` of what is to be looked at",
    "paddle.audio": "torchaudio",
    "paddle.autograd": "`paddle.grad` twice for derivatives of derivatives",
    "paddle.batch": "`paddle.batch`, the function",
    "paddle.complex": "real tensors; `paddle.real`, `paddle.imag` and `paddle.complex` of the dynamic graph",
    "paddle.cost_model": "`paddle.profiler`",
    "paddle.dataset": "a reader of your own over the same files; `paddle.dataset.common.download` finds them in the cache folder",
    "paddle.device": "`paddle.set_device`",
    "paddle.distributed": "`paddle.distributed` and `paddle.distributed.fleet`",
    "paddle.distributed.communication.stream": "the collectives of `paddle.distributed`",
    "paddle.distributed.passes": "`fleet.DistributedStrategy`",
    "paddle.distributed.ps": "`fleet.init_server` and `fleet.init_worker`: tables are those of Argosy's servers",
    "paddle.distributed.rpc": "parameter servers, or a library for remote calls",
    "paddle.distributed.sharding": "parameter servers for what does not fit; replicas hold all parameters",
    "paddle.distribution.kl": "`paddle.distribution.kl_divergence`",
    "paddle.distribution.transform": "functions of samples",
    "paddle.fft": "NumPy, before data are fed",
    "paddle.fluid": "the names of `paddle.fluid` itself",
    "paddle.fluid.annotations": "nothing: it marks deprecated functions",
    "paddle.fluid.contrib": "what `fluid.contrib.NAME` says when it is asked for",
    "paddle.fluid.contrib.mixed_precision": "`fluid.contrib.mixed_precision.decorate`; `paddle.amp` in the dynamic graph",
    "paddle.fluid.contrib.slim": "the tools of the serving system",
    "paddle.fluid.dataloader": "`paddle.io.Dataset`, `paddle.io.BatchSampler`",
    "paddle.fluid.data": "`fluid.data`, the function",
    "paddle.fluid.default_scope_funcs": "`fluid.global_scope()`, `fluid.scope_guard()`",
    "paddle.fluid.device_worker": "`Executor.train_from_dataset`",
    "paddle.fluid.distributed": "`fluid.incubate.fleet`",
    "paddle.fluid.dygraph.dygraph_to_static": "`paddle.jit.to_static`",
    "paddle.fluid.dygraph.backward_strategy": "`Tensor.backward`: gradients are summed in the order in which they come",
    "paddle.fluid.dygraph.jit": "`paddle.jit`",
    "paddle.fluid.dygraph.profiler": "`fluid.profiler`",
    "paddle.fluid.evaluator": "`fluid.metrics`",
    "paddle.fluid.incubate.fleet.base.mode": "the role maker and the strategy",
    "paddle.fluid.incubate.fleet.parameter_server.pslib": "`fluid.incubate.fleet.parameter_server.distribute_transpiler`",
    "paddle.fluid.layers": "other functions of `fluid.layers`",
    "paddle.fluid.layers.detection": "torchvision: ranking models have no boxes",
    "paddle.fluid.layers.distributions": "`paddle.distribution`",
    "paddle.fluid.layers.layer_function_generator": "nothing: it makes functions of operators",
    "paddle.fluid.log_helper": "Python's `logging`",
    "paddle.fluid.parallel_executor": "`fluid.ParallelExecutor`",
    "paddle.fluid.trainer_desc": "`Executor.train_from_dataset`",
    "paddle.fluid.trainer_factory": "`Executor.train_from_dataset`",
    "paddle.fluid.transpiler.collective": "`paddle.distributed.fleet`",
    "paddle.fluid.wrapped_decorator": "Python's `contextlib`",
    "paddle.geometric": "`paddle.gather` and `paddle.incubate.segment_sum`",
    "paddle.hub": "a package of your own",
    "paddle.incubate": "what `paddle.incubate.NAME` says when it is asked for",
    "paddle.incubate.distributed.fleet": "`fluid.incubate.fleet` and `paddle.distributed.fleet`",
    "paddle.incubate.hapi": "`paddle.Model`, `paddle.metric`, `paddle.vision`",
    "paddle.inference": "`Config.enable_mkldnn_bfloat16` for another precision; there are no XPUs here",
    "paddle.nn.initializer.lazy_init": "layers whose parameters are made at once",
    "paddle.nn.quant": "the tools of the serving system",
    "paddle.onnx": "`paddle.static.save_inference_model` and then `argosy convert`",
    "paddle.quantization": "the tools of the serving system",
    "paddle.reader.decorator": "`paddle.reader`",
    "paddle.signal": "NumPy, before data are fed",
    "paddle.sparse": "`paddle.nn.Embedding(sparse=True)`, `paddle.static.nn.sparse_embedding`; dense tensors elsewhere",
    "paddle.sysconfig": "`find_package(argosy)` of CMake",
    "paddle.text": "a `paddle.io.Dataset` of your own",
    "paddle.utils.cpp_extension": "`docs/adding_an_op.md`",
    "paddle.utils.dlpack": "`Tensor.numpy()`",
    "paddle.utils.download": "`paddle.dataset.common.download`, from the cache folder",
    "paddle.utils.unique_name": "`paddle.utils.unique_name` as an attribute, and `paddle.fluid.unique_name`",
    "paddle.vision.ops": "torchvision",
}
# What a user gets instead of the names that a module of these lacks, where that is not what takes the place of all of it.
OF_THE_REST = {
    "paddle": "NumPy's complex arrays, before data are fed; `paddle.get_rng_state` and `paddle.set_rng_state`; `paddle.summary` counts parameters",
    "paddle.callbacks": "`paddle.callbacks.Callback` with a writer of your own",
    "paddle.distribution": "a subclass of `paddle.distribution.Distribution`",
    "paddle.fluid": "`paddle.NAME`, and the modules of `paddle.fluid` in this table",
    "paddle.fluid.layers": "`paddle.NAME` and `paddle.nn.functional.NAME`, which build in programs too; boxes and images by torchvision",
    "paddle.jit": "nothing: the Python of a layer runs as it is while it is recorded, and no code is written that could be shown",
    "paddle.linalg": "`paddle.linalg.solve`, `inv`, `qr`, `svd`; NumPy, before data are fed",
    "paddle.nn": "`paddle.nn.RNNCellBase` in a loop of your own for decoding; torch's losses of speech",
    "paddle.nn.functional": "`paddle.nn.functional.cross_entropy`; attention by `paddle.matmul` and a mask",
    "paddle.nn.utils": "`paddle.nn.SpectralNorm`; `paddle.concat` of flattened parameters, and `Tensor.set_value`",
    "paddle.optimizer": "`paddle.optimizer.Adam`: no optimizer here looks at a function several times for a step",
    "paddle.static": "`paddle.static.cpu_places` and `cuda_places`; an operator of your own (`docs/adding_an_op.md`) for `py_func`; `fluid.ParamAttr`",
    "paddle.static.nn": "`paddle.static.nn.batch_norm` and `layer_norm`; `paddle.nn.Conv3DTranspose`; an operator of your own (`docs/adding_an_op.md`) for `py_func`",
    "paddle.utils": "Python's `warnings` and `importlib`",
    "paddle.version": "nothing: there are no XPUs here",
    "paddle.vision.datasets": "`paddle.vision.datasets.DatasetFolder` of files that you have",
    "paddle.vision.models": "`paddle.vision.models.resnet50` and its relatives, or a model of `paddle.nn`",
    "paddle.vision.transforms": "`paddle.vision.transforms.RandomRotation` and `rotate`",
}
# Modules all of whose names are here, one of them in part.
IN_PART = {
    "paddle.fluid.incubate.fleet.utils.fleet_util": "`FleetUtil` prints, counts and sets to zero; what `FleetUtil().NAME` says when another method is asked for"
}


def public(version):
    """{module: [name, …]} of a version."""
    lines = (HERE / f"modules-{version}.txt").read_text(encoding="utf-8").splitlines()
    return {module: names.split() for module, _, names in (line.partition(": ") for line in lines)}


def found(module):
    """The module or package of this name here, or None."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def has(module, name):
    try:
        return hasattr(module, name)
    except Exception:  # a name that says why it is not here
        return False


def instead(module):
    """What takes a module's place: that of the longest beginning of its name."""
    parts = module.split(".")
    for count in range(len(parts), 0, -1):
        text = INSTEAD.get(".".join(parts[:count]))
        if text is not None:
            return text
    return ""


def row(version, module, names):
    """[version, module, verdict, how many names, what is missing or takes its place]."""
    here = found(module)
    if here is None:
        return [version, f"`{module}`", "not here", f"0 of {len(names)}", instead(module)]
    missing = [name for name in names if not has(here, name)]
    verdict = "here" if not missing else "partly here" if len(missing) < len(names) else "not here"
    shown = ", ".join(f"`{name}`" for name in missing[:_SHOWN]) + (f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else "")
    note = f"lacks {shown}" if missing else ""
    if not missing and module in IN_PART:
        return [version, f"`{module}`", "partly here", f"{len(names)} of {len(names)}", f"in part; instead: {IN_PART[module]}"]
    text = (OF_THE_REST.get(module) or instead(module)) if missing else ""
    return [version, f"`{module}`", verdict, f"{len(names) - len(missing)} of {len(names)}", f"{note}; instead: {text}" if text else note]


def report():
    rows = [row(version, module, names) for version in VERSIONS for module, names in public(version).items()]
    counts = {verdict: sum(one[2] == verdict for one in rows) for verdict in ("here", "partly here", "not here")}
    head = f"""# Modules of PaddlePaddle

Made by `tests/parity/modules.py`; do not edit.

Each module of PaddlePaddle {" and ".join(VERSIONS)} that offers names in public (by its `__all__`), and how many of them Argosy has under the same name:
{counts["here"]} are here with all of them, {counts["partly here"]} in part, {counts["not here"]} are not. A name that is here works or, where that cannot be, raises an error that
says what to use. What functions compute is compared in [parity.md](parity.md).

| version | module | verdict | names | missing, and what to use instead |
|---|---|---|---|---|
"""
    return head + "".join("| " + " | ".join(one) + " |\n" for one in rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    REPORT.write_text(report(), encoding="utf-8")
    print(f"wrote {REPORT.name}")
