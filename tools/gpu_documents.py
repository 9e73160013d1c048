#!/usr/bin/env python3
"""Runs the documents' own training scripts on the GPU of this machine, by the checker that has them: a folder with its check.py and docs/.

    tools/gpu_documents.py FOLDER [NAME…]        mlp_single, ctr_single (with CUDAPlace(0)), cifar10 and face_keypoints (one process)

Ends with 1 where one does not train.
"""

import os
import pathlib
import re
import sys
import tempfile
import textwrap
import time

ONE_GPU = (r"=0,1(,2,3)?\b", "=0")


def checker(folder):
    """Its module, whose jobs ask for no other device than the scripts do."""
    sys.path[:0] = [str(folder), str(folder / "support")]
    import check

    class Job(check.Job):
        def __init__(self, folder):
            super().__init__(folder)
            del self.env["ARGOSY_DEVICE"]
            self.env.update({"ARGOSY_DEVICE": os.environ["ARGOSY_DEVICE"]} if "ARGOSY_DEVICE" in os.environ else {})
            programs = self.dir / "programs"
            programs.mkdir()
            (programs / "python").symlink_to(sys.executable)  # scripts call it so, and some machines have python3 alone
            self.env["PATH"] = f"{programs}{os.pathsep}{self.env['PATH']}"

    check.Job = Job
    return check


def ctr_single(check, job):
    blocks = check.DOC["cluster_quick_start"]
    blocks[0] = check.edited(blocks[0], (r"fluid\.CPUPlace\(\)", "fluid.CUDAPlace(0)"))
    check.CASES["ctr_single"](job)


def launched(check, job, block, limit):
    """What the only process of a document's launcher command has printed."""
    job.run(check.edited(check.DOC["collective_training"][block], (r"^python ", sys.executable + " "), ONE_GPU), limit)
    (log,) = job.logs(r"log/workerlog\.\d+$")
    return log


def cifar10(check, job):
    check.make_data.cifar10(job.dir / "home" / ".cache")
    job.write("run.py", check.edited(check.DOC["collective_training"][5], (r"^epoch_num = 10", "epoch_num = 3")))
    log = launched(check, job, 7, 400)
    accuracy = check.numbers(r"\[validation\] accuracy/loss: ([\d.]+)/", log)
    assert len(accuracy) == 3 and accuracy[-1] > 0.5, log[-1500:]


def face_keypoints(check, job):
    check.make_data.faces(job.dir / "data")
    edits = (r"^(\s+)epoch = 30", r"\1epoch = 1"), (r"_dataset, 32", "_dataset, 8")
    job.write("train_with_fleet.py", check.edited(check.DOC["collective_training"][6], *edits))
    log = launched(check, job, 12, 400)
    assert re.search(r"step 0 / \d+ - loss: [\d.]+", log) and "Eval samples:" in log, log[-1500:]


CASES = {"mlp_single": lambda check, job: check.CASES["mlp_single"](job), "ctr_single": ctr_single, "cifar10": cifar10, "face_keypoints": face_keypoints}


def main():
    if len(sys.argv) < 2 or not (pathlib.Path(sys.argv[1]) / "check.py").is_file():
        sys.exit(f"gpu_documents: expected a folder with check.py and docs/; found {sys.argv[1:]}")
    check, failed = checker(pathlib.Path(sys.argv[1]).resolve()), 0
    for name in sys.argv[2:] or CASES:
        began = time.time()
        with tempfile.TemporaryDirectory(prefix="documents-") as folder:
            job = check.Job(pathlib.Path(folder) / name)
            try:
                CASES[name](check, job)
                print(f"ok      {name}  {time.time() - began:.1f} s", flush=True)
            except Exception as error:
                failed += 1
                print(f"FAILED  {name}  {time.time() - began:.1f} s\n{textwrap.indent(str(error)[:4000], '    ')}", flush=True)
            finally:
                job.end()
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
