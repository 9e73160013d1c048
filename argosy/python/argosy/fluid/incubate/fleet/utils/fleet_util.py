"""FleetUtil: what all workers of a job say, count and save together."""

import logging
import sys

import numpy

from argosy import _core
from argosy.distributed.fleet.metrics import metric
from argosy.errors import NotFoundError
from argosy.fluid import executor

__all__ = ["FleetUtil"]

_logger = logging.getLogger("argosy.fleet_util")
_INSTEAD = {  # what belongs to tables and formats of Baidu's own servers
    "check_two_programs": "fluid.incubate.fleet.utils.utils.check_pruned_program_vars(train_program, pruned_program)",
    "check_vars_and_dump": "fluid.io.load_inference_model(folder, executor), which says what does not fit",
    "get_global_metrics": "paddle.static.ctr_metric_bundle and paddle.distributed.fleet.metrics, or FleetUtil.get_global_auc",
    "get_last_save_model": "argosy inspect FOLDER, or a file of your own beside what fleet.save_persistables wrote",
    "get_last_save_xbox": "argosy inspect FOLDER, or a file of your own beside what fleet.save_persistables wrote",
    "get_last_save_xbox_base": "argosy inspect FOLDER, or a file of your own beside what fleet.save_persistables wrote",
    "load_fleet_model": "fleet.load_persistables(executor, folder)",
    "load_model": "fleet.load_persistables(executor, folder)",
    "parse_program": "fluid.incubate.fleet.utils.utils.parse_program(program, folder)",
    "print_global_metrics": "paddle.static.ctr_metric_bundle and paddle.distributed.fleet.metrics, or FleetUtil.print_global_auc",
    "program_type_trans": "save_program(load_program(path)) of fluid.incubate.fleet.utils.utils: programs are written in their binary form",
    "save_fleet_model": "fleet.save_persistables(executor, folder)",
    "save_model": "fleet.save_persistables(executor, folder)",
    "draw_from_program": "print(program)",
    "draw_from_program_file": "print(fluid.Program.parse_from_string(…))",
    "load_fleet_model_one_table": "fleet.load_persistables(executor, folder)",
    "pull_all_dense_params": "nothing: workers have the dense parameters of the servers after every run",
    "save_batch_model": "fleet.save_persistables(executor, folder)",
    "save_cache_base_model": "fleet.save_persistables(executor, folder)",
    "save_cache_model": "fleet.save_persistables(executor, folder)",
    "save_delta_model": "fleet.save_persistables(executor, folder)",
    "save_paddle_inference_model": "fleet.save_inference_model(executor, folder, feeds, targets) and HDFSClient.upload_dir",
    "save_paddle_params": "fluid.io.save_params(executor, folder) and HDFSClient.upload_dir",
    "save_xbox_base_model": "fleet.save_persistables(executor, folder)",
    "write_cache_donefile": "HDFSClient.upload of a file of your own",
    "write_model_donefile": "HDFSClient.upload of a file of your own",
    "write_xbox_donefile": "HDFSClient.upload of a file of your own",
}


def _fleet():
    """The fleet of this process: 2.x's functions, which know of 1.x's fleet.init() too."""
    from argosy.distributed import fleet

    return fleet


def _rank():
    from argosy.distributed import job

    found = _core.fleet()
    return found.worker_index() if found.is_worker() else job.place().rank


class FleetUtil:
    """mode, which chose between Baidu's own servers ('pslib') and the transpiler's, has one meaning here: the servers that there are.

    >>> util = fluid.incubate.fleet.utils.fleet_util.FleetUtil()
    >>> util.rank0_print("ready")
    ready
    """

    def __init__(self, mode="pslib"):
        if mode not in ("pslib", "transpiler"):
            raise ValueError(f"FleetUtil: mode is 'pslib' or 'transpiler'; found {mode!r}")

    def __getattr__(self, name):
        if name in _INSTEAD:
            raise AttributeError(f"FleetUtil.{name} is for servers and files that are not Argosy's; use {_INSTEAD[name]}")
        raise AttributeError(f"'FleetUtil' object has no attribute '{name}'")

    def rank0_print(self, s):
        """Prints on the first worker, at once."""
        if _rank() == 0:
            print(s)
            sys.stdout.flush()

    def rank0_info(self, s):
        """Logs on the first worker."""
        if _rank() == 0:
            _logger.info(s)

    def rank0_error(self, s):
        """Logs an error on the first worker."""
        if _rank() == 0:
            _logger.error(s)

    def set_zero(self, var_name, scope=None, place=None, param_type="int64"):
        """The variable's value becomes 0 in the scope, as for the counts of an AUC before another pass."""
        found = (executor.global_scope() if scope is None else scope).find_var(var_name)
        if found is None:
            raise NotFoundError(f"set_zero: variable '{var_name}' has no value in the scope; run the program first")
        tensor = found.get_tensor()
        tensor.set(numpy.zeros(tensor.shape(), param_type))

    def get_global_auc(self, scope=None, stat_pos="_generated_var_2", stat_neg="_generated_var_3"):
        """The AUC over all workers of the counts of layers.auc, whose names these are; all workers make this call."""
        return metric.auc(stat_pos, stat_neg, scope)

    def print_global_auc(self, scope=None, stat_pos="_generated_var_2", stat_neg="_generated_var_3", print_prefix=""):
        """Prints it on the first worker."""
        value = self.get_global_auc(scope, stat_pos, stat_neg)
        self.rank0_print(f"{print_prefix} global auc = {value}")

    def get_online_pass_interval(self, days, hours, split_interval, split_per_pass, is_data_hourly_placed):
        """The parts of a day that each pass trains on: [[names of parts], …] for the hours of a day in steps of split_interval minutes.

        >>> util = fluid.incubate.fleet.utils.fleet_util.FleetUtil()
        >>> util.get_online_pass_interval("20240101", "0 1", 60, 1, True)
        [['00'], ['01']]
        """
        wanted, minutes = _numbers(hours), range(0, 24 * 60, int(split_interval))
        parts = [f"{at // 60:02d}" if is_data_hourly_placed else f"{at // 60:02d}{at % 60:02d}" for at in minutes if at // 60 in wanted]
        count = int(split_per_pass)
        return [parts[i : i + count] for i in range(0, len(parts), count)]


def _numbers(text):
    """ "0 1 5" or "{0..5}", as a shell has it."""
    found = str(text).strip()
    if found.startswith("{") and ".." in found:
        first, last = found.strip("{}").split("..")
        return set(range(int(first), int(last) + 1))
    return {int(one) for one in found.split()}
