"""Chromium without a window, by its debugging protocol over two pipes."""

import base64
import itertools
import json
import os
import subprocess
import threading

SECONDS = 60


class Browser:
    """One page. Answers are waited for; what the page logs as an error is kept in `errors`."""

    def __init__(self, folder):
        read_commands, write_commands = os.pipe()
        read_answers, write_answers = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={folder}"]
        # Chromium reads descriptor 3 and writes 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "bash", "chromium", *flags, "--remote-debugging-pipe", "about:blank"],
            pass_fds=(read_commands, write_answers),
            stdout=subprocess.DEVNULL,
            stderr=(folder / "chromium.log").open("w"),
        )
        os.close(read_commands)
        os.close(write_answers)
        self._out, self._in = os.fdopen(write_commands, "wb", 0), os.fdopen(read_answers, "rb", 0)
        self._numbers = itertools.count(1)
        self._answers, self._changed = {}, threading.Condition()
        self.errors = []
        threading.Thread(target=self._read, daemon=True).start()
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def _read(self):
        kept = b""
        while data := self._in.read(1 << 16):
            *messages, kept = (kept + data).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if message.get("method") == "Runtime.exceptionThrown" or (
                    message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error"
                ):
                    self.errors.append(message["params"])
                with self._changed:
                    self._answers[message.get("id")] = message
                    self._changed.notify_all()

    def _call(self, method, session=None, **params):
        number = next(self._numbers)
        self._out.write(json.dumps({"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}).encode() + b"\0")
        with self._changed:
            assert self._changed.wait_for(lambda: number in self._answers, SECONDS), f"{method} was not answered"
            answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def call(self, method, **params):
        return self._call(method, self._session, **params)

    def open(self, url, width=1280, height=900, dark=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)

    def value(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key, code=9):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def accessible(self):
        """[(role, name)] of what a screen reader is told."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]

    def screenshot(self, file, whole=True):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        self._process.terminate()
        self._process.wait(SECONDS)
