"""TensorBoard itself reads the event file of a job."""

import json
import subprocess

from ps_job import until

READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"histograms": 0, "scalars": 0})
events.Reload()
tags = events.Tags()
print(json.dumps({
    "scalars": {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in tags["scalars"]},
    "histograms": {tag: [(event.step, event.histogram_value.num, sum(event.histogram_value.bucket)) for event in events.Histograms(tag)] for tag in tags["histograms"]},
}))
"""


def test_tensorboard_reads_scalars_and_histograms(ctr_job, root):
    ctr_job.begin("--tensorboard=board")

    def read():
        python = root / "build" / "observe" / "tensorboard" / "bin" / "python"
        done = subprocess.run([python, "-c", READ, ctr_job.folder / "board"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    until((ctr_job.folder / "board").exists, ctr_job.logs)
    found = until(lambda: (now := read()) and len(now["scalars"].get("job/auc", [])) > 2 and now["histograms"] and now, ctr_job.logs)
    ctr_job.finish()
    losses = found["scalars"]["job/loss"]
    assert [step for step, _ in losses] == sorted(step for step, _ in losses) and losses[0][0] > 0
    assert all(0 < value < 2 for _, value in losses)
    assert all(0 <= value <= 1 for _, value in found["scalars"]["job/auc"])
    assert found["scalars"]["rows/SparseFeatFactors"][-1][1] > 0
    assert found["scalars"]["norm/SparseFeatFactors"][-1][1] > 0
    norms = found["histograms"]["norms/SparseFeatFactors"]
    assert all(0 < number < 5000 and number == in_buckets for _, number, in_buckets in norms), norms
    pushes = found["histograms"]["workers/argosy_worker_push_seconds"]
    assert all(number > 0 and number == in_buckets for _, number, in_buckets in pushes)
    assert "workers/argosy_worker_step_staleness_batches" in found["histograms"]
