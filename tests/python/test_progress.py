"""On a terminal of its own a process shows how far it is with a load and an evaluation."""

import os
import pty
import re
import subprocess
import sys

SCRIPT = """
import paddle.fluid as fluid
x = fluid.layers.data("x", [1])
loss = fluid.layers.mean(fluid.layers.fc(x, 1))
exe = fluid.Executor(fluid.CPUPlace())
exe.run(fluid.default_startup_program())
def dataset(kind):
    made = fluid.DatasetFactory().create_dataset(kind)
    made.set_use_var([x])
    made.set_batch_size(1)
    made.set_filelist(["part-%d" % i for i in range(6)])
    made.set_pipe_command("sleep 0.3; cat")
    return made
dataset("InMemoryDataset").load_into_memory()
print("loaded", flush=True)
exe.infer_from_dataset(fluid.default_main_program(), dataset("QueueDataset"), fetch_list=[loss], fetch_info=["loss"], print_period=1)
"""


def terminal_output(command, folder):
    """What the command writes to a terminal of its own."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=dict(os.environ, TERM="xterm"))
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # the other end has closed
        pass
    os.close(ours)
    assert process.wait(60) == 0, seen.decode()
    return seen.decode()


def test_long_work_has_a_bar_that_gives_way(tmp_path):
    for i in range(6):
        (tmp_path / f"part-{i}").write_text("1 0.5\n")
    text = terminal_output([sys.executable, "-c", SCRIPT], tmp_path)
    load, evaluation = text.split("loaded")
    assert re.search(r"\r\x1b\[Kload \d+ % \[█+·+\] \d+ s, \d+ s left", load), text
    assert re.search(r"load: ended after \d\.\d s", load), text
    assert re.search(r"\r\x1b\[Kevaluation \d+ % \[", evaluation) and "evaluation: ended after" in evaluation, text
    for line in re.split(r"\r\x1b\[K|\n", evaluation):  # what is printed never stands behind a bar
        assert not re.search(r"evaluation \d.*batch", line), line
