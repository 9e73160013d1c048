"""Prometheus itself scrapes a job, by the file that the launcher writes; its promtool reads the alert rules and the pages."""

import json
import subprocess
import urllib.parse
import urllib.request

from ports import free_range
from ps_job import until

CONFIG = """
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [{rules}]
scrape_configs:
  - job_name: argosy
    file_sd_configs:
      - files: [{targets}]
        refresh_interval: 1s
"""


class Prometheus:
    def __init__(self, folder, root, targets):
        rules = folder / "alerts.yml"
        rules.write_text((root / "docs" / "observe" / "alerts.yml").read_text())
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.format(rules=rules, targets=targets))
        self.port = free_range(1)
        self.log = (folder / "prometheus.log").open("w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=self.log,
            stderr=self.log,
        )

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def ask(self, query):
        """{process: value}."""
        found = self.get("query", query=query)
        return {row["metric"].get("process"): float(row["value"][1]) for row in found["result"]} if found else {}


def test_prometheus_scrapes_every_process_of_a_job(ctr_job, root, tmp_path):
    ctr_job.begin("--metrics_port=0")
    targets = ctr_job.folder / "logs" / "metrics.json"
    until(targets.exists, ctr_job.logs)
    prometheus = Prometheus(tmp_path, root, targets)
    try:
        everybody = {"launcher", "server 0", "server 1", "worker 0", "worker 1"}
        until(lambda: {name for name, up in prometheus.ask("up").items() if up == 1} == everybody, lambda: (tmp_path / "prometheus.log").read_text())
        until(lambda: sum(prometheus.ask("rate(argosy_worker_samples_total[10s])").values()) > 0, ctr_job.logs)
        until(lambda: len(prometheus.ask('argosy_worker_measure{measure="auc"} > 0.5')) == 2, ctr_job.logs)
        until(
            lambda: len(prometheus.ask("histogram_quantile(0.99, sum by (le, process) (rate(argosy_worker_push_seconds_bucket[30s]))) > 0")) == 2, ctr_job.logs
        )
        dashboard = json.loads((root / "docs" / "observe" / "grafana.json").read_text())
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                query = target["expr"].replace("$job", "job")
                if "snapshot" in query or "measure" in query:  # without a directory there is none; the first batch comes later
                    assert prometheus.get("query", query=query) is not None, query
                else:  # a rate needs two scrapes
                    until(lambda: (prometheus.get("query", query=query) or {}).get("result"), f"{panel['title']}: {query} finds nothing")
        serving = json.loads((root / "docs" / "observe" / "grafana-serving.json").read_text())  # nobody serves here: they are queries, at least
        for query in [target["expr"] for panel in serving["panels"] for target in panel["targets"]]:
            assert prometheus.get("query", query=query) is not None, query
        rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
        assert len(rules) > 15 and all(rule["health"] == "ok" for rule in rules), rules
        assert not [rule["name"] for rule in rules if rule["state"] == "firing"], rules
    finally:
        prometheus.process.terminate()
        prometheus.process.wait(60)
        prometheus.log.close()
    ctr_job.finish()


def test_promtool_has_nothing_to_say(ctr_job, root):
    subprocess.run(["promtool", "check", "rules", str(root / "docs" / "observe" / "alerts.yml")], check=True)
    ctr_job.begin("--metrics_port=0")
    targets = ctr_job.folder / "logs" / "metrics.json"
    until(targets.exists, ctr_job.logs)
    for entry in json.loads(targets.read_text()):
        url = f"http://{entry['targets'][0]}/metrics"

        def page(url=url):
            try:
                return urllib.request.urlopen(url, timeout=10).read()
            except OSError:
                return None  # it is starting

        checked = subprocess.run(["promtool", "check", "metrics"], input=until(page, ctr_job.logs), capture_output=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    ctr_job.finish()
