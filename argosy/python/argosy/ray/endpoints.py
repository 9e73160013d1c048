"""Where a job's servers are, for a process that knows them by name: files of host:port that are written again when a server comes back elsewhere."""

import os
import pathlib
import sys
import tempfile
import threading


class EndpointFiles:
    """A folder with a file for each server actor, kept up to date by a thread for each. Use it in a `with`; on_loss(error) is called by a thread that
    learns that its server is gone for good."""

    def __init__(self, actors, on_loss):
        self._actors, self._on_loss = actors, on_loss
        self._folder = tempfile.TemporaryDirectory(prefix="argosy-ray-")
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._follow, args=(actor, path), name=f"argosy-{path.name}", daemon=True) for actor, path in zip(actors, self._paths())
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error):
        self._stopped.set()
        for thread in self._threads:
            thread.join(15)
        self._folder.cleanup()

    def names(self):
        """The servers as PADDLE_PSERVERS_IP_PORT_LIST has them."""
        return ",".join(f"file:{path}" for path in self._paths())

    def _paths(self):
        return [pathlib.Path(self._folder.name) / f"server-{index}" for index in range(len(self._actors))]

    def _follow(self, actor, path):
        import ray
        import ray.exceptions

        known = ""
        while not self._stopped.is_set():
            asked = actor.endpoint.remote(known)
            try:
                while not self._stopped.is_set() and not ray.wait([asked], timeout=0.5)[0]:
                    pass
                if self._stopped.is_set():
                    return
                found = ray.get(asked)
            except ray.exceptions.ActorUnavailableError:
                self._stopped.wait(0.2)
                continue
            except ray.exceptions.RayError as error:
                if not self._stopped.is_set():
                    self._on_loss(error)
                return
            if found and found != known:
                self._write(path, found)
            known = found or known

    @staticmethod
    def _write(path, endpoint):
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(endpoint + "\n")
        os.replace(unfinished, path)


def end_process(error):
    """Ends a worker whose server is gone for good: nothing else could end a call that waits for it."""
    sys.stderr.write(f"argosy.ray: this worker ends, because a server does not come back: {error}\n")
    sys.stderr.flush()
    os._exit(1)


def worker_environment(job, names, rank):
    """The variables by which worker `rank` finds its place, and the servers by their names."""
    return {
        **job.environment(),
        "TRAINING_ROLE": "TRAINER",
        "PADDLE_PSERVERS_IP_PORT_LIST": names,
        "PADDLE_TRAINERS_NUM": str(job.workers),
        "PADDLE_TRAINER_ID": str(rank),
    }
