"""word2vec by gensim: the counterpart of word2vec_bench.cc.

    bench/peers/gensim_word2vec.py --python GENSIMS_PYTHON CORPUS_FOLDER PASSES THREADS [--cbow] [--corpus-file]

Width 100, window 5, 5 negatives, sample 1e-4, min_count 5, as there. Sentences lie in memory as lists of words, or, with --corpus-file, are read by
gensim's own loop from one file, which takes as much processor time. Prints one JSON object: words per second of the processor and of the clock,
after subsampling, the vocabulary not counted, and the scores of `argosy word2vec-eval`.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time


def train(args, vectors):
    """In gensim's own environment."""
    from gensim.models import Word2Vec

    files = sorted(args.corpus.glob("corpus-*.txt"))
    sentences = [line.split() for file in files for line in file.open(encoding="utf-8")]
    settings = {"vector_size": 100, "window": 5, "negative": 5, "hs": 0, "sample": 1e-4, "min_count": 5, "seed": 1}
    model = Word2Vec(sg=int(not args.cbow), alpha=0.05 if args.cbow else 0.025, workers=args.threads, **settings)
    model.build_vocab(sentences)
    source = {"corpus_iterable": sentences}
    if args.corpus_file:
        whole = vectors.with_suffix(".corpus")
        whole.write_text("".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8")
        source = {"corpus_file": str(whole)}
    clock, processor = time.perf_counter(), time.process_time()
    trained, _ = model.train(**source, total_words=sum(map(len, sentences)), total_examples=len(sentences), epochs=args.passes)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    model.wv.save_word2vec_format(str(vectors))
    print(json.dumps({"words": int(trained), "words_per_second": trained / clock, "words_per_cpu_second": trained / processor}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("passes", type=int)
    parser.add_argument("threads", type=int)
    parser.add_argument("--cbow", action="store_true")
    parser.add_argument("--corpus-file", action="store_true")
    parser.add_argument("--python", help="run there, and score the result")
    parser.add_argument("--vectors", type=pathlib.Path, help="where the vectors go, without --python")
    args = parser.parse_args()
    if args.python is None:
        return train(args, args.vectors)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    from word2vec_job import scores

    with tempfile.TemporaryDirectory() as folder:
        vectors = pathlib.Path(folder) / "vectors"
        options = [option for option, given in (("--cbow", args.cbow), ("--corpus-file", args.corpus_file)) if given]
        words = [args.python, __file__, args.corpus, args.passes, args.threads, *options, "--vectors", vectors]
        done = subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True)
        print(json.dumps({**json.loads(done.stdout), **scores(args.corpus, vectors)}))


if __name__ == "__main__":
    main()
