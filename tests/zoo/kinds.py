"""What can be done with a model of the zoo, and how: one Kind each."""

import dataclasses
import functools
import pathlib

import yaml

CHEAP = ["runner.epochs=1", "runner.use_gpu=False", "runner.print_interval=1", "runner.infer_start_epoch=0", "runner.infer_end_epoch=1"]
MODES = ("sync", "async", "geo", "async-memory")  # the last one reads into memory first
PIPE = "python models/rank/dnn/queuedataset_reader.py"
# The models with sample data that tools/static_ps_trainer.py can read: their configuration, and the folder to run in (the checkout's own where the pipe command says so).
ON_SERVERS = {
    "rank/dnn": ("config_cpups.yaml", "checkout"),
    "rank/wide_deep": ("config_cpups.yaml", "checkout"),
    "rank/slot_dnn": ("config_queuedataset.yaml", "model"),
    "treebased/tdm": ("config.yaml", "model"),
    "recall/word2vec/benchmark": ("benchmark.yaml", "model"),
}
# Their data and inputs are those of rank/dnn, and their own configurations name no pipe command: they take its.
OF_CRITEO = ("deepfm", "difm", "dlrm", "ffm", "fm", "gatenet", "xdeepfm")
ON_SERVERS |= {f"rank/{name}": ("config.yaml", "checkout") for name in OF_CRITEO}


@dataclasses.dataclass(frozen=True)
class Kind:
    """`script` for models with the file `model`, where it is not in the model's own folder; `after` is the kind whose saved model it loads."""

    name: str
    script: str
    model: str
    after: str = ""
    compared: bool = False  # first values are PaddlePaddle's, and the numbers at the end are held against its
    opened: bool = False  # PaddlePaddle opens the model that was saved here, and its predictions are held against those made here
    finished: str = r"epoch: 0 done"
    options: tuple = ()

    @property
    def on_servers(self):
        return self.name in MODES


KINDS = {
    kind.name: kind
    for kind in (
        Kind("static", "tools/static_trainer.py", "static_model.py", compared=True),
        Kind("dynamic", "tools/trainer.py", "dygraph_model.py", compared=True),
        Kind("infer", "tools/infer.py", "dygraph_model.py", after="dynamic"),
        Kind("static_infer", "tools/static_infer.py", "static_model.py", after="static"),
        Kind("to_static", "tools/to_static.py", "dygraph_model.py", after="dynamic", finished=r"Already save jit model"),
        Kind("paddle_infer", "tools/paddle_infer.py", "dygraph_model.py", after="to_static", opened=True, finished=r""),
        Kind("paddle_infer_static", "tools/paddle_infer.py", "static_model.py", after="static", opened=True, finished=r""),
        *(
            Kind(mode, "tools/static_ps_trainer.py", "static_model.py", finished=r"Run Success, Exit", options=(f"runner.sync_mode={mode.partition('-')[0]}",))
            for mode in MODES
        ),
    )
}
NO_SUCH_NAMES = ("multitask/dselect_k", "rank/dlrm", "rank/dnn")  # their configurations name variables to save that their programs do not have, in 2.6.2 either
PREDICTS = ("paddle_infer", "paddle_infer_static")
TRAINS = ("static", "dynamic")
MORE = {
    "match/kim": ["hyper_parameters.vocab_size=1900"],  # as many words as there are where a text is one sentence, see run_script.py
    "rank/slot_dnn": ["hyper_parameters.slot_num=300"],  # as many as its queuedataset_reader.py writes; the configuration has 408
}
OWN = {"dynamic": "trainer.py", "infer": "infer.py"}  # a few models come with these
BATCH = 10  # of tools/paddle_infer.py, as in the checkout's own tests


@functools.cache
def runner_of(path):
    """The settings of a configuration's runner."""
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("runner", {})


@functools.cache
def exported(zoo):
    """{model: {"export": script, "inference": script, "reader": file}}: what the checkout's own tests (test_tipc) export and predict with."""
    found = {}
    for path in sorted(zoo.glob("test_tipc/configs/*/train_infer_python.txt")):
        words = {key: rest.split() for key, _, rest in (line.partition(":") for line in path.read_text(encoding="utf-8").splitlines())}
        export, inference = words.get("norm_export", ["null"]), words.get("inference", ["null"])
        if "null" in (export[0], inference[0]):
            continue
        name = str(pathlib.PurePath(export[export.index("-m") + 1]).parent.relative_to("models"))
        reader = next(word.partition("=")[2] for word in inference if word.startswith("--reader_file="))
        found[name] = {"export": zoo / export[1], "inference": zoo / inference[1], "reader": reader}
    return found


