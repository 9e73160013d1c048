"""Dataset: files of text, Parquet and Arrow, read, parsed and fed by the core, several threads at a time; and tables in memory."""

import os
import sys
import warnings
from typing import Any

from argosy.errors import NotFoundError
from argosy.fluid import dataset_settings

__all__ = ["DatasetFactory", "DatasetBase", "InMemoryDataset", "QueueDataset", "MessageStream", "FolderStream", "glob"]


def glob(pattern):
    r"""The files that match a shell's pattern, sorted: of this machine, or objects of a store (s3://bucket/day=*/part-*). No match is an error.

    >>> with open("seen-0", "w") as file:
    ...     count = file.write("1 5\n")
    >>> fluid.dataset.glob("seen-*")
    ['seen-0']
    """
    from argosy import _core

    found = _core.matching_files(str(pattern))
    if not found:
        raise NotFoundError(f"no file matches {str(pattern)!r}")
    return found


def find_own_programs():
    """Lets commands find what is installed beside this Python: last, so that nothing else of that name is hidden."""
    folder = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", os.defpath)
    if folder not in path.split(os.pathsep):
        os.environ["PATH"] = path + os.pathsep + folder


class DatasetFactory:
    """create_dataset("QueueDataset") streams files; create_dataset("InMemoryDataset") reads them into memory first.

    >>> dataset = fluid.DatasetFactory().create_dataset("InMemoryDataset")
    >>> dataset.set_batch_size(32)
    """

    def create_dataset(self, datafeed_class="QueueDataset"):
        kinds = {"QueueDataset": QueueDataset, "InMemoryDataset": InMemoryDataset}
        if datafeed_class not in kinds:
            raise ValueError("there is no dataset %r; choose one of %s" % (datafeed_class, ", ".join(kinds)))
        return kinds[datafeed_class]()


