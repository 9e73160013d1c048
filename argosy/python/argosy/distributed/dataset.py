"""The datasets of paddle.distributed: those of fluid, set up by one call of init()."""

from typing import Any

from argosy.fluid import dataset

__all__ = ["InMemoryDataset", "QueueDataset"]


class _OneCall(dataset.DatasetBase):
    """Settings by keyword. There is no other reader than that of MultiSlot text (input_type 0), and what download_cmd would do
    belongs into pipe_command."""

    def init(self, batch_size=1, thread_num=1, use_var=(), pipe_command="cat", input_type=0, fs_name="", fs_ugi="", download_cmd="cat"):
        """All settings at once; what is not named gets its default."""
        self.update_settings(
            batch_size=batch_size,
            thread_num=thread_num,
            use_var=use_var,
            pipe_command=pipe_command,
            input_type=input_type,
            fs_name=fs_name,
            fs_ugi=fs_ugi,
            download_cmd=download_cmd,
        )

    def _more_setters(self):
        return {}

    def update_settings(self, **settings):
        """Those that are named; the others stay."""
        if settings.pop("input_type", 0) != 0:
            raise ValueError("input_type must be 0, which is MultiSlot text")
        if settings.pop("download_cmd", "cat") != "cat":
            raise ValueError("download_cmd must be 'cat'; put what it would do into pipe_command")
        for name in ("fs_name", "fs_ugi"):
            if name in settings:
                setattr(self, "_" + name, settings.pop(name))
        setters: dict[str, Any] = {
            "batch_size": self.set_batch_size,
            "thread_num": self.set_thread,
            "use_var": self.set_use_var,
            "pipe_command": self.set_pipe_command,
        }
        setters.update(self._more_setters())
        for name, value in settings.items():
            if name not in setters:
                raise TypeError("a dataset has no setting %r; it has %s, fs_name, fs_ugi" % (name, ", ".join(setters)))
            setters[name](value)


class QueueDataset(_OneCall, dataset.QueueDataset):
    """Streams files, once for each pass: init(), set_filelist(), then Executor.train_from_dataset().

    >>> dataset = paddle.distributed.QueueDataset()
    >>> dataset.init(batch_size=32, thread_num=2, use_var=[fluid.data("x", [None, 1])], pipe_command="cat")
    """


class InMemoryDataset(_OneCall, dataset.InMemoryDataset):
    """The same with files that are read into memory first: load_into_memory(), local_shuffle(), then Executor.train_from_dataset().

    >>> dataset = paddle.distributed.InMemoryDataset()
    >>> dataset.init(batch_size=32, thread_num=2, use_var=[fluid.data("x", [None, 1])], pipe_command="cat")
    """

    def init(self, queue_num=None, **settings):
        """All settings at once; what is not named gets its default."""
        super().init(**settings)
        if queue_num is not None:
            self.set_queue_num(queue_num)

    def _init_distributed_settings(self, **settings):
        """Those of parsing, merging and shuffling: parse_ins_id, parse_content, merge_size, fea_eval, fleet_send_batch_size, …"""
        self.update_settings(**settings)

    def _more_setters(self):
        return {
            "queue_num": self.set_queue_num,
            "parse_ins_id": self.set_parse_ins_id,
            "parse_content": self.set_parse_content,
            "merge_size": lambda size: self.set_merge_by_lineid(size) if size > 0 else None,
            "fleet_send_batch_size": self.set_fleet_send_batch_size,
            "fleet_send_sleep_seconds": self.set_fleet_send_sleep_seconds,
            "fea_eval": lambda on: self.set_fea_eval(self._candidates, on),
            "candidate_size": lambda size: self.set_fea_eval(size, self._evaluates_features),
        }

    def _set_use_ps_gpu(self, use_ps_gpu):
        """False is all there is: tables are in the servers' memory."""
        if use_ps_gpu:
            raise ValueError("_set_use_ps_gpu(True): tables are in the servers' memory, and not on GPUs; leave it at False")

    def load_into_memory(self, is_shuffle=False):
        """Reads the files; is_shuffle puts their samples into random order."""
        super().load_into_memory()
        if is_shuffle:
            self.local_shuffle()
