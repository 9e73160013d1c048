"""1.x's client of Hadoop: HDFSClient of paddle.distributed.fleet.utils with the arguments of upload() the other way round."""

import copy
import os

from argosy.distributed.fleet.utils import fs

__all__ = ["HDFSClient"]


class HDFSClient(fs.HDFSClient):
    """A Hadoop file system, by the commands of `hadoop fs`.

    >>> client = fluid.incubate.fleet.utils.hdfs.HDFSClient("/opt/hadoop", {"fs.default.name": "hdfs://host:9000"})
    >>> client.ls("/data")  # doctest: +SKIP
    ['/data/part-0', '/data/part-1']
    """

    def _repeating(self, retry_times):
        """This client with another number of repetitions."""
        other = copy.copy(self)
        other._retries = retry_times
        return other

    def upload(self, hdfs_path, local_path, multi_processes=5, overwrite=False, retry_times=5):
        """Puts a file, or all that is in a folder, to hdfs_path; what fails is repeated retry_times."""
        fs.HDFSClient.upload(self._repeating(retry_times), local_path, hdfs_path, multi_processes, overwrite)

    def upload_dir(self, dest_dir, local_dir, overwrite=False):
        """Puts a folder as a whole into dest_dir."""
        super().upload_dir(local_dir, dest_dir, overwrite)

    def download(self, hdfs_path, local_path, multi_processes=5, overwrite=False, retry_times=5):
        """Gets a file, or all that is in a folder; what fails is repeated retry_times."""
        fs.HDFSClient.download(self._repeating(retry_times), hdfs_path, local_path, multi_processes, overwrite)

    def makedirs(self, hdfs_path):
        self.mkdirs(hdfs_path)

    def rename(self, hdfs_src_path, hdfs_dst_path, overwrite=False):
        self.mv(hdfs_src_path, hdfs_dst_path, overwrite)

    def ls(self, hdfs_path):
        """The whole paths of what is in a folder."""
        return [path for _, _, path in self._listed(hdfs_path)]

    def lsr(self, hdfs_path, excludes=()):
        """The whole paths of the files in a folder and in those inside."""
        lines = (line.split(None, 7) for line in self._run("-ls", "-R", hdfs_path)[1])
        return [one[7] for one in lines if len(one) == 8 and not one[0].startswith("d") and one[7] not in excludes]

    @staticmethod
    def make_local_dirs(local_path):
        """Makes a folder of this machine."""
        os.makedirs(local_path, exist_ok=True)

    @staticmethod
    def split_files(files, trainer_id, trainers):
        """This trainer's share of a list: parts of equal length, the first ones one longer.

        >>> fluid.incubate.fleet.utils.hdfs.HDFSClient.split_files(["a", "b", "c"], 0, 2)
        ['a', 'b']
        """
        each, more = divmod(len(files), trainers)
        begin = trainer_id * each + min(trainer_id, more)
        return files[begin : begin + each + (trainer_id < more)]
