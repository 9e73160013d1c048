"""Runs the blocks of one page in a folder, as a reader would who does what the page says."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

from doc_blocks import blocks_of, matches, stands_in, unmarked_command

DEADLINE = 180  # seconds for one block; the machine may be busy


class PageRun:
    """The folder of a page, and the processes that its blocks have left running. end() stops them."""

    def __init__(self, path, folder, root):
        self.path, self.folder, self.root = path, pathlib.Path(folder), root
        self.written, self.earlier, self.ports, self.running = "", [], {}, []
        self.not_run, self.ran = [], 0
        self.env = {key: value for key, value in os.environ.items() if not re.match(r"PADDLE_|ARGOSY_|FLAGS_|PYTEST_|RANK$|WORLD_SIZE|MASTER_", key)}
        self.env |= {
            "ROOT": str(root),
            "ARGOSY_DEVICE": "cpu",
            "ARGOSY_PYTHON": sys.executable,
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
            "PYTHONHASHSEED": "0",
        }
        # A container's root starts mpirun, with more ranks than cores.
        self.env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}

    def run(self):
        for block in blocks_of(self.path.read_text(encoding="utf-8")):
            try:
                self._run_block(block)
            except AssertionError as error:
                raise AssertionError(f"{self.path}:{block.line}: {error}") from None

    def _run_block(self, block):
        marks, text = block.marks, self._with_ports(block.text)
        assert not unmarked_command(block), "a block of commands without a language: say `sh`, or `text` where it is none"
        if "no-run" in marks:
            assert len(marks["no-run"]) > 10, "a block that is not run says why"
            self.not_run.append((block.line, marks["no-run"]))
        elif block.language == "ports":
            self.ports |= {port: free_port() for port in block.text.split()}
        elif "file" in marks:
            (self.folder / marks["file"]).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / marks["file"]).write_text(text, encoding="utf-8")
        elif "from" in marks:
            assert stands_in(block.text, (self.root / marks["from"]).read_text(encoding="utf-8")), f"these lines do not stand in {marks['from']}"
        elif "output" in marks:
            assert matches(block.text, self.written), f"the block before has written\n{self.written}\nand not\n{block.text}"
        elif "background" in marks:
            self._start(text, marks["background"])
        elif block.language in ("sh", "setup"):
            self._finish(["bash", "-e", "-o", "pipefail", "-c", text], "fails" in marks)
        elif block.language == "python":
            self._run_python(text, marks)
        else:
            assert block.language != "cpp", "a block of C++ is `from` a file that the tests build"

    def _run_python(self, text, marks):
        before = "".join(self.earlier) if "continues" in marks else ""
        self.earlier = [before, text] if before else [text]
        (self.folder / "block.py").write_text(before + text, encoding="utf-8")
        self._finish([sys.executable, "block.py"], "fails" in marks)

    def _finish(self, command, fails):
        self.ran += 1
        try:
            process = subprocess.run(command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE, check=False)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"still running after {DEADLINE} s: {command[-1]}\n{(error.stdout or b'').decode(errors='replace')}") from None
        self.written = process.stdout.decode(errors="replace")
        assert (process.returncode != 0) == fails, f"{command[-1]}\nended with status {process.returncode}:\n{self.written[-3000:]}{self._logs()}"

    def _logs(self):
        files = sorted(file for pattern in ("log/*log.*", "logs/*log.*") for file in self.folder.glob(pattern))
        return "".join(f"\n--- {file.relative_to(self.folder)}\n{file.read_text(errors='replace')[-1500:]}" for file in files)

    def _start(self, text, wanted):
        self.ran += 1
        log = self.folder / f"background-{len(self.running)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(["bash", "-c", text], cwd=self.folder, env=self.env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.running.append(process)
        end = time.monotonic() + DEADLINE
        while wanted not in log.read_text(errors="replace"):
            assert process.poll() is None, f"ended with status {process.returncode}: {log.read_text(errors='replace')}"
            assert time.monotonic() < end, f"has not written '{wanted}': {log.read_text(errors='replace')}"
            time.sleep(0.1)
        self.written = log.read_text(errors="replace")

    def _with_ports(self, text):
        for shown, free in self.ports.items():
            text = re.sub(rf"\b{shown}\b", str(free), text)
        return text

    def end(self):
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
