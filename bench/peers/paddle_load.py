"""How fast PaddlePaddle's InMemoryDataset loads a MultiSlot file of Criteo's slots with one thread.

    build/parity/paddle-2.6.2/bin/python bench/peers/paddle_load.py FILE [TIMES]

The counterpart of load_bench.cc: prints the same JSON lines.
"""

import json
import os
import sys
import time

import paddle


def criteo_variables():
    dense = paddle.static.data("dense_input", [None, 13], "float32")
    slots = [paddle.static.data(f"C{i}", [None, 1], "int64", lod_level=1) for i in range(1, 27)]
    return [dense, *slots, paddle.static.data("label", [None, 1], "int64")]


def load(file, variables):
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=1000, thread_num=1, pipe_command="cat", use_var=variables)
    dataset.set_filelist([file])
    start = time.perf_counter()
    dataset.load_into_memory()
    seconds = time.perf_counter() - start
    megabytes = os.path.getsize(file) / 1e6
    row = {"samples": int(dataset.get_memory_data_size()), "megabytes": megabytes, "seconds": seconds, "mb_per_second": megabytes / seconds}
    dataset.release_memory()
    return row


def main():
    paddle.enable_static()
    variables = criteo_variables()
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        print(json.dumps(load(sys.argv[1], variables)), flush=True)


if __name__ == "__main__":
    main()
