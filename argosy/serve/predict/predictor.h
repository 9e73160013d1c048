#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/model_files.h"
#include "argosy/serve/predict/parameter_source.h"
#include "argosy/serve/predict/predict_tensor.h"

namespace argosy::data {
struct FolderPlace;
}
namespace argosy::graph {
class Program;
}
namespace argosy::engine {
class Frame;
}

namespace argosy::serve {

struct PredictorOptions {
  int threads = 1;               // that one run may use inside of an operator; many runs at once use many cores with 1
  bool fuse = true;              // embeddings with their pooling, fc layers: the same numbers, sooner
  bool bfloat16_matmul = false;  // matrix products with a parameter in bfloat16, accumulated in float32
  int gpu = -1;                  // the number of a GPU; -1: the CPU
  // Where parameters come from that it has a table of, in place of the model's files, which need not have them: rows are read by
  // each run, dense parameters are looked at every `refresh_seconds`. Null: all are the files'.
  std::shared_ptr<ParameterSource> source = nullptr;
  double refresh_seconds = 0.1;

  friend bool operator==(const PredictorOptions&, const PredictorOptions&) = default;
};

// An input or output of a model: -1 in the shape is any size, of which the first is that of the batch. `lod_level` above 0: the
// samples are sequences, of so many levels.
struct TensorInfo {
  std::string name = {};
  graph::DType dtype = graph::DType::float32;
  std::vector<int64_t> shape = {};
  int lod_level = 0;

  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

using Inputs = std::map<std::string, Tensor>;

// A saved model, ready to predict: what save_inference_model has written here, or in PaddlePaddle 1.x and 2.x (graph::ModelFiles
// says in which forms), in a folder of this machine or of an object store (s3://bucket/model). Only what computes its outputs
// from its inputs is run, in its test form.
//
// Thread-safe: any number of threads call run() at once, and wait for each other only where the program changes what it keeps
// from run to run (which models rarely do). A clone shares the parameters and nothing else. Cheap to move.
class Predictor {
 public:
  static Result<Predictor> open(const std::filesystem::path& model, const PredictorOptions& options = {});
  static Result<Predictor> open(const graph::ModelFiles& files, const PredictorOptions& options = {});
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  const PredictorOptions& options() const;

  // Predicts for a batch; the outputs are in the order of outputs(). An input that is missing, one too many, and one of another
  // shape, element type or form are errors that name it.
  Result<std::vector<Tensor>> run(const Inputs& inputs) const;

  // Predicts for one sample: every input without the dimension of the batch (a sequence as its elements, without boundaries),
  // and every output likewise.
  Result<std::vector<Tensor>> run_one(const Inputs& inputs) const;

  Predictor clone() const;

  // The pruned program, and the values that it keeps, by name; they are shared, not copied, but for tables of rows that a source
  // has: those are read there, whole. Where they have more than `most_rows_bytes` together, nothing is read: resource_exhausted.
  const graph::Program& program() const;
  Result<std::map<std::string, Tensor>> parameters(uint64_t most_rows_bytes = UINT64_MAX) const;

  // Whether run() can be expected to succeed: an error while the source of the parameters does not answer.
  Status ready() const;
  // How the source stood when it was last asked; empty where there is none.
  std::vector<ParameterSource::Origin> origins() const;

 private:
  class Model;
  class FramePool;
  explicit Predictor(std::shared_ptr<Model> model);
  using FindFiles = std::function<Result<graph::ModelFiles>(const std::filesystem::path& copy)>;
  static Result<Predictor> open_copy(const data::FolderPlace& place, const FindFiles& find, const PredictorOptions& options);
  Status begin(engine::Frame& frame) const;

  std::shared_ptr<Model> model_;
  std::unique_ptr<FramePool> frames_;  // ends before the model, whose scope they use
};

// Whether `inputs` are what a model with these inputs takes.
Status check_inputs(const std::vector<TensorInfo>& expected, const Inputs& inputs);

// How many samples there are; inputs that do not agree are an error that names two of them. Such a batch is no sample by sample,
// but not always a mistake: a graph has nodes and edges. REQUIRES: check_inputs().
Result<int64_t> count_samples(const std::vector<TensorInfo>& expected, const Inputs& inputs);

}  // namespace argosy::serve
