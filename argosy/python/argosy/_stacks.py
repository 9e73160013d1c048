"""Lets a launcher that takes this process for stalled see what its Python threads do: SIGWINCH writes their stacks to the log."""

import os

if "ARGOSY_NOTICE_FD" in os.environ:
    import faulthandler
    import signal

    faulthandler.register(signal.SIGWINCH, file=2, all_threads=True, chain=False)
