"""The static front end of PaddlePaddle 1.x: programs, layers, executors."""
from argosy import _lazy

_MODULES = (
    "backward", "clip", "compiler", "core", "data_feeder", "dataset", "dygraph", "executor", "framework", "incubate", "initializer", "io", "layers",
    "lod_tensor", "metrics", "nets", "optimizer", "param_attr", "reader", "regularizer", "transpiler", "unique_name",
)
_WHERE = {
    "framework": "Program Variable default_main_program default_startup_program program_guard name_scope in_dygraph_mode "
                 "is_compiled_with_cuda cpu_places cuda_places require_version",
    "core": "CPUPlace CUDAPlace CUDAPinnedPlace LoDTensor Scope",
    "executor": "Executor global_scope scope_guard",
    "param_attr": "ParamAttr",
    "lod_tensor": "create_lod_tensor create_random_int_lodtensor",
    "compiler": "CompiledProgram ParallelExecutor ExecutionStrategy BuildStrategy",
    "backward": "gradients",
    "io": "save load load_program_state set_program_state",
    "input": "data embedding one_hot",
    "data_feeder": "DataFeeder",
    "dygraph": "enable_dygraph disable_dygraph save_dygraph load_dygraph",
    "dataset": "DatasetFactory InMemoryDataset QueueDataset",
    "transpiler": "DistributeTranspiler DistributeTranspilerConfig",
}
_NAMES = {name: module for module, names in _WHERE.items() for name in names.split()}
_NAMES["Tensor"] = "core:LoDTensor"

__getattr__, __dir__ = _lazy.names(__name__, _MODULES, _NAMES, starred=_MODULES)
