"""`python -m paddle.distributed.launch`: the launcher, with this interpreter for the script."""

import os
import pathlib
import shutil
import sys


def launcher():
    """The path of fleetrun: beside the interpreter, or on PATH."""
    beside = pathlib.Path(sys.executable).parent / "fleetrun"
    found = str(beside) if beside.exists() else shutil.which("fleetrun")
    if found is None:
        sys.exit("fleetrun is neither beside %s nor on PATH; install argosy into this environment" % sys.executable)
    return found


def main(*options):
    """Becomes fleetrun, with `options` before the command line's own."""
    os.environ["ARGOSY_PYTHON"] = sys.executable
    os.execv(launcher(), ["fleetrun", *options, *sys.argv[1:]])


if __name__ == "__main__":
    main()
