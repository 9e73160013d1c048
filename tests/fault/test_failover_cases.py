"""Servers with followers (replicas=1), of which either process is killed or stopped: nothing that was acknowledged is lost. One case of each
cause; `make nightly PART=replicas` runs a selection of all causes with followers."""

import cases


def test_nothing_acknowledged_is_lost_whichever_process_dies(failover_case, fault_seed, tmp_path):
    cases.run_case(failover_case, fault_seed, tmp_path / "job")
