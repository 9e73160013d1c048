"""A line that shows how far a loop has got."""

import sys
import time

__all__ = ["ProgressBar"]

_WIDTH = 30


class ProgressBar:
    """step 10/40 [=====>....] - loss: 0.4 - 12ms/step. verbose 1 writes one line over and over on a terminal, 2 a line each time."""

    def __init__(self, total=None, verbose=1, stream=None):
        self._total, self._verbose, self._stream = total, verbose, stream or sys.stdout
        self._began = time.monotonic()

    def _bar(self, current):
        if not self._total or self._verbose != 1:
            return ""
        done = int(_WIDTH * min(current, self._total) / self._total)
        return " [" + ("=" * _WIDTH if done == _WIDTH else "=" * done + ">" + "." * (_WIDTH - done - 1)) + "]"

    @staticmethod
    def _shown(value):
        if isinstance(value, (list, tuple)):
            return " ".join(map(ProgressBar._shown, value))
        return f"{value:.4f}" if isinstance(value, float) else str(value)

    def _speed(self, current):
        seconds = (time.monotonic() - self._began) / max(current, 1)
        for unit, name in ((1, "s"), (1e-3, "ms")):
            if seconds >= unit:
                return f"{seconds / unit:.0f}{name}/step"
        return f"{seconds / 1e-6:.0f}us/step"

    def update(self, current, values):
        """After step `current`, from 1: [(name, value), …]."""
        total = str(self._total) if self._total else "Unknown"
        width = len(total) if self._total else 1
        parts = [f"step {current:>{width}}/{total}{self._bar(current)}", *(f"{name}: {self._shown(value)}" for name, value in values), self._speed(current)]
        line = " - ".join(parts)
        if self._verbose == 1 and self._stream.isatty():
            self._stream.write("\r\x1b[K" + line + ("\n" if self._total and current >= self._total else ""))
        else:
            self._stream.write(line + "\n")
        self._stream.flush()
