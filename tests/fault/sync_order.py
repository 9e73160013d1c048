"""Whether files of a server's directory are on the disk before they get their names, and the names after that.

A power cut keeps what was synced; what was renamed before its bytes were synced may come back empty. Nothing short of a power cut shows it, so a small
library between the job's processes and the system notes each sync and each rename, and their order is compared.
"""

import argparse
import pathlib
import subprocess
import tempfile

import cases
from faulty_job import FaultyJob
from oracle import Layout

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const char* what, const char* a, const char* b) {
  char line[2200], name[600];
  const char* folder = getenv("SYNC_ORDER");
  if (folder == NULL) return;
  snprintf(name, sizeof name, "%s/%d", folder, getpid());
  int size = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, a, b);
  int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd >= 0 && write(fd, line, size) == size) close(fd);
}
static void note_fd(int fd) {
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return;
  path[size] = 0;
  note("sync", path, "");
}
static void note_rename(const char* from, const char* to) {
  char a[1024] = "", *whole = realpath(from, NULL), where[1024] = "";
  if (whole != NULL) snprintf(a, sizeof a, "%s", whole);
  free(whole);
  if (to[0] != '/' && getcwd(where, sizeof where - 1) != NULL) strcat(where, "/");
  char b[2100];
  snprintf(b, sizeof b, "%s%s", where, to);
  note("rename", a, b);
}
int fsync(int fd) {
  note_fd(fd);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
int fdatasync(int fd) {
  note_fd(fd);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
int rename(const char* from, const char* to) {
  note_rename(from, to);
  return ((int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename"))(from, to);
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  note_rename(from, to);
  return ((int (*)(int, const char*, int, const char*, unsigned))dlsym(RTLD_NEXT, "renameat2"))(a, from, b, to, flags);
}
"""


def wrong_renames(events, below):
    """A line for each name below a folder that was given before the bytes were synced, or that was never synced itself."""
    lines, renames = [], 0
    for i, (what, source, target) in enumerate(events):
        if what != "rename" or not target.startswith(str(below)):
            continue
        renames += 1
        if not any(what == "sync" and (path == source or path.startswith(source + "/")) for what, path, _ in events[:i]):
            lines.append(f"{target} got its name before its bytes were synced")
        parent = str(pathlib.Path(target).parent)
        if not any(what == "sync" and path == parent for what, path, _ in events[i + 1 :]):
            lines.append(f"{target}: its folder was not synced after it got its name")
    return lines, renames


def check(folder):
    """Runs a job with short-lived snapshots and compares. Raises an AssertionError."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", folder / "shim.so", folder / "shim.c", "-ldl"], check=True)
    (folder / "order").mkdir()
    job = FaultyJob(folder / "job", Layout(mode="async", reader="dataset", threads=1, files=16), 1)
    try:
        job.launch(*cases.PATIENCE, "--directory=kept", "--snapshot-seconds=0.1", LD_PRELOAD=str(folder / "shim.so"), SYNC_ORDER=str(folder / "order"))
        outcome = job.finish()
        assert outcome.status == 0 and not outcome.wrong, f"{outcome}\n{job.story()}"
    finally:
        job.close()
    wrong, renames = [], 0
    for file in (folder / "order").iterdir():
        events = [line.split("\t") for line in file.read_text().splitlines()]
        lines, count = wrong_renames(events, job.directory)
        wrong, renames = wrong + lines, renames + count
    assert renames > 0, "no server has given a name to anything: the test sees nothing"
    assert not wrong, "\n".join(wrong[:20])
    return renames


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=None)
    options = parser.parse_args()
    cases.use_build(options.build)
    with tempfile.TemporaryDirectory(prefix="argosy-sync-") as folder:
        print(f"{check(folder)} names were given in order")


if __name__ == "__main__":
    main()