class DatasetBase(dataset_settings.Base):
    """The settings that datasets share: variables, pipe command, files, batch size, threads. Changes count from the next pass (or load) on.

    >>> isinstance(fluid.DatasetFactory().create_dataset("QueueDataset"), paddle.distributed.fleet.DatasetBase)
    True
    """

    def __init__(self):
        self._use_var, self._filelist = [], []
        self._pipe_command, self._batch_size, self._threads = "cat", 1, 1
        self._fs_name, self._fs_ugi = "", ""
        self._max_bad_lines, self._drop_last = 0, False
        self._criteo = self._corpus = None
        self._format, self._table = None, None
        self._columns, self._defaults = {}, {}
        self._file_handout, self._handout = False, None
        self._no_files = False  # the script has given an empty list: this worker has none

    def set_use_var(self, var_list):
        """The variables that the slots of a line feed, in order."""
        from argosy.fluid.framework import Variable

        self._use_var = list(var_list)
        for variable in self._use_var:
            if not isinstance(variable, Variable):
                raise TypeError("set_use_var takes a list of variables; found %s in it" % type(variable).__name__)

    def set_pipe_command(self, pipe_command):
        """A shell command that turns a file on its standard input into MultiSlot text.

        It finds the programs that are installed beside this Python, such as ``argosy criteo``, also where its environment is not activated.
        """
        find_own_programs()
        self._pipe_command = pipe_command

    def _whole_pipe(self):
        """The pipe command, with what the settings add to it."""
        return self._pipe_command

    def set_criteo(self, hash_dim, scheme="span"):
        """Lines are Criteo's tab-separated text, parsed in the core: the same values as the pipe command `argosy criteo`."""
        self._criteo = (int(hash_dim), scheme)

    def set_corpus(self, vocabulary, window=5, sample=1e-4, power=0.75, seed=1):
        """Lines are sentences, which the core makes into samples of word2vec; the batch size counts lines.

        The variables are, in order: a word, [1]; the words around it, 1 to ``window`` on either side (lod_level=1: all of them in one sample;
        lod_level=0: a sample for each); and, if there is a third, words drawn as often as count ** power says, as many as it is wide. Frequent
        words are left out at random: ``sample`` is the share of the text from which on. What is drawn is a function of the seed, the pass,
        the file's name and the line.

        >>> vocabulary = paddle.text.Vocabulary.count(["corpus.txt"], min_count=5)  # doctest: +SKIP
        >>> dataset.set_corpus(vocabulary, window=5, sample=1e-4)  # doctest: +SKIP
        """
        from argosy import _core

        if not isinstance(vocabulary, _core.Vocabulary):
            raise TypeError("set_corpus takes a paddle.text.Vocabulary (count or read one); found %s" % type(vocabulary).__name__)
        self._corpus = _core.CorpusOptions(vocabulary, int(window), float(sample), float(power), int(seed))

    def set_format(self, format=None):
        """What the files are: "text", "json" (an object a line), "parquet" or "arrow" (Arrow's IPC files, Feather; of messages of Kafka: streams
        of Arrow's IPC format, a sample per row; the batch size counts messages).

        Without it the name says it: .parquet, .arrow, .feather, .ipc, where no pipe command is set; anything else is text.

        The slots of a table are its columns, found by the variables' names; columns without a variable are passed over.
        """
        if format not in (None, "text", "json", "parquet", "arrow"):
            raise ValueError("set_format: %r is no format of files; expected 'text', 'json', 'parquet', 'arrow' or None" % (format,))
        self._format = format

    def set_columns(self, columns=None, defaults=None):
        """Which columns of a table fill a variable, where it is not the one of its name; and what stands for a value that is missing.

        ``columns``: {variable: a column, or a list of columns whose values follow each other}. ``defaults``: {variable: number}; without one, a
        missing value of a ragged variable (lod_level 1) is none, and that of a dense one makes the row a bad one.

        >>> dataset = fluid.QueueDataset()
        >>> dataset.set_columns({"dense_input": ["I1", "I2"]}, defaults={"dense_input": 0.0})
        """
        self._columns = {_name_of(slot): [one] if isinstance(one, str) else list(one) for slot, one in (columns or {}).items()}
        self._defaults = {_name_of(slot): _number(value) for slot, value in (defaults or {}).items()}

    def set_table(self, table):
        """Reads a table in memory in place of files: a DataFrame of pandas or polars, a table of pyarrow, or whatever has __arrow_c_stream__().

        Nothing is copied before batches are made. A change of the DataFrame is seen after another set_table(). None in place of one that was set: files again.

        >>> import pandas
        >>> dataset = fluid.QueueDataset()
        >>> dataset.set_table(pandas.DataFrame({"x": [1, 2], "label": [0, 1]}))
        """
        from argosy import _core

        if table is None and self._table is None:
            raise TypeError("set_table: found None where a table is expected; None takes back a table that was set before, and there was none")
        stream = getattr(table, "__arrow_c_stream__", None)
        if table is not None and stream is None:
            raise TypeError("set_table takes a table with __arrow_c_stream__(), such as a DataFrame of pandas (2.2 or later) or polars, or a pyarrow.Table; "
                            "found %s" % type(table).__name__)  # fmt: skip
        self._table = None if stream is None else _core.ArrowTable(stream())

    def set_batch_size(self, batch_size):
        self._batch_size = int(batch_size)

    def set_thread(self, thread_num):
        self._threads = int(thread_num)

    def set_filelist(self, filelist):
        if isinstance(filelist, str):
            raise TypeError("set_filelist takes a list of paths; found the text %r" % filelist)
        self._filelist = [str(path) for path in filelist]
        self._no_files = not self._filelist
        if self._no_files:
            warnings.warn("set_filelist: the list is empty, and passes over this dataset have no batch; a job has workers without files where it has "
                          "fewer files than workers (set_file_handout deals them out)", stacklevel=2)  # fmt: skip

    def set_hdfs_config(self, fs_name, fs_ugi):
        """How `hadoop fs` reaches files whose path begins with hdfs: or afs:."""
        self._fs_name, self._fs_ugi = fs_name, fs_ugi

    def set_max_bad_lines(self, count):
        """So many malformed lines are skipped and counted; one more ends the run. 0: the first one does."""
        self._max_bad_lines = int(count)

    def set_drop_last(self, drop_last):
        """Leave out a batch that is smaller than the batch size."""
        self._drop_last = bool(drop_last)

    def set_file_handout(self, file_handout=True):
        """Deal the files to the workers of the job, each to one that is free: all workers set the whole list, and make the same datasets
        and passes. Without it, and without fleet.init(), a worker reads the whole list that it was given."""
        self._file_handout = bool(file_handout)

    def _options(self):
        from argosy import _core

        if not self._use_var:
            raise ValueError("the dataset does not know its variables: call set_use_var")
        if not self._file_handout and any(name.startswith("kafka:") for name in self._filelist) and _workers() > 1:
            raise ValueError("every worker would train all messages of %r: call set_file_handout(), so that each range goes to one of them" % self._filelist[0])
        if self._file_handout and self._handout is None:
            self._handout = _core.file_handout(_core.fleet())
        handout: Any = self._handout if self._file_handout else None
        return _core.DatasetOptions(
            self._use_var,
            [os.devnull] if self._no_files else self._filelist,
            self._whole_pipe(),
            self._batch_size,
            self._threads,
            self._max_bad_lines,
            self._fs_name,
            self._fs_ugi,
            self._criteo,
            self._corpus,
            self._drop_last,
            handout,
            self._format,
            self._columns,
            self._defaults,
            self._table,  # pyright: ignore[reportArgumentType]
        )

    def _source(self):
        """The core's dataset for the next pass."""
        raise TypeError("use QueueDataset or InMemoryDataset")


