"""The alert rules and dashboards ask for metrics that there are. tests/observe/check_prometheus.py gives them to Prometheus itself."""

import json
import re

import pytest

DASHBOARDS = ("grafana.json", "grafana-serving.json")
SUFFIX = re.compile(r"_(bucket|sum|count)$")  # of a histogram, which the sources name without it


@pytest.fixture(scope="module")
def folder(root):
    return root / "docs" / "observe"


@pytest.fixture(scope="module")
def sources(root):
    return "\n".join(path.read_text() for path in (root / "argosy").rglob("*.cc") if not path.stem.endswith("_test"))


def rules(folder):
    """The name, the query and the text of each alert."""
    found = re.split(r"^ +- alert: ", (folder / "alerts.yml").read_text(), flags=re.M)[1:]
    return [(rule.split("\n")[0], re.search(r"^ +expr: (.*)$", rule, re.M)[1], rule) for rule in found]


def queries(folder):
    panels = [panel for name in DASHBOARDS for panel in json.loads((folder / name).read_text())["panels"]]
    return [target["expr"] for panel in panels for target in panel["targets"]] + [query for _, query, _ in rules(folder)]


def test_every_metric_is_one_of_the_sources(folder, sources):
    known = set(re.findall(r'"#? ?(?:HELP )?(argosy_\w+|process_\w+)', sources)) | set(re.findall(r"# HELP (argosy_\w+)", sources))
    asked = {SUFFIX.sub("", name) for query in queries(folder) for name in re.findall(r"\b(?:argosy|process)_\w+", query)}
    assert len(asked) > 25 and sorted(asked - known - {"argosy_job"}) == []


def test_no_alert_waits_for_what_a_launcher_says_when_it_ends(folder, root):
    """Nobody scrapes it then: the states of JobBoard::finished(), which alerts see by the label that is left in metrics.json."""
    board = (root / "argosy" / "observe" / "job_board.cc").read_text()
    last = set(re.findall(r'"([a-z ]+)"', re.search(r"job_\.state = exit_code.*?;", board, re.S)[0]))
    assert last == {"ended well", "stopped", "failed"}
    asked = {state for query in queries(folder) for state in re.findall(r'argosy_launcher_job_state\{[^}]*state="([^"]*)"', query)}
    assert asked and not asked & last
    ended = {name: query for name, query, _ in rules(folder) if re.search(r"\bup\{", query)}
    assert 'argosy_ended=""' in ended["ArgosyProcessDown"] and 'argosy_ended="failed"' in ended["ArgosyJobFailed"]


def test_tables_of_servers_with_two_processes_count_once(folder):
    """Both processes of a server (replicas=1) and its followers show its tables, with the server's number as a label."""
    sums = [query for query in queries(folder) if "argosy_server_table_" in query and "sum" in query]
    assert len(sums) == 2 and all(re.search(r"sum by \(table\) \(max by \(table, server\) \(", query) for query in sums), sums


def test_every_alert_says_what_to_do(folder):
    names = [name for name, _, _ in rules(folder)]
    assert len(names) > 15 and len(set(names)) == len(names)
    for name, _, rule in rules(folder):
        assert re.search(r'^ +summary: ".+"$', rule, re.M) and re.search(r'^ +cure: ".+"$', rule, re.M), name


def test_what_can_fail_beside_training_has_an_alert(folder):
    """A server without its second process, a follower or Redis that is behind, a model server that is not ready, a version that was refused."""
    asked = " ".join(query for _, query, _ in rules(folder))
    for metric in ("replica_whole", "follower_lag_seconds", "publish_lag_seconds", "serve_source_lag_seconds", "serve_ready", "serve_failed_reloads_total"):
        assert f"argosy_{metric}" in asked
    for metric in ("serve_requests_total", "server_log_refused_total", "server_snapshot_failures_total"):  # what a full disk does
        assert f"argosy_{metric}" in asked
