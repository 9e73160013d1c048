"""argosy check-online: equal models are equal, and what differs is named, between saved, served and recorded sides."""

import json
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from served import ARGOSY, SAMPLES, Served, predictions_of, save

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "parity" / "recorded"


def check(*words):
    """(status, output)"""
    done = subprocess.run([ARGOSY, "check-online", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    save(folder / "one", 1)
    save(folder / "two", 2)
    save(folder / "taller", 1, rows=21)
    return folder


def with_change(models, tmp_path, row, by):
    """A copy of model one whose table differs in one number."""
    shutil.copytree(models / "one", tmp_path / "changed")
    file = tmp_path / "changed" / "table"
    data = bytearray(file.read_bytes())
    values = np.frombuffer(data, dtype="float32", offset=len(data) - 20 * 4 * 4)
    values[row * 4 + 2] += by
    file.write_bytes(data)
    return tmp_path / "changed"


def test_a_model_equals_its_copy(models, tmp_path):
    shutil.copytree(models / "one", tmp_path / "copy")
    status, output = check(models / "one", tmp_path / "copy")
    assert status == 0 and output.endswith("equal\n"), output
    assert "64 samples, largest difference 0," in output


def test_a_changed_row_is_named_with_its_key_and_size(models, tmp_path):
    status, output = check(models / "one", with_change(models, tmp_path, row=17, by=0.5))
    assert status == 1 and output.endswith("different\n"), output
    assert "'table': 1 of 20 rows differ, the first is key 17; most at key 17, column 2" in output and "(by 0.5)" in output
    assert "predictions  DIFFERENT" in output and "output 'save_infer_model/scale_0.tmp_0', sample" in output


def test_other_models_differ_by_parameters_and_shapes(models):
    status, output = check(models / "one", models / "two")
    assert status == 1 and "'fc_0.w_0'" in output and "program      ok" in output, output
    status, output = check(models / "one", models / "taller")
    assert status == 1 and "'table': float32 [20, 4] against float32 [21, 4]" in output, output


def test_a_served_model_is_compared_with_the_saved_one(models, tmp_path):
    served = Served(models / "one", "--threads", "1")
    try:
        status, output = check(models / "one", served.url)
        assert status == 0, output
        status, output = check(served.url, with_change(models, tmp_path, row=3, by=1))
        assert status == 1 and "'table': the checksums of its values differ" in output, output
        status, output = check(models / "one", served.url, "--bfloat16")
        assert status == 1 and "precision: bfloat16 against float32" in output, output
        status, output = check(models / "one", served.url, "--no_fuse")
        assert status == 1 and "settings     DIFFERENT" in output and "    fusion: off against on" in output, output
        status, output = check(models / "one", served.url, "--threads", "2")
        assert status == 1 and output.endswith("different\n") and "    threads: 2 against 1" in output, output
    finally:
        served.stop()
    status, output = check(models / "one", served.url)
    assert status == 2 and "does not answer" in output, output


def test_recorded_predictions_are_a_side(models, tmp_path):
    columns = {name: [sample[name] for sample in SAMPLES] for name in ("x", "ids")}
    file = tmp_path / "recorded.json"
    file.write_text(json.dumps({"inputs": columns, "outputs": predictions_of(models / "one").tolist()}))
    assert check(models / "one", file)[0] == 0
    status, output = check(models / "two", file)
    assert status == 1 and "sample 0, value 0" in output, output


def test_a_comparison_records_a_side_for_another(models, tmp_path):
    assert check(models / "one", models / "one", "--count", 5, "--record", tmp_path / "kept.json")[0] == 0
    recorded = json.loads((tmp_path / "kept.json").read_text())
    assert len(recorded["inputs"]["ids"]) == 5 and np.shape(recorded["outputs"]) == (5, 2)
    assert check(models / "one", tmp_path / "kept.json")[0] == 0
    assert check(models / "two", tmp_path / "kept.json")[0] == 1


def test_what_paddlepaddle_2_6_2_predicted_is_predicted_here():
    """Model and predictions were made by PaddlePaddle 2.6.2's own predictor: tests/parity/record.py."""
    status, output = check(RECORDED / "ctr_dnn", RECORDED / "ctr_dnn.json")
    assert status == 0 and "predictions  ok: 4 samples" in output and "parameters   not compared: recorded" in output, output


def test_given_samples_are_used(models, tmp_path):
    (tmp_path / "samples.json").write_text(json.dumps({"instances": SAMPLES}))
    status, output = check(models / "one", models / "one", "--samples", tmp_path / "samples.json")
    assert status == 0 and "3 samples" in output, output
    (tmp_path / "samples.json").write_text('{"instances": [{"x": [1]}]}')
    status, output = check(models / "one", models / "one", "--samples", tmp_path / "samples.json")
    assert status == 2 and "lacks input 'ids'" in output, output


@pytest.mark.parametrize(
    "words", [["one"], ["http://127.0.0.1:1/v1/models/a", "b.json"], ["nothing", "nothing"], ["one", "one", "--sed", "1"], ["http://x", "one"]]
)
def test_wrong_command_lines_end_with_2(models, words):
    status, output = check(*(models / word if word in ("one", "nothing") else word for word in words))
    assert status == 2 and output, output
