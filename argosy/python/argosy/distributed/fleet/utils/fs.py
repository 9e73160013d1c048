"""One set of calls for files on this machine and in a Hadoop file system."""

import concurrent.futures
import os
import shutil
import subprocess
import time

from argosy.errors import Error, InvalidArgumentError

__all__ = ["LocalFS", "HDFSClient", "FS", "ExecuteError", "FSFileExistsError", "FSFileNotExistsError", "FSTimeOut", "FSShellCmdAborted"]


class ExecuteError(Error):
    """A command of the file system has failed, also when it was repeated.

    >>> issubclass(paddle.distributed.fleet.utils.fs.FSShellCmdAborted, paddle.distributed.fleet.utils.fs.ExecuteError)
    True
    """


class FSShellCmdAborted(ExecuteError):
    """The command was aborted (exit status 134).

    >>> issubclass(paddle.distributed.fleet.utils.fs.FSShellCmdAborted, RuntimeError)
    True
    """


class FSFileExistsError(Error, FileExistsError):
    """What is to be made is there already.

    >>> issubclass(paddle.distributed.fleet.utils.fs.FSFileExistsError, FileExistsError)
    True
    """


class FSFileNotExistsError(Error, FileNotFoundError):
    """What is to be read or moved is not there.

    >>> issubclass(paddle.distributed.fleet.utils.fs.FSFileNotExistsError, FileNotFoundError)
    True
    """


class FSTimeOut(Error, TimeoutError):
    """A command and its repetitions have used up the client's time_out.

    >>> issubclass(paddle.distributed.fleet.utils.fs.FSTimeOut, TimeoutError)
    True
    """


