"""`make demo`, on fewer lines: a job with followers, a served prediction from them, and the page as a file."""

import os
import re
import subprocess
import sys

BROWSER = """#!/bin/sh
for word; do case "$word" in --screenshot=*) printf 'a picture' > "${word#--screenshot=}";; file:*) echo "$word" > "$0.opened";; esac; done
"""  # in a browser's place: tests/observe opens the page in a real one


def test_the_demo_ends_with_a_served_prediction_and_the_page(root, tmp_path):
    command = [sys.executable, root / "tools" / "demo.py", tmp_path / "demo", "--lines", "8000"]
    browser = tmp_path / "bin" / "chromium"
    browser.parent.mkdir()
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    env = {**os.environ, "PATH": f"{browser.parent}:{os.environ['PATH']}"}
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.search(r"test AUC over both workers 0\.\d+; the model is in ", said), said
    assert re.search(r"status: http://127\.0\.0\.1:\d+", said), said
    assert re.search(r"served at http://\S+ with the rows of the followers 127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+:", said), said
    percentages = [float(found) for found in re.findall(r"a click with +([\d.]+) %", said)]
    assert len(percentages) == 8 and len(set(percentages)) > 1 and all(0 <= one <= 100 for one in percentages), said
    report = (tmp_path / "demo" / "report.html").read_text()
    assert "SparseFeatFactors" in report and '"state":"ended well"' in report
    assert f"and as a picture: {tmp_path}/demo/report.png" in said and (tmp_path / "demo" / "report.png").read_text() == "a picture"
    assert browser.with_name("chromium.opened").read_text().strip() == (tmp_path / "demo" / "report.html").as_uri()
