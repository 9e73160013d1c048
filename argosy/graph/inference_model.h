#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/program.h"

namespace argosy::graph {

// Where a model is entered and left, each in the order of the columns.
struct InferenceNames {
  std::vector<std::string> feeds, fetches;
};

// The program of a saved model, as Paddle's save_inference_model makes it: what computes `targets` from `feeds`, in its test
// form, with an operator `feed` for each input and `fetch` for each output, which read and write the holder variables "feed"
// and "fetch" at column `col`. Also as there, a target passes through a `scale` by one, so that the outputs are named
// save_infer_model/scale_0.tmp_0, … and one target may be named twice.
//
// An unknown name is an error, and so is an input that the targets need and `feeds` lack. The values to save with it are those
// of its persistables().
Result<std::shared_ptr<Program>> make_inference_program(const Program& program, const std::vector<std::string>& feeds,
                                                        const std::vector<std::string>& targets);

// The inverse: what a model's `feed` and `fetch` operators name. An error where it has no `fetch`, or where columns are
// missing or there twice.
Result<InferenceNames> inference_names(const Program& program);

}  // namespace argosy::graph