class FS:
    """What the two file systems share.

    >>> isinstance(paddle.distributed.fleet.utils.LocalFS(), paddle.distributed.fleet.utils.fs.FS)
    True
    """

    def is_file(self, fs_path):
        return self.is_exist(fs_path) and not self.is_dir(fs_path)

    def list_dirs(self, fs_path):
        """The names of the folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def touch(self, fs_path, exist_ok=True):
        """Makes an empty file; one that is there stays as it is, or is an error."""
        if not self.is_exist(fs_path):
            self._create(fs_path)
        elif not exist_ok:
            raise FSFileExistsError(f"touch: {fs_path} is there already")

    def mv(self, fs_src_path, fs_dst_path, overwrite=False, test_exists=True):
        """Renames; overwrite deletes what has the new name first."""
        if not self.is_exist(fs_src_path):
            raise FSFileNotExistsError(f"mv: {fs_src_path} is not there")
        if overwrite:
            self.delete(fs_dst_path)
        elif test_exists and self.is_exist(fs_dst_path):
            raise FSFileExistsError(f"mv: {fs_dst_path} is there already; overwrite=True replaces it")
        self._move(fs_src_path, fs_dst_path)

    # What each of them does in its own way.
    def is_exist(self, fs_path):
        raise NotImplementedError

    def is_dir(self, fs_path):
        raise NotImplementedError

    def ls_dir(self, fs_path):
        raise NotImplementedError

    def delete(self, fs_path):
        raise NotImplementedError

    def _create(self, fs_path):
        raise NotImplementedError

    def _move(self, fs_src_path, fs_dst_path):
        raise NotImplementedError


class LocalFS(FS):
    """Files of this machine, by the calls of HDFSClient.

    >>> client = paddle.distributed.fleet.utils.LocalFS()
    >>> client.mkdirs("model/old")
    >>> client.touch("model/done")
    >>> client.ls_dir("model")
    (['old'], ['done'])
    >>> client.delete("model")
    >>> client.is_exist("model")
    False
    """

    def ls_dir(self, fs_path):
        """(names of folders, names of files) in a folder, sorted; nothing of one that is not there."""
        if not os.path.isdir(fs_path):
            return [], []
        names = sorted(os.listdir(fs_path))
        folders = [name for name in names if os.path.isdir(os.path.join(fs_path, name))]
        return folders, [name for name in names if name not in set(folders)]

    def mkdirs(self, fs_path):
        os.makedirs(fs_path, exist_ok=True)

    def rename(self, fs_src_path, fs_dst_path):
        os.rename(fs_src_path, fs_dst_path)

    def delete(self, fs_path):
        """Of a folder with all that is in it; what is not there is no error."""
        if os.path.isdir(fs_path) and not os.path.islink(fs_path):
            shutil.rmtree(fs_path)
        elif os.path.lexists(fs_path):
            os.remove(fs_path)

    def is_exist(self, fs_path):
        return os.path.exists(fs_path)

    def is_dir(self, fs_path):
        return os.path.isdir(fs_path)

    def cat(self, fs_path=None):
        """The text of a file."""
        with open(fs_path, encoding="utf-8") as file:  # pyright: ignore[reportArgumentType]
            return file.read()

    def need_upload_download(self):
        """False: files are here."""
        return False

    def _create(self, fs_path):
        with open(fs_path, "a", encoding="utf-8"):
            pass

    def _move(self, fs_src_path, fs_dst_path):
        if os.path.exists(fs_dst_path):
            raise FSFileExistsError(f"mv: {fs_dst_path} is there already; overwrite=True replaces it")
        shutil.move(fs_src_path, fs_dst_path)


class HDFSClient(FS):
    """A Hadoop file system, by the commands of `hadoop fs`. Several threads may share a client.

    hadoop_home: its folder, with bin/hadoop; None: the words of ARGOSY_FS_COMMAND, or `hadoop fs` from PATH. configs: {"fs.default.name": …,
    "hadoop.job.ugi": …}, which no message shows. A command that fails is repeated 5 times, after sleep_inter ms, within time_out ms of all.

    >>> client = paddle.distributed.fleet.utils.HDFSClient("/opt/hadoop", {"fs.default.name": "hdfs://host:9000"})
    >>> client.ls_dir("/data")  # doctest: +SKIP
    (['2024-01-01'], ['done'])
    """

    _retries = 5

    def __init__(self, hadoop_home, configs, time_out=5 * 60 * 1000, sleep_inter=1000):
        if hadoop_home is None:
            self._command = os.environ.get("ARGOSY_FS_COMMAND", "hadoop fs").split()
        else:
            self._command = [os.path.join(os.path.expandvars(hadoop_home), "bin", "hadoop"), "fs"]
        for name, value in (configs or {}).items():
            self._command += ["-D", f"{name}={value}"]
        if time_out <= 0 or sleep_inter < 0:
            raise InvalidArgumentError(f"HDFSClient: time_out is above 0 and sleep_inter 0 or more, in ms; found {time_out} and {sleep_inter}")
        self._seconds, self._pause = time_out / 1000, sleep_inter / 1000

    def _once(self, order, deadline):
        """(exit status, stdout, stderr) of one command."""
        left = deadline - time.monotonic()
        try:
            done = subprocess.run([*self._command, *order], capture_output=True, text=True, timeout=max(left, 0.001), check=False)
        except FileNotFoundError:
            raise ExecuteError(f"hadoop fs {' '.join(order)}: there is no {self._command[0]}; give HDFSClient the folder that has bin/hadoop") from None
        except subprocess.TimeoutExpired:
            raise FSTimeOut(f"hadoop fs {' '.join(order)}: not done within {self._seconds:g} s; HDFSClient(time_out=…) gives it more") from None
        return done.returncode, done.stdout, done.stderr

    def _run(self, *order, retries=None, answers=(0,)):
        """(exit status, lines); one that is no answer is tried again, and an error at the end."""
        retries = self._retries if retries is None else retries
        deadline = time.monotonic() + self._seconds
        for attempt in range(retries + 1):
            status, out, err = self._once(order, deadline)
            if status in answers:
                return status, out.splitlines()
            if attempt < retries and time.monotonic() + self._pause < deadline:
                time.sleep(self._pause)
        kind = FSShellCmdAborted if status == 134 else ExecuteError
        raise kind(f"hadoop fs {' '.join(order)}: exit status {status} {retries + 1} times; it says: {(err or out).strip()[-500:] or 'nothing'}")

    def _test(self, option, path):
        return self._run("-test", option, path, retries=1, answers=(0, 1))[0] == 0

    def is_exist(self, fs_path):
        return self._test("-e", fs_path)

    def is_dir(self, fs_path):
        return self._test("-d", fs_path)

    def ls_dir(self, fs_path):
        """(names of folders, names of files) in a folder; nothing of one that is not there."""
        if not self.is_exist(fs_path):
            return [], []
        folders, files = [], []
        for mode, _, path in self._listed(fs_path):
            (folders if mode.startswith("d") else files).append(os.path.basename(path.rstrip("/")))
        return folders, files

    def _listed(self, *paths):
        """(mode, size, path) of each line of -ls that has its eight columns."""
        for line in self._run("-ls", *paths)[1]:
            columns = line.split(None, 7)
            if len(columns) == 8:
                yield columns[0], int(columns[4]), columns[7]

    def list_files_info(self, path_list):
        """[{"path": …, "size": …}] of what is in the folders of a list."""
        return [{"path": path, "size": size} for _, size, path in self._listed(*path_list)] if path_list else []

    def mkdirs(self, fs_path):
        """Makes a folder with those that it lies in; one that is there is no error."""
        if not self.is_exist(fs_path):
            self._run("-mkdir", "-p", fs_path)

    def delete(self, fs_path):
        """Of a folder with all that is in it; what is not there is no error."""
        if self.is_exist(fs_path):
            self._run("-rm", *(["-r"] if self.is_dir(fs_path) else []), fs_path)

    def cat(self, fs_path=None):
        """The text of a file; nothing of what is no file."""
        return "\n".join(self._run("-cat", fs_path, retries=1)[1]) if self.is_file(fs_path) else ""

    def upload(self, local_path, fs_path, multi_processes=5, overwrite=False):
        """Puts a file, or all that is in a folder, to fs_path, so many at a time."""
        if not os.path.exists(local_path):
            raise FSFileNotExistsError(f"upload: {local_path} is not there")
        if overwrite:
            self.delete(fs_path)
        if not os.path.isdir(local_path):
            return self._put(local_path, fs_path)
        self.mkdirs(fs_path)
        self._each([(os.path.join(local_path, name), fs_path) for name in sorted(os.listdir(local_path))], self._put, multi_processes)

    def upload_dir(self, local_dir, dest_dir, overwrite=False):
        """Puts a folder as a whole into dest_dir."""
        local_dir, dest_dir = local_dir.rstrip("/"), dest_dir.rstrip("/")
        if overwrite:
            self.delete(f"{dest_dir}/{os.path.basename(local_dir)}")
        self.mkdirs(dest_dir)
        self._put(local_dir, dest_dir)

    def download(self, fs_path, local_path, multi_processes=5, overwrite=False):
        """Gets a file, or all that is in a folder, to local_path, so many at a time."""
        if not self.is_exist(fs_path):
            raise FSFileNotExistsError(f"download: {fs_path} is not there")
        if overwrite:
            LocalFS().delete(local_path)
        if not self.is_dir(fs_path):
            return self._get(fs_path, local_path)
        os.makedirs(local_path, exist_ok=True)
        folders, files = self.ls_dir(fs_path)
        self._each([(f"{fs_path.rstrip('/')}/{name}", local_path) for name in (*files, *folders)], self._get, multi_processes)

    def need_upload_download(self):
        """True: files are elsewhere."""
        return True

    def _each(self, pairs, act, workers):
        with concurrent.futures.ThreadPoolExecutor(max(1, workers), thread_name_prefix="hdfs") as pool:
            for one in [pool.submit(act, *pair) for pair in pairs]:
                one.result()

    def _put(self, local_path, fs_path):
        self._run("-put", "-f", local_path, fs_path)  # -f: what a failed attempt left is overwritten

    def _get(self, fs_path, local_path):
        self._run("-get", "-f", fs_path, local_path)

    def _create(self, fs_path):
        self._run("-touchz", fs_path)

    def _move(self, fs_src_path, fs_dst_path):
        self._run("-mv", fs_src_path, fs_dst_path, retries=1)