def models(zoo, kind):
    """Folders with a model for it and a configuration for sample data."""
    if kind.on_servers:
        return [zoo / "models" / name for name in ON_SERVERS if (zoo / "models" / name).exists()]
    found = sorted(path.parent for path in (zoo / "models").rglob(kind.model) if (path.parent / "config.yaml").exists())
    name_of = lambda folder: str(folder.relative_to(zoo / "models"))
    if kind.name in ("to_static", "paddle_infer"):
        return [folder for folder in found if name_of(folder) in exported(zoo)]
    if kind.name == "paddle_infer_static":
        return [folder for folder in found if _is_saved_for_inference(folder, name_of(folder))]
    return found


def _is_saved_for_inference(folder, name):
    """Whether the configuration says which variables a static model for inference has."""
    return name not in NO_SUCH_NAMES and "save_inference_feed_varnames" in runner_of(folder / "config.yaml")


def config_of(name, kind):
    return ON_SERVERS[name][0] if kind.on_servers else "config.yaml"


def folder_of(zoo, name, kind):
    """Where a run takes place."""
    at_top = ON_SERVERS[name][1] == "checkout" if kind.on_servers else kind.name in ("to_static", *PREDICTS)
    return zoo if at_top else zoo / "models" / name


def script_of(zoo, folder, kind):
    name = str(folder.relative_to(zoo / "models"))
    if kind.name == "to_static":
        return exported(zoo)[name]["export"]
    if kind.name == "paddle_infer":
        return exported(zoo)[name]["inference"]
    own = folder / OWN.get(kind.name, "-")
    return own if own.exists() else zoo / kind.script


def options_of(kind, name, saved: pathlib.Path, zoo: pathlib.Path):
    """`saved` is the folder of the model's runs; each kind saves in a folder of its own there."""
    options = [*CHEAP, *kind.options, *MORE.get(name, ()), f"runner.model_save_path={saved / kind.name}"]
    if name == "recall/word2vec/benchmark":  # use_gpu is a number in its configuration
        options = [one.replace("use_gpu=False", "use_gpu=0") for one in options]
    if kind.on_servers:
        options += _options_on_servers(kind, name)
    elif kind.name == "static" and _is_saved_for_inference(zoo / "models" / name, name):
        options.append("runner.use_inference=true")
    if kind.after:
        options.append(f"runner.infer_load_path={saved / kind.after}")
    if kind.name == "to_static":
        options += [f"runner.model_init_path={saved / kind.after / '0'}", "runner.CE=true"]
    return options


def _options_on_servers(kind, name):
    options = [
        "runner.geo_step=10",
        "runner.train_batch_size=10",
        f"runner.reader_type={'InmemoryDataset' if kind.name.endswith('memory') else 'QueueDataset'}",
    ]
    if name == "rank/slot_dnn":
        options += ["runner.pipe_command=python queuedataset_reader.py", "runner.use_auc=False"]  # it names python3.7, and has no states of an AUC
    if name == "recall/word2vec/benchmark":  # the sample data of the folder above, whose words are numbers below 1000
        options += [
            "runner.train_data_dir=../data/train",
            "runner.word_count_dict_path=../data/dict/word_count_dict.txt",
            "hyper_parameters.sparse_feature_number=1000",
        ]
    if name.partition("/")[2] in OF_CRITEO:
        options += [f"runner.pipe_command={PIPE}", "runner.thread_num=1", "runner.use_auc=False"]
    return options


def arguments_of(kind, folder, zoo, saved):
    """Of tools/paddle_infer.py and its variants: the model that is opened, and the data."""
    runner, name = runner_of(folder / "config.yaml"), str(folder.relative_to(zoo / "models"))
    made = zoo / exported(zoo)[name]["reader"] if kind.name == "paddle_infer" else folder / f"{runner['infer_reader_path']}.py"
    model = saved / kind.after / ("0" if kind.name == "paddle_infer_static" else "")
    data = folder / runner["test_data_dir"]
    return [f"--model_dir={model}", f"--data_dir={data}", f"--reader_file={made}", f"--batchsize={BATCH}", "--benchmark=False", "--use_gpu=False"]