class QueueDataset(DatasetBase):
    """Streams the files, once for each pass. It cannot be shuffled: InMemoryDataset can.

    >>> dataset = fluid.QueueDataset()
    >>> dataset.set_use_var([fluid.data("x", [None, 1])])
    >>> dataset.set_filelist(["part-0", "part-1"])
    """

    def _source(self):
        from argosy import _core

        return _core.QueueDataset(self._options())

    def local_shuffle(self):
        raise NotImplementedError("a QueueDataset streams its files and cannot be shuffled; use InMemoryDataset")

    def global_shuffle(self, fleet=None, thread_num=12):
        raise NotImplementedError("a QueueDataset streams its files and cannot be shuffled; use InMemoryDataset")


class InMemoryDataset(dataset_settings.InMemory, DatasetBase):
    r"""Reads the files into memory; passes and shuffles then work there. Confined to one thread.

    >>> dataset = fluid.InMemoryDataset()
    >>> dataset.set_use_var([fluid.data("x", [None, 1], "int64")])
    >>> dataset.set_batch_size(2)
    >>> with open("part-0", "w") as file:
    ...     count = file.write("1 5\n1 6\n")
    >>> dataset.set_filelist(["part-0"])
    >>> dataset.load_into_memory()
    >>> dataset.get_memory_data_size()
    2
    """

    def __init__(self):
        super().__init__()
        self._loaded: Any = None
        self._preloading = False
        self._shuffles = 0

    def _memory(self, call):
        if self._loaded is None:
            raise RuntimeError("%s before load_into_memory(): there is nothing in memory" % call)
        if self._preloading:
            raise RuntimeError("%s while the data are being loaded: call wait_preload_done() first" % call)
        return self._loaded

    def _source(self):
        return self._memory("a pass")

    def _new(self):
        from argosy import _core

        if self._preloading:
            raise RuntimeError("the data are being loaded already: call wait_preload_done() first")
        self._loaded = None  # its memory is free before the new data need any
        return _core.InMemoryDataset(self._options())

    def load_into_memory(self):
        loaded = self._new()
        loaded.load_into_memory()
        self._loaded = loaded

    def preload_into_memory(self, thread_num=None):
        """Loads in the background; wait_preload_done() ends it and raises what went wrong."""
        if thread_num is not None:
            self.set_thread(thread_num)
        loaded = self._new()
        loaded.preload_into_memory()
        self._loaded, self._preloading = loaded, True

    def wait_preload_done(self):
        if not self._preloading:
            raise RuntimeError("wait_preload_done() without preload_into_memory() before it")
        loaded, self._loaded, self._preloading = self._loaded, None, False
        loaded.wait_preload_done()
        self._loaded = loaded

    def local_shuffle(self, seed=None):
        """A random order of this process's samples; the same one for the same seed."""
        import random

        self._memory("local_shuffle()").local_shuffle(random.getrandbits(63) if seed is None else seed)

    def global_shuffle(self, fleet=None, thread_num=12):
        """A random order of the samples of all workers of `fleet`, which all make this call; without it, of this worker's.

        The samples travel as fast as the servers pass them on, whatever thread_num says.
        """
        loaded = self._memory("global_shuffle()")
        if fleet is None or fleet.worker_num() == 1:
            return self.local_shuffle()
        self._shuffles += 1  # the seed: a worker that is started again deals its samples as before
        _core_of(fleet).global_shuffle(loaded, self._shuffles)

    def get_memory_data_size(self, fleet=None):
        """How many samples are in memory: here, or on all workers of `fleet`, which all make this call."""
        return _of_all(fleet, self._memory("get_memory_data_size()").memory_data_size())

    def get_shuffle_data_size(self, fleet=None):
        """The same after a shuffle, which leaves none out."""
        return _of_all(fleet, self._memory("get_shuffle_data_size()").memory_data_size())

    def release_memory(self):
        """Frees the memory. Without data in memory it does nothing."""
        if self._preloading:
            raise RuntimeError("release_memory() while the data are being loaded: call wait_preload_done() first")
        self._loaded = None


