"""CTR-DNN on Criteo-format text: 13 numbers and 26 categories through one sparse table, then three hidden layers.

The twin of ctr_dnn.cc.

    python ctr_dnn.py 'data/part-*' model            one thread, and with the seed below the same losses as the twin
    python ctr_dnn.py 'data/part-*' model 2          two threads
"""

import glob
import sys

import paddle.fluid as fluid

ROWS = 100001


def network():
    dense = fluid.layers.data(name="dense_input", shape=[13])
    label = fluid.layers.data(name="label", shape=[1], dtype="int64")
    slots, pooled = [], []
    for i in range(1, 27):
        slots.append(fluid.layers.data(name="C%d" % i, shape=[1], dtype="int64", lod_level=1))
        rows = fluid.layers.embedding(input=slots[-1], size=[ROWS, 10], is_sparse=True, param_attr="SparseFeatFactors")
        pooled.append(fluid.layers.sequence_pool(input=rows, pool_type="sum"))
    h = fluid.layers.concat(pooled + [dense], axis=1)
    for _ in range(3):
        h = fluid.layers.fc(input=h, size=400, act="relu")
    predict = fluid.layers.fc(input=h, size=2, act="softmax")
    loss = fluid.layers.mean(fluid.layers.cross_entropy(input=predict, label=label))
    auc, _, _ = fluid.layers.auc(input=predict, label=label)
    return dense, slots, label, predict, loss, auc


def main(pattern, model, threads=1):
    fluid.default_startup_program().random_seed = 1
    dense, slots, label, predict, loss, auc = network()
    fluid.optimizer.Adam(learning_rate=1e-3, lazy_mode=True).minimize(loss)

    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var([dense] + slots + [label])
    dataset.set_pipe_command("argosy criteo %d" % ROWS)
    dataset.set_batch_size(500)
    dataset.set_thread(int(threads))
    dataset.set_filelist(sorted(glob.glob(pattern)))
    exe.train_from_dataset(
        program=fluid.default_main_program(),
        dataset=dataset,
        fetch_list=[loss, auc],
        fetch_info=["loss", "auc"],
        print_period=10,
    )
    fluid.io.save_inference_model(model, [v.name for v in [dense] + slots], [predict], exe)
    print("saved", model)


if __name__ == "__main__":
    main(*sys.argv[1:])
