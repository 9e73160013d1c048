"""The settings of datasets that 1.8 and 2.x have beyond files and batches: they are true, or an error that names its substitute."""

import warnings

import numpy as np
import pytest

import paddle
from argosy import errors
from dataset_models import Numbers


@pytest.fixture
def numbers(fluid, exe, tmp_path):
    return Numbers(fluid, exe, tmp_path)


def in_memory(numbers, lines, **settings):
    (numbers.folder / "part").write_text("".join(lines), encoding="utf-8")
    dataset = numbers.dataset("InMemoryDataset", ["part"], batch_size=2)
    for name, value in settings.items():
        getattr(dataset, f"set_{name}")(value)
    dataset.load_into_memory()
    return dataset


@pytest.mark.parametrize(
    "settings, head",
    [({}, ""), ({"parse_ins_id": True}, "1 id{} "), ({"parse_content": True}, "1 c{} "), ({"parse_ins_id": True, "parse_content": True}, "1 id{} 1 c{} ")],
)
def test_columns_before_the_slots_are_read_over(numbers, settings, head):
    lines = [head.format(i, i) + line for i, line in enumerate(numbers.text(range(5)).splitlines(True))]
    numbers.train(in_memory(numbers, lines, **settings))
    assert numbers.seen() == list(range(5))


def test_a_failing_pipe_command_stays_one_behind_the_ids(numbers):
    (numbers.folder / "part").write_text("1 id0 " + numbers.text(range(1)), encoding="utf-8")
    dataset = numbers.dataset("InMemoryDataset", ["part"], pipe="cat; exit 3")
    dataset.set_parse_ins_id(True)
    with pytest.raises(RuntimeError, match="3"):
        dataset.load_into_memory()


def test_switched_off_again(numbers):
    lines = numbers.text(range(3)).splitlines(True)
    dataset = in_memory(numbers, lines, parse_content=False, parse_ins_id=False)
    assert dataset.get_memory_data_size() == 3
    dataset.set_parse_ins_id(True)
    dataset.set_parse_ins_id(False)
    assert dataset._whole_pipe() == dataset._pipe_command


def test_what_cannot_be_true_is_refused_with_its_substitute(fluid):
    dataset = fluid.InMemoryDataset()
    refused = [
        (lambda: fluid.QueueDataset().slots_shuffle(["a"]), "InMemoryDataset"),
        (lambda: fluid.QueueDataset().set_fea_eval(1000, True), "InMemoryDataset"),
        (lambda: dataset.set_merge_by_lineid(), "pipe command"),
        (lambda: dataset.set_pv_batch_size(2), "pipe command"),
        (lambda: dataset.set_rank_offset("r"), "pipe command"),
        (lambda: dataset.set_parse_logkey(True), "pipe command"),
        (lambda: dataset.set_merge_by_sid(True), "pipe command"),
        (lambda: dataset.set_enable_pv_merge(True), "pipe command"),
        (lambda: dataset.set_current_phase(1), "pipe command"),
        (lambda: dataset.preprocess_instance(), "pipe command"),
        (lambda: dataset.postprocess_instance(), "pipe command"),
        (lambda: dataset.get_pv_data_size(), "get_memory_data_size"),
        (lambda: dataset.set_generate_unique_feasigns(True, 1), "leave it out"),
        (lambda: dataset.generate_local_tables_unlock(0, 1, 1, 1, 1), "leave it out"),
        (lambda: dataset.set_download_cmd("./get"), "set_pipe_command"),
        (lambda: dataset.set_feed_type("PaddleBoxDataFeed"), "MultiSlotInMemoryDataFeed"),
        (lambda: dataset.set_date("20240101"), "set_filelist"),
        (lambda: dataset.tdm_sample("tree"), "pipe command"),
    ]
    for call, words in refused:
        with pytest.raises(NotImplementedError, match=words):
            call()
    for call in (
        lambda: dataset.set_fea_eval(1000, False),
        lambda: dataset.set_parse_logkey(False),
        lambda: dataset.set_merge_by_sid(False),
        lambda: dataset.set_enable_pv_merge(False),
        lambda: dataset.set_current_phase(0),
        lambda: dataset.set_generate_unique_feasigns(False, 1),
        lambda: dataset.set_download_cmd("cat"),
        lambda: dataset.set_feed_type("MultiSlotInMemoryDataFeed"),
    ):
        assert call() is None


