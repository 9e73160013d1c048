"""Predicts with the model that ctr_dnn has saved: a click's probability for two visitors. The twin of predict.cc.

python predict.py model
"""

import sys

import numpy as np

from paddle import inference


def main(model):
    config = inference.Config(model)
    config.disable_gpu()
    predictor = inference.create_predictor(config)
    # Two samples: 13 numbers each, and 26 slots with one or two ids.
    predictor.get_input_handle("dense_input").copy_from_cpu(np.arange(26, dtype="float32").reshape(2, 13) * np.float32(0.01))
    for slot in range(1, 27):
        handle = predictor.get_input_handle("C%d" % slot)
        handle.copy_from_cpu(np.array([[slot], [slot], [1000 + slot]], dtype="int64"))
        handle.set_lod([[0, 1, 3]])
    predictor.run()
    probabilities = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    for sample in range(2):
        print("click of sample %d: %.6f" % (sample, probabilities[sample, 1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
