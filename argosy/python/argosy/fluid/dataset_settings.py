"""Settings of datasets beyond files, variables and batches: what can be true works, what cannot is an error that names its substitute."""

import random
import shlex
import warnings
from typing import Any

from argosy.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError

__all__ = ["Base", "InMemory"]

_PAGE_VIEWS = "samples are not grouped by page view; let the pipe command write one line for each page view"


def _refuse(call, what, instead):
    raise UnimplementedError(f"{call}: {what}; {instead}")


def _note(call, why):
    """A setting that changes no result is taken, and said so."""
    warnings.warn(f"{call} changes nothing here: {why}", stacklevel=3)


def _shape_of(variable):
    return [max(1, size) for size in variable.shape[1:]] or [1]


def _slot(variable):
    """A variable as a slot of DataFeedDesc, in protobuf's text form."""
    from argosy import _core

    kind = "float" if _core.dtype_name(variable.dtype).startswith("float") else "uint64"
    dense = variable.lod_level == 0
    lines = [f'    name: "{variable.name}"', f'    type: "{kind}"', f"    is_dense: {'true' if dense else 'false'}", "    is_used: true"]
    if dense:
        lines += ["    shape: -1", *(f"    shape: {size}" for size in _shape_of(variable))]
    return "\n".join(["  slots {", *lines, "  }"])


class Base:
    """Those of every dataset."""

    _feed_type = "MultiSlotDataFeed"
    _use_var: Any
    _pipe_command: str
    _batch_size: int
    _threads: int

    def desc(self):
        """The settings as Paddle's DataFeedDesc, in protobuf's text form."""
        slots = "\n".join(["multi_slot_desc {", *(_slot(one) for one in self._use_var), "}"])
        return f'name: "{self._feed_type}"\nbatch_size: {self._batch_size}\n{slots}\npipe_command: {_quoted(self._pipe_command)}\nthread_num: {self._threads}\n'

    def set_download_cmd(self, download_cmd):
        """'cat', which is what there is: files are opened by the core, remote ones by `hadoop fs`."""
        if download_cmd != "cat":
            _refuse(
                "set_download_cmd", f"files are not fetched by a command of your own, {download_cmd!r}", "put it into set_pipe_command, or fetch them first"
            )

    def set_rank_offset(self, rank_offset):
        _refuse("set_rank_offset", _PAGE_VIEWS.partition(";")[0], "compute the ranks in the pipe command and feed them as a slot")

    def set_pv_batch_size(self, pv_batch_size):
        _refuse("set_pv_batch_size", *_PAGE_VIEWS.split("; "))

    def set_fea_eval(self, record_candidate_size, fea_eval=True):
        """False, which is how it is: slots of an InMemoryDataset can be shuffled, with slots_shuffle()."""
        if fea_eval:
            _refuse("set_fea_eval", *_IN_MEMORY)

    def slots_shuffle(self, slots):
        _refuse("slots_shuffle", *_IN_MEMORY)


