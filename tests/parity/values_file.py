"""The file of recorded values: many small arrays in one of each type, and what they belong to as JSON."""

import json

import numpy as np

__all__ = ["load", "save"]


class Arrays:
    """Many small arrays in one of each type."""

    def __init__(self):
        self.values = {}

    def put(self, part):
        if not isinstance(part, np.ndarray):
            return {"plain": part}
        kept = self.values.setdefault(str(part.dtype), [])
        at = sum(map(len, kept))
        kept.append(part.ravel())
        return {"type": str(part.dtype), "shape": list(part.shape), "at": at}

    def saved(self):
        return {name: np.concatenate(kept) for name, kept in self.values.items()}


def save(path, found):
    arrays = Arrays()
    put = arrays.put
    lines = {
        full: [
            {**call, "parts": [put(one) for one in call["parts"]], "gradients": {name: put(one) for name, one in call["gradients"].items()}} for call in calls
        ]
        for full, calls in found.items()
    }
    np.savez_compressed(path, names=np.frombuffer(json.dumps(lines).encode(), "uint8"), **arrays.saved())


def load(path):
    """{name: calls} of a file that save() has written."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    lines = json.loads(arrays.pop("names").tobytes())

    def got(one):
        if "plain" in one:
            return one["plain"]
        return arrays[one["type"]][one["at"] : one["at"] + int(np.prod(one["shape"]))].reshape(one["shape"])

    return {
        full: [
            {**call, "parts": [got(one) for one in call["parts"]], "gradients": {name: got(one) for name, one in call["gradients"].items()}} for call in calls
        ]
        for full, calls in lines.items()
    }
