"""word2vec: skip-gram or CBOW with negative sampling, from sentences, on one machine or on parameter servers. The twin of word2vec.cc.

python word2vec.py 'corpus/*.txt' model                                                   on this machine
fleetrun --server_num 2 --worker_num 2 word2vec.py 'corpus/*.txt' model --mode geo        the same on servers
argosy word2vec-eval model/emb --vocabulary model/words --analogies questions-words.txt
"""

import argparse
import glob

import word2vec_reader

import paddle
import paddle.fluid as fluid
from paddle.distributed import fleet
from paddle.fluid.incubate.fleet.parameter_server.distribute_transpiler.distributed_strategy import StrategyFactory

L = fluid.layers
MODES = {mode: getattr(StrategyFactory, "create_%s_strategy" % mode) for mode in ("sync", "half_async", "async", "geo")}
WIDTH, WINDOW, NEGATIVES, MIN_COUNT, GROUP, SAMPLE = 100, 5, 5, 5, 32, 1e-4


def rows(ids, words, table):
    first = fluid.initializer.Uniform(-1 / WIDTH, 1 / WIDTH) if table == "emb" else fluid.initializer.Constant(0.0)
    return fluid.embedding(ids, size=[words, WIDTH], is_sparse=True, param_attr=fluid.ParamAttr(name=table, initializer=first))


def network(words, model):
    word, around, drawn = L.data("word", [1], dtype="int64"), L.data("around", [1], dtype="int64", lod_level=1), L.data("drawn", [1], dtype="int64")
    predicting, predicted = (around, word) if model == "cbow" else (word, around)
    of = {predicting: rows(predicting, words, "emb"), predicted: rows(predicted, words, "emb_w")}
    loss, per_pair = L.window_loss(of[word], of[around], rows(drawn, words, "emb_w"), mode=model, negatives=float(NEGATIVES), group=GROUP)
    return [word, around, drawn], loss, per_pair


def by_dataset(args, exe, files, vocabulary, variables, per_pair):
    dataset = fluid.DatasetFactory().create_dataset("QueueDataset")
    dataset.set_use_var(variables)
    dataset.set_corpus(vocabulary, window=WINDOW, sample=SAMPLE)
    dataset.set_batch_size(args.lines)
    dataset.set_thread(args.threads)
    dataset.set_filelist(files)
    for _ in range(args.passes):  # each says what it has read
        exe.train_from_dataset(fluid.default_main_program(), dataset, fetch_list=[per_pair], fetch_info=["loss"], print_period=1 << 30)


def by_python(args, exe, files, vocabulary, variables, per_pair):
    """The same batches, made in Python and fed one by one."""
    corpus = word2vec_reader.Corpus(files, vocabulary, args.lines, WINDOW, SAMPLE)
    for number in range(args.passes):
        words = 0
        for word, around, lengths, drawn in corpus.batches(number):
            feed = {"word": word, "around": fluid.create_lod_tensor(around, [lengths], fluid.CPUPlace()), "drawn": drawn}
            (loss,) = exe.run(fluid.default_main_program(), feed=feed, fetch_list=[per_pair])
            words += len(word)
        print("pass %d: %d words, loss %.4f" % (number, words, loss[0]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files")
    parser.add_argument("folder")
    parser.add_argument("--model", choices=["skip_gram", "cbow"], default="skip_gram")
    parser.add_argument("--mode", choices=MODES, default="async", help="of parameter servers")
    parser.add_argument("--reader", choices=["dataset", "python"], default="dataset")
    parser.add_argument("--threads", type=int, default=1, help="of the dataset; the reader in Python has one")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--lines", type=int, default=48, help="per batch")
    args = parser.parse_args()
    if args.reader == "python" and args.threads != 1:
        parser.error("--reader python feeds one batch after another, by one thread; found --threads %d: leave it out, or use --reader dataset" % args.threads)
    paddle.enable_static()
    files = sorted(glob.glob(args.files))
    vocabulary = paddle.text.Vocabulary.count(files, min_count=MIN_COUNT)
    fluid.default_startup_program().random_seed = 1
    variables, loss, per_pair = network(len(vocabulary), args.model)
    fleet.init()  # without a launcher: one worker, no servers
    # Sync and geo average what workers do, and each counts its own batches; half-async and async add it up, and count all.
    averaged = fleet.worker_num() if args.mode in ("sync", "geo") else 1
    batches = vocabulary.lines * args.passes // args.lines // averaged + 1
    rate = (0.05 if args.model == "cbow" else 0.025) * averaged
    fleet.distributed_optimizer(fluid.optimizer.SGD(L.polynomial_decay(rate, batches, 0.0001)), MODES[args.mode]()).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        return fleet.run_server()
    print("rate %g at first, 0.0001 after %d batches" % (rate, batches))
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fleet.init_worker()
    (by_dataset if args.reader == "dataset" else by_python)(args, exe, fleet.util.get_file_shard(files), vocabulary, variables, per_pair)
    fleet.barrier_worker()  # everybody's gradients are in what is saved
    if fleet.is_first_worker():
        fleet.save_persistables(exe, args.folder)
        vocabulary.write(args.folder + "/words")
        print("saved %s: %d words" % (args.folder, len(vocabulary)))
    fleet.stop_worker()


main()