def test_what_a_feature_is_worth(fluid, exe, tmp_path):
    """A label that slot a says and slot b does not: the AUC falls to that of guessing once a comes from other samples, and stays where b does."""
    numbers = np.random.RandomState(2).randint(0, 1000, [2000, 2])
    (tmp_path / "part").write_text("".join(f"1 {a} 1 {b} 1 {a % 2}\n" for a, b in numbers), encoding="utf-8")
    slots = [fluid.data(name, [None, 1], "int64", lod_level=1) for name in ("a", "b")]
    label = fluid.data("label", [None, 1], "int64")
    guess = fluid.layers.cast(slots[0] - (slots[0] / 2) * 2, "float32") * 0.8 + 0.1  # by a alone
    area = fluid.layers.auc(fluid.layers.concat([1.0 - guess, guess], axis=1), label)[0]
    dataset = fluid.InMemoryDataset()
    dataset.set_use_var([*slots, label])
    dataset.set_batch_size(100)
    dataset.set_filelist([str(tmp_path / "part")])
    dataset.load_into_memory()
    with pytest.raises(errors.FailedPreconditionError, match=r"call set_fea_eval\(record_candidate_size\) first"):
        dataset.slots_shuffle(["a"])
    dataset.set_fea_eval(500)

    def auc_of(shuffled):
        if shuffled is not None:
            dataset.slots_shuffle(shuffled)
        with fluid.scope_guard(fluid.Scope()):
            exe.run(fluid.default_startup_program())
            return float(exe.infer_from_dataset(fluid.default_main_program(), dataset, fetch_list=[area])[0][0])

    assert [auc_of(one) for one in (None, ["b"], [])] == [1.0] * 3
    assert auc_of(["a"]) == pytest.approx(0.5, abs=0.08) and auc_of([slots[1]]) == 1.0
    with pytest.raises(errors.NotFoundError, match="has no slot 'c'; it has a, b, label"):
        dataset.slots_shuffle(["c"])
    with pytest.raises(ValueError, match="record_candidate_size is a number of samples, 1 or more; found 0"):
        dataset.set_fea_eval(0)
    dataset.release_memory()
    with pytest.raises(RuntimeError, match="before load_into_memory"):
        dataset.slots_shuffle(["a"])


def test_what_changes_no_result_is_taken_with_a_line(fluid):
    dataset = fluid.InMemoryDataset()
    for call in (lambda: dataset.set_queue_num(4), lambda: dataset.set_fleet_send_batch_size(80), lambda: dataset.set_fleet_send_sleep_seconds(2)):
        with pytest.warns(UserWarning, match="changes nothing here"):
            call()


def test_the_settings_of_2_x(fluid):
    dataset = paddle.distributed.InMemoryDataset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dataset.init(batch_size=4, queue_num=2, pipe_command="cat")
        dataset._init_distributed_settings(parse_ins_id=True, parse_content=True, merge_size=-1, fea_eval=True, candidate_size=100, fleet_send_batch_size=10)
    assert (
        len(caught) == 2
        and dataset._evaluates_features
        and dataset._candidates == 100
        and dataset._leading == ("ins_id", "content")
        and dataset._batch_size == 4
    )
    with pytest.raises(NotImplementedError, match="samples of one id"):
        dataset.update_settings(merge_size=2)
    with pytest.raises(TypeError, match="has no setting 'nothing'"):
        dataset.update_settings(nothing=1)
    with pytest.raises(TypeError, match="has no setting 'parse_ins_id'"):
        paddle.distributed.QueueDataset().update_settings(parse_ins_id=True)


def test_a_dataset_describes_itself(fluid):
    dataset = fluid.InMemoryDataset()
    dataset.set_use_var([fluid.data("ids", [None, 1], "int64", lod_level=1), fluid.data("dense", [None, 13])])
    dataset.set_batch_size(32)
    dataset.set_pipe_command('python "my reader.py"')
    text = dataset.desc()
    assert text.startswith('name: "MultiSlotInMemoryDataFeed"\nbatch_size: 32\nmulti_slot_desc {\n  slots {\n    name: "ids"\n    type: "uint64"\n')
    assert "    is_dense: true\n    is_used: true\n    shape: -1\n    shape: 13\n" in text
    assert text.endswith('pipe_command: "python \\"my reader.py\\""\nthread_num: 1\n')


def test_tables_on_gpus_are_refused_by_name():
    dataset = paddle.distributed.InMemoryDataset()
    dataset._set_use_ps_gpu(False)  # what PaddleRec's trainers say on a CPU
    with pytest.raises(ValueError, match="not on GPUs"):
        dataset._set_use_ps_gpu(True)
