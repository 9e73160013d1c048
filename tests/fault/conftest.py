"""What the fault tests share: the selection of cases, and its seed."""

import os

import cases


def pytest_generate_tests(metafunc):
    if "fault_case" in metafunc.fixturenames:
        chosen = cases.selection(_seed(metafunc.config))
        metafunc.parametrize("fault_case", chosen, ids=map(str, chosen))
    if "failover_case" in metafunc.fixturenames:
        chosen = cases.replica_selection(_seed(metafunc.config))
        metafunc.parametrize("failover_case", chosen, ids=map(str, chosen))
    if "fault_seed" in metafunc.fixturenames:
        metafunc.parametrize("fault_seed", [_seed(metafunc.config)], ids=["seed"])


def _seed(config):
    """FAULT_SEED, or that of the tests' order: the same in all processes of a run."""
    return int(os.environ.get("FAULT_SEED") or config.getoption("randomly_seed", None) or 1)


def pytest_terminal_summary(terminalreporter, config):
    if any(
        "fault_case" in getattr(report, "nodeid", "") or "tests/fault" in getattr(report, "nodeid", "")
        for reports in terminalreporter.stats.values()
        for report in reports
    ):
        terminalreporter.write_line(f"fault cases: chosen with FAULT_SEED={_seed(config)}")
