"""The status page in Chromium: what it shows of a job, on a desk and on a phone, light and dark, by keyboard and to a screen reader.

The pictures of docs/observe/ are made here.
"""

import pathlib
import re
import signal
import subprocess

import pytest

from browser import Browser
from ps_job import SECONDS, until

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "observe"
TEXT = "document.body.innerText"


@pytest.fixture
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


def start(job, *flags):
    job.begin("--status_port=0", "--job=clicks", *flags)
    return until(lambda: re.search(r"status: (http://\S+)", "".join(job.said)), job.logs)[1]


def wait_for_curves(browser, seconds):
    until(lambda: browser.value("document.querySelectorAll('path.curve').length") == 3, "three curves")
    browser.value("document.getElementById('footer').hidden = true")  # paths of this machine
    until(lambda: browser.value(f"fetch('status.json').then(a => a.json()).then(j => j.history.time.length >= {seconds})"), f"{seconds} points")


def test_the_page_shows_a_job_and_its_pictures_are_made(ctr_job, browser):
    url = start(ctr_job, "--directory=kept", "--snapshot_seconds=5")
    browser.open(url)
    wait_for_curves(browser, 40)
    until(lambda: "ago" in browser.value("document.getElementById('servers').innerText"), "a snapshot")
    browser.screenshot(PICTURES / "status.png")
    text = browser.value(TEXT)
    for word in ("clicks", "running", "worker 0", "worker 1", "server 0", "server 1", "SparseFeatFactors", "samples/s", "4/4"):
        assert word in text, text
    assert browser.value("document.title") == "clicks – running"
    assert re.search(r"AUC\s*0\.[5-9]\d+", text), text

    browser.open(url, dark=True)
    wait_for_curves(browser, 40)
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 26)"
    browser.screenshot(PICTURES / "status-dark.png")

    browser.open(url, width=390, height=844, scale=2)
    wait_for_curves(browser, 40)
    assert browser.value("document.documentElement.scrollWidth") <= 390, "nothing is wider than a phone"
    browser.screenshot(PICTURES / "status-phone.png", whole=False)
    assert not browser.errors, browser.errors
    ctr_job.finish()


def contrast(browser, selector):
    """Of an element's text on the card behind it, as WCAG counts it."""
    return browser.value(
        """(() => {
      const parse = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
      const light = c => { const [r, g, b] = parse(c).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const node = document.querySelector('%s');
      let behind = node;
      while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
      const a = light(getComputedStyle(node).color), b = light(getComputedStyle(behind).backgroundColor);
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    })()"""
        % selector
    )


@pytest.mark.parametrize("dark", [False, True])
def test_it_can_be_read_used_by_keyboard_and_heard(ctr_job, browser, dark):
    url = start(ctr_job)
    browser.open(url, dark=dark)
    wait_for_curves(browser, 3)
    for selector in ("h1", ".tile dt", "thead th", "tbody td", "#state", ".good", ".tile small"):
        assert contrast(browser, selector) >= 4.5, selector
    told = browser.accessible()
    names = {(role, name) for role, name in told}
    assert ("heading", "Workers") in names and ("heading", "Servers") in names
    assert any(role in ("img", "image") and re.match(r"Loss: now \d", name) for role, name in told), told
    assert any(role == "columnheader" and name == "samples/s" for role, name in told)
    assert any(role == "rowheader" and name == "worker 0" for role, name in told)
    assert "The job is running" in browser.value("document.getElementById('live').textContent")
    browser.press("Tab")
    assert browser.value("document.activeElement.textContent") == "Skip to the job"
    browser.press("Tab")
    assert browser.value("document.activeElement.id") == "workers", "a table that scrolls can be scrolled by keys"
    ctr_job.finish()


def test_a_failure_is_shown_with_the_end_of_its_log(ctr_job, browser):
    url = start(ctr_job, "--max_restart=1")
    browser.open(url)
    wait_for_curves(browser, 3)
    ctr_job.signal(ctr_job.launcher, "worker 1", signal.SIGKILL)
    until(lambda: "killed by signal 9" in browser.value(TEXT), "the failure")
    until(lambda: "1 restarted" in browser.value(TEXT), "the restart")
    assert browser.value("document.querySelector('#errors pre').textContent").strip()
    # Not by its file `end`: the worker that was started again may be passes behind, and would leave data out that servers have.
    ctr_job.launcher.send_signal(signal.SIGTERM)
    assert ctr_job.launcher.wait(SECONDS) == 128 + signal.SIGTERM
    until(lambda: browser.value("document.getElementById('state').textContent") == "no answer", "the end")


def test_a_report_needs_nothing_but_itself(ctr_job, browser):
    url = start(ctr_job)
    browser.open(url)
    wait_for_curves(browser, 5)
    ctr_job.finish()
    subprocess.run(["argosy", "report", "logs"], cwd=ctr_job.folder, check=True)
    browser.open(f"file://{ctr_job.folder}/report.html")
    until(lambda: browser.value("document.querySelectorAll('path.curve').length") == 3, "three curves")
    assert browser.value("document.getElementById('state').textContent") == "ended well"
    assert "SparseFeatFactors" in browser.value(TEXT)