class _FileStream:
    _stream: Any
    as_of = None  # of a MessageStream

    def next(self):
        """The files of the next pass; [] where nothing came for idle_seconds, by when all workers have trained what came before."""
        return self._stream.next()

    def __iter__(self):
        while True:
            files = self.next()
            if not files:
                return
            yield files


class MessageStream(_FileStream):
    """Messages of a Kafka topic, as one list of files after the other: each a range of offsets, a message a line of text, a JSON object or a stream
    of Arrow's IPC format (set_format), for set_filelist().

    All workers of a job take the same lists, and set_file_handout() deals them out. Each message counts once, also where processes are
    killed: its offset is the number of its line, by which the servers know what they have, and what was agreed upon to read is kept by
    them. ``group`` commits offsets once the servers have all messages before them; a new job goes on from there, or ``from_`` "earliest"
    or "latest". A pass has at most ``most`` messages of a partition, a file ``range`` of them. Properties of librdkafka (security and
    others): a file of KEY=VALUE lines that ARGOSY_KAFKA_CONFIG names.

    ``every_seconds`` divides the data at event time, the time in the messages' timestamps: 3600 at the full hours, in UTC. No list goes beyond
    a full hour before all messages of the hour are taken, and ``as_of`` says that they are. In each partition these are the messages before the
    first one of the next hour; where none has come, those that are there ``late_seconds`` (10) after the hour's end.

    >>> stream = fluid.dataset.MessageStream("broker:9092", "clicks", group="ctr")
    >>> for files in stream:  # doctest: +SKIP
    ...     dataset.set_filelist(files)
    ...     exe.train_from_dataset(fluid.default_main_program(), dataset)
    """

    def __init__(self, brokers, topic, group="argosy", from_="earliest", most=1_000_000, range=50_000, broker_seconds=60.0, every_seconds=0.0,
                 late_seconds=None, idle_seconds=60.0, poll_seconds=0.5):  # fmt: skip
        from argosy import _core

        settings = (brokers, topic, group, from_, most, range, broker_seconds, every_seconds, late_seconds)
        self._stream = _core.MessageStream(*settings, idle_seconds, poll_seconds)

    @property
    def as_of(self):
        """With every_seconds: the moment (a datetime in UTC) whose model this is, before the list that next() gave is trained: it has
        exactly the messages before that moment; None in the middle of a window. Where the stream has ended: the end of its last window, if
        that is over.

        >>> for files in stream:  # doctest: +SKIP
        ...     if stream.as_of is not None:
        ...         fleet.barrier_worker()
        ...         if fleet.is_first_worker():
        ...             fleet.save_persistables(exe, f"models/{stream.as_of:%Y%m%dT%H%M%S}")
        ...         fleet.barrier_worker()  # nobody trains on before it is saved
        ...     dataset.set_filelist(files)
        ...     exe.train_from_dataset(fluid.default_main_program(), dataset)
        """
        import datetime

        milliseconds = self._stream.as_of
        if milliseconds is None:
            return None
        return datetime.datetime.fromtimestamp(0, datetime.UTC) + datetime.timedelta(milliseconds=milliseconds)


class FolderStream(_FileStream):
    """Files that appear, as one list after the other: those that match a shell's pattern, or objects of a store that match a URI's, and were not
    there before, by their names.

    A file is whole when it gets its name: write it under another one, which the pattern does not match, and rename it; an object is whole when it is there. All
    workers of a job take the same lists; set_file_handout() deals them out.

    >>> import os
    >>> os.mkdir("incoming")
    >>> stream = fluid.dataset.FolderStream("incoming/*.parquet", idle_seconds=600.0)
    """

    def __init__(self, pattern, most=1000, idle_seconds=60.0, poll_seconds=0.5):
        from argosy import _core

        self._stream = _core.FolderStream(str(pattern), most, idle_seconds, poll_seconds)


def _workers():
    """How many share the job of this process; 1 before fleet.init()."""
    from argosy import _core

    job = _core.fleet()
    return job.worker_num() if job.initialised() else 1


def _name_of(slot):
    return slot if isinstance(slot, str) else slot.name


def _number(value):
    return float(value) if isinstance(value, float) or not float(value).is_integer() else int(value)


def _core_of(fleet):
    """The core's fleet: `fleet` is a Fleet, or the package paddle.distributed.fleet."""
    return getattr(fleet, "fleet", fleet)._core


def _of_all(fleet, count):
    if fleet is None or fleet.worker_num() == 1:
        return count
    return _core_of(fleet).all_reduce_integers([count], "sum")[0]