_IN_MEMORY = ("slots are shuffled in memory", "read the files into an InMemoryDataset")


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class InMemory:
    """Those of InMemoryDataset."""

    _feed_type = "MultiSlotInMemoryDataFeed"
    _pipe_command: str
    _criteo: Any
    _memory: Any
    _leading: tuple[str, ...] = ()  # columns before the first slot: "ins_id", "content"
    _candidates = 10000  # samples that another sample's slots are drawn from
    _evaluates_features = False

    def _whole_pipe(self):
        if not self._leading:
            return self._pipe_command
        if self._criteo is not None:
            raise InvalidArgumentError("set_criteo: Criteo's lines have no ins_id and no content; leave set_parse_ins_id and set_parse_content out")
        # Each of them is "1 text" at the begin of a line. pipefail: a failure of the user's command stays one.
        inner = f"{{ {self._pipe_command}\n}} | cut -d ' ' -f {2 * len(self._leading) + 1}-"
        return f"bash -o pipefail -c {shlex.quote(inner)}"

    def _lead(self, name, on):
        self._leading = tuple(one for one in ("ins_id", "content") if (on if one == name else one in self._leading))

    def set_parse_ins_id(self, parse_ins_id):
        """Lines begin with `1 id`, the sample's name, which is read over: samples are dealt and shuffled without it."""
        self._lead("ins_id", bool(parse_ins_id))

    def set_parse_content(self, parse_content):
        """Lines have `1 text` before their first slot, behind the id where there is one; it is read over."""
        self._lead("content", bool(parse_content))

    def set_fea_eval(self, record_candidate_size, fea_eval=True):
        """What features are worth is to be seen: slots_shuffle() may be called, and draws from so many samples."""
        if isinstance(record_candidate_size, bool) or not isinstance(record_candidate_size, int) or record_candidate_size < 1:
            raise InvalidArgumentError(f"set_fea_eval: record_candidate_size is a number of samples, 1 or more; found {record_candidate_size!r}")
        self._candidates, self._evaluates_features = record_candidate_size, bool(fea_eval)

    def slots_shuffle(self, slots):
        """Each sample gets the values of these slots, by name, from another one; the rest of it stays. After set_fea_eval() and load_into_memory().

        infer_from_dataset() then has a smaller AUC than on the samples as they were, by what the slots are worth. The other one is drawn from
        record_candidate_size samples, which are drawn from those up to this one, and gives all of the slots. Each call begins with the samples as they
        were before the first; slots_shuffle([]) is how to have them back. What was loaded is kept for that, and takes memory once more.

        >>> dataset = fluid.InMemoryDataset()
        >>> dataset.set_fea_eval(1000)
        >>> dataset.load_into_memory()  # doctest: +SKIP
        >>> dataset.slots_shuffle(["query_id"])  # doctest: +SKIP
        """
        if not self._evaluates_features:
            raise FailedPreconditionError(
                "slots_shuffle: call set_fea_eval(record_candidate_size) first, with from how many samples another one's slots are drawn"
            )
        names = [slots] if isinstance(slots, str) else [getattr(one, "name", one) for one in slots]
        self._memory("slots_shuffle()").shuffle_slots(names, self._candidates, random.getrandbits(63))

    def set_feed_type(self, data_feed_type):
        """MultiSlotInMemoryDataFeed, which is what there is."""
        if data_feed_type != self._feed_type:
            _refuse("set_feed_type", f"there is one reader of samples in memory, {self._feed_type}; found {data_feed_type!r}", "leave it out")

    def set_queue_num(self, queue_num):
        """Taken with a warning: how samples lie in memory is the core's matter."""
        _note(f"set_queue_num({queue_num})", "threads take samples from one place in memory, as fast as they can")

    def set_fleet_send_batch_size(self, fleet_send_batch_size=1024):
        """Taken with a warning: a shuffle chooses the size of its messages."""
        _note(f"set_fleet_send_batch_size({fleet_send_batch_size})", "global_shuffle() chooses the size of its messages")

    def set_fleet_send_sleep_seconds(self, fleet_send_sleep_seconds=0):
        """Taken with a warning: a shuffle waits for the servers and not for a clock."""
        _note(f"set_fleet_send_sleep_seconds({fleet_send_sleep_seconds})", "global_shuffle() sends as fast as the servers pass samples on")

    def set_merge_by_lineid(self, merge_size=2):
        _refuse("set_merge_by_lineid", "samples of one id are not merged in memory", "let the pipe command write one line for each id, with the values of all")

    def set_parse_logkey(self, parse_logkey):
        """False, which is how it is."""
        if parse_logkey:
            _refuse("set_parse_logkey", *_PAGE_VIEWS.split("; "))

    def set_merge_by_sid(self, merge_by_sid):
        """False, which is how it is."""
        if merge_by_sid:
            _refuse("set_merge_by_sid", *_PAGE_VIEWS.split("; "))

    def set_enable_pv_merge(self, enable_pv_merge):
        """False, which is how it is."""
        if enable_pv_merge:
            _refuse("set_enable_pv_merge", *_PAGE_VIEWS.split("; "))

    def set_current_phase(self, current_phase):
        """0, training by samples, which is what there is."""
        if current_phase != 0:
            _refuse("set_current_phase", *_PAGE_VIEWS.split("; "))

    def preprocess_instance(self):
        _refuse("preprocess_instance", *_PAGE_VIEWS.split("; "))

    def postprocess_instance(self):
        _refuse("postprocess_instance", *_PAGE_VIEWS.split("; "))

    def get_pv_data_size(self):
        _refuse("get_pv_data_size", "samples are not grouped by page view", "get_memory_data_size() counts samples")

    def set_generate_unique_feasigns(self, generate_uni_feasigns, shard_num):
        """False, which is how it is."""
        if generate_uni_feasigns:
            _refuse("set_generate_unique_feasigns", "rows of tables are made on the servers, when a batch asks for them", "leave it out")

    def generate_local_tables_unlock(self, table_id, fea_dim, read_thread_num, consume_thread_num, shard_num):
        _refuse("generate_local_tables_unlock", "rows of tables are made on the servers, when a batch asks for them", "leave it out")

    def set_date(self, date):
        _refuse("set_date", "no table of a day is kept beside the dataset", "set_filelist() says which files are read")

    def tdm_sample(self, *args, **kwargs):
        _refuse("tdm_sample", "no tree samples beside the dataset", "let the pipe command write the samples of the tree")
