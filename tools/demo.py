#!/usr/bin/env python3
"""What `make demo` shows: click logs are made, CTR-DNN learns from them, is tested on others, and is saved."""
import pathlib
import shutil
import subprocess
import sys

import numpy
import paddle.fluid as fluid

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "demo"
ROWS, EPOCHS, THREADS = 100001, 1, 2
sys.path.insert(0, str(ROOT / "examples"))
from ctr_dnn import network  # noqa: E402


def make_data():
    if not (FOLDER / "data" / "test").is_dir():
        subprocess.run([sys.executable, str(ROOT / "tools" / "make_criteo.py"), str(FOLDER / "data"), "--files", "4"], check=True)
    return [sorted(map(str, (FOLDER / "data" / part).glob("part-*"))) for part in ("train", "test")]


def make_dataset(variables, files):
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(variables)
    dataset.set_criteo(ROWS)
    dataset.set_batch_size(500)
    dataset.set_thread(THREADS)
    dataset.set_filelist(files)
    return dataset


def progress_line(epoch):
    """A line that is written over and over, on a terminal; nothing where nobody watches."""
    def show(now):
        text = "  epoch %d: %9s samples, %8s samples/s" % (epoch, format(now["samples"], ","), format(int(now["samples_per_second"]), ","))
        sys.stderr.write("\r" + text.ljust(shutil.get_terminal_size().columns - 1)[:100] + "\r")
        sys.stderr.flush()
    return show if sys.stderr.isatty() else None


def zero(states):
    """Forgets what the AUC has counted."""
    for state in states:
        tensor = fluid.global_scope().find_var(state.name).get_tensor()
        tensor.set(numpy.zeros_like(numpy.array(tensor)), fluid.CPUPlace())


def main():
    train_files, test_files = make_data()
    dense, slots, label, predict, loss, auc = network()
    fluid.optimizer.Adam(learning_rate=1e-3, lazy_mode=True).minimize(loss)
    program, variables = fluid.default_main_program(), [dense] + slots + [label]
    states = [v for v in program.list_vars() if v.persistable and v.name.startswith("_generated_var")]
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    print("CTR-DNN: 13 numbers and 26 categories, a table of %s x 10, 400-400-400-2; %d threads of this machine" % (format(ROWS, ","), THREADS))
    for epoch in range(1, EPOCHS + 1):
        zero(states)
        exe.train_from_dataset(program, make_dataset(variables, train_files), fetch_list=[loss, auc],
                               fetch_info=["epoch %d loss" % epoch, "auc"], print_period=100, progress=progress_line(epoch))
    zero(states)
    report = exe.infer_from_dataset(program, make_dataset(variables, test_files), fetch_list=[auc], fetch_info=["test auc"], print_period=10**9)
    model = FOLDER / "model"
    fluid.io.save_inference_model(str(model), [v.name for v in [dense] + slots], [predict], exe)
    print("\ntest AUC %.4f; the model is in %s" % (report[0], model.relative_to(ROOT)))
    print("try next:  .venv/bin/argosy inspect demo/model           what was saved\n"
          "           .venv/bin/python examples/ctr_dnn.py 'demo/data/train/*' demo/model-py   the same as a script\n"
          "           build/release/examples/ctr_dnn 'demo/data/train/*' demo/model-cc 2    and in C++")


if __name__ == "__main__":
    main()
