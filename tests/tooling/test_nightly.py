"""tools/nightly.py keeps a part's last result with its commit, and runs what has not passed at this one."""

import dataclasses
import importlib.util
import pathlib
import sys
import time

import pytest


@pytest.fixture
def nightly(root, tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("nightly", root / "tools/nightly.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "nightly", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    module.real_commit = module.commit
    monkeypatch.setattr(module, "commit", lambda: "abc1234")
    return module


def set_parts(nightly, monkeypatch, **commands):
    monkeypatch.setattr(nightly, "PARTS", tuple(nightly.Part(name, ("sh", "-c", command), f"does {name}") for name, command in commands.items()))


def run(nightly, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["nightly.py", *words])
    with pytest.raises(SystemExit) as ended:
        nightly.main()
    return ended.value.code


def test_a_part_that_fails_is_a_failure_and_runs_again(nightly, monkeypatch, tmp_path, capsys):
    set_parts(nightly, monkeypatch, good=f"echo ran >> {tmp_path}/good", bad=f"echo ran >> {tmp_path}/bad; echo why; exit 3")
    assert run(nightly, monkeypatch) == 1
    assert (tmp_path / "bad.log").read_text() == "why\n"
    assert run(nightly, monkeypatch) == 1
    assert (tmp_path / "good").read_text() == "ran\n"  # it has passed at this commit
    assert (tmp_path / "bad").read_text() == "ran\nran\n"
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].split()[:2] == ["good", "passed"] and lines[-1].split()[:2] == ["bad", "FAILED"] and "abc1234" in lines[-1]


def test_another_commit_runs_everything(nightly, monkeypatch, tmp_path):
    set_parts(nightly, monkeypatch, good=f"echo ran >> {tmp_path}/good")
    assert run(nightly, monkeypatch) == 0
    monkeypatch.setattr(nightly, "commit", lambda: "def5678")
    assert run(nightly, monkeypatch) == 0
    assert (tmp_path / "good").read_text() == "ran\nran\n"


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_part_that_takes_too_long_has_failed_and_leaves_nothing_behind(nightly, monkeypatch, tmp_path):
    set_parts(nightly, monkeypatch, slow=f"sleep 300 & echo $! > {tmp_path}/pid; wait")
    assert run(nightly, monkeypatch, "slow", "--minutes", "0.03") == 1
    assert "stopped after 0.03 minutes" in (tmp_path / "slow.log").read_text()
    pid = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 30  # a process that was killed goes when it is next given time
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not alive(pid)


def test_the_list_runs_nothing(nightly, monkeypatch, tmp_path, capsys):
    set_parts(nightly, monkeypatch, one=f"echo ran >> {tmp_path}/one")
    assert run(nightly, monkeypatch, "list") == 0
    assert not (tmp_path / "one").exists() and "not run" in capsys.readouterr().out


def test_a_part_without_what_it_needs_is_said_not_run_and_not_passed(nightly, monkeypatch, tmp_path, capsys):
    (part,) = (part for part in nightly.PARTS if part.name == "zoo")
    monkeypatch.setattr(nightly, "PARTS", (dataclasses.replace(part, command=("sh", "-c", f"echo $ZOO > {tmp_path}/ran")),))
    monkeypatch.delenv("ZOO", raising=False)
    for words in ([], ["zoo"]):
        assert run(nightly, monkeypatch, *words) == 1
        assert "zoo is not run: ZOO is not set; set ZOO=folder, a checkout of PaddleRec" in capsys.readouterr().out
    monkeypatch.setenv("ZOO", "/nowhere")
    assert run(nightly, monkeypatch) == 1 and not (tmp_path / "results.json").exists()
    assert "zoo is not run: ZOO=/nowhere is no folder; set" in capsys.readouterr().out
    monkeypatch.setenv("ZOO", str(tmp_path))
    assert run(nightly, monkeypatch) == 0
    assert (tmp_path / "ran").read_text() == f"{tmp_path}\n"


def test_a_part_that_was_stopped_says_whether_it_goes_on(nightly, monkeypatch, tmp_path):
    monkeypatch.setattr(nightly, "PARTS", (nightly.Part("slow", ("sleep", "300"), "sleeps", resumes=True),))
    assert run(nightly, monkeypatch, "slow", "--minutes", "0.01") == 1
    assert "stopped after 0.01 minutes; run again, it goes on from here" in (tmp_path / "slow.log").read_text()


def test_a_page_that_a_part_writes_is_no_change_of_the_sources(nightly, monkeypatch, tmp_path):
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    pages = ("docs/promises.md", "docs/observe/page.png")
    for file in (*pages, "code.cc"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("as committed\n")
    nightly.git("init", "-q")
    nightly.git("add", ".")
    nightly.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all")
    at = nightly.real_commit()
    for file in pages:
        (tmp_path / file).write_text("made anew\n")
    assert nightly.real_commit() == at
    (tmp_path / "code.cc").write_text("another program\n")
    assert nightly.real_commit() == f"{at}+changes"
