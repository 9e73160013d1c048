"""The static front end of PaddlePaddle 2.x."""
from argosy import _lazy

_WHERE = {
    "names": "Executor Program Variable Operator Parameter Scope default_main_program default_startup_program program_guard name_scope "
             "global_scope scope_guard cpu_places cuda_places append_backward gradients CompiledProgram BuildStrategy ExecutionStrategy "
             "InputSpec data accuracy auc create_parameter create_global_var",
    "io": "save load load_program_state set_program_state save_vars load_vars save_inference_model load_inference_model "
          "normalize_program serialize_program deserialize_program save_to_file load_from_file",
}

__getattr__, __dir__ = _lazy.names(__name__, ("nn", "io"), {name: module for module, names in _WHERE.items() for name in names.split()})
