"""What can be done with a model of the zoo, and how: one Kind each."""

import dataclasses
import pathlib
import re

CHEAP = ["runner.epochs=1", "runner.use_gpu=False", "runner.print_interval=1", "runner.infer_start_epoch=0", "runner.infer_end_epoch=1"]
MODES = ("sync", "async", "geo", "async-memory")  # the last one reads into memory first
# The models with a configuration for servers and sample data: its file, the folder to run in (the checkout's own where the pipe command says so).
ON_SERVERS = {
    "rank/dnn": ("config_cpups.yaml", "checkout"),
    "rank/wide_deep": ("config_cpups.yaml", "checkout"),
    "rank/slot_dnn": ("config_queuedataset.yaml", "model"),
    "treebased/tdm": ("config.yaml", "model"),
}


@dataclasses.dataclass(frozen=True)
class Kind:
    """`script` for models with the file `model`, where it is not in the model's own folder; `after` is the kind whose saved model it loads."""

    name: str
    script: str
    model: str
    after: str = ""
    compared: bool = False  # first values are PaddlePaddle's, and the numbers at the end are held against its
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
        *(
            Kind(mode, "tools/static_ps_trainer.py", "static_model.py", finished=r"Run Success, Exit", options=(f"runner.sync_mode={mode.partition('-')[0]}",))
            for mode in MODES
        ),
    )
}
MORE = {
    "match/kim": ["hyper_parameters.vocab_size=1900"],  # as many words as there are where a text is one sentence, see run_script.py
    "rank/slot_dnn": ["hyper_parameters.slot_num=300"],  # as many as its queuedataset_reader.py writes; the configuration has 408
}
NO_GEO = ("rank/slot_dnn", "treebased/tdm")  # their configurations have no geo_step
OWN = {"dynamic": "trainer.py", "infer": "infer.py"}  # a few models come with these
NUMBER = re.compile(r"([A-Za-z_0-9]+):\s*\[*(-?[0-9.]+(?:e-?[0-9]+)?|nan|inf)")


def models(zoo, kind):
    """Folders with a model for it and a configuration for sample data."""
    found = (path.parent for path in (zoo / "models").rglob(kind.model))
    if kind.on_servers:
        chosen = [name for name in ON_SERVERS if kind.name != "geo" or name not in NO_GEO]
        return [zoo / "models" / name for name in chosen if (zoo / "models" / name).exists()]
    of_dnn = kind.name == "to_static"  # the script has its inputs
    return sorted(folder for folder in found if (folder / "config.yaml").exists() and (not of_dnn or folder.match("rank/dnn")))


def config_of(name, kind):
    return ON_SERVERS[name][0] if kind.on_servers else "config.yaml"


def folder_of(zoo, name, kind):
    """Where a run takes place."""
    return zoo if kind.on_servers and ON_SERVERS[name][1] == "checkout" else zoo / "models" / name


def script_of(zoo, folder, kind):
    own = folder / OWN.get(kind.name, "-")
    return own if own.exists() else zoo / kind.script


def options_of(kind, name, saved: pathlib.Path):
    """`saved` is the folder of the model's runs; each kind saves in a folder of its own there."""
    options = [*CHEAP, *kind.options, *MORE.get(name, ()), f"runner.model_save_path={saved / kind.name}"]
    if kind.on_servers:
        options += [
            "runner.geo_step=10",
            "runner.train_batch_size=10",
            f"runner.reader_type={'InmemoryDataset' if kind.name.endswith('memory') else 'QueueDataset'}",
        ]
    if kind.on_servers and name == "rank/slot_dnn":
        options += ["runner.pipe_command=python queuedataset_reader.py", "runner.use_auc=False"]  # it names python3.7, and has no states of an AUC
    if kind.after:
        options.append(f"runner.infer_load_path={saved / kind.after}")
    if kind.name == "to_static":
        options.append(f"runner.model_init_path={saved / kind.after / '0'}")
    return options


def outcome(kind, text, code, timed_out):
    """(status, the numbers at the end by name, what there is to say)."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    done = [line for line in lines if re.search(kind.finished, line)]
    if done and not timed_out and code == 0:
        numbers = {name: float(value) for name, value in NUMBER.findall(done[-1].partition("done")[2]) if name != "time"}
        return "runs", numbers, ", ".join(f"{name} {value:.6g}" for name, value in list(numbers.items())[:3])
    if timed_out:
        return "slow", {}, next((line[-160:] for line in reversed(lines) if "batch_id" in line), "no batch was done in the time")
    if code == -9:
        return "fails", {}, "killed: it needs more memory than there is"
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception|NotMet|Interrupt|Differ)\b", line)]
    return "fails", {}, (errors or lines or ["no output"])[-1][:300]


LEDGER = re.compile(r"the job, \d+ pass(?:es)?: ([\d,]+) samples read, ([\d,]+) applied once, ([\d,]+) lost")


def on_servers(text, status, said):
    """(status, said) of a job with servers: its ledger has to be exact."""
    books = LEDGER.findall(text)
    if status != "runs":
        return status, said
    if not books or books[-1][0] != books[-1][1] or books[-1][2] != "0":
        return "fails", f"the ledger is not exact: {books[-1] if books else 'there is none'}"
    auc = re.findall(r"auc: ([\d.]+)", text)
    return status, f"{books[-1][0]} samples read, as many applied once" + (f", auc {float(auc[-1]):.4f}" if auc else "")


def agree(ours, theirs, within=0.005):
    """The name whose numbers differ most beyond `within` (of the larger number, above 1), or None."""
    worst, name = 0.0, None
    for key in ours.keys() & theirs.keys():
        distance = abs(ours[key] - theirs[key]) / max(1.0, abs(theirs[key]))
        if not distance <= within and not (ours[key] != ours[key] and theirs[key] != theirs[key]) and not distance <= worst:
            worst, name = distance, key
    return name
