"""Jobs that are disturbed in every way that cases.py has; a selection, of which the seed is printed. `make faults` runs all of them."""

import cases


def test_every_sample_counts_once_or_the_job_fails_with_its_cause(fault_case, fault_seed, tmp_path):
    cases.run_case(fault_case, fault_seed, tmp_path / "job")
